"""Znodes of other versions, and those that make no sense."""

from __future__ import annotations

import json
import random

import pytest

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import FeatureZnode, MigrationZnode, ProducerIdsZnode
from kbroker.controller.zookeeper.config_znodes import (
    decode_change,
    decode_configs,
    java_double,
    quota_text,
    quota_value,
    scram_fields,
)
from kbroker.controller.zookeeper.entities import quota_entity
from kbroker.controller.zookeeper.node_znodes import BrokerZnode, ControllerZnode
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.security_znodes import TokenZnode
from kbroker.controller.zookeeper.topic_znodes import Assignment, PartitionState
from kbroker.controller.zookeeper.tree import Node, Tree
from kbroker.controller.zookeeper.values import ZnodeError, number_of
from kbroker.errors import ApiError
from kbroker.metadata.image import Endpoint, FeatureRange
from tests.controller.zookeeper import walk

BROKER = BrokerZnode(
    (Endpoint("IN", "::1", 9093, 1), Endpoint("OUT", "h", 9092, 0)),
    "r",
    17,
    -1,
    {"f": FeatureRange(1, 3)},
)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_brokers_of_every_version(version):
    broker = BROKER
    if version < 4:
        broker = broker._replace(endpoints=(Endpoint("PLAINTEXT", "h", 9092, 0),))
    read_again = BrokerZnode.decode("/b", broker.encode(version))
    assert read_again.endpoints == broker.endpoints
    assert read_again.rack == ("r" if version >= 3 else None)
    assert read_again.features == (broker.features if version >= 5 else {})
    fields = json.loads(broker.encode(version))
    assert (fields["host"], fields["port"], fields["timestamp"]) == ("h", 9092, "17")


def test_a_broker_without_a_plaintext_listener():
    fields = json.loads(BrokerZnode((Endpoint("SSL", "h", 1, 1),)).encode())
    assert (fields["host"], fields["port"]) == (None, -1)


def test_controllers():
    assert json.loads(ControllerZnode(3, 9).encode(1)) == {"version": 1, "brokerid": 3, "timestamp": "9"}
    assert ControllerZnode.decode(ControllerZnode(3, 9).encode(1)) == ControllerZnode(3, 9, -1)
    assert ControllerZnode.decode(ControllerZnode(3000, 9, 5).encode()).kraft_epoch == 5


def test_assignments_of_every_version():
    assignment = Assignment({0: [1, 2], 1: [2]}, {0: [2]}, {}, bytes(range(16)))
    assert Assignment.decode("/t", assignment.encode()) == assignment
    assert Assignment.decode("/t", assignment.encode(2)) == assignment._replace(topic_id=None)
    assert Assignment.decode("/t", assignment.encode(1)) == Assignment(assignment.replicas)
    many = Assignment({index: [1] for index in range(12)})
    assert list(json.loads(many.encode())["partitions"]) == [str(index) for index in range(12)]


def test_a_recovering_partition():
    state = PartitionState(4, 1, 2, (1,), 1)
    assert b'"leader_recovery_state":1' in state.encode()
    assert PartitionState.decode("/s", state.encode()) == state


def test_states_in_another_order_and_with_blanks():
    for isr in ((), (1,), (3, 1, 2147483647)):
        state = PartitionState(4, -1, 2, isr)
        fields = json.loads(state.encode())
        assert list(fields) == ["controller_epoch", "leader", "version", "leader_epoch", "isr"]
        for other in (dict(reversed(fields.items())), fields):
            assert PartitionState.decode("/s", json.dumps(other).encode()) == state
        assert PartitionState.decode("/s", state.encode()) == state


def test_changes_of_version_1():
    change = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert decode_change("/c", change) == "topics/t"


def test_features_of_version_1():
    encoded = FeatureZnode({"f": 2}, False).encode(1)
    expected = {"min_version_level": 1, "max_version_level": 2}
    assert json.loads(encoded) == {"features": {"f": expected}, "version": 1, "status": 0}
    assert FeatureZnode.decode(encoded) == FeatureZnode({"f": 2}, False)


def test_tokens_before_a_requester_was_kept():
    token = TokenZnode("i", "User:ä", "User:b", ("User:c",), 1, 3, 2)
    assert TokenZnode.decode("/t", token.encode()) == token
    old = json.loads(token.encode())
    del old["tokenRequester"]
    old["version"] = 1
    assert TokenZnode.decode("/t", json.dumps(old).encode()) == token._replace(requester="User:ä")


def test_migration():
    state = MigrationZnode(3000, 4, 500, 3)
    assert MigrationZnode.decode(state.encode()) == state


def test_unknown_fields_are_skipped():
    state = json.loads(PartitionState(4, 1, 2, (1,)).encode()) | {"new": {"a": [1]}}
    assert PartitionState.decode("/s", json.dumps(state).encode()).leader == 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (3.5, "3.5"),
        (200.0, "200.0"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.9, "1.23456789E7"),
        (0.001, "0.001"),
        (0.0009, "9.0E-4"),
        (-2.5e-7, "-2.5E-7"),
        (1e23, "1.0E23"),
    ],
)
def test_doubles_as_java_writes_them(value, text):
    assert java_double(value) == text
    assert quota_value("/q", "k", text) == value


def test_quotas_as_text():
    assert quota_text("producer_byte_rate", 2097152.0) == "2097152"
    assert quota_text("request_percentage", 200.0) == "200.0"
    for wrong in ("", "NaN", "1_0", "0x1", "1" * 40, "inf"):
        with pytest.raises(ZnodeError):
            quota_value("/q", "k", wrong)


