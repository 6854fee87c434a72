"""The two lists beside this file: transcripts of areas not built yet, and steps known to differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from tests.conformance.conversation import Outcome

_FOLDER = Path(__file__).parent
KNOWN_DIFFERENCES = _FOLDER / "known_differences.txt"
NOT_BUILT_YET = _FOLDER / "not_built_yet.txt"


def not_built_yet() -> dict[str, str]:
    """Transcript name to the area that it needs."""
    return dict(_entries(NOT_BUILT_YET))


def known_differences() -> dict[str, dict[int, str]]:
    """Transcript name to {line of the step: why it differs}."""
    found: dict[str, dict[int, str]] = {}
    for place, reason in _entries(KNOWN_DIFFERENCES):
        name, _, line = place.rpartition(":")
        found.setdefault(name, {})[int(line)] = reason
    return found


def surprises(name: str, outcomes: Iterable[Outcome], known: Collection[int]) -> list[str]:
    """What differs and is not known, and what is known and does not differ."""
    told = []
    unseen = set(known)
    for outcome in outcomes:
        unseen.discard(outcome.line)
        if outcome.differences and outcome.line not in known:
            told += [f"{name}:{outcome.line}: {outcome.label}: {text}" for text in outcome.differences]
        elif not outcome.differences and outcome.line in known:
            told.append(f"{name}:{outcome.line}: agrees now: take it out of known_differences.txt")
    return told + [f"{name}:{line}: known_differences.txt names a line without an answer" for line in unseen]


def _entries(path: Path) -> list[tuple[str, str]]:
    """Lines of a name and a text; `#` begins a comment.

    Raises:
        ValueError: an entry without a text, or one that is there twice.
    """
    entries: list[tuple[str, str]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition(" ")
        if not reason.strip() or any(name == other for other, _ in entries):
            raise ValueError(f"{path}:{number}: {name} has no reason, or is there twice")
        entries.append((name, reason.strip()))
    return entries
