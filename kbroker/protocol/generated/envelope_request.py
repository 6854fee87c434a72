"""EnvelopeRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    null_field,
    read_unknown_tags,
    read_uvarint,
    write_tags,
    write_uvarint,
)


class EnvelopeRequest(Message):
    """EnvelopeRequest, version 0."""

    __slots__ = (
        "request_data",
        "request_principal",
        "client_host_address",
        "unknown_tags",
    )
    NAME = "EnvelopeRequest"
    API_KEY = 58
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address
        self.unknown_tags: UnknownTags = None


def _decode_envelope_request_v0(buf: Buffer, pos: int) -> tuple[EnvelopeRequest, int]:
    o = EnvelopeRequest.__new__(EnvelopeRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("requestData")
    end = pos + n
    o.request_data = bytes(buf[pos:end])
    pos = end
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.request_principal = None
    else:
        end = pos + n
        o.request_principal = bytes(buf[pos:end])
        pos = end
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("clientHostAddress")
    end = pos + n
    o.client_host_address = bytes(buf[pos:end])
    pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_envelope_request_v0(out: bytearray, o: EnvelopeRequest) -> None:
    n = len(o.request_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.request_data
    if o.request_principal is None:
        out.append(0)
    else:
        n = len(o.request_principal) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.request_principal
    n = len(o.client_host_address) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.client_host_address
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


EnvelopeRequest.DECODERS = {
    0: _decode_envelope_request_v0,
}
EnvelopeRequest.ENCODERS = {
    0: _encode_envelope_request_v0,
}
