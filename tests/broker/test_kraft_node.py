from __future__ import annotations

import contextlib
import errno

import pytest
from hypothesis import given, settings, strategies as st

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.controller.decision import Decision
from kbroker.controller.kraft.bootstrap import feature_records
from kbroker.errors import ApiError, ConfigError, ErrorCode
from kbroker.metadata.image import CONFIG_BROKER
from kbroker.metadata.records import encode_record
from kbroker.protocol.generated.begin_transaction_record import BeginTransactionRecord
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.raft.batches import QuorumRules, read_items, snapshot_batches
from kbroker.raft.rpc import DescribeQuorumRequest, UpgradeKraftVersion
from kbroker.raft.snapshot import BOOTSTRAP_ID
from kbroker.raft.voter_set import QuorumVoter
from kbroker.storage.log import AppendOrigin
from kbroker.storage.memory_disk import Tail
from tests.broker.kraft_world import FOLDER, PARTITION, World


@pytest.fixture
def world():
    return World().format()


def log_items(world):
    return list(read_items(world.disk.read_file(f"{PARTITION}/{'0' * 20}.log")))


# -- the first start ---------------------------------------------------------------------------------------


def test_the_first_start_writes_what_kafka_writes(world):
    world.start()
    items = log_items(world)
    assert items[0].is_control
    assert items[0].rules.kraft_version == 1
    names = [value[1] for item in items for value in item.values]
    # Begin transaction, six feature levels, config, end transaction, controller, broker, its unfencing.
    assert names == [23, 12, 12, 12, 12, 12, 12, 4, 24, 27, 0, 17]
    features = {
        "metadata.version": 33,
        "eligible.leader.replicas.version": 1,
        "group.version": 1,
        "share.version": 2,
        "streams.version": 1,
        "transaction.version": 2,
    }
    assert world.image.features == features
    assert world.image.finalized_features() == {**features, "kraft.version": 1}
    assert world.image.config(CONFIG_BROKER, "") == {"min.insync.replicas": "1"}
    assert world.image.controller_id == 1
    assert world.image.live_brokers()[0].endpoints[0].port == 9092
    assert world.image.offset == items[-1].last_offset


def test_everything_is_published_once_when_the_node_serves(world):
    world.start()
    assert len(world.published) == 1
    assert not world.published[0].brokers[1].fenced


def test_the_first_start_needs_two_flushes(world):
    world.waiting = []
    world.start()
    world.finish_blocking()  # the leader change
    assert not world.node.started.done
    world.finish_blocking()  # all the rest
    world.node.started.result()


def test_static_voters_leave_no_trace_in_the_log():
    world = World().format(static_voters=True).start(static_voters=[QuorumVoter(1)])
    assert log_items(world)[0].last_offset == 0
    assert world.image.kraft_version == 0
    assert b'"currentVoters":[{"voterId":1}]' in world.disk.read_file(f"{PARTITION}/quorum-state")
    world.node.stop()
    world.start(static_voters=[QuorumVoter(1)])


def test_a_folder_formatted_by_kafka_three():
    world = World().format()
    world.disk.remove(f"{PARTITION}/{'0' * 20}-{'0' * 10}.checkpoint")
    values = [encode_record(record, 21) for record in feature_records(21)]
    batches = snapshot_batches(values, QuorumRules(), epoch=0, last_log_timestamp_ms=0, now_ms=0)
    world.disk.write_file(f"{FOLDER}/bootstrap.checkpoint", b"".join(batches))
    world.start()
    assert world.image.features == {"metadata.version": 21}
    world.create("t").result()
    world.node.stop()
    world.start()
    assert "t" in world.image.topics


def test_an_upgrade_of_the_quorum_counts_although_records_follow_it_at_once():
    world = World().format(static_voters=True).start(static_voters=[QuorumVoter(1)])
    world.waiting = []
    upgraded = world.node.raft.ask(UpgradeKraftVersion(1))
    world.create("t")
    world.finish_blocking()
    world.finish_blocking()
    assert upgraded.result().error is ErrorCode.NONE
    assert "t" in world.image.topics
    assert world.image.kraft_version == 1
    assert world.node.metadata.rules.voters.get(1) is not None, "a snapshot would forget the voters"
    world.create("u")
    world.finish_blocking()
    assert world.image.kraft_version == 1
    assert world.published[-1].kraft_version == 1


# -- requests ----------------------------------------------------------------------------------------------


def test_an_answer_comes_when_the_topic_is_durable_and_published(world):
    world.start()
    world.waiting = []
    deferred = world.create("t")
    assert not deferred.done
    assert "t" not in world.image.topics
    world.finish_blocking()
    assert deferred.result()[0].error_code == 0
    assert "t" in world.image.topics


def test_requests_share_a_flush_and_see_each_other_before_it(world):
    world.start()
    world.waiting = []
    first = world.create("a")
    waiting = [world.create(name) for name in ("b", "c", "a")]
    world.finish_blocking()
    assert first.done
    assert not any(deferred.done for deferred in waiting)
    world.finish_blocking()
    assert [deferred.result()[0].error_code for deferred in waiting] == [0, 0, 36]
    assert world.waiting == []
    assert [len(image.topics) for image in world.published] == [0, 1, 2, 3]


