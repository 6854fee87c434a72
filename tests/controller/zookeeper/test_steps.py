"""The tree, transactions, and what is written besides decisions."""

from __future__ import annotations

import json

import pytest

from kbroker.controller.client_quotas import QuotaChange, alter_client_quotas
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.node_znodes import BrokerZnode
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.steps import (
    births,
    claim,
    feature_znode,
    first_epoch,
    log_dir_failed,
    missing_roots,
    registration,
    with_leader_epochs,
)
from kbroker.controller.zookeeper.topic_znodes import Assignment
from kbroker.controller.zookeeper.tree import (
    Check,
    Create,
    Delete,
    Node,
    OpFailed,
    SetData,
    Tree,
    transactions,
)
from kbroker.controller.zookeeper.writing import (
    Claim,
    assignment_operations,
    operations,
)
from kbroker.metadata.image import Endpoint
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.fence_broker_record import FenceBrokerRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.types import TopicPartition
from tests.controller.clusters import uuid
from tests.controller.zookeeper.other_writers import isr_changed

BROKER = BrokerZnode((Endpoint("PLAINTEXT", "h", 9092),))


@pytest.fixture
def tree():
    """Two brokers, the first one the controller."""
    made = Tree(whole=True)
    for op in [*missing_roots(made), first_epoch()]:
        made.apply([op])
    for broker in (1, 2):
        made.apply(registration(broker, BROKER))
    made.apply(claim(1, 7, 0, 0)[1])
    return made


CLAIM = Claim(1, 1)


def with_topic(tree, *, topic_id=None, replicas=None):
    replicas = replicas or {0: [1, 2], 1: [2, 1]}
    tree.apply([Create("/brokers/topics/t", Assignment(replicas, topic_id=topic_id).encode())])
    return read(tree)


def test_one_failing_operation_undoes_all(tree):
    before = tree.copy()
    ops = [
        Check("/controller_epoch", 1),
        Create("/a", b"x"),
        SetData("/controller_epoch", b"9", 1),
        Delete("/a"),
        Create("/isr_change_notification/isr_change_", sequence=True),
    ]
    for last, reason in (
        (Create("/a/b/c"), "no parent"),
        (Create("/controller"), "node exists"),
        (SetData("/controller_epoch", b"", 1), "bad version"),
        (Delete("/nobody"), "no node"),
        (Delete("/brokers"), "not empty"),
    ):
        with pytest.raises(OpFailed) as caught:
            tree.apply([*ops, last])
        assert (caught.value.index, caught.value.reason) == (5, reason)
        assert {p: tree.get(p) for p in tree.paths()} == {p: before.get(p) for p in before.paths()}
        assert all(tree.children(p) == before.children(p) for p in before.paths())
    assert tree.apply(ops)[-1].startswith("/isr_change_notification/isr_change_")


def test_a_registration_is_kafkas(tree):
    node = tree.get("/brokers/ids/2")
    assert (node.version, node.ephemeral) == (1, True)
    broker = read(tree).image().brokers[2]
    assert (broker.epoch, broker.active) == (node.czxid, True)
    again = tree.copy()
    again.apply([Delete("/brokers/ids/2")])
    again.apply(registration(2, BROKER))
    assert read(again).image().brokers[2].incarnation_id != broker.incarnation_id


def test_notifications_are_numbered_and_obeyed(tree):
    part = TopicPartition("t", 0)
    made = [tree.apply([op])[0] for op in (isr_changed([part]), isr_changed([part]), log_dir_failed(2))]
    assert made == [
        "/isr_change_notification/isr_change_0000000000",
        "/isr_change_notification/isr_change_0000000001",
        "/log_dir_event_notification/log_dir_event_0000000000",
    ]
    with pytest.raises(OpFailed):
        tree.apply([Claim(0, 0).check, *map(Delete, made)])
    tree.apply([CLAIM.check, *map(Delete, made)])
    assert tree.children(paths.ISR_CHANGES) == []


def test_what_zookeeper_answered_names_the_sequential_znode(tree):
    tree.apply([isr_changed([])], ["/isr_change_notification/isr_change_0000000041"])
    assert tree.apply([isr_changed([])]) == ["/isr_change_notification/isr_change_0000000042"]


def test_a_controller_does_not_keep_its_own_notifications():
    part = Tree()
    assert part.apply([isr_changed([])]) == ["/isr_change_notification/isr_change_0000000000"]
    assert len(part) == 0


def test_a_topic_that_a_tool_created_gets_an_id_and_leaders(tree):
    reading = with_topic(tree)
    assert reading.without_id == ["t"]
    assert reading.unborn == [("t", 0), ("t", 1)]
    image = reading.image()
    assert image.topics.get("t").partitions[0].leader == -1
    tree.apply(assignment_operations(reading.without_id, image, tree, CLAIM))
    records = births(image, [*reading.unborn, TopicPartition("gone", 0)])
    tree.apply(operations(records, image, tree, CLAIM))
    again = read(tree)
    assert (again.without_id, again.unborn) == ([], [])
    assert again.image().topics == image.apply(records).topics
    assert again.image().topics.get("t").partitions[1] == (
        (2, 1), (2, 1), 2, 0, 0, (), (), (), (), (), 0
    )  # fmt: skip


