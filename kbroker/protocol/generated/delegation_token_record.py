"""DelegationTokenRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    UnknownTags,
    null_field,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_3q = Layout(">3q").pack
unpack_3q = Layout(">3q").unpack_from


class DelegationTokenRecord(Message):
    """DelegationTokenRecord, version 0."""

    __slots__ = (
        "owner",
        "requester",
        "renewers",
        "issue_timestamp",
        "max_timestamp",
        "expiration_timestamp",
        "token_id",
        "unknown_tags",
    )
    NAME = "DelegationTokenRecord"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = UNSET,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers: list[str] = [] if renewers is UNSET else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id
        self.unknown_tags: UnknownTags = None


def _decode_delegation_token_record_v0(buf: Buffer, pos: int) -> tuple[DelegationTokenRecord, int]:
    o = DelegationTokenRecord.__new__(DelegationTokenRecord)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.owner = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.owner, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.requester = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.requester, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("renewers")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.renewers = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.issue_timestamp, o.max_timestamp, o.expiration_timestamp = unpack_3q(buf, pos)
    pos += 24
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


def _encode_delegation_token_record_v0(out: bytearray, o: DelegationTokenRecord) -> None:
    write_compact_string(out, o.owner)
    write_compact_string(out, o.requester)
    n = len(o.renewers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.renewers:
        write_compact_string(out, text)
    out += pack_3q(o.issue_timestamp, o.max_timestamp, o.expiration_timestamp)
    write_compact_string(out, o.token_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DelegationTokenRecord.DECODERS = {
    0: _decode_delegation_token_record_v0,
}
DelegationTokenRecord.ENCODERS = {
    0: _encode_delegation_token_record_v0,
}
