"""Every conversation recorded from Apache Kafka, held with a fresh broker of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.brokers import fresh_broker
from tests.conformance.conversation import Conversation
from tests.conformance.expectations import known_differences, not_built_yet, surprises
from tests.conformance.transcript import FOLDER, load

FILES = sorted(FOLDER.rglob("*.jsonl"))
NAMES = [f"{path.parent.name}/{path.stem}" for path in FILES]
RUN = [(name, path) for name, path in zip(NAMES, FILES) if name not in not_built_yet()]


@pytest.mark.parametrize(("name", "path"), RUN, ids=[name for name, _ in RUN])
def test_transcript(name: str, path: Path) -> None:
    transcript = load(path)
    known = known_differences().get(name, {})
    with fresh_broker(transcript) as broker:
        outcomes = list(Conversation(transcript, broker.bootstrap, known=known).run())
    told = surprises(name, outcomes, known)
    assert not told, "\n" + "\n".join(told)


def test_the_lists_name_transcripts_that_exist() -> None:
    listed = not_built_yet().keys() | known_differences().keys()
    assert listed <= set(NAMES)
    assert not not_built_yet().keys() & known_differences().keys()
