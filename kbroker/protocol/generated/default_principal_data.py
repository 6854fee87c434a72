"""DefaultPrincipalData, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)

pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from


class DefaultPrincipalData(Message):
    """DefaultPrincipalData, version 0."""

    __slots__ = (
        "type",
        "name",
        "token_authenticated",
        "unknown_tags",
    )
    NAME = "DefaultPrincipalData"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
    ) -> None:
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated
        self.unknown_tags: UnknownTags = None


def _decode_default_principal_data_v0(buf: Buffer, pos: int) -> tuple[DefaultPrincipalData, int]:
    o = DefaultPrincipalData.__new__(DefaultPrincipalData)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.type = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.type, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.name, pos = read_compact_string(buf, pos)
    (o.token_authenticated,) = unpack_o(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_default_principal_data_v0(out: bytearray, o: DefaultPrincipalData) -> None:
    write_compact_string(out, o.type)
    write_compact_string(out, o.name)
    out += pack_o(o.token_authenticated)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DefaultPrincipalData.DECODERS = {
    0: _decode_default_principal_data_v0,
}
DefaultPrincipalData.ENCODERS = {
    0: _encode_default_principal_data_v0,
}
