"""A commit is encoded by hand in its usual form: it must be what the codecs would write."""

from __future__ import annotations

import pytest

from kbroker.coordinator.group.offset_place import OffsetPlace
from kbroker.coordinator.group.offsets import NO_EXPIRY, CommittedOffset
from kbroker.coordinator.group.records import decode_record, offset_record
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.errors import ProtocolError
from kbroker.protocol.generated.offset_commit_value import OffsetCommitValue
from kbroker.protocol.record_batch import Record, batch_of, build_batch
from kbroker.types import ZERO_UUID

_ID = bytes(range(16))


@pytest.mark.parametrize("topic_id", [ZERO_UUID, _ID])
@pytest.mark.parametrize("metadata", ["", "x", "ü" * 200])
@pytest.mark.parametrize("expires", [NO_EXPIRY, 1_800_000_000_000])
@pytest.mark.parametrize("offset", [-1, 0, 2**63 - 1])
def test_it_is_as_the_codecs_write_it(topic_id: bytes, metadata: str, expires: int, offset: int) -> None:
    committed = CommittedOffset(offset, 7, metadata, 1_700_000_000_000, expires, topic_id)
    record = offset_record("group", "topic", 3, committed)
    assert record.encoded() == CoordinatorRecord(*record).encoded()
    decoded = decode_record(*record.encoded())
    assert decoded is not None
    assert decoded.key == record.key
    assert decoded.value.offset == offset
    version = decoded.value_version
    assert version == record.value_version
    assert decoded.value == OffsetCommitValue.decode(record.encoded()[1] or b"", version, 2)


@pytest.mark.parametrize("topic_id", [ZERO_UUID, _ID])
@pytest.mark.parametrize("metadata", ["", "x", "ü" * 200])
@pytest.mark.parametrize("count", [1, 64, 65, 600])
def test_a_place_makes_the_records_that_the_codecs_make(topic_id: bytes, metadata: str, count: int) -> None:
    place, now = OffsetPlace("group", "topic", topic_id, 3, metadata), 1_700_000_000_000
    offsets = [place.committed(2**40 - delta, 7, now, 100 + delta) for delta in range(count)]
    records = b"".join(b"".join(place.record(delta, each[0], 7, now)) for delta, each in enumerate(offsets))
    encoded = [offset_record("group", "topic", 3, each).encoded() for each in offsets]
    expected = build_batch([Record(-1, now, key, value) for key, value in encoded])
    assert batch_of(now, records, count) == expected
    assert offsets[-1].record_offset == 99 + count
    lone = build_batch([Record(-1, now, *encoded[0])])
    assert [place.batch(2**40, 7, now) for _ in range(2)] == [lone, lone]


@pytest.mark.parametrize(
    "change",
    [
        {14: 2},  # metadata of one byte, which begins where the tags were
        {1: 3},  # another version
        {23: 0},  # no tags, and more behind them
        {24: 1},  # another tag
        {25: 0x0F},  # a tag of another length
    ],
)
def test_what_only_looks_usual_is_read_as_the_codecs_read_it(change: dict[int, int]) -> None:
    key, value = offset_record("g", "t", 0, CommittedOffset(5, 7, "", 9, NO_EXPIRY, _ID)).encoded()
    changed = bytearray(value or b"")
    for position, byte in change.items():
        changed[position] = byte
    try:
        expected = OffsetCommitValue.decode(bytes(changed), changed[1], 2)
    except ProtocolError:
        with pytest.raises(ProtocolError):
            decode_record(key, bytes(changed))
        return
    decoded = decode_record(key, bytes(changed))
    assert decoded is not None
    assert decoded.value == expected
