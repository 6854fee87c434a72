"""OffsetCommitValue, versions 0 to 4.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    bad_tag_size,
    not_in_version,
    null_field,
    read_compact_string,
    read_tag,
    read_tag_count,
    write_compact_string,
    write_tags,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from
pack_qh = Layout(">qh").pack
unpack_qh = Layout(">qh").unpack_from
pack_qi = Layout(">qi").pack
unpack_qi = Layout(">qi").unpack_from
pack_qih = Layout(">qih").pack
unpack_qih = Layout(">qih").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class OffsetCommitValue(Message):
    """OffsetCommitValue, versions 0 to 4."""

    __slots__ = (
        "offset",
        "leader_epoch",
        "metadata",
        "commit_timestamp",
        "expire_timestamp",
        "topic_id",
        "unknown_tags",
    )
    NAME = "OffsetCommitValue"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,  # versions 3 to 4
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,  # version 1
        topic_id: bytes = ZERO_UUID,  # version 4
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
        self.unknown_tags: UnknownTags = None


def _decode_offset_commit_value_v0(buf: Buffer, pos: int) -> tuple[OffsetCommitValue, int]:
    o = OffsetCommitValue.__new__(OffsetCommitValue)
    o.offset, n = unpack_qh(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("metadata")
    end = pos + n
    o.metadata = str(buf[pos:end], "utf-8")
    pos = end
    (o.commit_timestamp,) = unpack_q(buf, pos)
    pos += 8
    o.leader_epoch = -1
    o.expire_timestamp = -1
    o.topic_id = ZERO_UUID
    o.unknown_tags = None
    return o, pos


def _encode_offset_commit_value_v0(out: bytearray, o: OffsetCommitValue) -> None:
    raw = o.metadata.encode()
    out += pack_qh(o.offset, len(raw))
    out += raw
    out += pack_q(o.commit_timestamp)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_commit_value_v1(buf: Buffer, pos: int) -> tuple[OffsetCommitValue, int]:
    o = OffsetCommitValue.__new__(OffsetCommitValue)
    o.offset, n = unpack_qh(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("metadata")
    end = pos + n
    o.metadata = str(buf[pos:end], "utf-8")
    pos = end
    o.commit_timestamp, o.expire_timestamp = unpack_qq(buf, pos)
    pos += 16
    o.leader_epoch = -1
    o.topic_id = ZERO_UUID
    o.unknown_tags = None
    return o, pos


def _encode_offset_commit_value_v1(out: bytearray, o: OffsetCommitValue) -> None:
    raw = o.metadata.encode()
    out += pack_qh(o.offset, len(raw))
    out += raw
    out += pack_qq(o.commit_timestamp, o.expire_timestamp)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_commit_value_v3(buf: Buffer, pos: int) -> tuple[OffsetCommitValue, int]:
    o = OffsetCommitValue.__new__(OffsetCommitValue)
    o.offset, o.leader_epoch, n = unpack_qih(buf, pos)
    pos += 14
    if n < 0:
        raise null_field("metadata")
    end = pos + n
    o.metadata = str(buf[pos:end], "utf-8")
    pos = end
    (o.commit_timestamp,) = unpack_q(buf, pos)
    pos += 8
    o.expire_timestamp = -1
    o.topic_id = ZERO_UUID
    o.unknown_tags = None
    return o, pos


def _encode_offset_commit_value_v3(out: bytearray, o: OffsetCommitValue) -> None:
    raw = o.metadata.encode()
    out += pack_qih(o.offset, o.leader_epoch, len(raw))
    out += raw
    out += pack_q(o.commit_timestamp)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_offset_commit_value_v4(buf: Buffer, pos: int) -> tuple[OffsetCommitValue, int]:
    o = OffsetCommitValue.__new__(OffsetCommitValue)
    o.offset, o.leader_epoch = unpack_qi(buf, pos)
    pos += 12
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.metadata = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.metadata, pos = read_compact_string(buf, pos)
    (o.commit_timestamp,) = unpack_q(buf, pos)
    pos += 8
    o.expire_timestamp = -1
    o.topic_id = ZERO_UUID
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_offset_commit_value_v4(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_offset_commit_value_v4(buf: Buffer, pos: int, o: OffsetCommitValue) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.topic_id,) = unpack_16s(buf, pos)
            pos += 16
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_offset_commit_value_v4(out: bytearray, o: OffsetCommitValue) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.topic_id != ZERO_UUID:
        part = bytearray()
        part += pack_16s(o.topic_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_offset_commit_value_v4(out: bytearray, o: OffsetCommitValue) -> None:
    out += pack_qi(o.offset, o.leader_epoch)
    write_compact_string(out, o.metadata)
    out += pack_q(o.commit_timestamp)
    if o.unknown_tags or o.topic_id != ZERO_UUID:
        _write_tags_of_offset_commit_value_v4(out, o)
    else:
        out.append(0)


OffsetCommitValue.DECODERS = {
    0: _decode_offset_commit_value_v0,
    1: _decode_offset_commit_value_v1,
    2: _decode_offset_commit_value_v0,
    3: _decode_offset_commit_value_v3,
    4: _decode_offset_commit_value_v4,
}
OffsetCommitValue.ENCODERS = {
    0: _encode_offset_commit_value_v0,
    1: _encode_offset_commit_value_v1,
    2: _encode_offset_commit_value_v0,
    3: _encode_offset_commit_value_v3,
    4: _encode_offset_commit_value_v4,
}
