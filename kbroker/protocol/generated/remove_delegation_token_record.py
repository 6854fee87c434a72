"""RemoveDelegationTokenRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_compact_string,
    read_unknown_tags,
    write_compact_string,
    write_tags,
)


class RemoveDelegationTokenRecord(Message):
    """RemoveDelegationTokenRecord, version 0."""

    __slots__ = (
        "token_id",
        "unknown_tags",
    )
    NAME = "RemoveDelegationTokenRecord"
    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        token_id: str = "",
    ) -> None:
        self.token_id = token_id
        self.unknown_tags: UnknownTags = None


def _decode_remove_delegation_token_record_v0(
    buf: Buffer,
    pos: int,
) -> tuple[RemoveDelegationTokenRecord, int]:
    o = RemoveDelegationTokenRecord.__new__(RemoveDelegationTokenRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.token_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.token_id, pos = read_compact_string(buf, pos)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_remove_delegation_token_record_v0(out: bytearray, o: RemoveDelegationTokenRecord) -> None:
    write_compact_string(out, o.token_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


RemoveDelegationTokenRecord.DECODERS = {
    0: _decode_remove_delegation_token_record_v0,
}
RemoveDelegationTokenRecord.ENCODERS = {
    0: _encode_remove_delegation_token_record_v0,
}
