"""The door that only kbroker's own client sees, and the commands behind it."""

from __future__ import annotations

import json
import os

import pytest

from kbroker.broker.client_metrics import ClientMetrics
from kbroker.broker.client_metrics_store import Push
from kbroker.broker.clients import GONE_MAX, ClientRegistry
from kbroker.handlers.context import ConnectionContext
from kbroker.protocol.otlp import Histogram, Point
from tests.handlers.node import Client

KEY = 19266


def introduce(client, name="kbroker", version=3):
    return client.ask("ApiVersions", version, client_software_name=name, client_software_version="1")


def command(client, name, **arguments):
    answer = client.ask("KbrokerCommand", 0, command=name, arguments=json.dumps(arguments).encode())
    return json.loads(bytes(answer.result)) if answer.error_code == 0 else answer


@pytest.mark.parametrize(
    ("name", "version", "sees"), [("kbroker", 3, True), ("kbroker", 5, True), ("librdkafka", 3, False)]
)
def test_only_our_own_client_is_told(node, name, version, sees):
    answer = introduce(node.connect(), name, version)
    assert (KEY in {api.api_key for api in answer.api_keys}) == sees


@pytest.mark.parametrize("name", [None, "librdkafka"])
def test_for_others_it_does_not_exist(node, name):
    client = node.connect()
    if name is not None:
        introduce(client, name)
    client.send(client.frame("KbrokerCommand", 0, command="clients", arguments=b"{}"))
    assert client.closed == f"no API with key {KEY} and version 0"
    assert client.answers() == []


def test_what_is_no_command_is_refused(node):
    client = node.connect()
    introduce(client)
    answer = command(client, "no_such")
    assert (answer.error_code, answer.result) == (42, None)
    assert answer.error_message == "this kbroker does not know the command 'no_such'"
    for text in ("[", "[]", "[" * 50_000, '"x"', "{" + " " * 70_000 + "}", '{"gone": 1}', '{"limit": "x"}'):
        answer = client.ask("KbrokerCommand", 0, command="clients", arguments=text.encode())
        assert (answer.error_code, answer.result) == (42, None), text[:20]
    assert client.closed is None


class Peer(Client):
    """A client whose connection is in the list, as the listener does it."""

    def __init__(self, node, number, **context):
        super().__init__(node)
        self.core.context = ConnectionContext(str(number), "192.0.2.7", client_port=number, **context)
        node.dispatcher.opened(self.core.context)

    def leave(self):
        self.node.dispatcher.closed(self.core.context)


def test_clients_are_listed_with_what_they_use(node):
    node.topic("t")
    asker = Peer(node, 1)
    introduce(asker)
    node.clock.now += 1000
    old, modern, again = (Peer(node, number) for number in (2, 3, 4))
    Peer(node, 5)  # says nothing
    old.ask("Metadata", 0, client_id="old", topics=[])
    old.ask("Produce", 2, client_id="old", acks=1, timeout_ms=1, topic_data=[])
    old.ask("ListOffsets", 0, client_id="old", replica_id=-1, topics=[])
    for peer in (modern, again):
        introduce(peer, "librdkafka")
        peer.ask("Metadata", 12, client_id="new", topics=[])
    again.ask("Metadata", 13, client_id="new", topics=[])
    found = command(asker, "clients")
    assert found["left_out"] == 0
    first, second, third = found["clients"]
    assert (first["software"], first["connections"], first["dropped_by_kafka_4"]) == ("kbroker", 1, [])
    assert (second["client_id"], second["software"], second["address"]) == ("old", "unknown", "192.0.2.7")
    assert second["since_ms"] == node.clock.now
    assert second["dropped_by_kafka_4"] == [
        {"key": 0, "name": "Produce", "used": 2, "needed": 3},
        {"key": 2, "name": "ListOffsets", "used": 0, "needed": 1},
    ]
    assert (third["client_id"], third["software"], third["connections"]) == ("new", "librdkafka", 2)
    assert {"key": 3, "name": "Metadata", "min": 12, "max": 13} in third["apis"]
    assert third["dropped_by_kafka_4"] == []
    assert command(asker, "clients", limit=1)["left_out"] == 2


def test_clients_that_have_left_are_remembered(node):
    asker, peer, silent = Peer(node, 1), Peer(node, 2), Peer(node, 3)
    introduce(asker)
    peer.ask("Metadata", 0, topics=[])
    node.clock.now += 5
    peer.leave()
    silent.leave()
    assert len(command(asker, "clients")["clients"]) == 1
    _, left = command(asker, "clients", gone=True)["clients"]
    assert (left["client_id"], left["connections"], left["gone_ms"]) == ("test", 0, node.clock.now)
    back = Peer(node, 4)
    back.ask("Metadata", 1, topics=[])
    _, returned = command(asker, "clients", gone=True)["clients"]
    assert (returned["connections"], returned["since_ms"]) == (1, left["since_ms"])
    assert returned["apis"] == [{"key": 3, "name": "Metadata", "min": 0, "max": 1}]


def test_the_memory_of_clients_that_left_is_bounded():
    registry = ClientRegistry()
    for number in range(GONE_MAX + 10):
        peer = ConnectionContext(str(number), "192.0.2.7", client_id=f"c{number}" + "x" * 300, used={3 << 16})
        registry.opened(peer, number)
        registry.closed(peer, number)
        registry.closed(peer, number)
    found = registry.clients(gone=True)
    assert len(found) == GONE_MAX
    assert found[0].name.client_id.startswith(f"c{GONE_MAX + 9}x")
    assert len(found[0].name.client_id) == 255


def test_pushed_metrics_are_listed(node):
    asker = Peer(node, 1)
    introduce(asker)
    assert command(asker, "client_metrics") == {"kept": False, "instances": [], "left_out": 0}
    node.services.client_metrics = ClientMetrics(keeps=True)
    for name in ("a", "b"):
        points = [
            Point("m", "sum", "1", (("topic", "t"),), 3, True, 7),
            Point("g", "gauge", "", (), float("nan"), False, 7),
            Point("h", "histogram", "", (), Histogram(2, 3.5, (1.0,), (1, 1)), False, 7),
        ]
        push = Push(os.urandom(16), name, "s", "1", "192.0.2.7", False, node.clock.now, (("r", "x"),), points)
        node.services.client_metrics.store.add(push)
    assert len(command(asker, "client_metrics")["instances"]) == 2
    (found,) = command(asker, "client_metrics", client_id="a")["instances"]
    assert (found["client_id"], found["pushes"], found["resource"]) == ("a", 1, {"r": "x"})
    values = {metric["name"]: metric["value"] for metric in found["metrics"]}
    assert values == {
        "m": 3,
        "g": None,
        "h": {"count": 2, "sum": 3.5, "bounds": [1.0], "buckets": [1, 1]},
    }
    assert command(asker, "client_metrics", limit=4)["left_out"] == 2
