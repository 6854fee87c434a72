"""When records are applied and requests answered, while commits take time and writes fail."""

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.shard_driver import LOAD_BYTES, ShardDriver
from kbroker.coordinator.group.group_shard import GroupShard
from kbroker.coordinator.group.limits import GroupLimits
from kbroker.coordinator.group.offset_requests import Commit, Committing
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.record_batch import Record, build_batch, iter_batches
from kbroker.types import ZERO_UUID, TopicPartition

TP = TopicPartition("__consumer_offsets", 0)


class Replicas:
    """A log in memory; commits come when `commit` is called."""

    def __init__(self):
        self.log = bytearray()
        self.next_offset = 0
        self.refuse = None
        self.instant = True
        self.committed_end = 0
        self.waiting = []

    def append_internal(self, tp, batch, *, origin):
        if self.refuse is not None:
            raise ApiError(self.refuse)
        data = bytearray(batch)
        data[:8] = self.next_offset.to_bytes(8, "big")
        (header,) = iter_batches(bytes(data))
        base, self.next_offset = self.next_offset, header.next_offset
        self.log += data
        return SimpleNamespace(base_offset=base, last_offset=self.next_offset - 1)

    def when_committed(self, tp, last_offset):
        done = Deferred()
        if self.instant:
            done.resolve(None)
        else:
            self.waiting.append(done)
        return done

    def commit(self):
        waiting, self.waiting = self.waiting, []
        for done in waiting:
            done.resolve(None)

    def high_watermark(self, tp):
        return self.committed_end

    def read_internal(self, tp, offset, max_bytes=LOAD_BYTES):
        out = bytearray()
        for header in iter_batches(bytes(self.log)):
            if header.next_offset > offset and (not out or len(out) + header.size <= max_bytes):
                out += self.log[header.position : header.end]
        return bytes(out)


class Timer:
    def __init__(self):
        self.calls = []

    def call_later(self, delay_ms, callback):
        call = SimpleNamespace(delay=delay_ms, callback=callback)
        call.cancel = lambda: self.calls.remove(call) if call in self.calls else None
        self.calls.append(call)
        return call


@pytest.fixture
def replicas():
    return Replicas()


def driver_of(replicas, timer=None):
    driver = ShardDriver(TP, GroupShard(GroupLimits()), replicas, timer or Timer(), lambda: 1_000)
    while not driver.load_some():
        pass
    return driver


def commit(driver, offset=5, group="g", metadata=""):
    request = Committing(group, "", None, -1, 8, [Commit("t", ZERO_UUID, 0, offset, -1, metadata)])
    return driver.submit(lambda ticket: driver.shard.commit(ticket, request, 1_000))


def offset_of(driver, group="g"):
    found = driver.shard.offsets.get(group, "t", 0)
    return None if found is None else found.offset


def test_with_one_replica_the_answer_is_there_at_once(replicas):
    answer = commit(driver_of(replicas))
    assert answer.result() == [0]


def test_applied_when_appended_answered_when_committed(replicas):
    driver = driver_of(replicas)
    replicas.instant = False
    answer = commit(driver)
    assert offset_of(driver) == 5
    assert not answer.done
    replicas.commit()
    assert answer.result() == [0]


def test_a_read_waits_for_what_it_saw(replicas):
    driver = driver_of(replicas)
    assert driver.read("before").done
    replicas.instant = False
    commit(driver)
    reading = driver.read("after")
    assert not reading.done
    replicas.commit()
    assert reading.result() == "after"
    assert driver.read("later").done


def test_who_asks_where_to_read_on_hears_at_once_what_is_committed(replicas):
    def told():
        [(_, [fetched])] = driver.see_committed().fetch_offsets("g", None, -1, [("t", ZERO_UUID, [0])], True)
        return fetched.committed and fetched.committed.offset

    driver = driver_of(replicas)
    commit(driver, 5)
    assert told() == 5
    replicas.instant = False
    replicas.committed_end = replicas.next_offset
    commit(driver, 6)
    end_of_6 = replicas.next_offset
    commit(driver, 7)
    assert told() == 5
    replicas.committed_end = end_of_6  # the high watermark moved, whoever waits for all is not told yet
    assert told() == 6
    replicas.commit()
    assert told() == 7


def test_a_refused_record_changes_nothing(replicas):
    driver = driver_of(replicas)
    replicas.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
    assert commit(driver).result() == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    assert offset_of(driver) is None


