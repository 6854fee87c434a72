"""BrokerHeartbeatResponse, versions 0 to 2.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    write_tags,
)

pack_ih3o = Layout(">ih3?").pack
unpack_ih3o = Layout(">ih3?").unpack_from


class BrokerHeartbeatResponse(Message):
    """BrokerHeartbeatResponse, versions 0 to 2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "is_caught_up",
        "is_fenced",
        "should_shut_down",
        "unknown_tags",
    )
    NAME = "BrokerHeartbeatResponse"
    API_KEY = 63
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down
        self.unknown_tags: UnknownTags = None


def _decode_broker_heartbeat_response_v0(buf: Buffer, pos: int) -> tuple[BrokerHeartbeatResponse, int]:
    o = BrokerHeartbeatResponse.__new__(BrokerHeartbeatResponse)
    o.throttle_time_ms, o.error_code, o.is_caught_up, o.is_fenced, o.should_shut_down = unpack_ih3o(buf, pos)
    pos += 9
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_broker_heartbeat_response_v0(out: bytearray, o: BrokerHeartbeatResponse) -> None:
    out += pack_ih3o(o.throttle_time_ms, o.error_code, o.is_caught_up, o.is_fenced, o.should_shut_down)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


BrokerHeartbeatResponse.DECODERS = {
    0: _decode_broker_heartbeat_response_v0,
    1: _decode_broker_heartbeat_response_v0,
    2: _decode_broker_heartbeat_response_v0,
}
BrokerHeartbeatResponse.ENCODERS = {
    0: _encode_broker_heartbeat_response_v0,
    1: _encode_broker_heartbeat_response_v0,
    2: _encode_broker_heartbeat_response_v0,
}
