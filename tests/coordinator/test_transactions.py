"""What the transaction coordinator decides. Numbers are the cases of docs/transactions.md."""

from __future__ import annotations

import pytest

from kbroker.coordinator.transaction.records import TransactionValue, decode_record, transaction_record
from kbroker.coordinator.transaction.rules import NOBODY, Producer
from kbroker.coordinator.transaction.state import LAST_EPOCH, State
from kbroker.coordinator.transaction.transaction_shard import Listing, TransactionShard
from kbroker.errors import ApiError, ErrorCode as E
from tests.coordinator.txn_world import World

EVERYTHING = Listing(frozenset(), None, -1, None)


@pytest.fixture
def world():
    return World()


# -- InitProducerId ----------------------------------------------------------------------------------------


def test_each_producer_gets_the_next_epoch(world):
    first, second = world.init("x").producer, world.init("x").producer
    assert (first.epoch, second.epoch) == (0, 1)
    assert first.producer_id == second.producer_id != world.init("y").producer.producer_id


def test_a_producer_that_goes_on_is_known_by_its_epoch(world):
    """KIP-360: the present one bumps, the last one is a retry, others are fenced."""
    producer_id = world.init("x").producer.producer_id

    def again(epoch, owner=producer_id):
        return world.init("x", Producer(owner, epoch))

    assert again(0) == (E.NONE, (producer_id, 1))
    assert again(0) == (E.NONE, (producer_id, 1))
    assert again(1) == (E.NONE, (producer_id, 2))
    assert again(0).code is E.PRODUCER_FENCED
    assert again(9).code is E.PRODUCER_FENCED
    assert again(2, owner=31337).code is E.PRODUCER_FENCED
    world.init("x")
    assert again(2).code is E.PRODUCER_FENCED


def test_an_id_that_is_new_takes_any_producer(world):
    assert world.init("new", Producer(987, 4)) == (E.NONE, (world.next_id, 0))


def test_48_a_second_producer_aborts_the_first_ones_transaction(world):
    old = world.begun("x")
    assert world.init("x").code is E.CONCURRENT_TRANSACTIONS
    assert world.state("x") is State.PREPARE_ABORT
    assert world.init("x").code is E.CONCURRENT_TRANSACTIONS
    world.deliver_all()
    new = world.init("x").producer
    assert new == (old.producer_id, old.epoch + 2)
    assert world.add("x", old, [("t", 1)]) is E.PRODUCER_FENCED
    assert world.end("x", old, True).code is E.PRODUCER_FENCED
    assert world.produce("x", old, ("t", 0), 0, "zombie") is E.PRODUCER_FENCED


def test_fencing_before_version_2_bumps_once(world):
    world.server_version = 1
    old = world.begun("x", version=0)
    world.init("x")
    assert world.txn("x").producer_epoch == old.epoch + 1
    assert world.txn("x").client_version == 0


def _exhaust(world, name="x"):
    """Make the present epoch the last one."""
    txn = world.txn(name)._replace(producer_epoch=LAST_EPOCH)
    record = transaction_record(txn, 2)
    world.log.append(record.encoded())
    world.shard.apply(record, len(world.log) - 1)
    return Producer(txn.producer_id, LAST_EPOCH)


def test_used_up_epochs_bring_another_id(world):
    world.init("x")
    last = _exhaust(world)
    fresh = world.init("x").producer
    assert (fresh.producer_id, fresh.epoch) == (world.next_id, 0)
    assert fresh.producer_id != last.producer_id
    # The one before it may not have heard, if it was not another.
    assert world.init("x", last).code is E.PRODUCER_FENCED
    last = _exhaust(world)
    fresh = world.init("x", last).producer
    assert world.init("x", last) == (E.NONE, fresh)