def test_refusals_that_go_on_are_two_lines_of_the_log(replicas, caplog):
    driver = driver_of(replicas)
    replicas.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
    for _ in range(5):
        commit(driver)
    refused = f"{TP}: a record was refused: NOT_ENOUGH_REPLICAS"
    assert caplog.messages == [refused]

    replicas.refuse = None
    for _ in range(2):
        commit(driver)
    told = [refused, f"{TP}: 4 more records were refused: NOT_ENOUGH_REPLICAS"]
    assert caplog.messages == told

    replicas.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
    commit(driver)
    driver.close()
    assert caplog.messages == [*told, refused]


def test_a_commit_that_never_comes_is_answered_by_time(replicas):
    timer = Timer()
    driver = driver_of(replicas, timer)
    replicas.instant = False
    answer = commit(driver)
    (limit,) = timer.calls
    limit.callback()
    with pytest.raises(ApiError) as error:
        answer.result()
    assert error.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE
    replicas.commit()


def test_when_leadership_goes_everybody_hears_of_it(replicas):
    driver = driver_of(replicas)
    replicas.instant = False
    answer, reading = commit(driver), driver.read("x")
    driver.close()
    for each in (answer, reading):
        with pytest.raises(ApiError) as error:
            each.result()
        assert error.value.code is ErrorCode.NOT_COORDINATOR


def test_a_lost_commit_is_not_acknowledged(replicas):
    driver = driver_of(replicas)
    replicas.instant = False
    answer = commit(driver)
    replicas.waiting[0].fail(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
    with pytest.raises(ApiError):
        answer.result()


def test_a_long_log_is_loaded_in_parts(replicas):
    writer = driver_of(replicas)
    for i in range(46):
        commit(writer, i, f"g{(i + 3) % 7}", "m" * 4_000)
    loader = ShardDriver(TP, GroupShard(GroupLimits()), replicas, Timer(), lambda: 1_000)
    ready = []
    loader.when_ready(lambda: ready.append(True))
    parts = 1
    while not loader.load_some():
        assert not ready
        parts += 1
    assert parts == 4
    assert ready == [True]
    assert [offset_of(loader, f"g{i}") for i in range(7)] == list(range(39, 46))


def test_transactions_and_strange_records_in_the_log(replicas):
    writer = driver_of(replicas)
    commit(writer, 5)
    (header,) = iter_batches(bytes(replicas.log))
    from kbroker.protocol.record_batch import decode_records

    (record,) = decode_records(bytes(replicas.log), header)
    pending = [Record(timestamp=1, key=record.key.replace(b"g", b"h"), value=record.value)]
    for producer, committed in ((7, True), (8, False)):
        data = build_batch(
            pending, producer_id=producer, producer_epoch=0, base_sequence=0, transactional=True
        )
        replicas.append_internal(TP, data, origin=None)
        marker = EndTxnMarker(committed, 0)
        marked = build_end_txn_batch(marker, producer_id=producer, producer_epoch=0, timestamp=1)
        if producer == 7:
            replicas.append_internal(TP, marked, origin=None)
    strange = [
        Record(timestamp=1, key=b"\x00\x11\x00\x01g", value=b"\x00\x00"),
        Record(timestamp=1, key=b"\x00\x02\x00", value=b""),
        Record(timestamp=1, key=None, value=b"x"),
    ]
    replicas.append_internal(TP, build_batch(strange), origin=None)
    loaded = driver_of(replicas)
    assert (offset_of(loaded), offset_of(loaded, "h")) == (5, 5)
    assert loaded.shard.offsets.is_unstable("h", "t", 0)


def test_many_tombstones_go_into_several_batches(replicas):
    driver = driver_of(replicas)
    commits = [Commit("t", ZERO_UUID, i, 1, -1, "") for i in range(2_500)]
    request = Committing("g", "", None, -1, 8, commits)
    driver.submit(lambda ticket: driver.shard.commit(ticket, request, 1_000))
    assert len(list(iter_batches(bytes(replicas.log)))) == 1
    answer = driver.submit(lambda ticket: driver.shard.delete_group(ticket, "g"))
    assert answer.result() == 0
    assert [h.record_count for h in iter_batches(bytes(replicas.log))] == [2_500, 1_000, 1_000, 501]
    assert driver_of(replicas).shard.groups == {}
