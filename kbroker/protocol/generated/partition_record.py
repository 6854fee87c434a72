"""PartitionRecord, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    UnknownTags,
    ZERO_UUID,
    bad_tag,
    bad_tag_size,
    not_in_version,
    null_field,
    pack_int32s,
    read_tag,
    read_tag_count,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
pack_3i = Layout(">3i").pack
unpack_3i = Layout(">3i").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_i16s = Layout(">i16s").pack
unpack_i16s = Layout(">i16s").unpack_from


class PartitionRecord(Message):
    """PartitionRecord, versions 0 to 2."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "replicas",
        "isr",
        "removing_replicas",
        "adding_replicas",
        "leader",
        "leader_recovery_state",
        "leader_epoch",
        "partition_epoch",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tags",
    )
    NAME = "PartitionRecord"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        replicas: list[int] = UNSET,
        isr: list[int] = UNSET,
        removing_replicas: list[int] = UNSET,
        adding_replicas: list[int] = UNSET,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[bytes] = UNSET,  # versions 1 to 2
        eligible_leader_replicas: list[int] | None = None,  # version 2
        last_known_elr: list[int] | None = None,  # version 2
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas: list[int] = [] if replicas is UNSET else replicas
        self.isr: list[int] = [] if isr is UNSET else isr
        self.removing_replicas: list[int] = [] if removing_replicas is UNSET else removing_replicas
        self.adding_replicas: list[int] = [] if adding_replicas is UNSET else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories: list[bytes] = [] if directories is UNSET else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tags: UnknownTags = None