DAMAGED = [
    (Assignment.decode, b'{"version":3,"partitions":{"1":[1]}}', "lacks partition 0"),
    (Assignment.decode, b'{"version":3,"partitions":{"x":[1]}}', "'x', which is no partition"),
    (Assignment.decode, b'{"version":3,"partitions":{"0":[true]}}', "is no list of whole numbers"),
    (Assignment.decode, b'{"version":3,"partitions":{"0":[1]},"topic_id":"x"}', "'x' is no topic id"),
    (Assignment.decode, b'{"version":4,"partitions":{"0":[1]}}', "has version 4, we know up to 3"),
    (Assignment.decode, b'{"version":0,"partitions":{"0":[1]}}', "has version 0, which never was"),
    (Assignment.decode, b'{"version":3}', "lacks 'partitions'"),
    (Assignment.decode, b"", "is no JSON: ''"),
    (Assignment.decode, b"\xff", "is not UTF-8"),
    (Assignment.decode, b"[1]", "is no JSON object"),
    (Assignment.decode, b"[" * 100_000, "is no JSON"),
    (Assignment.decode, b'{"version":NaN}', "is no JSON"),
    (Assignment.decode, b'{"version":' + b"9" * 5000 + b"}", "is no JSON"),
    (PartitionState.decode, b'{"version":1,"controller_epoch":1,"leader":"1"}', "'leader' is '1', not a"),
    (PartitionState.decode, b'{"version":1,"controller_epoch":4294967296}', "not a whole number"),
    (BrokerZnode.decode, b'{"version":5,"endpoints":["X://h:9"]}', "no known security protocol"),
    (BrokerZnode.decode, b'{"version":5,"endpoints":["PLAINTEXT://h:99999"]}', "is no endpoint"),
    (BrokerZnode.decode, b'{"version":5,"endpoints":[5]}', "not a list of texts"),
    (decode_configs, b'{"version":1,"config":{"a":5}}', "config 'a' is not a text"),
    (decode_change, b'{"version":3,"entity_path":"x"}', "has version 3"),
    (number_of, b"-1", "is no number: '-1'"),
    (number_of, b"", "is no number: ''"),
]


@pytest.mark.parametrize(("decode", "data", "words"), DAMAGED)
def test_damaged_znodes_get_one_line(decode, data, words):
    with pytest.raises(ZnodeError) as caught:
        decode("/p", data)
    assert words in str(caught.value)
    assert str(caught.value).startswith("znode /p: ")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert caught.value.newer == ("we know up to" in words or "version 3" in words)


def test_a_damaged_credential():
    for text in ("", "salt=a", "salt=*,stored_key=YQ==,server_key=YQ==,iterations=1"):
        with pytest.raises(ZnodeError):
            scram_fields("/u", "SCRAM-SHA-256", text)
    with pytest.raises(ZnodeError):
        ProducerIdsZnode.decode(b'{"version":1,"broker":1,"block_start":"9","block_end":"5"}')


def test_every_znode_damaged_in_turn_is_one_problem_and_the_rest_is_read():
    tree = walk.tree("running")
    whole = read(tree)
    chance = random.Random(7)
    for path in list(tree.paths()):
        node = tree.get(path)
        if not node.data:
            continue
        spoilt = tree.copy()
        place = chance.randrange(len(node.data))
        spoilt.put(path, node._replace(data=node.data[:place] + b"\xff{" + node.data[place + 2 :]))
        reading = read(spoilt)
        if not path.startswith(
            (paths.CONFIG_CHANGES, "/kafka-acl-changes", "/kafka-acl-extended-changes", paths.TOKEN_CHANGES)
        ):
            assert {problem.path for problem in reading.problems} == {path}, path
        assert len(reading.records) <= len(whole.records)
        reading.image()


def test_paths_of_names():
    assert paths.sanitized("sp ace%&=ü*~") == "sp%20ace%25%26%3D%C3%BC%2A%7E"
    assert paths.desanitized("sp%20ace%25%26%3D%C3%BC%2A%7E") == "sp ace%&=ü*~"
    both = (("client-id", "<default>"), ("user", None))
    assert paths.quota_entity(both) == "users/<default>/clients/%3Cdefault%3E"
    assert quota_entity(paths.quota_entity(both)) == both
    assert quota_entity(paths.quota_entity((("ip", "::1"),))) == (("ip", "::1"),)
    assert paths.sequence_number("/config/changes/config_change_0000000017") == 17
    assert paths.is_sensitive("/config/users/a")
    assert not paths.is_sensitive("/config/topics/a")


@pytest.mark.parametrize("name", ["a/b", "", ".", "..", "a\0", "\ufffe"])
def test_names_that_zookeeper_cannot_keep(name):
    with pytest.raises(ApiError):
        paths.acl("Group", name, prefixed=False)
    with pytest.raises(ApiError):
        paths.config_entity(32, name)


def test_a_version_6_broker_and_a_name_that_is_none():
    tree = Tree()
    tree.put("/brokers/ids/1", Node(b'{"version":6}'))
    tree.put("/brokers/ids/x", Node(BROKER.encode()))
    reading = read(tree)
    assert [str(problem) for problem in reading.problems] == [
        "znode /brokers/ids/1: has version 6, we know up to 5",
        "znode /brokers/ids/x: is no broker id",
    ]
    assert reading.image().brokers == {}


@pytest.mark.parametrize("text", ["users", "users/a/users/b", "topics/t", "users/%ff", "users/a/clients"])
def test_entities_that_are_none(text):
    with pytest.raises(ZnodeError):
        quota_entity(text)
