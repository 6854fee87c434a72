"""HeartbeatRequest, versions 0 to 4.

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
    read_compact_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class HeartbeatRequest(Message):
    """HeartbeatRequest, versions 0 to 4."""

    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "unknown_tags",
    )
    NAME = "HeartbeatRequest"
    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,  # versions 3 to 4
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.unknown_tags: UnknownTags = None


def _decode_heartbeat_request_v0(buf: Buffer, pos: int) -> tuple[HeartbeatRequest, int]:
    o = HeartbeatRequest.__new__(HeartbeatRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.generation_id, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    o.group_instance_id = None
    o.unknown_tags = None
    return o, pos


def _encode_heartbeat_request_v0(out: bytearray, o: HeartbeatRequest) -> None:
    if o.group_instance_id is not None:
        raise not_in_version("groupInstanceId")
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_ih(o.generation_id, len(raw))
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_heartbeat_request_v3(buf: Buffer, pos: int) -> tuple[HeartbeatRequest, int]:
    o = HeartbeatRequest.__new__(HeartbeatRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.generation_id, n = unpack_ih(buf, pos)
    pos += 6
    if n < 0:
        raise null_field("memberId")
    end = pos + n
    o.member_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.group_instance_id = None
    else:
        end = pos + n
        o.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    o.unknown_tags = None
    return o, pos


def _encode_heartbeat_request_v3(out: bytearray, o: HeartbeatRequest) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.member_id.encode()
    out += pack_ih(o.generation_id, len(raw))
    out += raw
    raw = b"" if o.group_instance_id is None else o.group_instance_id.encode()
    out += pack_h(-1 if o.group_instance_id is None else len(raw))
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_heartbeat_request_v4(buf: Buffer, pos: int) -> tuple[HeartbeatRequest, int]:
    o = HeartbeatRequest.__new__(HeartbeatRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    (o.generation_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_instance_id, pos = read_compact_nullable_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_heartbeat_request_v4(out: bytearray, o: HeartbeatRequest) -> None:
    write_compact_string(out, o.group_id)
    out += pack_i(o.generation_id)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


HeartbeatRequest.DECODERS = {
    0: _decode_heartbeat_request_v0,
    1: _decode_heartbeat_request_v0,
    2: _decode_heartbeat_request_v0,
    3: _decode_heartbeat_request_v3,
    4: _decode_heartbeat_request_v4,
}
HeartbeatRequest.ENCODERS = {
    0: _encode_heartbeat_request_v0,
    1: _encode_heartbeat_request_v0,
    2: _encode_heartbeat_request_v0,
    3: _encode_heartbeat_request_v3,
    4: _encode_heartbeat_request_v4,
}
