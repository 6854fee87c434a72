"""KbrokerCommandResponse, version 0.

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
    read_uvarint,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class KbrokerCommandResponse(Message):
    """KbrokerCommandResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "result",
        "unknown_tags",
    )
    NAME = "KbrokerCommandResponse"
    API_KEY = 19266
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        result: bytes | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.result = result
        self.unknown_tags: UnknownTags = None


def _decode_kbroker_command_response_v0(buf: Buffer, pos: int) -> tuple[KbrokerCommandResponse, int]:
    o = KbrokerCommandResponse.__new__(KbrokerCommandResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.result = None
    else:
        end = pos + n
        o.result = bytes(buf[pos:end])
        pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_kbroker_command_response_v0(out: bytearray, o: KbrokerCommandResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    if o.result is None:
        out.append(0)
    else:
        n = len(o.result) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.result
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


KbrokerCommandResponse.DECODERS = {
    0: _decode_kbroker_command_response_v0,
}
KbrokerCommandResponse.ENCODERS = {
    0: _encode_kbroker_command_response_v0,
}
