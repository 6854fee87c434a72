"""The differential tester's recordings: generated requests on whose answers Apache Kafka and kbroker agreed.

`python -m tools.differential --seed N ... --keep tests/data/differential` writes them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kbroker.testing import Broker
from tests.conformance.conversation import Conversation
from tests.conformance.transcript import DEFAULT_PROPS, load

FOLDER = Path(__file__).resolve().parent.parent / "data" / "differential"
FILES = sorted(FOLDER.glob("*.jsonl.gz"))


@pytest.mark.parametrize("path", FILES, ids=[path.name.partition(".")[0] for path in FILES])
def test_recording(path: Path) -> None:
    transcript = load(path)
    config = {**DEFAULT_PROPS, **transcript.props}
    with Broker(config=config, profile="production") as broker:
        conversation = Conversation(transcript, broker.bootstrap)
        outcomes = [outcome for outcome in conversation.run() if outcome.differences]
    told = [f"line {each.line}: {each.label}: {text}" for each in outcomes for text in each.differences]
    assert not told, "\n" + "\n".join(told[:40])


def test_there_are_recordings() -> None:
    assert FILES
