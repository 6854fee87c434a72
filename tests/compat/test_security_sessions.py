"""Kafka's tools about security print the same over SASL_SSL with kbroker as with Apache Kafka 4.4.

tests/data/tools/security holds what they printed there (`python -m tests.compat.security_sessions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.testing import Broker
from tests.compat.javatools import JavaTools
from tests.compat.security_sessions import RECORDED, SESSIONS, Node, hold

pytestmark = pytest.mark.jvm


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    node = Node(tmp_path_factory.mktemp("stores"))
    listeners = "PLAINTEXT://127.0.0.1:0,SASL_SSL://127.0.0.1:0"
    with Broker(config={**node.settings, "listeners": listeners}, profile="production") as broker:
        yield f"127.0.0.1:{broker.ports['SASL_SSL']}", node.clients


@pytest.mark.parametrize("session", SESSIONS)
def test_the_tools_print_what_they_print_with_kafka(
    session: str, java: JavaTools, node: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    bootstrap, clients = node
    printed = hold(session, java, bootstrap, clients, tmp_path)
    assert printed.splitlines() == (RECORDED / f"{session}.txt").read_text().splitlines()
