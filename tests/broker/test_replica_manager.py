from __future__ import annotations

import errno

import pytest

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.record_batch import check_crc, decode_records, iter_batches
from kbroker.storage.disk import StorageError
from kbroker.storage.log import AppendOrigin
from kbroker.types import TopicPartition
from tests.handlers.node import Node, batch

TP = TopicPartition("t", 0)


@pytest.fixture
def node(tmp_path):
    return Node(tmp_path / "data")


@pytest.fixture
def told(node):
    changes = []
    node.replicas.on_leadership(lambda change: changes.append(change[::2] + change[3:]))
    return changes


def append(node, *values):
    return node.replicas.append_internal(TP, batch(*values), origin=AppendOrigin.COORDINATOR)


def test_a_coordinator_appends_waits_and_reads_back(node):
    node.topic("t")
    result = append(node, b"a", b"b")
    assert (result.base_offset, result.last_offset) == (0, 1)
    assert node.replicas.when_committed(TP, 1).done
    append(node, b"c")
    data = node.replicas.read_internal(TP, 1)
    values = [record.value for header in iter_batches(data) for record in decode_records(data, header)]
    assert values == [b"a", b"b", b"c"]
    assert node.replicas.read_internal(TP, 3) == b""


def test_with_followers_a_commit_takes_their_fetches(node):
    node.topic("t", replicas=(1, 2))
    append(node, b"a")
    first, second = node.replicas.when_committed(TP, 0), node.replicas.when_committed(TP, 1)
    assert not first.done
    append(node, b"b")
    node.replicas.get("t", 0).follower_fetched(2, 1)
    assert first.done
    assert not second.done
    node.replicas.get("t", 0).follower_fetched(2, 2)
    assert second.result() is None


def own(node, *values, tp=TP):
    """As coordinators append what they have just made."""
    made = bytearray(batch(*values))
    timestamp = next(iter_batches(made)).max_timestamp
    return node.replicas.append_own(tp, made, len(values) - 1, timestamp)


def test_what_a_coordinator_has_just_made_lies_in_the_log_as_all_else(node):
    node.topic("t")
    append(node, b"a")
    assert own(node, b"b", b"c") == (1, True)
    assert own(node, b"d") == (3, True)
    headers = list(iter_batches(node.replicas.read_internal(TP, 0)))
    assert [(h.base_offset, h.next_offset, h.leader_epoch) for h in headers] == [
        (0, 1, 0),
        (1, 3, 0),
        (3, 4, 0),
    ]
    data = node.replicas.read_internal(TP, 0)
    assert all(check_crc(data, header) for header in headers)


def test_it_waits_for_followers_too(node):
    node.topic("t", replicas=(1, 2))
    assert own(node, b"a") == (0, False)
    waits = node.replicas.when_committed(TP, 0)
    node.replicas.get("t", 0).follower_fetched(2, 1)
    assert waits.done


