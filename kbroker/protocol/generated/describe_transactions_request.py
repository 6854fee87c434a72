"""DescribeTransactionsRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations


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


class DescribeTransactionsRequest(Message):
    """DescribeTransactionsRequest, version 0."""

    __slots__ = (
        "transactional_ids",
        "unknown_tags",
    )
    NAME = "DescribeTransactionsRequest"
    API_KEY = 65
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        transactional_ids: list[str] = UNSET,
    ) -> None:
        self.transactional_ids: list[str] = [] if transactional_ids is UNSET else transactional_ids
        self.unknown_tags: UnknownTags = None


def _decode_describe_transactions_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DescribeTransactionsRequest, int]:
    o = DescribeTransactionsRequest.__new__(DescribeTransactionsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("transactionalIds")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.transactional_ids = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_describe_transactions_request_v0(out: bytearray, o: DescribeTransactionsRequest) -> None:
    n = len(o.transactional_ids) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.transactional_ids:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DescribeTransactionsRequest.DECODERS = {
    0: _decode_describe_transactions_request_v0,
}
DescribeTransactionsRequest.ENCODERS = {
    0: _encode_describe_transactions_request_v0,
}
