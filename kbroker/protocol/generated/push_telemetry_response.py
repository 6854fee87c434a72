"""PushTelemetryResponse, version 0.

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

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class PushTelemetryResponse(Message):
    """PushTelemetryResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_tags",
    )
    NAME = "PushTelemetryResponse"
    API_KEY = 72
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


def _decode_push_telemetry_response_v0(buf: Buffer, pos: int) -> tuple[PushTelemetryResponse, int]:
    o = PushTelemetryResponse.__new__(PushTelemetryResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_push_telemetry_response_v0(out: bytearray, o: PushTelemetryResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


PushTelemetryResponse.DECODERS = {
    0: _decode_push_telemetry_response_v0,
}
PushTelemetryResponse.ENCODERS = {
    0: _encode_push_telemetry_response_v0,
}
