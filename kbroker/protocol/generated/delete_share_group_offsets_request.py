"""DeleteShareGroupOffsetsRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    Struct,
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


class DeleteShareGroupOffsetsRequestTopic(Struct):
    """Part of DeleteShareGroupOffsetsRequest."""

    __slots__ = (
        "topic_name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name
        self.unknown_tags: UnknownTags = None


class DeleteShareGroupOffsetsRequest(Message):
    """DeleteShareGroupOffsetsRequest, version 0."""

    __slots__ = (
        "group_id",
        "topics",
        "unknown_tags",
    )
    NAME = "DeleteShareGroupOffsetsRequest"
    API_KEY = 92
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DeleteShareGroupOffsetsRequestTopic] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.topics: list[DeleteShareGroupOffsetsRequestTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_delete_share_group_offsets_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[DeleteShareGroupOffsetsRequestTopic], int]:
    items: list[DeleteShareGroupOffsetsRequestTopic] = []
    for _ in range(count):
        o = DeleteShareGroupOffsetsRequestTopic.__new__(DeleteShareGroupOffsetsRequestTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_delete_share_group_offsets_request_topic_v0(
    out: bytearray,
    items: Iterable[DeleteShareGroupOffsetsRequestTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_delete_share_group_offsets_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[DeleteShareGroupOffsetsRequest, int]:
    o = DeleteShareGroupOffsetsRequest.__new__(DeleteShareGroupOffsetsRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_delete_share_group_offsets_request_topic_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_delete_share_group_offsets_request_v0(out: bytearray, o: DeleteShareGroupOffsetsRequest) -> None:
    write_compact_string(out, o.group_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_delete_share_group_offsets_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


DeleteShareGroupOffsetsRequest.DECODERS = {
    0: _decode_delete_share_group_offsets_request_v0,
}
DeleteShareGroupOffsetsRequest.ENCODERS = {
    0: _encode_delete_share_group_offsets_request_v0,
}