def test_an_end_with_the_last_epoch_brings_another_id(world):
    world.init("x")
    last = _exhaust(world)
    world.add("x", last, [("t", 0)])
    ended = world.end("x", last, True)
    assert ended == (E.NONE, (world.next_id, 0))
    assert world.txn("x").producer_epoch == LAST_EPOCH + 1
    assert world.txn("x").next_producer_id == world.next_id
    world.deliver_all()
    assert world.partitions["t", 0].markers == [(0, last.producer_id, LAST_EPOCH + 1, True)]
    assert world.end("x", last, True) == ended
    assert world.end("x", last, False).code is E.INVALID_TXN_STATE
    assert world.add("x", ended.producer, [("t", 0)]) is E.NONE


def test_a_coordinator_that_fences_has_an_epoch_left(world):
    world.init("x")
    last = _exhaust(world)
    world.add("x", last, [("t", 0)])
    world.init("x")
    assert world.txn("x").producer_epoch == LAST_EPOCH + 1
    world.deliver_all()
    assert world.init("x").producer == (world.next_id, 0)


# -- AddPartitionsToTxn ------------------------------------------------------------------------------------


def test_who_may_add_partitions(world):
    producer = world.init("x").producer
    place = [("t", 0)]
    assert world.add("nobody", producer, place) is E.INVALID_PRODUCER_ID_MAPPING
    assert world.add("x", producer._replace(producer_id=5), place) is E.INVALID_PRODUCER_ID_MAPPING
    assert world.add("x", producer._replace(epoch=4), place) is E.PRODUCER_FENCED
    assert world.state("x") is State.EMPTY
    assert world.add("x", producer, place) is E.NONE
    logged = len(world.log)
    assert world.add("x", producer, place) is E.NONE
    assert len(world.log) == logged
    world.end("x", producer, True)
    assert world.add("x", producer, place) is E.CONCURRENT_TRANSACTIONS


def test_the_first_partition_begins_the_transaction(world):
    producer = world.begun("x")
    begun = world.txn("x").start_ms
    assert begun == world.now
    world.now += 50
    world.add("x", producer, [("t", 1)])
    assert world.txn("x").start_ms == begun
    assert world.txn("x").partitions == {"t": frozenset({0, 1})}


def test_50_a_partition_is_verified(world):
    producer = world.begun("x", version=0)
    wanted = {"t": frozenset({0, 1})}
    assert world.shard.verify_partitions("x", producer, wanted) == {
        ("t", 0): E.NONE,
        ("t", 1): E.TRANSACTION_ABORTABLE,
    }
    assert world.produce("x", producer, ("t", 1), 0, "v", version=1) is E.TRANSACTION_ABORTABLE
    world.end("x", producer, False, version=0)
    with pytest.raises(ApiError) as error:
        world.shard.verify_partitions("x", producer, wanted)
    assert error.value.code is E.CONCURRENT_TRANSACTIONS
    world.deliver_all()
    assert world.produce("x", producer, ("t", 0), 0, "late", version=1) is E.TRANSACTION_ABORTABLE
    assert world.settled()


# -- EndTxn ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commit", [True, False])
def test_58_the_end_by_state_before_version_5(world, commit):
    def end(commit, producer):
        return world.end("x", producer, commit, version=0)

    producer = world.init("x").producer
    assert end(commit, producer).code is E.INVALID_TXN_STATE
    world.add("x", producer, [("t", 0)], version=0)
    assert end(commit, producer._replace(epoch=1)).code is E.PRODUCER_FENCED
    assert end(commit, producer._replace(producer_id=1)).code is E.INVALID_PRODUCER_ID_MAPPING
    assert end(commit, producer) == (E.NONE, NOBODY)
    assert world.state("x") is (State.PREPARE_COMMIT if commit else State.PREPARE_ABORT)
    assert end(commit, producer).code is E.CONCURRENT_TRANSACTIONS
    world.deliver_all()
    assert world.state("x") is (State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT)
    assert end(commit, producer).code is E.NONE
    assert end(not commit, producer).code is E.INVALID_TXN_STATE
    assert world.txn("x").producer_epoch == producer.epoch


