"""A commit is encoded by hand in its usual form: it must be what the codecs would write."""

from __future__ import annotations

import pytest

from kbroker.coordinator.group.offsets import NO_EXPIRY, CommittedOffset
from kbroker.coordinator.group.records import decode_record, offset_record
from kbroker.coordinator.shard import CoordinatorRecord
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
