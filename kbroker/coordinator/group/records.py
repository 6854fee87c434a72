"""The records that groups and offsets have in `__consumer_offsets`, in Kafka's formats."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Any

from kbroker.coordinator.group.offsets import NO_EXPIRY, CommittedOffset
from kbroker.coordinator.group.record_kinds import (
    CONSUMER_KEYS,
    OTHER_KEYS,
    SHARE_KEYS,
    STREAMS_KEYS,
    OtherKey,
)
from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.errors import ProtocolError
from kbroker.protocol.generated.group_metadata_key import GroupMetadataKey
from kbroker.protocol.generated.group_metadata_value import GroupMetadataValue
from kbroker.protocol.generated.offset_commit_key import OffsetCommitKey
from kbroker.protocol.generated.offset_commit_value import OffsetCommitValue
from kbroker.types import ZERO_UUID, Uuid

#: Key types. 0 is an offset too, as brokers before 0.9 wrote it; its fields are those of 1.
LEGACY_OFFSET, OFFSET, GROUP_METADATA = 0, 1, 2

#: Kafka 4.4 writes group metadata in version 3 (4 would be flexible) and offsets in version 4, which has
#: the topic id; with a retention time of their own (OffsetCommit 2 to 4) in version 1, the only one that
#: can keep it.
_GROUP_VERSION, OFFSET_VERSION, _OFFSET_VERSION_WITH_EXPIRY = 3, 4, 1

_INT16 = Struct(">h")
#: A value of version 4 up to its tags, with empty metadata: version, offset, leader epoch, length, time.
_USUAL_OFFSET = Struct(">hqibq")
#: One tag, number 0, of 16 bytes.
_TOPIC_ID_TAG = b"\1\0\x10"
_KINDS: dict[int, tuple[Any, Any]] = {
    LEGACY_OFFSET: (OffsetCommitKey, OffsetCommitValue),
    OFFSET: (OffsetCommitKey, OffsetCommitValue),
    GROUP_METADATA: (GroupMetadataKey, GroupMetadataValue),
}


def group_record(group_id: str, value: GroupMetadataValue) -> CoordinatorRecord:
    """The whole of a classic group."""
    return CoordinatorRecord(GroupMetadataKey(group=group_id), value, _GROUP_VERSION)


def group_tombstone(group_id: str) -> CoordinatorRecord:
    """A classic group is gone."""
    return CoordinatorRecord(GroupMetadataKey(group=group_id), None)


def offset_record(group_id: str, topic: str, partition: int, offset: CommittedOffset) -> CoordinatorRecord:
    """A committed offset."""
    value = OffsetCommitValue(
        offset=offset.offset,
        leader_epoch=offset.leader_epoch,
        metadata=offset.metadata,
        commit_timestamp=offset.commit_timestamp_ms,
        expire_timestamp=offset.expire_timestamp_ms,
        topic_id=offset.topic_id,
    )
    version = OFFSET_VERSION if offset.expire_timestamp_ms == NO_EXPIRY else _OFFSET_VERSION_WITH_EXPIRY
    return OffsetRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), value, version)


class OffsetRecord(CoordinatorRecord):
    """What `offset_record` makes: as any other, but encoded sooner in its usual form."""

    __slots__ = ()

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value as they go into the log."""
        key, value = self.key, self.value
        packed = packed_key(key.group, key.topic, key.partition)
        if value.metadata or self.value_version != OFFSET_VERSION:
            return packed, _INT16.pack(self.value_version) + value.encode(self.value_version)
        head = _USUAL_OFFSET.pack(OFFSET_VERSION, value.offset, value.leader_epoch, 1, value.commit_timestamp)
        return packed, head + topic_id_tags(value.topic_id)


def topic_id_tags(topic_id: Uuid) -> bytes:
    """The tags of an offset's value."""
    return b"\0" if topic_id == ZERO_UUID else _TOPIC_ID_TAG + topic_id


