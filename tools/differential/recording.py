"""Agreed answers as a transcript that tests/differential replays: `send` steps in gzipped JSON lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conformance.conversation import Conversation
from tests.conformance.paths import get
from tests.conformance.transcript import Step, Transcript
from tools.differential.brokers import CLUSTER_ID, PROPS
from tools.differential.session import Exchange, kind_of


class Recording:
    """Of the histories of some seeds, one after the other on the same brokers, which have `more` settings."""

    def __init__(self, seeds: list[int], more: Mapping[str, str]) -> None:
        self._name = "-".join(["access" if more else "seed", *(str(seed) for seed in seeds)])
        self._more = more
        self._steps: list[dict[str, Any]] = []

    def add(self, exchange: Exchange) -> None:
        """A step; its answer only where both brokers gave the same one."""
        if isinstance(exchange.theirs, dict) and "cannotBeSent" in exchange.theirs:
            return
        step = dict(exchange.step)
        if "bind" in step:
            found = exchange.theirs if isinstance(exchange.theirs, dict) else {}
            step["bind"] = {name: path for name, path in step["bind"].items() if get(found, path) is not None}
        if not exchange.differences and exchange.theirs is not None:
            step["ans"] = exchange.theirs
        self._steps.append(step)

    def confirm(self, bootstrap: str) -> int:
        """Hold the history once more with a fresh Apache Kafka; forget answers that came out differently.

        Returns:
            How many those were.
        """
        transcript = Transcript("confirm", "", {})
        transcript.steps = [Step(index, kind_of(step), step) for index, step in enumerate(self._steps)]
        changed = 0
        for outcome in Conversation(transcript, bootstrap).run():
            if outcome.differences and self._steps[outcome.line].pop("ans", None) is not None:
                changed += 1
        return changed

    def write(self, folder: Path) -> Path:
        """The file, the same bytes for the same steps."""
        folder.mkdir(parents=True, exist_ok=True)
        head = {
            "transcript": self._name,
            "about": "answers on which Apache Kafka 4.4.0 and kbroker agree",
            "classes": "4.4.0",
            "props": {
                **PROPS,
                **self._more,
                "kbroker.compatibility": "4.4",
                "kbroker.cluster.id": CLUSTER_ID,
            },
        }
        lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in (head, *self._steps)]
        path = folder / f"{self._name}.jsonl.gz"
        path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))
        return path
