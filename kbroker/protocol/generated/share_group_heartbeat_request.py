"""ShareGroupHeartbeatRequest, versions 0 to 1.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UnknownTags,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class ShareGroupHeartbeatRequest(Message):
    """ShareGroupHeartbeatRequest, versions 0 to 1."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "rack_id",
        "subscribed_topic_names",
        "unknown_tags",
    )
    NAME = "ShareGroupHeartbeatRequest"
    API_KEY = 76
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: list[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names
        self.unknown_tags: UnknownTags = None


def _decode_share_group_heartbeat_request_v0(buf: Buffer, pos: int) -> tuple[ShareGroupHeartbeatRequest, int]:
    o = ShareGroupHeartbeatRequest.__new__(ShareGroupHeartbeatRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    (o.member_epoch,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.subscribed_topic_names = None
    else:
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subscribed_topic_names = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_group_heartbeat_request_v0(out: bytearray, o: ShareGroupHeartbeatRequest) -> None:
    write_compact_string(out, o.group_id)
    write_compact_string(out, o.member_id)
    out += pack_i(o.member_epoch)
    write_compact_nullable_string(out, o.rack_id)
    if o.subscribed_topic_names is None:
        out.append(0)
    else:
        n = len(o.subscribed_topic_names) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.subscribed_topic_names:
            write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareGroupHeartbeatRequest.DECODERS = {
    0: _decode_share_group_heartbeat_request_v0,
    1: _decode_share_group_heartbeat_request_v0,
}
ShareGroupHeartbeatRequest.ENCODERS = {
    0: _encode_share_group_heartbeat_request_v0,
    1: _encode_share_group_heartbeat_request_v0,
}
