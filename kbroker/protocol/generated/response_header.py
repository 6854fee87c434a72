"""ResponseHeader, versions 0 to 1.

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

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class ResponseHeader(Message):
    """ResponseHeader, versions 0 to 1."""

    __slots__ = (
        "correlation_id",
        "unknown_tags",
    )
    NAME = "ResponseHeader"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_SINCE = 1

    def __init__(
        self,
        *,
        correlation_id: int = 0,
    ) -> None:
        self.correlation_id = correlation_id
        self.unknown_tags: UnknownTags = None


def _decode_response_header_v0(buf: Buffer, pos: int) -> tuple[ResponseHeader, int]:
    o = ResponseHeader.__new__(ResponseHeader)
    (o.correlation_id,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    return o, pos


def _encode_response_header_v0(out: bytearray, o: ResponseHeader) -> None:
    out += pack_i(o.correlation_id)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_response_header_v1(buf: Buffer, pos: int) -> tuple[ResponseHeader, int]:
    o = ResponseHeader.__new__(ResponseHeader)
    (o.correlation_id,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_response_header_v1(out: bytearray, o: ResponseHeader) -> None:
    out += pack_i(o.correlation_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ResponseHeader.DECODERS = {
    0: _decode_response_header_v0,
    1: _decode_response_header_v1,
}
ResponseHeader.ENCODERS = {
    0: _encode_response_header_v0,
    1: _encode_response_header_v1,
}