def test_it_is_refused_as_all_else(node):
    node.topic("followed", replicas=(2, 1), leader=2)
    node.topic("few", replicas=(1, 2), isr=(1,), min_insync_replicas="2")
    node.topic("t", max_message_bytes="77")
    for tp, code in (
        (TopicPartition("none", 0), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TopicPartition("followed", 0), ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (TopicPartition("few", 0), ErrorCode.NOT_ENOUGH_REPLICAS),
        (TP, ErrorCode.MESSAGE_TOO_LARGE),
    ):
        with pytest.raises(ApiError) as caught:
            own(node, b"a" * 100, tp=tp)
        assert caught.value.code == code
    assert node.replicas.get("t", 0).log.staged_end_offset == 0


def test_what_is_not_here_is_unknown_or_led_elsewhere(node):
    node.topic("t", replicas=(2,), leader=2)
    node.topic("followed", replicas=(2, 1), leader=2)
    for tp, code in (
        (TP, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (TopicPartition("followed", 0), ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ):
        with pytest.raises(ApiError) as caught:
            node.replicas.append_internal(tp, batch(b"a"), origin=AppendOrigin.COORDINATOR)
        assert caught.value.code == code
    assert node.replicas.get("followed", 0).leader_id == 2
    assert list(node.replicas.led_partitions()) == []


def test_leadership_is_told_when_it_begins_moves_and_ends(node, told):
    topic_id = node.topic("t", partitions=2, replicas=(1, 2))
    assert told == [(TP, 0, False), (("t", 1), 0, False)]
    told.clear()
    node.move_leader(topic_id, 0, 2)
    assert told == [(TP, -1, False)]
    told.clear()
    node.move_leader(topic_id, 0, 1)
    assert told == [(TP, 2, False)]
    told.clear()
    node.delete(topic_id)
    assert told == [(TP, -1, True), (("t", 1), -1, True)]


def test_who_subscribes_late_hears_of_what_is_led_already(node):
    node.topic("t")
    heard = []
    node.replicas.on_leadership(heard.append)
    assert [(change.topic_partition, change.leader_epoch) for change in heard] == [(TP, 0)]


def test_waiting_commits_fail_when_leadership_is_lost(node):
    topic_id = node.topic("t", replicas=(1, 2))
    append(node, b"a")
    waiting = node.replicas.when_committed(TP, 0)
    node.move_leader(topic_id, 0, 2)
    with pytest.raises(ApiError) as caught:
        waiting.result()
    assert caught.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_smaller_in_sync_set_within_an_epoch_releases_commits(node):
    topic_id = node.topic("t", replicas=(1, 2))
    append(node, b"a")
    waiting = node.replicas.when_committed(TP, 0)
    node.clock.now += 60_000
    node.publish(PartitionChangeRecord(partition_id=0, topic_id=topic_id, leader=-2, isr=[1]))
    assert waiting.done
    assert node.replicas.get("t", 0).leader_epoch == 0


def test_new_configs_reach_live_logs(node):
    node.topic("t")
    node.publish(
        ConfigRecord(resource_type=2, resource_name="t", name="max.message.bytes", value="77"),
        ConfigRecord(resource_type=2, resource_name="t", name="min.insync.replicas", value="3"),
    )
    partition = node.replicas.get("t", 0)
    assert partition.log.config.max_message_bytes == 77
    assert partition.leader_state.min_isr == 3


def test_added_partitions_appear_and_replicas_that_move_away_go(node):
    topic_id = node.topic("t")
    node.publish(
        PartitionRecord(
            partition_id=1,
            topic_id=topic_id,
            replicas=[1],
            isr=[1],
            leader=1,
            leader_epoch=0,
            partition_epoch=0,
        )
    )
    assert node.replicas.get("t", 1).is_leader
    node.publish(PartitionChangeRecord(partition_id=1, topic_id=topic_id, replicas=[2], isr=[2], leader=2))
    assert node.replicas.get("t", 1) is None
    assert node.logs.get(TopicPartition("t", 1)) is None


def test_a_restart_finds_everything_committed(node, tmp_path):
    node.topic("t")
    append(node, b"a", b"b")
    node.logs.close()
    again = Node(tmp_path / "data")
    again.topic("t")
    partition = again.replicas.get("t", 0)
    assert (partition.high_watermark, partition.log.log_end_offset) == (2, 2)


def test_epochs_begin_at_the_end_of_the_log(node):
    topic_id = node.topic("t", replicas=(1, 2))
    append(node, b"a", b"b")
    node.move_leader(topic_id, 0, 2)
    node.move_leader(topic_id, 0, 1)
    assert node.replicas.get("t", 0).log.end_offset_for_epoch(0) == (0, 2)
    assert node.replicas.get("t", 0).leader_state.epoch_start_offset == 2


def test_a_failing_disk_takes_all_its_partitions_offline(node, told):
    node.topic("t")
    node.topic("u")
    told.clear()

    class Broken:
        def get(self, path):
            raise OSError(5, "Input/output error")

    node.logs.dirs[0].files = Broken()
    with pytest.raises(StorageError):
        append(node, b"a")
    assert told == [(TP, -1, False), (("u", 0), -1, False)]
    for topic in ("t", "u"):
        with pytest.raises(ApiError) as caught:
            node.replicas.led(topic, 0)
        assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR


def test_logs_that_found_no_room_are_made_as_soon_as_there_is_some(node, told, monkeypatch):
    disk = node.logs.dirs[0].disk
    real = disk.make_dir

    def no_room(path):
        if path.endswith("t-1"):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path)

    monkeypatch.setattr(disk, "make_dir", no_room, raising=False)
    monkeypatch.setattr(disk, "free_bytes", lambda path: 0, raising=False)
    made = []
    node.replicas.on_log_made = made.append
    topic_id = node.topic("t", partitions=2, replicas=(1, 2))
    node.topic("other", partitions=2)
    waiting = node.replicas.get("t", 1)
    assert waiting.log is None
    with pytest.raises(ApiError) as caught:
        node.replicas.led("t", 1)
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    # Still full: nobody is led without a log, whatever the metadata says meanwhile.
    node.move_leader(topic_id, 1, 2)
    node.move_leader(topic_id, 1, 1)
    node.advance(5_000)
    assert waiting.log is None
    monkeypatch.undo()
    node.logs.tick_room(0)
    told.clear()
    node.advance(1_000)
    assert node.replicas.led("t", 1) is waiting
    assert (waiting.leader_epoch, waiting.has_followers) == (2, True)
    assert told == [(("t", 1), 2, False)]
    assert made == [waiting]


def test_a_topic_that_is_deleted_meanwhile_gets_no_log(node, monkeypatch, caplog):
    disk = node.logs.dirs[0].disk

    def no_room(path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk, "make_dir", no_room, raising=False)
    topic_id = node.topic("t", partitions=3)
    assert node.replicas.get("t", 2).log is None
    assert [line for line in caplog.messages if "no log" in line and "t-0 and 2 more: " in line]
    monkeypatch.undo()
    node.delete(topic_id)
    node.logs.tick_room(0)
    node.advance(1_000)
    assert node.replicas.partitions == {}
    assert node.logs.logs == {}
