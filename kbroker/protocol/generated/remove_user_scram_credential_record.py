"""RemoveUserScramCredentialRecord, version 0.

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

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from


class RemoveUserScramCredentialRecord(Message):
    """RemoveUserScramCredentialRecord, version 0."""

    __slots__ = (
        "name",
        "mechanism",
        "unknown_tags",
    )
    NAME = "RemoveUserScramCredentialRecord"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tags: UnknownTags = None


def _decode_remove_user_scram_credential_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[RemoveUserScramCredentialRecord, int]:
    o = RemoveUserScramCredentialRecord.__new__(RemoveUserScramCredentialRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.name = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.name, pos = read_compact_string(buf, pos)
    (o.mechanism,) = unpack_b(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remove_user_scram_credential_record_v0(
    out: bytearray,
    o: RemoveUserScramCredentialRecord,
) -> None:
    write_compact_string(out, o.name)
    out += pack_b(o.mechanism)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemoveUserScramCredentialRecord.DECODERS = {
    0: _decode_remove_user_scram_credential_record_v0,
}
RemoveUserScramCredentialRecord.ENCODERS = {
    0: _encode_remove_user_scram_credential_record_v0,
}