@lru_cache(maxsize=4_096)
def packed_key(group_id: str, topic: str, partition: int) -> bytes:
    """The key of an offset's record."""
    key = OffsetCommitKey(group=group_id, topic=topic, partition=partition)
    return _INT16.pack(OFFSET) + key.encode(0)


@lru_cache(maxsize=16_384)
def _decoded_key(key: bytes) -> OffsetCommitKey:
    return OffsetCommitKey.decode(key, 0, _INT16.size)


def _usual_offset(value: bytes) -> OffsetCommitValue | None:
    """A value as `OffsetRecord` writes it; None if it is any other."""
    has_id = len(value) == _USUAL_OFFSET.size + len(_TOPIC_ID_TAG) + 16
    if not has_id and len(value) != _USUAL_OFFSET.size + 1:
        return None
    version, offset, leader_epoch, metadata_length, timestamp = _USUAL_OFFSET.unpack_from(value)
    tags = value[_USUAL_OFFSET.size :]
    if version != OFFSET_VERSION or metadata_length != 1:
        return None
    if not tags.startswith(_TOPIC_ID_TAG if has_id else b"\0"):
        return None
    return OffsetCommitValue(
        offset=offset,
        leader_epoch=leader_epoch,
        commit_timestamp=timestamp,
        topic_id=tags[len(_TOPIC_ID_TAG) :] if has_id else ZERO_UUID,
    )


def offset_tombstone(group_id: str, topic: str, partition: int) -> CoordinatorRecord:
    """A committed offset is gone."""
    return CoordinatorRecord(OffsetCommitKey(group=group_id, topic=topic, partition=partition), None)


def decode_record(key: bytes, value: bytes | None) -> CoordinatorRecord | None:
    """A record as it lies in the log; None if it is of a kind or version that is not known here.

    Raises:
        ProtocolError: it is of a known kind, but damaged.
    """
    if len(key) < _INT16.size:
        raise ProtocolError("a record key of __consumer_offsets has no type")
    (key_type,) = _INT16.unpack_from(key)
    kind = _KINDS.get(key_type)
    if kind is None and key_type in CONSUMER_KEYS:
        kind = _consumer_kind(key_type)
    elif kind is None and key_type in STREAMS_KEYS:
        kind = _streams_kind(key_type)
    elif kind is None and key_type in SHARE_KEYS:
        kind = _share_kind(key_type)
    if kind is None:
        return CoordinatorRecord(OtherKey(key_type), value) if key_type in OTHER_KEYS else None
    key_class, value_class = kind
    if key_class is OffsetCommitKey:
        # A log that is loaded has the same keys again and again, and nearly only usual values.
        decoded_key = _decoded_key(key)
        usual = None if value is None else _usual_offset(value)
        if usual is not None:
            return CoordinatorRecord(decoded_key, usual, OFFSET_VERSION)
    else:
        decoded_key = key_class.decode(key, 0, _INT16.size)
    if value is None:
        return CoordinatorRecord(decoded_key, None)
    if len(value) < _INT16.size:
        raise ProtocolError("a record value of __consumer_offsets has no version")
    (version,) = _INT16.unpack_from(value)
    if not value_class.MIN_VERSION <= version <= value_class.MAX_VERSION:
        return None
    return CoordinatorRecord(decoded_key, value_class.decode(value, version, _INT16.size), version)


def _consumer_kind(key_type: int) -> tuple[Any, Any]:
    """Imported late: many brokers keep no such group."""
    from kbroker.coordinator.group.consumer_records import KINDS

    _KINDS.update(KINDS)
    return KINDS[key_type]


def _streams_kind(key_type: int) -> tuple[Any, Any]:
    from kbroker.coordinator.group.streams_records import KINDS

    _KINDS.update(KINDS)
    return KINDS[key_type]


def _share_kind(key_type: int) -> tuple[Any, Any]:
    from kbroker.coordinator.group.share_records import KINDS

    _KINDS.update(KINDS)
    return KINDS[key_type]
