"""KbrokerCommandRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    write_compact_string,
    write_tags,
    write_uvarint,
)


class KbrokerCommandRequest(Message):
    """KbrokerCommandRequest, version 0."""

    __slots__ = (
        "command",
        "arguments",
        "unknown_tags",
    )
    NAME = "KbrokerCommandRequest"
    API_KEY = 19266
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        command: str = "",
        arguments: bytes = b"",
    ) -> None:
        self.command = command
        self.arguments = arguments
        self.unknown_tags: UnknownTags = None


def _decode_kbroker_command_request_v0(buf: Buffer, pos: int) -> tuple[KbrokerCommandRequest, int]:
    o = KbrokerCommandRequest.__new__(KbrokerCommandRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.command = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.command, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("arguments")
    end = pos + n
    o.arguments = bytes(buf[pos:end])
    pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_kbroker_command_request_v0(out: bytearray, o: KbrokerCommandRequest) -> None:
    write_compact_string(out, o.command)
    n = len(o.arguments) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.arguments
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


KbrokerCommandRequest.DECODERS = {
    0: _decode_kbroker_command_request_v0,
}
KbrokerCommandRequest.ENCODERS = {
    0: _encode_kbroker_command_request_v0,
}
