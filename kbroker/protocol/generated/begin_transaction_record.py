"""BeginTransactionRecord, version 0.

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


class BeginTransactionRecord(Message):
    """BeginTransactionRecord, version 0."""

    __slots__ = (
        "name",
        "unknown_tags",
    )
    NAME = "BeginTransactionRecord"
    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        name: str | None = None,
    ) -> None:
        self.name = name
        self.unknown_tags: UnknownTags = None


def _decode_begin_transaction_record_v0(buf: Buffer, pos: int) -> tuple[BeginTransactionRecord, int]:
    o = BeginTransactionRecord.__new__(BeginTransactionRecord)
    o.name = None
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_begin_transaction_record_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_begin_transaction_record_v0(buf: Buffer, pos: int, o: BeginTransactionRecord) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.name = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.name, pos = read_compact_nullable_string(buf, pos)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_begin_transaction_record_v0(out: bytearray, o: BeginTransactionRecord) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.name is not None:
        part = bytearray()
        write_compact_string(part, o.name)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_begin_transaction_record_v0(out: bytearray, o: BeginTransactionRecord) -> None:
    if o.unknown_tags or o.name is not None:
        _write_tags_of_begin_transaction_record_v0(out, o)
    else:
        out.append(0)


BeginTransactionRecord.DECODERS = {
    0: _decode_begin_transaction_record_v0,
}
BeginTransactionRecord.ENCODERS = {
    0: _encode_begin_transaction_record_v0,
}
