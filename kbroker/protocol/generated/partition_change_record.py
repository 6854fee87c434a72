"""PartitionChangeRecord, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UnknownTags,
    ZERO_UUID,
    bad_tag,
    bad_tag_size,
    not_in_version,
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
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_i16s = Layout(">i16s").pack
unpack_i16s = Layout(">i16s").unpack_from


class PartitionChangeRecord(Message):
    """PartitionChangeRecord, versions 0 to 2."""

    __slots__ = (
        "partition_id",
        "topic_id",
        "isr",
        "leader",
        "replicas",
        "removing_replicas",
        "adding_replicas",
        "leader_recovery_state",
        "directories",
        "eligible_leader_replicas",
        "last_known_elr",
        "unknown_tags",
    )
    NAME = "PartitionChangeRecord"
    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[bytes] | None = None,  # versions 1 to 2
        eligible_leader_replicas: list[int] | None = None,  # version 2
        last_known_elr: list[int] | None = None,  # version 2
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.unknown_tags: UnknownTags = None


def _decode_partition_change_record_v0(buf: Buffer, pos: int) -> tuple[PartitionChangeRecord, int]:
    o = PartitionChangeRecord.__new__(PartitionChangeRecord)
    o.partition_id, o.topic_id = unpack_i16s(buf, pos)
    pos += 20
    o.isr = None
    o.leader = -2
    o.replicas = None
    o.removing_replicas = None
    o.adding_replicas = None
    o.leader_recovery_state = -1
    o.directories = None
    o.eligible_leader_replicas = None
    o.last_known_elr = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_partition_change_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_partition_change_record_v0(buf: Buffer, pos: int, o: PartitionChangeRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.isr = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.isr = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 1:
            (o.leader,) = unpack_i(buf, pos)
            pos += 4
        elif tag == 2:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 3:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.removing_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.removing_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 4:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.adding_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.adding_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 5:
            (o.leader_recovery_state,) = unpack_b(buf, pos)
            pos += 1
        elif tag in (6, 7, 8):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_change_record_v0(out: bytearray, o: PartitionChangeRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.isr is not None:
        part = bytearray()
        n = len(o.isr) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.isr)
        tags.append((0, part))
    if o.leader != -2:
        part = bytearray()
        part += pack_i(o.leader)
        tags.append((1, part))
    if o.replicas is not None:
        part = bytearray()
        n = len(o.replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.replicas)
        tags.append((2, part))
    if o.removing_replicas is not None:
        part = bytearray()
        n = len(o.removing_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.removing_replicas)
        tags.append((3, part))
    if o.adding_replicas is not None:
        part = bytearray()
        n = len(o.adding_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.adding_replicas)
        tags.append((4, part))
    if o.leader_recovery_state != -1:
        part = bytearray()
        part += pack_b(o.leader_recovery_state)
        tags.append((5, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_change_record_v0(out: bytearray, o: PartitionChangeRecord) -> None:
    if o.directories is not None:
        raise not_in_version("directories")
    if o.eligible_leader_replicas is not None:
        raise not_in_version("eligibleLeaderReplicas")
    if o.last_known_elr is not None:
        raise not_in_version("lastKnownElr")
    out += pack_i16s(o.partition_id, o.topic_id)
    if (
        o.unknown_tags
        or o.isr is not None
        or o.leader != -2
        or o.replicas is not None
        or o.removing_replicas is not None
        or o.adding_replicas is not None
        or o.leader_recovery_state != -1
    ):
        _write_tags_of_partition_change_record_v0(out, o)
    else:
        out.append(0)


def _decode_partition_change_record_v1(buf: Buffer, pos: int) -> tuple[PartitionChangeRecord, int]:
    o = PartitionChangeRecord.__new__(PartitionChangeRecord)
    o.partition_id, o.topic_id = unpack_i16s(buf, pos)
    pos += 20
    o.isr = None
    o.leader = -2
    o.replicas = None
    o.removing_replicas = None
    o.adding_replicas = None
    o.leader_recovery_state = -1
    o.directories = None
    o.eligible_leader_replicas = None
    o.last_known_elr = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_partition_change_record_v1(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_partition_change_record_v1(buf: Buffer, pos: int, o: PartitionChangeRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.isr = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.isr = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 1:
            (o.leader,) = unpack_i(buf, pos)
            pos += 4
        elif tag == 2:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 3:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.removing_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.removing_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 4:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.adding_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.adding_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 5:
            (o.leader_recovery_state,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 8:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.directories = None
            else:
                if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                end = pos + 16 * n
                o.directories = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
                pos = end
        elif tag in (6, 7):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_partition_change_record_v1(out: bytearray, o: PartitionChangeRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.isr is not None:
        part = bytearray()
        n = len(o.isr) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.isr)
        tags.append((0, part))
    if o.leader != -2:
        part = bytearray()
        part += pack_i(o.leader)
        tags.append((1, part))
    if o.replicas is not None:
        part = bytearray()
        n = len(o.replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.replicas)
        tags.append((2, part))
    if o.removing_replicas is not None:
        part = bytearray()
        n = len(o.removing_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.removing_replicas)
        tags.append((3, part))
    if o.adding_replicas is not None:
        part = bytearray()
        n = len(o.adding_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.adding_replicas)
        tags.append((4, part))
    if o.leader_recovery_state != -1:
        part = bytearray()
        part += pack_b(o.leader_recovery_state)
        tags.append((5, part))
    if o.directories is not None:
        part = bytearray()
        n = len(o.directories) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.directories:
            part += pack_16s(item)
        tags.append((8, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_change_record_v1(out: bytearray, o: PartitionChangeRecord) -> None:
    if o.eligible_leader_replicas is not None:
        raise not_in_version("eligibleLeaderReplicas")
    if o.last_known_elr is not None:
        raise not_in_version("lastKnownElr")
    out += pack_i16s(o.partition_id, o.topic_id)
    if (
        o.unknown_tags
        or o.isr is not None
        or o.leader != -2
        or o.replicas is not None
        or o.removing_replicas is not None
        or o.adding_replicas is not None
        or o.leader_recovery_state != -1
        or o.directories is not None
    ):
        _write_tags_of_partition_change_record_v1(out, o)
    else:
        out.append(0)


def _decode_partition_change_record_v2(buf: Buffer, pos: int) -> tuple[PartitionChangeRecord, int]:
    o = PartitionChangeRecord.__new__(PartitionChangeRecord)
    o.partition_id, o.topic_id = unpack_i16s(buf, pos)
    pos += 20
    o.isr = None
    o.leader = -2
    o.replicas = None
    o.removing_replicas = None
    o.adding_replicas = None
    o.leader_recovery_state = -1
    o.directories = None
    o.eligible_leader_replicas = None
    o.last_known_elr = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_partition_change_record_v2(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_partition_change_record_v2(buf: Buffer, pos: int, o: PartitionChangeRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.isr = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.isr = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 1:
            (o.leader,) = unpack_i(buf, pos)
            pos += 4
        elif tag == 2:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 3:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.removing_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.removing_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 4:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.adding_replicas = None
            else:
                if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.adding_replicas = unpack_int32s(buf, pos, n)
                pos += 4 * n
        elif tag == 5:
            (o.leader_recovery_state,) = unpack_b(buf, pos)
            pos += 1
        elif tag == 8:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.directories = None
            else:
                if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                end = pos + 16 * n
                o.directories = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]
                pos = end
        elif tag == 6:
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
        elif tag == 7:
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


def _write_tags_of_partition_change_record_v2(out: bytearray, o: PartitionChangeRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.isr is not None:
        part = bytearray()
        n = len(o.isr) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.isr)
        tags.append((0, part))
    if o.leader != -2:
        part = bytearray()
        part += pack_i(o.leader)
        tags.append((1, part))
    if o.replicas is not None:
        part = bytearray()
        n = len(o.replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.replicas)
        tags.append((2, part))
    if o.removing_replicas is not None:
        part = bytearray()
        n = len(o.removing_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.removing_replicas)
        tags.append((3, part))
    if o.adding_replicas is not None:
        part = bytearray()
        n = len(o.adding_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.adding_replicas)
        tags.append((4, part))
    if o.leader_recovery_state != -1:
        part = bytearray()
        part += pack_b(o.leader_recovery_state)
        tags.append((5, part))
    if o.eligible_leader_replicas is not None:
        part = bytearray()
        n = len(o.eligible_leader_replicas) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.eligible_leader_replicas)
        tags.append((6, part))
    if o.last_known_elr is not None:
        part = bytearray()
        n = len(o.last_known_elr) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        part += pack_int32s(o.last_known_elr)
        tags.append((7, part))
    if o.directories is not None:
        part = bytearray()
        n = len(o.directories) + 1
        part.append(n) if n < 128 else write_uvarint(part, n)
        for item in o.directories:
            part += pack_16s(item)
        tags.append((8, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_partition_change_record_v2(out: bytearray, o: PartitionChangeRecord) -> None:
    out += pack_i16s(o.partition_id, o.topic_id)
    if (
        o.unknown_tags
        or o.isr is not None
        or o.leader != -2
        or o.replicas is not None
        or o.removing_replicas is not None
        or o.adding_replicas is not None
        or o.leader_recovery_state != -1
        or o.eligible_leader_replicas is not None
        or o.last_known_elr is not None
        or o.directories is not None
    ):
        _write_tags_of_partition_change_record_v2(out, o)
    else:
        out.append(0)


PartitionChangeRecord.DECODERS = {
    0: _decode_partition_change_record_v0,
    1: _decode_partition_change_record_v1,
    2: _decode_partition_change_record_v2,
}
PartitionChangeRecord.ENCODERS = {
    0: _encode_partition_change_record_v0,
    1: _encode_partition_change_record_v1,
    2: _encode_partition_change_record_v2,
}