def test_an_answer_without_records_waits_for_what_it_rests_on(world):
    world.start()
    world.waiting = []
    world.create("a")
    again = world.create("a")
    assert not again.done
    world.finish_blocking()
    assert again.result()[0].error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert world.create("a").done


def test_a_request_times_out_but_may_become_true(world):
    world.start()
    world.waiting = []
    deferred = world.create("t", timeout_ms=50)
    world.advance(51)
    with pytest.raises(ApiError) as caught:
        deferred.result()
    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
    world.finish_blocking()
    assert "t" in world.image.topics


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_nothing_is_done(world, timeout_ms):
    world.start()
    with pytest.raises(ApiError) as caught:
        world.create("t", timeout_ms=timeout_ms).result()
    assert caught.value.code is ErrorCode.REQUEST_TIMED_OUT
    assert "t" not in world.image.topics


def test_a_subscriber_may_ask_for_more_from_inside(world):
    world.start()
    more = []

    def react(old, new, delta):
        if "a" in new.topics and "b" not in new.topics and not more:
            more.append(world.create("b"))

    world.cache.subscribe(react)
    assert world.create("a").result()[0].error_code == 0
    assert more[0].result()[0].error_code == 0
    assert world.image.topics.names() == ["a", "b"]


def test_nobody_waits_for_the_disk_where_that_is_configured(world):
    world.waiting = []
    world.start(wait_for_disk=False)
    world.node.started.result()
    assert world.create("t").result()[0].error_code == 0
    assert len(world.waiting) == 1
    world.finish_blocking()
    assert "t" in World(world.disk, world.ids).start().image.topics


def test_46_producer_ids_come_in_blocks_and_never_twice(world):
    world.start()
    taken = [world.node.controller.next_producer_id().result() for _ in range(1500)]
    assert taken == list(range(1500))
    world.node.stop()
    world.start()
    assert world.node.controller.next_producer_id().result() == 2000


def test_the_quorum_is_described(world):
    world.start()
    status = world.node.raft.ask(DescribeQuorumRequest()).result()
    assert (status.leader.leader_id, status.leader.epoch) == (1, 1)
    (voter,) = status.voters
    assert status.high_watermark == voter.log_end_offset == world.image.offset + 1
    assert voter.replica.id == 1


def big_config(count):
    value = "x" * 30_000
    return [ConfigRecord(resource_type=2, resource_name="t", name=f"c{n}", value=value) for n in range(count)]


def test_an_atomic_decision_larger_than_a_batch_is_refused_and_changes_nothing(world):
    world.start()
    deferred = world.node.controller.append_records(lambda image: Decision(None, big_config(200)))
    with pytest.raises(ApiError) as caught:
        deferred.result()
    assert caught.value.code is ErrorCode.POLICY_VIOLATION
    assert world.create("t").result()[0].error_code == 0
    assert world.image.topic_config("t") == {}


def test_a_decision_that_need_not_be_atomic_is_cut_into_batches(world):
    world.start()
    world.node.controller.append_records(lambda image: Decision(None, big_config(200), atomic=False)).result()
    assert len(world.image.topic_config("t")) == 200
    assert max(item.size for item in log_items(world)) < 5 << 20
    world.node.stop()
    world.start()
    assert len(world.image.topic_config("t")) == 200


# -- stop and start ----------------------------------------------------------------------------------------


def test_all_is_there_after_a_restart_in_a_new_epoch(world):
    world.start()
    world.create("a", "b", partitions=3).result()
    world.node.stop()
    world.start()
    assert world.image.topics.names() == ["a", "b"]
    assert world.image.epoch == 2
    # Given up and taken back: who cached an offset of the old term checks it (KIP-320).
    assert {p.leader_epoch for topic in world.image.topics for p in topic.partitions} == {2}
    assert {p.leader for topic in world.image.topics for p in topic.partitions} == {1}
    assert len(world.published) == 1


def test_a_clean_stop_fences_the_broker_in_the_log_and_tells_nobody(world):
    world.start()
    world.create("a").result()
    told = len(world.published)
    world.node.stop()
    assert len(world.published) == told
    world.open()
    loaded = world.node.controller.committed_image
    assert loaded.brokers[1].fenced
    assert loaded.topics.partition("a", 0).leader == -1


def test_after_stopping_it_refuses(world):
    world.start()
    world.waiting = []
    pending = world.create("a")
    world.node.stop()
    for deferred in (pending, world.create("b")):
        with pytest.raises(ApiError) as caught:
            deferred.result()
        assert caught.value.code is ErrorCode.NOT_CONTROLLER


def test_an_unfinished_transaction_of_before_is_aborted(world):
    world.start()
    records = [BeginTransactionRecord(name="x"), TopicRecord(name="half", topic_id=bytes(15) + b"\x09")]
    world.node.raft.append([encode_record(record, 33) for record in records])
    world.node.stop()
    world.start()
    assert "half" not in world.image.topics
    world.create("t").result()
    world.node.stop()
    world.start()
    assert world.image.topics.names() == ["t"]


