"""ConsumerGroupRegularExpressionValue, version 0.

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

pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class ConsumerGroupRegularExpressionValue(Message):
    """ConsumerGroupRegularExpressionValue, version 0."""

    __slots__ = (
        "topics",
        "version",
        "timestamp",
        "unknown_tags",
    )
    NAME = "ConsumerGroupRegularExpressionValue"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        topics: list[str] = UNSET,
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics: list[str] = [] if topics is UNSET else topics
        self.version = version
        self.timestamp = timestamp
        self.unknown_tags: UnknownTags = None


def _decode_consumer_group_regular_expression_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerGroupRegularExpressionValue, int]:
    o = ConsumerGroupRegularExpressionValue.__new__(ConsumerGroupRegularExpressionValue)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.version, o.timestamp = unpack_qq(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_consumer_group_regular_expression_value_v0(
    out: bytearray,
    o: ConsumerGroupRegularExpressionValue,
) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.topics:
        write_compact_string(out, text)
    out += pack_qq(o.version, o.timestamp)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ConsumerGroupRegularExpressionValue.DECODERS = {
    0: _decode_consumer_group_regular_expression_value_v0,
}
ConsumerGroupRegularExpressionValue.ENCODERS = {
    0: _encode_consumer_group_regular_expression_value_v0,
}
