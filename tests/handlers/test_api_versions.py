from __future__ import annotations

import pytest

from kbroker.handlers.api_table import API_TABLE, LEGACY_TABLE
from kbroker.protocol.api_keys import FACTS, ApiKey
from kbroker.protocol.releases import releases
from kbroker.server.dispatch import Dispatcher


@pytest.mark.parametrize("version", range(6))
def test_every_version_names_all_apis_of_the_table(node, version):
    named = {"client_software_name": "x", "client_software_version": "1"} if version >= 3 else {}
    response = node.connect().ask("ApiVersions", version, **named)
    assert response.error_code == 0
    ranges = {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}
    for_clients = {key: row for key, row in API_TABLE.items() if "broker" in FACTS[key].listeners}
    lowest = {key: LEGACY_TABLE[key][1] for key in LEGACY_TABLE}
    assert ranges == {key: (lowest.get(key, low), high) for key, (_, low, high) in for_clients.items()}


def test_a_controller_listener_names_the_apis_of_controllers(node):
    client = node.connect()
    client.core.context.role = "controller"
    named = {"client_software_name": "x", "client_software_version": "1"}
    keys = {entry.api_key for entry in client.ask("ApiVersions", 3, **named).api_keys}
    assert keys == {key for key in API_TABLE if "controller" in FACTS[key].listeners}
    assert {ApiKey.FETCH, ApiKey.BROKER_REGISTRATION, ApiKey.ENVELOPE, ApiKey.CREATE_TOPICS} <= keys
    assert not {ApiKey.PRODUCE, ApiKey.METADATA, ApiKey.JOIN_GROUP} & keys


def test_a_listener_serves_no_apis_of_the_other_kind(node):
    clients, controllers = Dispatcher(node.services), Dispatcher(node.services, "controller")
    assert clients.find_route(ApiKey.BROKER_HEARTBEAT << 16 | 1) is None
    assert controllers.find_route(ApiKey.BROKER_HEARTBEAT << 16 | 1) is not None
    assert clients.find_route(ApiKey.METADATA << 16 | 9) is not None
    assert controllers.find_route(ApiKey.METADATA << 16 | 9) is None


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("a", True),
        ("A.b-c--d..9", True),
        ("librdkafka", True),
        ("", False),
        (" ", False),
        ("-a", False),
        ("a.", False),
        ("a b", False),
        ("ä", False),
        ("a\n", False),
    ],
)
def test_names_of_client_software_follow_the_rule(node, name, good):
    client = node.connect()
    response = client.ask("ApiVersions", 3, client_software_name=name, client_software_version="1.0")
    assert response.error_code == (0 if good else 42)
    assert bool(response.api_keys) == good
    assert client.core.context.client_software_name == (name if good else "unknown")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, 0),
        ({"node_id": 1}, 42),
        ({"cluster_id": "cluster-id"}, 42),
        ({"cluster_id": "cluster-id", "node_id": 1}, 0),
        ({"cluster_id": "another", "node_id": 1}, 129),
        ({"cluster_id": "cluster-id", "node_id": 2}, 129),
    ],
)
def test_version_5_compares_the_cluster_and_node_the_client_means(node, fields, code):
    response = node.connect().ask(
        "ApiVersions", 5, client_software_name="x", client_software_version="1", **fields
    )
    assert response.error_code == code


def test_features_whose_lowest_level_is_0_are_shown_from_version_4_on(node):
    named = {"client_software_name": "x", "client_software_version": "1"}
    shown = [
        {feature.name for feature in node.connect().ask("ApiVersions", version, **named).supported_features}
        for version in (3, 4)
    ]
    assert "metadata.version" in shown[0]
    assert "kraft.version" not in shown[0]
    assert shown[1] > shown[0]


def as_release(node, name):
    """A connection to the node as that release of Kafka."""
    node.services.compatibility = name
    node.dispatcher = Dispatcher(node.services)
    return node.connect()


@pytest.mark.parametrize("name", ["0.10.0", "1.1", "2.8", "3.9", "4.0", "4.4"])
def test_a_release_names_its_versions_and_refuses_others(node, name):
    client = as_release(node, name)
    kafka = releases()[name]
    response = client.ask("ApiVersions", 0)
    ranges = {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}
    served = {key: kafka.advertised[key] for key in API_TABLE if key in kafka.advertised}
    assert ranges == {**served, **kafka.between_brokers}
    newest = kafka.served[3][1]
    assert client.ask("Metadata", newest, topics=[]).brokers is not None
    if newest < API_TABLE[3][2]:
        client.send(client.frame("Metadata", newest + 1, topics=[]))
        assert client.closed
    if kafka.served[18][1] < 5:
        other = as_release(node, name)
        named = {"client_software_name": "x", "client_software_version": "1"}
        other.send(other.frame("ApiVersions", 5, **named))
        assert other.closed is None
        other._asked[0] = (*other._asked[0][:2], 0)  # it is answered in version 0
        (response,) = other.answers()
        assert response.error_code == 35
        assert [each.api_key for each in response.api_keys] == [18]


@pytest.mark.parametrize("name", ["4.0", "4.4"])
def test_kafka_4_names_produce_0_and_closes_when_it_is_used(node, name):
    node.topic("t")
    client = as_release(node, name)
    produce = next(entry for entry in client.ask("ApiVersions", 0).api_keys if entry.api_key == 0)
    assert produce.min_version == 0
    client.send(client.frame("Produce", 2, acks=1, timeout_ms=1, topic_data=[]))
    assert client.closed


@pytest.mark.parametrize("name", ["0.8.2", "0.9.0"])
def test_before_0_10_there_is_no_api_versions(node, name):
    client = as_release(node, name)
    client.send(client.frame("ApiVersions", 0))
    assert client.closed
    assert as_release(node, name).ask("Metadata", 0, topics=[]).topics == []


def test_features_came_with_3_3(node):
    named = {"client_software_name": "x", "client_software_version": "1"}
    shown = {
        name: bool(as_release(node, name).ask("ApiVersions", 3, **named).supported_features)
        for name in ("2.8", "3.2", "3.3", "all")
    }
    assert shown == {"2.8": False, "3.2": False, "3.3": True, "all": True}
