"""EndTransactionRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    write_tags,
)


class EndTransactionRecord(Message):
    """EndTransactionRecord, version 0."""

    __slots__ = ("unknown_tags",)
    NAME = "EndTransactionRecord"
    API_KEY = 24
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(self) -> None:
        self.unknown_tags: UnknownTags = None


def _decode_end_transaction_record_v0(buf: Buffer, pos: int) -> tuple[EndTransactionRecord, int]:
    o = EndTransactionRecord.__new__(EndTransactionRecord)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_end_transaction_record_v0(out: bytearray, o: EndTransactionRecord) -> None:
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


EndTransactionRecord.DECODERS = {
    0: _decode_end_transaction_record_v0,
}
EndTransactionRecord.ENCODERS = {
    0: _encode_end_transaction_record_v0,
}
