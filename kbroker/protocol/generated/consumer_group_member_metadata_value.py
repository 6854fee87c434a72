"""ConsumerGroupMemberMetadataValue, version 0.

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
    bad_tag_size,
    null_field,
    read_compact_nullable_string,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class ClassicProtocol(Struct):
    """Part of ConsumerGroupMemberMetadataValue."""

    __slots__ = (
        "name",
        "metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tags: UnknownTags = None


class ClassicMemberMetadata(Struct):
    """Part of ConsumerGroupMemberMetadataValue."""

    __slots__ = (
        "session_timeout_ms",
        "supported_protocols",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = UNSET,
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols: list[ClassicProtocol] = (
            [] if supported_protocols is UNSET else supported_protocols
        )
        self.unknown_tags: UnknownTags = None


class ConsumerGroupMemberMetadataValue(Message):
    """ConsumerGroupMemberMetadataValue, version 0."""

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "rebalance_timeout_ms",
        "server_assignor",
        "classic_member_metadata",
        "unknown_tags",
    )
    NAME = "ConsumerGroupMemberMetadataValue"
    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = UNSET,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = UNSET,
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names: list[str] = (
            [] if subscribed_topic_names is UNSET else subscribed_topic_names
        )
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata: ClassicMemberMetadata | None = (
            ClassicMemberMetadata() if classic_member_metadata is UNSET else classic_member_metadata
        )
        self.unknown_tags: UnknownTags = None


def _decode_classic_protocol_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ClassicProtocol], int]:
    items: list[ClassicProtocol] = []
    for _ in range(count):
        o = ClassicProtocol.__new__(ClassicProtocol)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("metadata")
        end = pos + n
        o.metadata = bytes(buf[pos:end])
        pos = end
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_classic_protocol_v0(out: bytearray, items: Iterable[ClassicProtocol]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.metadata) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += o.metadata
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_classic_member_metadata_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[ClassicMemberMetadata], int]:
    items: list[ClassicMemberMetadata] = []
    for _ in range(count):
        o = ClassicMemberMetadata.__new__(ClassicMemberMetadata)
        items.append(o)
        (o.session_timeout_ms,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("supportedProtocols")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.supported_protocols, pos = _decode_classic_protocol_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_classic_member_metadata_v0(out: bytearray, items: Iterable[ClassicMemberMetadata]) -> None:
    for o in items:
        out += pack_i(o.session_timeout_ms)
        n = len(o.supported_protocols) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_classic_protocol_v0(out, o.supported_protocols)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_consumer_group_member_metadata_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ConsumerGroupMemberMetadataValue, int]:
    o = ConsumerGroupMemberMetadataValue.__new__(ConsumerGroupMemberMetadataValue)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.instance_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.client_host = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.client_host, pos = read_compact_string(buf, pos)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("subscribedTopicNames")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.subscribed_topic_names = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.subscribed_topic_regex = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.subscribed_topic_regex, pos = read_compact_nullable_string(buf, pos)
    (o.rebalance_timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.server_assignor = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.server_assignor, pos = read_compact_nullable_string(buf, pos)
    o.classic_member_metadata = ClassicMemberMetadata()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_consumer_group_member_metadata_value_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_consumer_group_member_metadata_value_v0(
    buf: Buffer,
    pos: int,
    o: ConsumerGroupMemberMetadataValue,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n, pos = read_uvarint(buf, pos)
            n -= 1
            if n < 0:
                o.classic_member_metadata = None
            else:
                (o.classic_member_metadata,), pos = _decode_classic_member_metadata_v0(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_consumer_group_member_metadata_value_v0(
    out: bytearray,
    o: ConsumerGroupMemberMetadataValue,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if (
        o.classic_member_metadata is None
        or o.classic_member_metadata.session_timeout_ms != 0
        or o.classic_member_metadata.supported_protocols
    ):
        part = bytearray()
        if o.classic_member_metadata is None:
            part.append(0)
        else:
            part.append(1)
            _encode_classic_member_metadata_v0(part, (o.classic_member_metadata,))
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_consumer_group_member_metadata_value_v0(
    out: bytearray,
    o: ConsumerGroupMemberMetadataValue,
) -> None:
    write_compact_nullable_string(out, o.instance_id)
    write_compact_nullable_string(out, o.rack_id)
    write_compact_string(out, o.client_id)
    write_compact_string(out, o.client_host)
    n = len(o.subscribed_topic_names) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.subscribed_topic_names:
        write_compact_string(out, text)
    write_compact_nullable_string(out, o.subscribed_topic_regex)
    out += pack_i(o.rebalance_timeout_ms)
    write_compact_nullable_string(out, o.server_assignor)
    if (
        o.unknown_tags
        or o.classic_member_metadata is None
        or o.classic_member_metadata.session_timeout_ms != 0
        or o.classic_member_metadata.supported_protocols
    ):
        _write_tags_of_consumer_group_member_metadata_value_v0(out, o)
    else:
        out.append(0)


ConsumerGroupMemberMetadataValue.DECODERS = {
    0: _decode_consumer_group_member_metadata_value_v0,
}
ConsumerGroupMemberMetadataValue.ENCODERS = {
    0: _encode_consumer_group_member_metadata_value_v0,
}
