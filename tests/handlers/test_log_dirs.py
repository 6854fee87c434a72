"""Several log directories: moves between them, one that fails, one that is missing at the start."""

from __future__ import annotations

import errno

import pytest

from kbroker.broker.checkpoint_writer import CheckpointWriter
from kbroker.broker.log_directories import LogDirectories
from kbroker.broker.log_mover import LogMover
from kbroker.config.broker_config import BrokerConfig
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirTopic,
)
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.replication.throttle import UNLIMITED, ReplicationQuota
from tests.doubles import HandThread
from tests.handlers.node import Node, batch
from tests.handlers.test_produce import only, to


@pytest.fixture
def thread():
    return HandThread()


@pytest.fixture
def node(tmp_path, thread, monkeypatch):
    monkeypatch.setattr("kbroker.storage.log_move.FINISH_BYTES", 100)
    node = Node(tmp_path / "a", tmp_path / "b")
    node.services.log_mover = LogMover(
        node.replicas,
        thread.run_blocking,
        node.services.new_uuid,
        CheckpointWriter(node.logs, thread.run_blocking),
        node.timer,
    )
    return node


def alter(client, path, topic="t", *partitions, version=2):
    topics = [AlterReplicaLogDirTopic(name=topic, partitions=list(partitions or (0,)))]
    answer = client.ask("AlterReplicaLogDirs", version, dirs=[AlterReplicaLogDir(path=path, topics=topics)])
    return [partition.error_code for partition in answer.results[0].partitions]


def where(client):
    """(folder, partition, future) of topic t."""
    answer = client.ask("DescribeLogDirs", 4, topics=None)
    return sorted(
        (result.log_dir[-1], partition.partition_index, partition.is_future_key)
        for result in answer.results
        for topic in result.topics
        if topic.name == "t"
        for partition in topic.partitions
    )


def test_partitions_are_spread_by_count(node):
    node.topic("t", partitions=4)
    assert where(node.connect()) == [("a", 0, False), ("a", 2, False), ("b", 1, False), ("b", 3, False)]


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_partition_moves_while_it_is_written(node, thread, version):
    node.topic("t")
    client, target = node.connect(), node.logs.dirs[1].path
    for number in range(5):
        client.ask("Produce", 9, **to("t", batch(b"%d" % number)))
    assert alter(client, target, version=version) == [0]
    assert alter(client, target, version=version) == [0], "again is the same"
    assert where(client) == [("a", 0, False), ("b", 0, True)]
    client.ask("Produce", 9, **to("t", batch(b"x" * 500)))
    while thread.jobs:
        thread.finish()
    assert where(client) == [("b", 0, False)]
    assert only(client.ask("Produce", 9, **to("t", batch(b"after")))).base_offset == 6
    partition = node.replicas.get("t", 0)
    assert (partition.log.directory.path, partition.high_watermark) == (target, 7)
    assert node.services.log_mover.moves == {}


def test_moving_back_before_it_is_done_lets_it_stay(node, thread, tmp_path):
    node.topic("t")
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"x" * 500)))
    assert alter(client, node.logs.dirs[1].path) == [0]
    assert alter(client, node.logs.dirs[0].path) == [0]
    while thread.jobs:
        thread.finish()
    assert where(client) == [("a", 0, False)]
    node.logs.tick_removals(node.clock.now)
    assert [path.name for path in (tmp_path / "b").iterdir() if path.is_dir()] == []


def test_a_topic_that_is_deleted_while_it_moves(node, thread, tmp_path):
    topic_id = node.topic("t")
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"x" * 500)))
    alter(client, node.logs.dirs[1].path)
    node.delete(topic_id)
    while thread.jobs:
        thread.finish()
    node.logs.tick_removals(node.clock.now)
    assert [path.name for path in (tmp_path / "b").iterdir() if path.is_dir()] == []
    assert node.services.log_mover.moves == {}


def test_what_cannot_be_moved(node):
    node.topic("t")
    client = node.connect()
    assert alter(client, "/nowhere") == [ErrorCode.LOG_DIR_NOT_FOUND]
    assert alter(client, "/nowhere", "x" * 300) == [ErrorCode.INVALID_TOPIC_EXCEPTION]
    assert alter(client, node.logs.dirs[1].path, "none") == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    node.logs.dirs[1].fail_for_good(OSError(errno.EIO, "Input/output error"))
    assert alter(client, node.logs.dirs[1].path) == [ErrorCode.KAFKA_STORAGE_ERROR]


