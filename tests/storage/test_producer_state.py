"""Verdicts, expiry and snapshots of producers, without a log."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage import producer_snapshot
from kbroker.storage.producer_state import ProducerState
from tests.storage.kafka_dirs import FOR_EVER, kafka_disk

PID = 5


def code_of(state: ProducerState, epoch: int, sequence: int, delta: int = 0, txn: bool = False) -> object:
    """The verdict: "new", "seen" or an error code."""
    try:
        return "new" if state.verdict(PID, epoch, sequence, delta, txn) is None else "seen"
    except ApiError as error:
        return error.code


def test_the_last_five_batches_are_remembered() -> None:
    state = ProducerState()
    for sequence in range(7):
        assert code_of(state, 0, sequence) == "new"
        state.add_batch(PID, 0, sequence, sequence, 0, 1, False)
    assert [code_of(state, 0, sequence) for sequence in range(9)] == [
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        *["seen"] * 5,
        "new",
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ]
    # The same first sequence, but not the same batch.
    assert code_of(state, 0, 6, delta=1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_without_an_epoch_sequences_may_be_any() -> None:
    """Found by the differential tester (seed 962): so does Kafka."""
    state = ProducerState()
    for offset, sequence in enumerate((0, 5, 2)):
        assert code_of(state, -1, sequence) == "new"
        state.add_batch(PID, -1, sequence, offset, 0, 1, False)
    assert code_of(state, -1, 5) == "seen"
    assert code_of(state, 0, 7) == "new"


@given(st.lists(st.integers(1, 2**28), min_size=1, max_size=12), st.integers(0, 2**31 - 1))
def test_sequences_follow_one_another_over_the_wrap(sizes: list[int], start: int) -> None:
    state, sequence, offset = ProducerState(), start, 0
    for size in sizes:
        assert code_of(state, 0, sequence, size - 1) == "new"
        last = (sequence + size - 1) % 2**31
        state.add_batch(PID, 0, last, offset, size - 1, 1, False)
        assert code_of(state, 0, sequence, size - 1) == "seen"
        assert code_of(state, 0, (last + 2) % 2**31) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        sequence, offset = (last + 1) % 2**31, offset + size
    assert state.entries[PID].batches[-1].first_offset == offset - sizes[-1]


def test_after_a_marker_with_a_bumped_epoch_the_sequence_begins_again() -> None:
    """KIP-890."""
    state = ProducerState()
    state.add_batch(PID, 0, 4, 0, 4, 1, True)
    completed = state.add_marker(PID, 1, 3, 5, 2, aborted=True)
    assert completed is not None
    assert state.stable_offset_after(completed) == 6
    state.complete(completed)
    assert code_of(state, 1, 5, txn=True) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert code_of(state, 0, 5, txn=True) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert code_of(state, 1, 0, txn=True) == "new"


def test_the_first_unstable_offset_waits_for_the_high_watermark() -> None:
    state = ProducerState()
    for producer_id, offset in ((1, 0), (2, 1), (3, 2)):
        state.add_batch(producer_id, 0, 0, offset, 0, 1, True)
    for producer_id, offset in ((2, 3), (1, 4)):
        state.complete(state.add_marker(producer_id, 0, 0, offset, 1, aborted=False))
    assert state.first_unstable == 0
    state.on_high_watermark(4)  # the marker at 3 is replicated, the one at 4 not
    assert state.first_unstable == 0
    state.on_high_watermark(5)
    assert state.first_unstable == 2


def test_silent_producers_are_forgotten_unless_in_a_transaction() -> None:
    state = ProducerState()
    state.add_batch(1, 0, 0, 0, 0, 100, False)
    state.add_batch(2, 0, 0, 1, 0, 100, True)
    state.remove_expired(1099, 1000)
    assert list(state.entries) == [1, 2]
    state.remove_expired(1100, 1000)
    assert list(state.entries) == [2]


def entries(snapshot: bytes) -> list[bytes]:
    return sorted(snapshot[at : at + 46] for at in range(producer_snapshot.EMPTY_SIZE, len(snapshot), 46))


def test_snapshots_of_kafka_are_read_and_written_back() -> None:
    disk = kafka_disk("kafka-4.4.0-single")
    found = 0
    for directory in disk.list_dir("/data"):
        if not directory.is_dir:
            continue
        for entry in disk.list_dir(f"/data/{directory.name}"):
            if entry.name.endswith(".snapshot"):
                data = disk.read_file(f"/data/{directory.name}/{entry.name}")
                state = producer_snapshot.decode(data, 1, 0, FOR_EVER)
                # Kafka writes them in the order of its hash table.
                assert entries(producer_snapshot.encode(state)) == entries(data)
                found += len(data) > producer_snapshot.EMPTY_SIZE
    assert found > 10


@pytest.mark.parametrize("damage", ["cut", "flip", "version", "empty", "zero"])
def test_a_damaged_snapshot_is_refused(damage: str) -> None:
    state = ProducerState()
    state.add_batch(1, 0, 0, 0, 0, 100, True)
    data = bytearray(producer_snapshot.encode(state))
    assert producer_snapshot.decode(bytes(data), 1, 0, FOR_EVER).first_unstable == 0
    if damage == "cut":
        del data[-1]
    elif damage == "flip":
        data[20] ^= 1
    elif damage == "version":
        data[1] = 2
    elif damage == "empty":
        data.clear()
    else:
        data[:] = bytes(len(data))
    with pytest.raises(ValueError):
        producer_snapshot.decode(bytes(data), 1, 0, FOR_EVER)


def test_an_epoch_below_none_is_refused_even_of_an_unknown_producer() -> None:
    state = ProducerState()
    assert code_of(state, -2, 0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert code_of(state, -1, 0) == "new"


def test_a_marker_comes_again_by_its_epoch_only_after_the_end_or_when_epochs_are_used_up() -> None:
    state = ProducerState()
    state.add_batch(PID, 3, 0, 0, 0, 1, True)
    with pytest.raises(ApiError) as caught:
        state.check_marker(PID, 3, 0, 2)
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    state.check_marker(PID, 4, 0, 2)
    completed = state.add_marker(PID, 4, 0, 1, 2, aborted=False)
    assert completed is not None
    state.complete(completed)
    state.check_marker(PID, 4, 0, 2)
    state.add_batch(PID, 32_767, 0, 2, 0, 1, True)
    state.check_marker(PID, 32_767, 0, 2)
