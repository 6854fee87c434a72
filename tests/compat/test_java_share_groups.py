"""Share groups (KIP-932) of Java's KafkaShareConsumer, and Kafka's tool for them."""

from __future__ import annotations

import pytest

from kbroker.testing import Broker
from tests.compat.javatools import JavaTools

pytestmark = pytest.mark.jvm


def test_share_consumers(java: JavaTools, bootstrap: str, name: str) -> None:
    for part in ("begin", "end", "share"):
        assert java.run("shareconsumers", bootstrap, name, part).ok() == "ok"


def test_dead_letters(java: JavaTools, bootstrap: str, name: str) -> None:
    assert java.run("shareconsumers", bootstrap, name, "dead").ok() == "ok"


def test_the_tool_for_share_groups(java: JavaTools, bootstrap: str, name: str) -> None:
    """What it prints with Apache Kafka 4.4, but for widths."""

    def tool(*arguments: str) -> list[list[str]]:
        done = java.run("kafka-share-groups", "--bootstrap-server", bootstrap, *arguments)
        return [line.split() for line in done.ok().splitlines() if line]

    assert java.run("shareconsumers", bootstrap, name, "begin").ok() == "ok"
    head = ["GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"]
    described = tool("--describe", "--group", name)
    assert described[0] == head
    assert described[1][:3] == [name, name, "0"]
    assert [name] in tool("--list")
    reset = tool("--reset-offsets", "--group", name, "--topic", name, "--to-earliest", "--execute")
    assert reset == [["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"], [name, name, "0", "0"]]
    assert tool("--describe", "--group", name) == [head, [name, name, "0", "0", "100"]]
    assert tool("--delete-offsets", "--group", name, "--topic", name)[1] == [name, "Successful"]
    tool("--delete", "--group", name)
    assert [name] not in tool("--list")


def test_a_killed_broker_knows_what_was_acknowledged(java: JavaTools, tmp_path, name: str) -> None:
    with Broker(subprocess=True, data=str(tmp_path / "data")) as broker:
        assert java.run("shareconsumers", broker.bootstrap, name, "begin").ok() == "ok"
        broker.kill()
        broker.restart()
        assert java.run("shareconsumers", broker.bootstrap, name, "end").ok() == "ok"
