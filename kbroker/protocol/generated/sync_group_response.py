"""SyncGroupResponse, versions 0 to 5.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    null_field,
    read_compact_nullable_string,
    read_unknown_tags,
    read_uvarint,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_hi = Layout(">hi").pack
unpack_hi = Layout(">hi").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from


class SyncGroupResponse(Message):
    """SyncGroupResponse, versions 0 to 5."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "protocol_type",
        "protocol_name",
        "assignment",
        "unknown_tags",
    )
    NAME = "SyncGroupResponse"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 5
        error_code: int = 0,
        protocol_type: str | None = None,  # version 5
        protocol_name: str | None = None,  # version 5
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
        self.unknown_tags: UnknownTags = None


def _decode_sync_group_response_v0(buf: Buffer, pos: int) -> tuple[SyncGroupResponse, int]:
    o = SyncGroupResponse.__new__(SyncGroupResponse)
    o.error_code, n = unpack_hi(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("assignment")
    end = pos + n
    o.assignment = bytes(buf[pos:end])
    pos = end
    o.throttle_time_ms = 0
    o.protocol_type = None
    o.protocol_name = None
    o.unknown_tags = None
    return o, pos


def _encode_sync_group_response_v0(out: bytearray, o: SyncGroupResponse) -> None:
    out += pack_hi(o.error_code, len(o.assignment))
    out += o.assignment
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sync_group_response_v1(buf: Buffer, pos: int) -> tuple[SyncGroupResponse, int]:
    o = SyncGroupResponse.__new__(SyncGroupResponse)
    o.throttle_time_ms, o.error_code, n = unpack_ihi(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("assignment")
    end = pos + n
    o.assignment = bytes(buf[pos:end])
    pos = end
    o.protocol_type = None
    o.protocol_name = None
    o.unknown_tags = None
    return o, pos


def _encode_sync_group_response_v1(out: bytearray, o: SyncGroupResponse) -> None:
    out += pack_ihi(o.throttle_time_ms, o.error_code, len(o.assignment))
    out += o.assignment
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_sync_group_response_v4(buf: Buffer, pos: int) -> tuple[SyncGroupResponse, int]:
    o = SyncGroupResponse.__new__(SyncGroupResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("assignment")
    end = pos + n
    o.assignment = bytes(buf[pos:end])
    pos = end
    o.protocol_type = None
    o.protocol_name = None
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_sync_group_response_v4(out: bytearray, o: SyncGroupResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    n = len(o.assignment) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.assignment
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_sync_group_response_v5(buf: Buffer, pos: int) -> tuple[SyncGroupResponse, int]:
    o = SyncGroupResponse.__new__(SyncGroupResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_type, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.protocol_name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.protocol_name, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("assignment")
    end = pos + n
    o.assignment = bytes(buf[pos:end])
    pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_sync_group_response_v5(out: bytearray, o: SyncGroupResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.protocol_type)
    write_compact_nullable_string(out, o.protocol_name)
    n = len(o.assignment) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.assignment
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


SyncGroupResponse.DECODERS = {
    0: _decode_sync_group_response_v0,
    1: _decode_sync_group_response_v1,
    2: _decode_sync_group_response_v1,
    3: _decode_sync_group_response_v1,
    4: _decode_sync_group_response_v4,
    5: _decode_sync_group_response_v5,
}
SyncGroupResponse.ENCODERS = {
    0: _encode_sync_group_response_v0,
    1: _encode_sync_group_response_v1,
    2: _encode_sync_group_response_v1,
    3: _encode_sync_group_response_v1,
    4: _encode_sync_group_response_v4,
    5: _encode_sync_group_response_v5,
}
