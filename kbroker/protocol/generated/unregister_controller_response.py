"""UnregisterControllerResponse, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_compact_nullable_string,
    read_unknown_tags,
    write_compact_nullable_string,
    write_tags,
)

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class UnregisterControllerResponse(Message):
    """UnregisterControllerResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "unknown_tags",
    )
    NAME = "UnregisterControllerResponse"
    API_KEY = 94
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


def _decode_unregister_controller_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[UnregisterControllerResponse, int]:
    o = UnregisterControllerResponse.__new__(UnregisterControllerResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_unregister_controller_response_v0(out: bytearray, o: UnregisterControllerResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UnregisterControllerResponse.DECODERS = {
    0: _decode_unregister_controller_response_v0,
}
UnregisterControllerResponse.ENCODERS = {
    0: _encode_unregister_controller_response_v0,
}
