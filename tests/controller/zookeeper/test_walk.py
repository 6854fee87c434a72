"""Every znode that Apache Kafka 3.9.2 wrote: read, written again, and made by our own decisions."""

from __future__ import annotations

import json
import re

import pytest

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import FeatureZnode, ProducerIdsZnode
from kbroker.controller.zookeeper.config_znodes import (
    decode_change,
    decode_configs,
    encode_change,
    encode_configs,
)
from kbroker.controller.zookeeper.entities import quota_entity
from kbroker.controller.zookeeper.node_znodes import (
    BrokerZnode,
    ControllerZnode,
    decode_cluster_id,
    decode_log_dir_event,
    encode_cluster_id,
    encode_log_dir_event,
)
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.security_znodes import (
    AclPath,
    TokenZnode,
    decode_acl_change,
    decode_acls,
    encode_acls,
    resource_type,
)
from kbroker.controller.zookeeper.steps import missing_roots
from kbroker.controller.zookeeper.topic_znodes import (
    Assignment,
    PartitionState,
    decode_partitions,
    decode_reassignments,
)
from kbroker.controller.zookeeper.tree import Create, Delete, SetData, Tree
from kbroker.controller.zookeeper.writing import Claim, operations
from kbroker.security.acl import PatternType
from tests.controller.zookeeper import walk
from tests.controller.zookeeper.histories import records_between
from tests.controller.zookeeper.other_writers import encode_partitions, encode_reassignments


def written():
    """(path, data) of everything with data, once."""
    seen = {}
    for _, transactions in walk.steps():
        for _, ops in transactions:
            for op in ops:
                if isinstance(op, (Create, SetData)) and op.data:
                    seen[op.path, op.data] = None
    return list(seen)


def again(path, data):
    """The same znode, read and written by us."""
    parts = path.split("/")
    version = json.loads(data).get("version") if data.startswith(b"{") else None
    if path == paths.CONTROLLER_EPOCH:
        return str(int(data)).encode()
    if path == paths.CLUSTER_ID:
        return encode_cluster_id(decode_cluster_id(data))
    if path == paths.CONTROLLER:
        return ControllerZnode.decode(data).encode(version)
    if path == paths.FEATURE:
        return FeatureZnode.decode(data).encode(version)
    if path == paths.PRODUCER_IDS:
        return ProducerIdsZnode.decode(data).encode()
    if path == paths.REASSIGN_PARTITIONS:
        return encode_reassignments(decode_reassignments(data))
    if path == paths.PREFERRED_ELECTION or path.startswith(paths.ISR_CHANGES):
        return encode_partitions(decode_partitions(path, data))
    if path.startswith(paths.LOG_DIR_EVENTS):
        return encode_log_dir_event(decode_log_dir_event(path, data))
    if path.startswith(paths.BROKER_IDS):
        return BrokerZnode.decode(path, data).encode(version)
    if path.endswith("/state"):
        return PartitionState.decode(path, data).encode()
    if path.startswith(paths.TOPICS):
        return Assignment.decode(path, data).encode(version)
    if path.startswith(paths.CONFIG_CHANGES):
        return encode_change(decode_change(path, data))
    if path.startswith(paths.CONFIG):
        return encode_configs(decode_configs(path, data))
    if path.startswith(paths.TOKEN_CHANGES):
        return data
    if path.startswith(paths.TOKENS):
        return TokenZnode.decode(path, data).encode()
    if path.startswith((paths.ACL_LITERAL_CHANGES, paths.ACL_PREFIXED_CHANGES)):
        return decode_acl_change(path, data).change()[1]
    pattern = PatternType.PREFIXED if path.startswith(paths.ACL_PREFIXED) else PatternType.LITERAL
    resource = AclPath(resource_type(path, parts[-2]), parts[-1], pattern)
    assert resource.path == path
    return encode_acls(decode_acls(resource, data))


def test_every_znode_is_written_again_byte_by_byte():
    everything = written()
    assert len(everything) > 380
    different = [(path, data, again(path, data)) for path, data in everything if again(path, data) != data]
    assert different == []


def test_the_walk_leads_to_kafkas_trees():
    tree = Tree(whole=True)
    ends = {"A6": "stopped-2.6", "B22": "running", "B23": "stopped"}
    for title, transactions in walk.steps():
        walk.play(tree, transactions)
        name = ends.pop(title.split()[0], None)
        if title.startswith("B21"):  # nothing was written in B22
            name = ends.pop("B22")
        if name is not None:
            expected = walk.tree(name)
            # A few of ZooKeeper's own are not in the log.
            kept = [path for path in expected.paths() if not path.startswith("/zookeeper")]
            assert {p: tree.get(p) for p in tree.paths()} == {p: expected.get(p) for p in kept}
    assert ends == {}


def test_our_first_znodes_are_kafkas():
    tree, transactions = walk.before("A1")
    walk.play(tree, transactions)
    ours = Tree(whole=True)
    for op in missing_roots(ours, paths.ROOTS + paths.TOKEN_ROOTS + paths.ACL_ROOTS):
        ours.apply([op])
    folders = {path for path in tree.paths() if path.count("/") < 4 and tree.data(path) in (b"", None)}
    assert folders - {"/cluster"} <= set(ours.paths()) <= set(tree.paths())