def _decode_partition_record_v0(buf: Buffer, pos: int) -> tuple[PartitionRecord, int]:
    o = PartitionRecord.__new__(PartitionRecord)
    o.partition_id, o.topic_id = unpack_i16s(buf, pos)
    pos += 20
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("replicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("isr")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.isr = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("removingReplicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.removing_replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("addingReplicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.adding_replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    o.leader, o.leader_epoch, o.partition_epoch = unpack_3i(buf, pos)
    pos += 12
    o.leader_recovery_state = 0
    o.directories = []
    o.eligible_leader_replicas = None
    o.last_known_elr = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_partition_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_partition_record_v0(buf: Buffer, pos: int, o: PartitionRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.leader_recovery_state,) = unpack_b(buf, pos)
            pos += 1
        elif tag in (1, 2):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_record_v0(out: bytearray, o: PartitionRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.leader_recovery_state != 0:
        part = bytearray()
        part += pack_b(o.leader_recovery_state)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_record_v0(out: bytearray, o: PartitionRecord) -> None:
    if o.directories:
        raise not_in_version("directories")
    if o.eligible_leader_replicas is not None:
        raise not_in_version("eligibleLeaderReplicas")
    if o.last_known_elr is not None:
        raise not_in_version("lastKnownElr")
    out += pack_i16s(o.partition_id, o.topic_id)
    n = len(o.replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.replicas)
    n = len(o.isr) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.isr)
    n = len(o.removing_replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.removing_replicas)
    n = len(o.adding_replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.adding_replicas)
    out += pack_3i(o.leader, o.leader_epoch, o.partition_epoch)
    if o.unknown_tags or o.leader_recovery_state != 0:
        _write_tags_of_partition_record_v0(out, o)
    else:
        out.append(0)


def _decode_partition_record_v1(buf: Buffer, pos: int) -> tuple[PartitionRecord, int]:
    o = PartitionRecord.__new__(PartitionRecord)
    o.partition_id, o.topic_id = unpack_i16s(buf, pos)
    pos += 20
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("replicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("isr")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.isr = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("removingReplicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.removing_replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("addingReplicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.adding_replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    o.leader, o.leader_epoch, o.partition_epoch = unpack_3i(buf, pos)
    pos += 12
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("directories")
    if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    end = pos + 16 * n
    o.directories = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
    pos = end
    o.leader_recovery_state = 0
    o.eligible_leader_replicas = None
    o.last_known_elr = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_partition_record_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_partition_record_v1(buf: Buffer, pos: int, o: PartitionRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.leader_recovery_state,) = unpack_b(buf, pos)
            pos += 1
        elif tag in (1, 2):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_record_v1(out: bytearray, o: PartitionRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.leader_recovery_state != 0:
        part = bytearray()
        part += pack_b(o.leader_recovery_state)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_record_v1(out: bytearray, o: PartitionRecord) -> None:
    if o.eligible_leader_replicas is not None:
        raise not_in_version("eligibleLeaderReplicas")
    if o.last_known_elr is not None:
        raise not_in_version("lastKnownElr")
    out += pack_i16s(o.partition_id, o.topic_id)
    n = len(o.replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.replicas)
    n = len(o.isr) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.isr)
    n = len(o.removing_replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.removing_replicas)
    n = len(o.adding_replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.adding_replicas)
    out += pack_3i(o.leader, o.leader_epoch, o.partition_epoch)
    n = len(o.directories) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for item in o.directories:
        out += pack_16s(item)
    if o.unknown_tags or o.leader_recovery_state != 0:
        _write_tags_of_partition_record_v1(out, o)
    else:
        out.append(0)


def _decode_partition_record_v2(buf: Buffer, pos: int) -> tuple[PartitionRecord, int]:
    o = PartitionRecord.__new__(PartitionRecord)
    o.partition_id, o.topic_id = unpack_i16s(buf, pos)
    pos += 20
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("replicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("isr")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.isr = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("removingReplicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.removing_replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("addingReplicas")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.adding_replicas = unpack_int32s(buf, pos, n)
    pos += 4 * n
    o.leader, o.leader_epoch, o.partition_epoch = unpack_3i(buf, pos)
    pos += 12
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("directories")
    if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    end = pos + 16 * n
    o.directories = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
    pos = end
    o.leader_recovery_state = 0
    o.eligible_leader_replicas = None
    o.last_known_elr = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_partition_record_v2(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_partition_record_v2(buf: Buffer, pos: int, o: PartitionRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.leader_recovery_state,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 1:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.eligible_leader_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.eligible_leader_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 2:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.last_known_elr = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.last_known_elr = unpack_int32s(buf, pos, n)
                pos += 4 * n
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_record_v2(out: bytearray, o: PartitionRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.leader_recovery_state != 0:
        part = bytearray()
        part += pack_b(o.leader_recovery_state)
        tags.append((0, part))
    if o.eligible_leader_replicas is not None:
        part = bytearray()
        n = len(o.eligible_leader_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.eligible_leader_replicas)
        tags.append((1, part))
    if o.last_known_elr is not None:
        part = bytearray()
        n = len(o.last_known_elr) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.last_known_elr)
        tags.append((2, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_record_v2(out: bytearray, o: PartitionRecord) -> None:
    out += pack_i16s(o.partition_id, o.topic_id)
    n = len(o.replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.replicas)
    n = len(o.isr) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.isr)
    n = len(o.removing_replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.removing_replicas)
    n = len(o.adding_replicas) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int32s(o.adding_replicas)
    out += pack_3i(o.leader, o.leader_epoch, o.partition_epoch)
    n = len(o.directories) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for item in o.directories:
        out += pack_16s(item)
    if (
        o.unknown_tags
        or o.leader_recovery_state != 0
        or o.eligible_leader_replicas is not None
        or o.last_known_elr is not None
    ):
        _write_tags_of_partition_record_v2(out, o)
    else:
        out.append(0)


PartitionRecord.DECODERS = {
    0: _decode_partition_record_v0,
    1: _decode_partition_record_v1,
    2: _decode_partition_record_v2,
}
PartitionRecord.ENCODERS = {
    0: _encode_partition_record_v0,
    1: _encode_partition_record_v1,
    2: _encode_partition_record_v2,
}
