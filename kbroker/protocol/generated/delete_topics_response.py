"""DeleteTopicsResponse, versions 0 to 6.

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
    not_in_version,
    null_field,
    null_value,
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
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from


class DeletableTopicResult(Struct):
    """Part of DeleteTopicsResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,  # version 6
        error_code: int = 0,
        error_message: str | None = None,  # versions 5 to 6
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tags: UnknownTags = None


class DeleteTopicsResponse(Message):
    """DeleteTopicsResponse, versions 0 to 6."""

    __slots__ = (
        "throttle_time_ms",
        "responses",
        "unknown_tags",
    )
    NAME = "DeleteTopicsResponse"
    API_KEY = 20
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 1 to 6
        responses: list[DeletableTopicResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses: list[DeletableTopicResult] = [] if responses is UNSET else responses
        self.unknown_tags: UnknownTags = None


def _decode_deletable_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = DeletableTopicResult.__new__(DeletableTopicResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.topic_id = ZERO_UUID
        o.error_message = None
        o.unknown_tags = None
    return items, pos


def _encode_deletable_topic_result_v0(out: bytearray, items: Iterable[DeletableTopicResult]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_h(o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_deletable_topic_result_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = DeletableTopicResult.__new__(DeletableTopicResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        o.topic_id = ZERO_UUID
        o.error_message = None
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_deletable_topic_result_v4(out: bytearray, items: Iterable[DeletableTopicResult]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        write_compact_string(out, o.name)
        out += pack_h(o.error_code)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_deletable_topic_result_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = DeletableTopicResult.__new__(DeletableTopicResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_deletable_topic_result_v5(out: bytearray, items: Iterable[DeletableTopicResult]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        write_compact_string(out, o.name)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_deletable_topic_result_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeletableTopicResult], int]:
    items: list[DeletableTopicResult] = []
    for _ in range(count):
        o = DeletableTopicResult.__new__(DeletableTopicResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_nullable_string(buf, pos)
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


def _encode_deletable_topic_result_v6(out: bytearray, items: Iterable[DeletableTopicResult]) -> None:
    for o in items:
        write_compact_nullable_string(out, o.name)
        out += pack_16sh(o.topic_id, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_topics_response_v0(buf: Buffer, pos: int) -> tuple[DeleteTopicsResponse, int]:
    o = DeleteTopicsResponse.__new__(DeleteTopicsResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("responses")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_deletable_topic_result_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_delete_topics_response_v0(out: bytearray, o: DeleteTopicsResponse) -> None:
    out += pack_i(len(o.responses))
    _encode_deletable_topic_result_v0(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_topics_response_v1(buf: Buffer, pos: int) -> tuple[DeleteTopicsResponse, int]:
    o = DeleteTopicsResponse.__new__(DeleteTopicsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("responses")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_deletable_topic_result_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_delete_topics_response_v1(out: bytearray, o: DeleteTopicsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.responses))
    _encode_deletable_topic_result_v0(out, o.responses)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_topics_response_v4(buf: Buffer, pos: int) -> tuple[DeleteTopicsResponse, int]:
    o = DeleteTopicsResponse.__new__(DeleteTopicsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_deletable_topic_result_v4(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_topics_response_v4(out: bytearray, o: DeleteTopicsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_deletable_topic_result_v4(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_delete_topics_response_v5(buf: Buffer, pos: int) -> tuple[DeleteTopicsResponse, int]:
    o = DeleteTopicsResponse.__new__(DeleteTopicsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("responses")
    if n * 5 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.responses, pos = _decode_deletable_topic_result_v5(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_topics_response_v5(out: bytearray, o: DeleteTopicsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_deletable_topic_result_v5(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_delete_topics_response_v6(buf: Buffer, pos: int) -> tuple[DeleteTopicsResponse, int]:
    o = DeleteTopicsResponse.__new__(DeleteTopicsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
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
    o.responses, pos = _decode_deletable_topic_result_v6(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_topics_response_v6(out: bytearray, o: DeleteTopicsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.responses) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_deletable_topic_result_v6(out, o.responses)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteTopicsResponse.DECODERS = {
    0: _decode_delete_topics_response_v0,
    1: _decode_delete_topics_response_v1,
    2: _decode_delete_topics_response_v1,
    3: _decode_delete_topics_response_v1,
    4: _decode_delete_topics_response_v4,
    5: _decode_delete_topics_response_v5,
    6: _decode_delete_topics_response_v6,
}
DeleteTopicsResponse.ENCODERS = {
    0: _encode_delete_topics_response_v0,
    1: _encode_delete_topics_response_v1,
    2: _encode_delete_topics_response_v1,
    3: _encode_delete_topics_response_v1,
    4: _encode_delete_topics_response_v4,
    5: _encode_delete_topics_response_v5,
    6: _encode_delete_topics_response_v6,
}
