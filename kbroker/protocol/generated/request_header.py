"""RequestHeader, versions 0 to 2.

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

pack_hhi = Layout(">hhi").pack
unpack_hhi = Layout(">hhi").unpack_from
pack_hhih = Layout(">hhih").pack
unpack_hhih = Layout(">hhih").unpack_from


class RequestHeader(Message):
    """RequestHeader, versions 0 to 2."""

    __slots__ = (
        "request_api_key",
        "request_api_version",
        "correlation_id",
        "client_id",
        "unknown_tags",
    )
    NAME = "RequestHeader"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",  # versions 1 to 2
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.unknown_tags: UnknownTags = None


def _decode_request_header_v0(buf: Buffer, pos: int) -> tuple[RequestHeader, int]:
    o = RequestHeader.__new__(RequestHeader)
    o.request_api_key, o.request_api_version, o.correlation_id = unpack_hhi(buf, pos)
    pos += 8
    o.client_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_request_header_v0(out: bytearray, o: RequestHeader) -> None:
    if o.client_id != "":
        raise not_in_version("clientId")
    out += pack_hhi(o.request_api_key, o.request_api_version, o.correlation_id)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_request_header_v1(buf: Buffer, pos: int) -> tuple[RequestHeader, int]:
    o = RequestHeader.__new__(RequestHeader)
    o.request_api_key, o.request_api_version, o.correlation_id, n = unpack_hhih(buf, pos)
    pos += 10
    if n < 0:
        o.client_id = None
    else:
        end = pos + n
        o.client_id = str(buf[pos:end], "utf-8")
        pos = end
    o.unknown_tags = None
    return o, pos


def _encode_request_header_v1(out: bytearray, o: RequestHeader) -> None:
    raw = b"" if o.client_id is None else o.client_id.encode()
    out += pack_hhih(
        o.request_api_key,
        o.request_api_version,
        o.correlation_id,
        -1 if o.client_id is None else len(raw),
    )
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_request_header_v2(buf: Buffer, pos: int) -> tuple[RequestHeader, int]:
    o = RequestHeader.__new__(RequestHeader)
    o.request_api_key, o.request_api_version, o.correlation_id, n = unpack_hhih(buf, pos)
    pos += 10
    if n < 0:
        o.client_id = None
    else:
        end = pos + n
        o.client_id = str(buf[pos:end], "utf-8")
        pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_request_header_v2(out: bytearray, o: RequestHeader) -> None:
    raw = b"" if o.client_id is None else o.client_id.encode()
    out += pack_hhih(
        o.request_api_key,
        o.request_api_version,
        o.correlation_id,
        -1 if o.client_id is None else len(raw),
    )
    out += raw
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RequestHeader.DECODERS = {
    0: _decode_request_header_v0,
    1: _decode_request_header_v1,
    2: _decode_request_header_v2,
}
RequestHeader.ENCODERS = {
    0: _encode_request_header_v0,
    1: _encode_request_header_v1,
    2: _encode_request_header_v2,
}
