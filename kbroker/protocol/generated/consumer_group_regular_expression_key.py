"""ConsumerGroupRegularExpressionKey, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    null_field,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class ConsumerGroupRegularExpressionKey(Message):
    """ConsumerGroupRegularExpressionKey, version 0."""

    __slots__ = (
        "group_id",
        "regular_expression",
    )
    NAME = "ConsumerGroupRegularExpressionKey"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression


def _decode_consumer_group_regular_expression_key_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerGroupRegularExpressionKey, int]:
    o = ConsumerGroupRegularExpressionKey.__new__(ConsumerGroupRegularExpressionKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("regularExpression")
    end = pos + n
    o.regular_expression = str(buf[pos:end], "utf-8")
    pos = end
    return o, pos


def _encode_consumer_group_regular_expression_key_v0(
    out: bytearray,
    o: ConsumerGroupRegularExpressionKey,
) -> None:
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.regular_expression.encode()
    out += pack_h(len(raw))
    out += raw


ConsumerGroupRegularExpressionKey.DECODERS = {
    0: _decode_consumer_group_regular_expression_key_v0,
}
ConsumerGroupRegularExpressionKey.ENCODERS = {
    0: _encode_consumer_group_regular_expression_key_v0,
}
