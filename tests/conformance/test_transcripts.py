"""Every conversation recorded from Apache Kafka, held with a fresh broker of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.brokers import fresh_broker
from tests.conformance.conversation import Conversation
from tests.conformance.expectations import known_differences, not_built_yet
from tests.conformance.transcript import FOLDER, load

FILES = sorted(FOLDER.rglob("*.jsonl"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in FILES]
RUN = [(name, path) for name, path in zip(NAMES, FILES) if name not in not_built_yet()]


@pytest.mark.parametrize(("name", "path"), RUN, ids=[name for name, _ in RUN])
def test_transcript(name: str, path: Path) -> None:
    transcript = load(path)
    with fresh_broker(transcript) as broker:
        outcomes = list(Conversation(transcript, broker.bootstrap).run())
    known = known_differences().get(name, {})
    told = []
    for outcome in outcomes:
        if outcome.differences and outcome.line not in known:
            told += [f"{name}:{outcome.line}: {outcome.label}: {text}" for text in outcome.differences]
        elif not outcome.differences and outcome.line in known:
            told.append(f"{name}:{outcome.line}: agrees now: take it out of known_differences.txt")
    stray = known.keys() - {outcome.line for outcome in outcomes}
    told += [f"{name}:{line}: known_differences.txt names a line without an answer" for line in stray]
    assert not told, "\n" + "\n".join(told)


def test_the_lists_name_transcripts_that_exist() -> None:
    listed = not_built_yet().keys() | known_differences().keys()
    assert listed <= set(NAMES)
    assert not not_built_yet().keys() & known_differences().keys()
