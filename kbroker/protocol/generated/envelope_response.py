"""EnvelopeResponse, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    read_uvarint,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class EnvelopeResponse(Message):
    """EnvelopeResponse, version 0."""

    __slots__ = (
        "response_data",
        "error_code",
        "unknown_tags",
    )
    NAME = "EnvelopeResponse"
    API_KEY = 58
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


def _decode_envelope_response_v0(buf: Buffer, pos: int) -> tuple[EnvelopeResponse, int]:
    o = EnvelopeResponse.__new__(EnvelopeResponse)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.response_data = None
    else:
        end = pos + n
        o.response_data = bytes(buf[pos:end])
        pos = end
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_envelope_response_v0(out: bytearray, o: EnvelopeResponse) -> None:
    if o.response_data is None:
        out.append(0)
    else:
        n = len(o.response_data) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.response_data
    out += pack_h(o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


EnvelopeResponse.DECODERS = {
    0: _decode_envelope_response_v0,
}
EnvelopeResponse.ENCODERS = {
    0: _encode_envelope_response_v0,
}
