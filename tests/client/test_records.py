import pytest

from kbroker.client.records import murmur2, partition_for_key, read_batches
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.record_batch import Record, build_batch


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_as_java_hashes(data, expected):
    assert murmur2(data) == expected & 0xFFFF_FFFF


def test_a_partition_is_never_negative():
    assert 0 <= partition_for_key(b"21", 7) < 7


def data(base_offset: int, count: int, producer_id: int = -1, transactional: bool = False) -> bytes:
    records = [Record(value=b"%d" % (base_offset + index), timestamp=0) for index in range(count)]
    return build_batch(
        records,
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=0,
        transactional=transactional,
    )


def marker(offset: int, producer_id: int, commit: bool) -> bytes:
    return build_end_txn_batch(
        EndTxnMarker(commit, 0), producer_id=producer_id, producer_epoch=0, timestamp=0, base_offset=offset
    )


def test_aborted_and_control_records_are_left_out():
    log = b"".join(
        (
            data(0, 2, producer_id=7, transactional=True),
            data(2, 1),
            data(3, 1, producer_id=8, transactional=True),
            marker(4, 7, commit=False),
            data(5, 1, producer_id=7, transactional=True),
            marker(6, 8, commit=True),
            marker(7, 7, commit=True),
        )
    )
    records, next_offset = read_batches(log, 0, [(7, 0)])
    assert [record.offset for record in records] == [2, 3, 5]
    assert next_offset == 8
    records, _ = read_batches(log, 0)
    assert [record.offset for record in records] == [0, 1, 2, 3, 5]


def test_records_before_the_offset_and_a_cut_batch_are_left_out():
    log = data(10, 5) + data(15, 5)[:-1]
    records, next_offset = read_batches(log, 12)
    assert [record.offset for record in records] == [12, 13, 14]
    assert next_offset == 15
    assert read_batches(b"", 12) == ([], 12)
