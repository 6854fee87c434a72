import pytest

from kbroker.protocol.control_records import (
    ControlType,
    EndTxnMarker,
    build_control_batch,
    build_end_txn_batch,
    control_key,
    control_record,
    control_type,
    decode_control_message,
    parse_end_txn_marker,
)
from kbroker.protocol.primitives import Message
from kbroker.protocol.record_batch import InvalidRecord, Record, decode_records, iter_batches
from tests.protocol import golden_batches as golden

RAFT = [
    "control-leader-change",
    "control-snapshot-header",
    "control-snapshot-footer",
    "control-kraft-version",
    "control-voters",
]


@pytest.mark.parametrize("name", RAFT)
def test_raft_control_batches_are_kafkas_bytes(name):
    buf = golden.buffer(name)
    (header,) = iter_batches(buf)
    (record,) = decode_records(buf, header)
    kind, message = decode_control_message(record)
    assert name.removeprefix("control-").replace("voters", "kraft-voters") == kind.name.lower().replace(
        "_", "-"
    )
    assert isinstance(message, Message)
    again = control_record(kind, message, timestamp=record.timestamp)
    assert (
        build_control_batch([again], base_offset=header.base_offset, leader_epoch=header.leader_epoch) == buf
    )


@pytest.mark.parametrize(
    ("name", "marker"),
    [
        ("control-commit", EndTxnMarker(True, 12)),
        ("control-commit-after-data", EndTxnMarker(True, 0)),
        ("control-abort", EndTxnMarker(False, 8)),
        ("control-abort-after-data", EndTxnMarker(False, 0)),
    ],
)
def test_transaction_markers_are_kafkas_bytes(name, marker):
    buf = golden.buffer(name)
    header = list(iter_batches(buf))[-1]
    (record,) = decode_records(buf, header)
    assert parse_end_txn_marker(record) == marker
    assert decode_control_message(record)[1] == marker
    again = build_end_txn_batch(
        marker,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        timestamp=header.max_timestamp,
        base_offset=header.base_offset,
        leader_epoch=header.leader_epoch,
    )
    assert again == buf[header.position :]


def test_types_of_a_later_kafka_are_stepped_over():
    record = Record(key=b"\x00\x00\x00\x63", value=b"?")
    assert decode_control_message(record) == (ControlType.UNKNOWN, None)


@pytest.mark.parametrize(
    "record",
    [
        Record(key=None),
        Record(key=b"\x00\x00\x00"),
        Record(key=b"\xff\xff\x00\x00"),
        Record(key=control_key(ControlType.COMMIT), value=b"\x00\x00\x00\x00\x01"),
        Record(key=control_key(ControlType.COMMIT), value=None),
        Record(key=control_key(ControlType.LEADER_CHANGE), value=b"\x00"),
        Record(key=control_key(ControlType.LEADER_CHANGE), value=b"\x00\x00\x00"),
        Record(key=control_key(ControlType.KRAFT_VOTERS), value=b"\x00\x63\x00"),
    ],
)
def test_damaged_ones_are_invalid_records(record):
    with pytest.raises(InvalidRecord):
        decode_control_message(record)


def test_a_leader_change_is_no_transaction_marker():
    record = Record(key=control_key(ControlType.LEADER_CHANGE), value=bytes(20))
    assert control_type(record) == ControlType.LEADER_CHANGE
    with pytest.raises(InvalidRecord, match="LEADER_CHANGE"):
        parse_end_txn_marker(record)
