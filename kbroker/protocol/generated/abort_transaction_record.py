"""AbortTransactionRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    bad_tag_size,
    read_compact_nullable_string,
    read_tag,
    read_tag_count,
    write_compact_string,
    write_tags,
)


class AbortTransactionRecord(Message):
    """AbortTransactionRecord, version 0."""

    __slots__ = (
        "reason",
        "unknown_tags",
    )
    NAME = "AbortTransactionRecord"
    API_KEY = 25
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        reason: str | None = None,
    ) -> None:
        self.reason = reason
        self.unknown_tags: UnknownTags = None


def _decode_abort_transaction_record_v0(buf: Buffer, pos: int) -> tuple[AbortTransactionRecord, int]:
    o = AbortTransactionRecord.__new__(AbortTransactionRecord)
    o.reason = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_abort_transaction_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_abort_transaction_record_v0(buf: Buffer, pos: int, o: AbortTransactionRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.reason = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.reason, pos = read_compact_nullable_string(buf, pos)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_abort_transaction_record_v0(out: bytearray, o: AbortTransactionRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.reason is not None:
        part = bytearray()
        write_compact_string(part, o.reason)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_abort_transaction_record_v0(out: bytearray, o: AbortTransactionRecord) -> None:
    if o.unknown_tags or o.reason is not None:
        _write_tags_of_abort_transaction_record_v0(out, o)
    else:
        out.append(0)


AbortTransactionRecord.DECODERS = {
    0: _decode_abort_transaction_record_v0,
}
AbortTransactionRecord.ENCODERS = {
    0: _encode_abort_transaction_record_v0,
}