def test_an_epoch_never_comes_twice_even_without_its_file(world):
    world.start()
    world.node.stop()
    world.start()
    world.node.stop()
    world.disk.remove(f"{PARTITION}/quorum-state")
    world.start()
    assert world.image.epoch == 3


# -- crashes and damage ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", list(Tail))
def test_a_power_cut_right_after_the_first_answers(world, tail):
    world.start()
    world.create("a").result()
    world.create("b").result()
    after = World(world.disk.crash(tail)).start()
    assert after.image.topics.names() == ["a", "b"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["create", "flush", "restart", "crash"]), max_size=25),
    st.sampled_from(list(Tail)),
    st.integers(0, 100),
)
def test_nothing_that_was_answered_is_lost(steps, tail, choice):
    world = World().format().start()
    answered, asked = [], []

    def answers():
        found = [deferred for deferred in asked if deferred.done]
        for deferred in found:
            asked.remove(deferred)
            with contextlib.suppress(ApiError):
                answered.append(deferred.result()[0].name)

    for number, step in enumerate([*steps, "crash"]):
        if step == "create":
            world.waiting = world.waiting or []
            asked.append(world.create(f"t{number}"))
        elif step == "flush" and world.waiting is not None:
            world.finish_blocking()
        elif step == "restart":
            world.waiting = None
            world.node.stop()
            answers()
            world = World(world.disk, world.ids).start()
        elif step == "crash":
            answers()
            asked = []
            disk = world.disk.crash(tail, lambda count: choice % max(1, count))
            world = World(disk, world.ids).start()
        answers()
        missing = [name for name in answered if name not in world.image.topics]
        assert missing == []


def test_a_failing_disk_stops_the_node_and_answers_nobody_with_success(world):
    world.start()
    world.waiting = []
    deferred = world.create("a")

    def fail():
        raise OSError(errno.EIO, "gone")

    (_, done) = world.waiting.pop()
    world._run(fail, done)
    assert len(world.failures) == 1
    assert not deferred.done
    with pytest.raises(ApiError) as caught:
        world.create("b").result()
    assert caught.value.code is ErrorCode.NOT_CONTROLLER


def test_a_formatted_folder_without_its_metadata_is_refused(world):
    for name in world.files():
        world.disk.remove(f"{PARTITION}/{name}")
    with pytest.raises(ConfigError, match="is gone"):
        world.open()


def test_a_damaged_snapshot_is_refused_with_its_name(world):
    path = f"{PARTITION}/{'0' * 20}-{'0' * 10}.checkpoint"
    world.disk.write_file(path, world.disk.read_file(path)[:-3])
    with pytest.raises(ConfigError, match=r"0000000000\.checkpoint"):
        world.open()


def test_a_folder_of_another_quorum_is_refused(world):
    files = MetadataFiles(world.disk, FOLDER)
    values = [encode_record(record, 33) for record in feature_records()]
    batches = snapshot_batches(values, QuorumRules(), epoch=0, last_log_timestamp_ms=0, now_ms=0)
    files.write_snapshot(BOOTSTRAP_ID, batches)
    with pytest.raises(ConfigError, match="metadata quorum is 1, 2, 3"):
        world.open(static_voters=[QuorumVoter(1), QuorumVoter(2), QuorumVoter(3)])


def test_features_that_this_release_lacks_are_named(world):
    world.start()
    record = FeatureLevelRecord(name="future.version", feature_level=2)
    world.node.raft.append([encode_record(record, 33)])
    world.node.stop()
    with pytest.raises(ConfigError, match=r"finalized version 2 of future\.version"):
        world.open()


def test_metadata_of_a_newer_release_is_said_to_be_so(world):
    world.start()
    level = FeatureLevelRecord(name="metadata.version", feature_level=99)
    world.node.raft.append([encode_record(level, 33)])
    world.node.stop()
    with pytest.raises(ConfigError, match=r"finalized version 99 of metadata\.version"):
        world.open()
    unknown = b"\x01\xe7\x07\x00"  # a record type that does not exist
    world.node.raft.log.append_as_leader(
        memoryview(bytearray(build_batch([Record(-1, 0, None, unknown, ())]))),
        world.node.raft.node.epoch,
        0,
        AppendOrigin.RAFT,
    )
    world.node.raft.log.flush_staged()
    with pytest.raises(ConfigError, match=r"a newer release wrote .*: its metadata\.version is 99"):
        world.open()


def test_a_write_behind_a_torn_tail_goes_on_from_the_last_whole_batch(world):
    world.start()
    world.create("a").result()
    path = f"{PARTITION}/{'0' * 20}.log"
    world.create("b").result()
    data = world.disk.read_file(path)
    world.disk.write_file(path, data[:-1])
    after = World(world.disk, world.ids).start()
    assert after.image.topics.names() == ["a"]
    after.create("c").result()
    assert World(after.disk, after.ids).start().image.topics.names() == ["a", "c"]
