"""Kafka's tools print the same when they talk with kbroker as when they talk with Apache Kafka 4.4.

tests/data/tools holds what they printed there (`python -m tests.compat.tool_sessions`). With
KBROKER_TEST_BOOTSTRAP the same sessions are held with that broker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.testing import Broker
from tests.compat.javatools import JavaTools
from tests.compat.tool_sessions import RECORDED, SESSIONS, hold

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def fresh_bootstrap() -> Iterator[str]:
    """A broker that knows of no other topics and groups."""
    given = os.environ.get("KBROKER_TEST_BOOTSTRAP")
    if given:
        yield given
        return
    with Broker(subprocess=True) as broker:
        yield broker.bootstrap


@pytest.mark.parametrize("session", SESSIONS)
def test_the_tools_print_what_they_print_with_kafka(
    session: str, java: JavaTools, fresh_bootstrap: str, tmp_path: Path
) -> None:
    lag_s = 1 if "KBROKER_TEST_BOOTSTRAP" in os.environ else 0
    printed = hold(session, java, fresh_bootstrap, tmp_path, lag_s)
    assert printed.splitlines() == (RECORDED / f"{session}.txt").read_text().splitlines()