@pytest.mark.parametrize("commit", [True, False])
def test_58_the_end_by_state_since_version_5(world, commit):
    producer = world.begun("x")
    after = producer._replace(epoch=producer.epoch + 1)
    assert world.end("x", after, commit).code is E.PRODUCER_FENCED
    assert world.end("x", producer, commit) == (E.NONE, after)
    assert world.end("x", producer, commit).code is E.CONCURRENT_TRANSACTIONS
    world.deliver_all()
    assert world.end("x", producer, commit) == (E.NONE, after)
    assert world.end("x", producer, not commit).code is E.INVALID_TXN_STATE
    assert world.end("x", after, True).code is E.INVALID_TXN_STATE


def test_an_abort_of_nothing_ends_the_epoch(world):
    producer = world.init("x").producer
    assert world.end("x", producer, True).code is E.INVALID_TXN_STATE
    for epoch in range(1, 4):
        ended = world.end("x", producer, False)
        assert ended == (E.NONE, (producer.producer_id, epoch))
        producer = ended.producer
        world.deliver_all()
        assert world.state("x") is State.COMPLETE_ABORT
        assert world.txn("x").start_ms == world.now
    assert not any(partition.markers for partition in world.partitions.values())


def test_49_a_late_end_does_not_end_the_next_transaction(world):
    producer = world.begun("x")
    after = world.end("x", producer, True).producer
    world.deliver_all()
    assert world.add("x", after, [("t", 0)]) is E.NONE
    assert world.end("x", producer, False).code is E.PRODUCER_FENCED
    assert world.end("x", producer, True).code is E.PRODUCER_FENCED
    assert world.state("x") is State.ONGOING


def test_49_a_late_marker_does_not_end_the_next_transaction(world):
    producer = world.begun("x")
    world.produce("x", producer, ("t", 0), 0, "a")
    after = world.end("x", producer, True).producer
    late = world.due[0][0]
    world.deliver_all()
    world.produce("x", after, ("t", 0), 0, "b")
    with pytest.raises(ApiError) as error:
        world.partitions["t", 0].mark(late)
    assert error.value.code is E.INVALID_PRODUCER_EPOCH
    assert world.partitions["t", 0].read_committed() == ["a"]
    assert world.partitions["t", 0].producers.first_unstable == 2


def test_a_marker_may_come_twice(world):
    producer = world.begun("x")
    world.produce("x", producer, ("t", 0), 0, "a")
    world.end("x", producer, True)
    again = world.due[0][0]
    world.deliver_all()
    world.partitions["t", 0].mark(again)
    assert world.partitions["t", 0].read_committed() == ["a"]


# -- time --------------------------------------------------------------------------------------------------


def test_57_a_transaction_that_takes_too_long_is_aborted(world):
    producer = world.begun("x", timeout_ms=1_000)
    world.pass_ms(1_000)
    assert world.state("x") is State.ONGOING
    world.pass_ms(1)
    assert world.state("x") is State.PREPARE_ABORT
    world.deliver_all()
    assert world.end("x", producer, True).code is E.INVALID_TXN_STATE
    assert world.end("x", producer, True, version=0).code is E.PRODUCER_FENCED
    assert world.add("x", producer, [("t", 0)]) is E.PRODUCER_FENCED
    assert world.init("x", producer) == (E.NONE, (producer.producer_id, producer.epoch + 1))


def test_61_an_unused_id_is_forgotten(world):
    producer = world.init("idle").producer
    world.begun("busy")
    world.now += 1_000
    for outcome in world.shard.expire(world.now, 1_001):
        raise AssertionError(outcome)
    for outcome in world.shard.expire(world.now, 1_000):
        world._perform(outcome, None)
    assert list(world.shard.transactions) == ["busy"]
    world.start()
    assert list(world.shard.transactions) == ["busy"]
    assert world.add("idle", producer, [("t", 0)]) is E.INVALID_PRODUCER_ID_MAPPING
    assert world.init("idle", producer).code is E.NONE


# -- the log -----------------------------------------------------------------------------------------------