def test_nothing_comes_into_a_cordoned_directory(node):
    """As Kafka 4.4 (KIP-1066): not even a move to where the partition lies, or of one that does not exist."""
    a, b = node.logs.dirs
    a.directory_id, b.directory_id = b"a" * 16, b"b" * 16
    directories = LogDirectories(node.logs, BrokerConfig({"node.id": "1", "log.dirs": f"{a.path},{b.path}"}))
    node.topic("t", partitions=2)
    client, told = node.connect(), []
    directories.on_cordoned = lambda: told.append(directories.cordoned())
    directories._config.update_dynamic({}, {"cordoned.log.dirs": a.path})
    assert told == [[a.directory_id]]
    assert [each.is_cordoned for each in client.ask("DescribeLogDirs", 5, topics=[]).results] == [True, False]
    assert alter(client, a.path, "t", 0, 1, 9) == [ErrorCode.INVALID_REPLICA_ASSIGNMENT] * 3
    assert alter(client, b.path, "t", 0) == [ErrorCode.NONE]
    node.topic("u", partitions=3)
    results = client.ask("DescribeLogDirs", 5, topics=None).results
    assert [sum(topic.name == "u" for topic in each.topics) for each in results] == [0, 1]
    # A partition that is given to this broker all the same has to lie somewhere.
    directories._config.update_dynamic({}, {"cordoned.log.dirs": "*"})
    assert told[1:] == [[a.directory_id, b.directory_id]]
    node.topic("v", partitions=2)
    directories._config.update_dynamic({}, {})
    assert told[2:] == [[]]


def test_a_target_without_room_leaves_the_partition_where_it_is(node, thread):
    node.topic("t")
    client = node.connect()
    client.ask("Produce", 9, **to("t", batch(b"x" * 500)))
    alter(client, node.logs.dirs[1].path)
    _, done = thread.jobs.pop()
    done(OSError(errno.ENOSPC, "No space left on device"))
    assert where(client) == [("a", 0, False)]
    assert not node.logs.dirs[1].offline
    assert only(client.ask("Produce", 9, **to("t", batch(b"x")))).error_code == 0


def test_a_directory_that_fails_does_so_alone(node):
    node.topic("t", partitions=4)
    client = node.connect()
    told = []
    node.replicas.on_directory_failed = told.append
    bad = node.logs.dirs[1]
    bad.fail(OSError(errno.EIO, "Input/output error"))
    node.advance(1)
    assert told == [bad]
    codes = [
        only(client.ask("Produce", 9, **to("t", batch(b"x"), index=index))).error_code for index in range(4)
    ]
    assert codes == [0, ErrorCode.KAFKA_STORAGE_ERROR] * 2
    results = client.ask("DescribeLogDirs", 4, topics=None).results
    assert [result.error_code for result in results] == [0, ErrorCode.KAFKA_STORAGE_ERROR]
    node.topic("new", partitions=2)
    assert node.replicas.get("new", 1).log.directory is node.logs.dirs[0]


def test_a_directory_that_is_lost_at_the_start_is_not_replaced_by_empty_logs(node, tmp_path):
    topic_id = node.topic("t", partitions=2)
    client = node.connect()
    for index in range(2):
        client.ask("Produce", 9, **to("t", batch(b"x"), index=index))
    node.logs.close()
    again = Node(tmp_path / "a", tmp_path / "b")
    again.logs.dirs[1].fail(OSError(errno.EIO, "Input/output error"))
    del again.logs.logs[("t", 1)]
    delta = _everything(topic_id)
    again.cache.publish(delta.image(10, 1), delta)
    client = again.connect()
    answers = [only(client.ask("Produce", 9, **to("t", batch(b"x"), index=index))) for index in range(2)]
    assert [answer.error_code for answer in answers] == [0, ErrorCode.KAFKA_STORAGE_ERROR]
    assert answers[0].base_offset == 1
    assert not (tmp_path / "a" / "t-1").exists()


def _everything(topic_id):
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.partition_record import PartitionRecord

    delta = ClusterDelta(ClusterImage(cluster_id="cluster-id"))
    delta.replay(TopicRecord(name="t", topic_id=topic_id))
    for index in range(2):
        delta.replay(
            PartitionRecord(
                partition_id=index, topic_id=topic_id, replicas=[1], isr=[1], leader=1, leader_epoch=0
            )
        )
    return delta


def test_so_many_moves_as_allowed_are_under_way_at_once(node, thread):
    node.topic("t", partitions=8)
    client = node.connect()
    for partition in range(8):
        client.ask("Produce", 9, **to("t", batch(b"x" * 500), partition))
    mover = node.services.log_mover
    mover._at_once = 3
    there = [index for folder, index, _ in where(client) if folder == "a"]
    assert alter(client, node.logs.dirs[1].path, "t", *there) == [0] * 4
    assert len(thread.jobs) == 3
    while thread.jobs:
        thread.finish()
    assert [folder for folder, _, _ in where(client)] == ["b"] * 8
    assert mover.moves == {}


def test_moves_keep_to_their_quota(node, thread):
    node.topic("t")
    client = node.connect()
    for number in range(10):
        client.ask("Produce", 9, **to("t", batch(bytes([number]) * 1000)))
    size = node.replicas.get("t", 0).log.size
    rate = [1000]
    node.services.log_mover._quota = ReplicationQuota(lambda: rate[0], 2000)
    alter(client, node.logs.dirs[1].path)
    (move,) = node.services.log_mover.moves.values()
    began, copied = node.clock.now, []
    while node.clock.now < began + 4500:
        while thread.jobs:
            thread.finish()
        if move.copied_bytes not in copied:
            copied.append(move.copied_bytes)
        node.advance(100)
    # Two seconds' worth at once, and again as soon as that much may be copied.
    assert copied == [2000, 4000, 6000]
    assert size > 6000
    rate[0] = UNLIMITED
    node.advance(100)
    while thread.jobs:
        thread.finish()
    assert where(client) == [("b", 0, False)]
