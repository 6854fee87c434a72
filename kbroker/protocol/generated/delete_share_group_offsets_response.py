"""DeleteShareGroupOffsetsResponse, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
    UNSET,
    UnknownTags,
    ZERO_UUID,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16sh = Layout(">16sh").pack
unpack_16sh = Layout(">16sh").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class DeleteShareGroupOffsetsResponseTopic(Struct):
    """Part of DeleteShareGroupOffsetsResponse."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class DeleteShareGroupOffsetsResponse(Message):
    """DeleteShareGroupOffsetsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "responses",
        "unknown_tags",
    )
    NAME = "DeleteShareGroupOffsetsResponse"
    API_KEY = 92
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses: list[DeleteShareGroupOffsetsResponseTopic] = [] if responses is UNSET else responses
        self.unknown_tags: UnknownTags = None


def _decode_delete_share_group_offsets_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteShareGroupOffsetsResponseTopic], int]:
    items: list[DeleteShareGroupOffsetsResponseTopic] = []
    for _ in range(count):
        o = DeleteShareGroupOffsetsResponseTopic.__new__(DeleteShareGroupOffsetsResponseTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        o.topic_id, o.error_code = unpack_16sh(buf, pos)
        pos += 18
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_share_group_offsets_response_topic_v0(
    out: bytearray,
    items: Iterable[DeleteShareGroupOffsetsResponseTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_16sh(o.topic_id, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_share_group_offsets_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DeleteShareGroupOffsetsResponse, int]:
    o = DeleteShareGroupOffsetsResponse.__new__(DeleteShareGroupOffsetsResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.error_message = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.error_message, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 21 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_delete_share_group_offsets_response_topic_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_share_group_offsets_response_v0(
    out: bytearray,
    o: DeleteShareGroupOffsetsResponse,
) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    write_compact_nullable_string(out, o.error_message)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_share_group_offsets_response_topic_v0(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteShareGroupOffsetsResponse.DECODERS = {
    0: _decode_delete_share_group_offsets_response_v0,
}
DeleteShareGroupOffsetsResponse.ENCODERS = {
    0: _encode_delete_share_group_offsets_response_v0,
}
