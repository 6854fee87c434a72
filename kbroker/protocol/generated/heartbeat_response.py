"""HeartbeatResponse, versions 0 to 4.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_unknown_tags,
    write_tags,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class HeartbeatResponse(Message):
    """HeartbeatResponse, versions 0 to 4."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_tags",
    )
    NAME = "HeartbeatResponse"
    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 4
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


def _decode_heartbeat_response_v0(buf: Buffer, pos: int) -> tuple[HeartbeatResponse, int]:
    o = HeartbeatResponse.__new__(HeartbeatResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_heartbeat_response_v0(out: bytearray, o: HeartbeatResponse) -> None:
    out += pack_h(o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_heartbeat_response_v1(buf: Buffer, pos: int) -> tuple[HeartbeatResponse, int]:
    o = HeartbeatResponse.__new__(HeartbeatResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.unknown_tags = None
    return o, pos


def _encode_heartbeat_response_v1(out: bytearray, o: HeartbeatResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_heartbeat_response_v4(buf: Buffer, pos: int) -> tuple[HeartbeatResponse, int]:
    o = HeartbeatResponse.__new__(HeartbeatResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_heartbeat_response_v4(out: bytearray, o: HeartbeatResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


HeartbeatResponse.DECODERS = {
    0: _decode_heartbeat_response_v0,
    1: _decode_heartbeat_response_v1,
    2: _decode_heartbeat_response_v1,
    3: _decode_heartbeat_response_v1,
    4: _decode_heartbeat_response_v4,
}
HeartbeatResponse.ENCODERS = {
    0: _encode_heartbeat_response_v0,
    1: _encode_heartbeat_response_v1,
    2: _encode_heartbeat_response_v1,
    3: _encode_heartbeat_response_v1,
    4: _encode_heartbeat_response_v4,
}