def test_a_partition_without_a_live_replica_waits(tree):
    reading = with_topic(tree, replicas={0: [8, 9], 1: [9, 2]})
    assert [r.partition_id for r in births(reading.image(), reading.unborn)] == [1]


def born(tree):
    reading = with_topic(tree, topic_id=uuid(77))
    tree.apply(operations(births(reading.image(), reading.unborn), reading.image(), tree, CLAIM))
    return read(tree).image()


def test_brokers_hear_of_changes_by_a_new_leader_epoch(tree):
    image = born(tree)
    shrunk = PartitionChangeRecord(partition_id=0, topic_id=uuid(77), isr=[1])
    moved = PartitionChangeRecord(partition_id=1, topic_id=uuid(77), replicas=[2, 1, 3], adding_replicas=[3])
    by_controller = with_leader_epochs([shrunk, moved, moved], image)
    assert [record.leader for record in by_controller] == [1, 2, 2]
    assert (shrunk.leader, moved.leader) == (-2, -2)
    by_leader = with_leader_epochs([shrunk, moved], image, by_leader=True)
    assert [record.leader for record in by_leader] == [-2, 2]
    new = image.apply(by_controller).topics.get("t").partitions
    assert [(p.leader_epoch, p.partition_epoch) for p in new] == [(1, 1), (2, 2)]


def test_the_version_of_a_state_is_what_was_read(tree):
    image = born(tree)
    record = PartitionChangeRecord(partition_id=0, topic_id=uuid(77), isr=[1])
    ops = operations([record], image, tree, CLAIM)
    assert ops == [
        Check("/controller_epoch", 1),
        SetData("/brokers/topics/t/partitions/0/state", ops[1].data, 0),
    ]
    tree.apply(ops)
    with pytest.raises(OpFailed) as caught:  # somebody who read before
        tree.apply(ops)
    assert caught.value.reason == "bad version"


def test_what_zookeeper_does_not_keep_has_no_operation(tree):
    image = born(tree)
    records = [
        FenceBrokerRecord(id=1, epoch=image.brokers[1].epoch),
        FeatureLevelRecord(name="metadata.version", feature_level=15),
    ]
    assert operations(records, image, tree, CLAIM) == []
    assert transactions([]) == []


def test_a_topic_that_came_and_went_in_one_decision_leaves_nothing(tree):
    image = born(tree)
    ops = operations([RemoveTopicRecord(topic_id=uuid(77))], image, tree, CLAIM)
    tree.apply(ops)
    assert not [path for path in tree.paths() if path[-2:] == "/t"]
    assert len(read(tree).image().topics) == 0


def test_large_decisions_are_cut(tree):
    ops = [CLAIM.check, *(SetData(f"/p{n}", b"x" * 100, 0) for n in range(10))]
    parts = transactions(ops, 700)
    assert [len(part) for part in parts] == [4, 4, 4, 2]
    assert all(part[0] == CLAIM.check for part in parts)
    assert [op for part in parts for op in part[1:]] == ops[1:]
    assert transactions(ops) == [ops]


def test_configs_keep_their_order(tree):
    def change(key, value):
        return ConfigRecord(resource_type=4, resource_name="", name=key, value=value)

    image = read(tree).image()
    for records in ([change("b", "1"), change("a", "2")], [change("c", "3"), change("b", "4")]):
        tree.apply(operations(records, image, tree, CLAIM))
        image = image.apply(records)
    assert tree.data("/config/brokers/<default>") == b'{"version":1,"config":{"b":"4","a":"2","c":"3"}}'
    assert tree.data("/config/changes/config_change_0000000001") == (
        b'{"version":2,"entity_path":"brokers/<default>"}'
    )
    tree.put("/config/brokers/<default>", Node(b"foreign"))
    with pytest.raises(Exception, match="znode /config/brokers/<default>: is no JSON: 'foreign'"):
        operations([change("a", "5")], image, tree, CLAIM)


def test_foreign_keys_of_a_user_stay(tree):
    tree.apply([Create("/config/users/u", b'{"version":1,"config":{"theirs":"x"}}')])
    image = read(tree).image()
    for value, expected in ((5.0, {"theirs": "x", "producer_byte_rate": "5"}), (None, {"theirs": "x"})):
        decision = alter_client_quotas(
            image, [QuotaChange((("user", "u"),), [("producer_byte_rate", value)])]
        )
        tree.apply(operations(decision.records, image, tree, CLAIM))
        image = image.apply(decision.records)
        assert json.loads(tree.data("/config/users/u"))["config"] == expected


def test_the_feature_znode_is_kafkas(tree):
    """Of brokers before 2.7, whose features do not count, and ours after it."""
    tree.apply([Create(paths.FEATURE, b'{"features":{},"version":1,"status":0}')])
    tree.apply(feature_znode(tree, CLAIM))
    node = tree.get(paths.FEATURE)
    assert (node.data, node.version) == (b'{"features":{},"version":2,"status":1}', 1)
    assert feature_znode(tree, CLAIM) == []