@pytest.mark.parametrize("name", ["running", "stopped", "stopped-2.6"])
def test_a_whole_tree_is_read_without_a_problem(name):
    tree = walk.tree(name)
    reading = read(tree)
    assert reading.problems == []
    assert reading.unborn == []
    image = reading.image()
    assert image.cluster_id == "jnHv8m8ASfijXiij-64p2w"
    assert image.topics.names() == tree.children(paths.TOPICS)
    assert sorted(image.brokers) == ([1, 2, 3] if name == "running" else [])
    for topic in image.topics:
        for index, partition in enumerate(topic.partitions):
            assert partition.partition_epoch == tree.get(paths.state(topic.name, index)).version


def test_what_is_read():
    image = read(walk.tree("running")).image()
    assert image.controller_id == 1
    broker = image.brokers[2]
    assert (broker.epoch, broker.rack, broker.fenced) == (0x312, "rack-2", False)
    assert [tuple(e) for e in broker.endpoints] == [
        ("PLAINTEXT", "127.0.0.1", 38172, 0),
        ("SASL_PLAINTEXT", "127.0.0.1", 38182, 2),
    ]
    assert image.next_producer_id == 6000
    assert image.topic_config("zk-three")["max.message.bytes"] == "900000"
    assert dict(image.config(4, "")) == {"max.connections.per.ip": "4000"}
    assert dict(image.config(4, "1")) == {"log.cleaner.threads": "2"}
    assert image.quotas[(("user", "sp ace%&=ü"),)] == {"controller_mutation_rate": 3.5}
    assert image.quotas[(("client-id", "app-1"), ("user", "alice"))] == {"producer_byte_rate": 5000.0}
    assert image.quotas[(("client-id", None), ("user", None))] == {"producer_byte_rate": 9000000.0}
    assert image.quotas[(("ip", None),)] == {"connection_creation_rate": 1000.0}
    assert sorted(image.scram) == [("alice", 1), ("alice", 2), ("bøb", 2)]
    assert len(image.acls) == 6
    assert {token.owner for token in image.tokens.values()} == {"User:alice"}
    assert {name for token in image.tokens.values() for name in token.renewers} == {"User:ops"}


def claim_of(tree):
    epoch = tree.get(paths.CONTROLLER_EPOCH)
    return Claim(int(epoch.data), epoch.version)


def by_json(data):
    """JSON without its order, where a map's order is chance (configs come from a hash table)."""
    return json.loads(data) if data.startswith(b"{") else data


#: Written by brokers and tools, or, as Kafka's controller does, without the notification that ours has.
NOT_DECIDED = re.compile(
    r"/(controller|controller_epoch|cluster|brokers/ids|feature|admin|isr_change|log_dir|consumers"
    r"|config/changes|kafka-acl-changes|kafka-acl-extended-changes|delegation_token/token_changes)"
)


def deletions_together(transactions):
    """Kafka takes a topic away znode by znode, we at once."""
    gone = []
    for zxid, ops in transactions:
        if all(isinstance(op, Delete) and "/walk-" in op.path for op in ops):
            gone += ops
        elif ops:
            yield zxid, ops
    if gone:
        yield transactions[-1][0], gone


def test_every_write_of_the_walk_is_what_our_operations_would_write():
    """Image before, image after, their difference as records and operations: the same znodes and versions."""
    tree = Tree(whole=True)
    compared, after = 0, None
    for title, transactions in walk.steps():
        if title.startswith("A"):
            # By an inter.broker.protocol.version of 2.6, as which we do not write.
            walk.play(tree, transactions)
            continue
        for transaction in deletions_together(transactions):
            paths_written = [op.path for op in transaction[1] if not NOT_DECIDED.match(op.path)]
            if not paths_written:
                walk.play(tree, [transaction])
                after = None
                continue
            ours = tree.copy()
            before = read(tree) if after is None else after
            walk.play(tree, [transaction])
            after = read(tree)
            assert before.problems == after.problems == []
            records = records_between(before, after)
            ops = operations(records, before.image(), ours, claim_of(ours))
            ours.apply(ops)
            for path in paths_written:
                kafka, own = tree.get(path), ours.get(path)
                if records and (kafka is None or kafka.data):
                    where = (title, path, kafka, own)
                    assert (kafka is None) == (own is None), where
                    if kafka is not None:
                        assert by_json(kafka.data) == by_json(own.data), where
                        assert kafka.version == own.version, where
                        if not path.startswith(paths.CONFIG):
                            assert kafka.data == own.data, where
                    compared += 1
    assert compared > 290


def test_notifications_are_kafkas():
    notes = {}
    for _, transactions in walk.steps():
        for _, ops in transactions:
            for op in ops:
                if isinstance(op, Create) and re.search(r"\d{10}$", op.path):
                    notes.setdefault(paths.parent(op.path), []).append(op.data)
    tree, transactions = walk.before("B6")
    own = []
    for transaction in transactions:
        before, claim = read(tree), claim_of(tree)
        ops = []
        copied = tree.copy()
        walk.play(tree, [transaction])
        records = records_between(before, read(tree))
        if records:
            ops = operations(records, before.image(), copied, claim)
        own += [op.data for op in ops if isinstance(op, Create) and op.sequence]
    expected = [data for folder in notes for data in notes[folder] if b"walk-topic" not in data]
    expected = [data for data in expected if b"partitions" not in data and b'"event"' not in data]
    assert sorted(own) == sorted(expected)
    assert quota_entity("users/b%C3%B8b") == (("user", "bøb"),)
