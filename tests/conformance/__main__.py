"""Check transcripts against a broker: `python -m tests.conformance FILE|FOLDER... --bootstrap HOST:PORT`.

Without --bootstrap each file gets a fresh broker of its own with the settings that it asks for. Exit status:
0 all as recorded, 1 something differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.conformance.brokers import fresh_broker
from tests.conformance.conversation import Conversation
from tests.conformance.transcript import Transcript, load


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE|FOLDER")
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="a running broker, for all files")
    parser.add_argument("--diff", type=int, default=5, metavar="N", help="most differences told of a step")
    arguments = parser.parse_args()
    passed = failed = 0
    for path in _expanded(arguments.files):
        agreed, differing = _check(path, load(path), arguments.bootstrap, arguments.diff)
        passed += agreed
        failed += differing
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _expanded(paths: list[Path]) -> list[Path]:
    return [file for path in paths for file in (sorted(path.rglob("*.jsonl")) if path.is_dir() else [path])]


def _check(path: Path, transcript: Transcript, bootstrap: str | None, diff: int) -> tuple[int, int]:
    began = time.monotonic()
    if bootstrap is not None:
        outcomes = list(Conversation(transcript, bootstrap, max_differences=diff).run())
    else:
        with fresh_broker(transcript) as broker:
            outcomes = list(Conversation(transcript, broker.bootstrap, max_differences=diff).run())
    failed = [outcome for outcome in outcomes if outcome.differences]
    for outcome in failed:
        for difference in outcome.differences:
            print(f"{path}:{outcome.line}: {outcome.label}: {difference}")
    passed = len(outcomes) - len(failed)
    word = "FAILED" if failed else "ok    "
    print(
        f"{word} {path}: {passed} passed, {len(failed)} failed ({time.monotonic() - began:.1f} s)", flush=True
    )
    return passed, len(failed)


if __name__ == "__main__":
    sys.exit(main())
