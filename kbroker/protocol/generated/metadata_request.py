"""MetadataRequest, versions 0 to 13.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_3o = Layout(">3?").pack
unpack_3o = Layout(">3?").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_oo = Layout(">??").pack
unpack_oo = Layout(">??").unpack_from


class MetadataRequestTopic(Struct):
    """Part of MetadataRequest."""

    __slots__ = (
        "topic_id",
        "name",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,  # versions 10 to 13
        name: str | None = "",
    ) -> None:
        self.topic_id = topic_id
        self.name = name
        self.unknown_tags: UnknownTags = None


class MetadataRequest(Message):
    """MetadataRequest, versions 0 to 13."""

    __slots__ = (
        "topics",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "unknown_tags",
    )
    NAME = "MetadataRequest"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 13
    FLEXIBLE_SINCE = 9

    def __init__(
        self,
        *,
        topics: list[MetadataRequestTopic] | None = UNSET,
        allow_auto_topic_creation: bool = True,  # versions 4 to 13
        include_cluster_authorized_operations: bool = False,  # versions 8 to 10
        include_topic_authorized_operations: bool = False,  # versions 8 to 13
    ) -> None:
        self.topics: list[MetadataRequestTopic] | None = [] if topics is UNSET else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
        self.unknown_tags: UnknownTags = None


def _decode_metadata_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataRequestTopic], int]:
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        o = MetadataRequestTopic.__new__(MetadataRequestTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_metadata_request_topic_v0(out: bytearray, items: Iterable[MetadataRequestTopic]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_request_topic_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataRequestTopic], int]:
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        o = MetadataRequestTopic.__new__(MetadataRequestTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_request_topic_v9(out: bytearray, items: Iterable[MetadataRequestTopic]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        write_compact_string(out, o.name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_request_topic_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataRequestTopic], int]:
    items: list[MetadataRequestTopic] = []
    for _ in range(count):
        o = MetadataRequestTopic.__new__(MetadataRequestTopic)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_request_topic_v10(out: bytearray, items: Iterable[MetadataRequestTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        write_compact_nullable_string(out, o.name)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_request_v0(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_request_topic_v0(buf, pos, n)
    o.allow_auto_topic_creation = True
    o.include_cluster_authorized_operations = False
    o.include_topic_authorized_operations = False
    o.unknown_tags = None
    return o, pos


def _encode_metadata_request_v0(out: bytearray, o: MetadataRequest) -> None:
    if not o.allow_auto_topic_creation:
        raise not_in_version("allowAutoTopicCreation")
    if o.include_cluster_authorized_operations:
        raise not_in_version("includeClusterAuthorizedOperations")
    if o.include_topic_authorized_operations:
        raise not_in_version("includeTopicAuthorizedOperations")
    if o.topics is None:
        raise null_value("topics")
    out += pack_i(len(o.topics))
    _encode_metadata_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_request_v1(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_metadata_request_topic_v0(buf, pos, n)
    o.allow_auto_topic_creation = True
    o.include_cluster_authorized_operations = False
    o.include_topic_authorized_operations = False
    o.unknown_tags = None
    return o, pos


def _encode_metadata_request_v1(out: bytearray, o: MetadataRequest) -> None:
    if not o.allow_auto_topic_creation:
        raise not_in_version("allowAutoTopicCreation")
    if o.include_cluster_authorized_operations:
        raise not_in_version("includeClusterAuthorizedOperations")
    if o.include_topic_authorized_operations:
        raise not_in_version("includeTopicAuthorizedOperations")
    out += pack_i(-1 if o.topics is None else len(o.topics))
    if o.topics:
        _encode_metadata_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_request_v4(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_metadata_request_topic_v0(buf, pos, n)
    (o.allow_auto_topic_creation,) = unpack_o(buf, pos)
    pos += 1
    o.include_cluster_authorized_operations = False
    o.include_topic_authorized_operations = False
    o.unknown_tags = None
    return o, pos


def _encode_metadata_request_v4(out: bytearray, o: MetadataRequest) -> None:
    if o.include_cluster_authorized_operations:
        raise not_in_version("includeClusterAuthorizedOperations")
    if o.include_topic_authorized_operations:
        raise not_in_version("includeTopicAuthorizedOperations")
    out += pack_i(-1 if o.topics is None else len(o.topics))
    if o.topics:
        _encode_metadata_request_topic_v0(out, o.topics)
    out += pack_o(o.allow_auto_topic_creation)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_request_v8(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        o.topics = None
    else:
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_metadata_request_topic_v0(buf, pos, n)
    (
        o.allow_auto_topic_creation,
        o.include_cluster_authorized_operations,
        o.include_topic_authorized_operations,
    ) = unpack_3o(buf, pos)
    pos += 3
    o.unknown_tags = None
    return o, pos


def _encode_metadata_request_v8(out: bytearray, o: MetadataRequest) -> None:
    out += pack_i(-1 if o.topics is None else len(o.topics))
    if o.topics:
        _encode_metadata_request_topic_v0(out, o.topics)
    out += pack_3o(
        o.allow_auto_topic_creation,
        o.include_cluster_authorized_operations,
        o.include_topic_authorized_operations,
    )
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_request_v9(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.topics = None
    else:
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_metadata_request_topic_v9(buf, pos, n)
    (
        o.allow_auto_topic_creation,
        o.include_cluster_authorized_operations,
        o.include_topic_authorized_operations,
    ) = unpack_3o(buf, pos)
    pos += 3
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_request_v9(out: bytearray, o: MetadataRequest) -> None:
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_metadata_request_topic_v9(out, o.topics)
    out += pack_3o(
        o.allow_auto_topic_creation,
        o.include_cluster_authorized_operations,
        o.include_topic_authorized_operations,
    )
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_metadata_request_v10(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.topics = None
    else:
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_metadata_request_topic_v10(buf, pos, n)
    (
        o.allow_auto_topic_creation,
        o.include_cluster_authorized_operations,
        o.include_topic_authorized_operations,
    ) = unpack_3o(buf, pos)
    pos += 3
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_request_v10(out: bytearray, o: MetadataRequest) -> None:
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_metadata_request_topic_v10(out, o.topics)
    out += pack_3o(
        o.allow_auto_topic_creation,
        o.include_cluster_authorized_operations,
        o.include_topic_authorized_operations,
    )
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_metadata_request_v11(buf: Buffer, pos: int) -> tuple[MetadataRequest, int]:
    o = MetadataRequest.__new__(MetadataRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        o.topics = None
    else:
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_metadata_request_topic_v10(buf, pos, n)
    o.allow_auto_topic_creation, o.include_topic_authorized_operations = unpack_oo(buf, pos)
    pos += 2
    o.include_cluster_authorized_operations = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_request_v11(out: bytearray, o: MetadataRequest) -> None:
    if o.include_cluster_authorized_operations:
        raise not_in_version("includeClusterAuthorizedOperations")
    if o.topics is None:
        out.append(0)
    else:
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_metadata_request_topic_v10(out, o.topics)
    out += pack_oo(o.allow_auto_topic_creation, o.include_topic_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


MetadataRequest.DECODERS = {
    0: _decode_metadata_request_v0,
    1: _decode_metadata_request_v1,
    2: _decode_metadata_request_v1,
    3: _decode_metadata_request_v1,
    4: _decode_metadata_request_v4,
    5: _decode_metadata_request_v4,
    6: _decode_metadata_request_v4,
    7: _decode_metadata_request_v4,
    8: _decode_metadata_request_v8,
    9: _decode_metadata_request_v9,
    10: _decode_metadata_request_v10,
    11: _decode_metadata_request_v11,
    12: _decode_metadata_request_v11,
    13: _decode_metadata_request_v11,
}
MetadataRequest.ENCODERS = {
    0: _encode_metadata_request_v0,
    1: _encode_metadata_request_v1,
    2: _encode_metadata_request_v1,
    3: _encode_metadata_request_v1,
    4: _encode_metadata_request_v4,
    5: _encode_metadata_request_v4,
    6: _encode_metadata_request_v4,
    7: _encode_metadata_request_v4,
    8: _encode_metadata_request_v8,
    9: _encode_metadata_request_v9,
    10: _encode_metadata_request_v10,
    11: _encode_metadata_request_v11,
    12: _encode_metadata_request_v11,
    13: _encode_metadata_request_v11,
}
