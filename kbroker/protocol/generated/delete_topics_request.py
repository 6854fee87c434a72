"""DeleteTopicsRequest, versions 0 to 6.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class DeleteTopicState(Struct):
    """Part of DeleteTopicsRequest."""

    __slots__ = (
        "name",
        "topic_id",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str | None = None,  # version 6
        topic_id: bytes = ZERO_UUID,  # version 6
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tags: UnknownTags = None


class DeleteTopicsRequest(Message):
    """DeleteTopicsRequest, versions 0 to 6."""

    __slots__ = (
        "topics",
        "topic_names",
        "timeout_ms",
        "unknown_tags",
    )
    NAME = "DeleteTopicsRequest"
    API_KEY = 20
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        topics: list[DeleteTopicState] = UNSET,  # version 6
        topic_names: list[str] = UNSET,  # versions 0 to 5
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteTopicState] = [] if topics is UNSET else topics
        self.topic_names: list[str] = [] if topic_names is UNSET else topic_names
        self.timeout_ms = timeout_ms
        self.unknown_tags: UnknownTags = None


def _decode_delete_topic_state_v6(buf: Buffer, pos: int, count: int) -> tuple[list[DeleteTopicState], int]:
    items: list[DeleteTopicState] = []
    for _ in range(count):
        o = DeleteTopicState.__new__(DeleteTopicState)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_nullable_string(buf, pos)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_topic_state_v6(out: bytearray, items: Iterable[DeleteTopicState]) -> None:
    for o in items:
        write_compact_nullable_string(out, o.name)
        out += pack_16s(o.topic_id)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_topics_request_v0(buf: Buffer, pos: int) -> tuple[DeleteTopicsRequest, int]:
    o = DeleteTopicsRequest.__new__(DeleteTopicsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topicNames")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_names = values = []
    for _ in range(n):
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicNames")
        end = pos + n
        values.append(str(buf[pos:end], "utf-8"))
        pos = end
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.topics = []
    o.unknown_tags = None
    return o, pos


def _encode_delete_topics_request_v0(out: bytearray, o: DeleteTopicsRequest) -> None:
    if o.topics:
        raise not_in_version("topics")
    out += pack_i(len(o.topic_names))
    for text in o.topic_names:
        raw = text.encode()
        out += pack_h(len(raw))
        out += raw
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_delete_topics_request_v4(buf: Buffer, pos: int) -> tuple[DeleteTopicsRequest, int]:
    o = DeleteTopicsRequest.__new__(DeleteTopicsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topicNames")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_names = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_topics_request_v4(out: bytearray, o: DeleteTopicsRequest) -> None:
    if o.topics:
        raise not_in_version("topics")
    n = len(o.topic_names) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.topic_names:
        write_compact_string(out, text)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_delete_topics_request_v6(buf: Buffer, pos: int) -> tuple[DeleteTopicsRequest, int]:
    o = DeleteTopicsRequest.__new__(DeleteTopicsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_delete_topic_state_v6(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.topic_names = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_topics_request_v6(out: bytearray, o: DeleteTopicsRequest) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_topic_state_v6(out, o.topics)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteTopicsRequest.DECODERS = {
    0: _decode_delete_topics_request_v0,
    1: _decode_delete_topics_request_v0,
    2: _decode_delete_topics_request_v0,
    3: _decode_delete_topics_request_v0,
    4: _decode_delete_topics_request_v4,
    5: _decode_delete_topics_request_v4,
    6: _decode_delete_topics_request_v6,
}
DeleteTopicsRequest.ENCODERS = {
    0: _encode_delete_topics_request_v0,
    1: _encode_delete_topics_request_v0,
    2: _encode_delete_topics_request_v0,
    3: _encode_delete_topics_request_v0,
    4: _encode_delete_topics_request_v4,
    5: _encode_delete_topics_request_v4,
    6: _encode_delete_topics_request_v6,
}