def test_56_partitions_are_in_the_log_before_the_answer(world):
    producer = world.begun("x", [("t", 0)])
    world.add("x", producer, [("t", 2)])
    world.start()
    assert world.txn("x").partitions == {"t": frozenset({0, 2})}
    assert world.state("x") is State.ONGOING
    world.end("x", producer, False)
    world.deliver_all()
    assert [len(world.partitions["t", i].markers) for i in range(3)] == [1, 0, 1]


@pytest.mark.parametrize("commit", [True, False])
def test_55_the_next_coordinator_goes_on(world, commit):
    producer = world.begun("x", [("t", 0), ("t", 1)])
    for index in range(2):
        world.produce("x", producer, ("t", index), 0, index)
    world.end("x", producer, commit)
    world.deliver()
    stale = world.due[0][0]
    world.start()
    world.deliver_all()
    assert world.settled()
    assert [world.partitions["t", i].read_committed() for i in range(2)] == [[0], [1]] if commit else [[], []]
    with pytest.raises(ApiError) as error:
        world.partitions["t", 1].mark(stale)
    assert error.value.code is E.TRANSACTION_COORDINATOR_FENCED


def test_records_are_those_of_kafka():
    """As Apache Kafka 4.4 wrote them for a producer with the id "perf"."""
    key = bytes.fromhex("0000000470657266")
    value = bytes.fromhex(
        "000100000000000000000000 0000ea60 01 02 0574782d61 02 00000000 00"
        "000001a229609e08 000001a229609e08 02 0008 0000000000000000 02 02 0002".replace(" ", "")
    )
    record = decode_record(key, value)
    assert record.encoded() == (key, value)
    txn = record.value.transaction
    assert (txn.transactional_id, txn.state, txn.timeout_ms) == ("perf", State.ONGOING, 60_000)
    assert txn.partitions == {"tx-a": frozenset({0})}
    assert (txn.client_version, txn.previous_producer_id) == (2, 0)


def test_old_records_lack_what_is_new(world):
    world.server_version = 0
    producer = world.begun("x", version=0)
    assert [value[:2] for _, value in world.log] == [b"\0\0", b"\0\0"]
    world.start()
    assert world.end("x", producer, True, version=0).code is E.NONE


def test_records_of_a_later_kafka_are_passed_over():
    assert decode_record(b"\0\5", None) is None
    assert decode_record(b"\0\0\0\1x", b"\0\x09") is None


@pytest.mark.parametrize(("key", "value"), [(b"\0", None), (b"\0\0\0\1x", b"\0")])
def test_damaged_records_are_told(key, value):
    with pytest.raises(Exception, match="a record"):
        decode_record(key, value)


# -- looking -----------------------------------------------------------------------------------------------


def test_what_is_listed(world):
    world.init("idle")
    busy = world.begun("busy")
    world.now += 100

    def listed(**changes):
        return [txn.transactional_id for txn in world.shard.list(EVERYTHING._replace(**changes), world.now)]

    assert listed() == ["idle", "busy"]
    assert listed(states=frozenset({State.ONGOING})) == ["busy"]
    assert listed(states=frozenset()) == []
    assert listed(producer_ids=frozenset({busy.producer_id, 7})) == ["busy"]
    assert listed(duration_ms=100) == ["idle"]
    assert listed(duration_ms=99) == ["idle", "busy"]
    assert listed(matches="bus".__eq__) == []
    assert world.shard.describe("busy").state.label == "Ongoing"
    with pytest.raises(ApiError) as error:
        world.shard.describe("nobody")
    assert error.value.code is E.TRANSACTIONAL_ID_NOT_FOUND


def test_a_shard_keeps_what_it_wrote():
    """The record's value is taken over as it is, with what the log does not have."""
    shard = TransactionShard(0, lambda: 2, lambda due: due)
    outcome = shard.init_producer_id(object(), "x", 5, Producer(1, 1), 7, 0)
    assert isinstance(outcome.records[0].value, TransactionValue)
