"""StreamsGroupTopologyDescriptionUpdateRequest, version 0.

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

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class TopologyDescriptionGlobalStore(Struct):
    """Part of StreamsGroupTopologyDescriptionUpdateRequest."""

    __slots__ = (
        "source",
        "processor",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        source: TopologyDescriptionNode = UNSET,
        processor: TopologyDescriptionNode = UNSET,
    ) -> None:
        self.source: TopologyDescriptionNode = TopologyDescriptionNode() if source is UNSET else source
        self.processor: TopologyDescriptionNode = (
            TopologyDescriptionNode() if processor is UNSET else processor
        )
        self.unknown_tags: UnknownTags = None


class TopologyDescriptionNode(Struct):
    """Part of StreamsGroupTopologyDescriptionUpdateRequest."""

    __slots__ = (
        "name",
        "node_type",
        "source_topics",
        "sink_topic",
        "stores",
        "successors",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        node_type: int = 0,
        source_topics: list[str] = UNSET,
        sink_topic: str | None = None,
        stores: list[str] = UNSET,
        successors: list[str] = UNSET,
    ) -> None:
        self.name = name
        self.node_type = node_type
        self.source_topics: list[str] = [] if source_topics is UNSET else source_topics
        self.sink_topic = sink_topic
        self.stores: list[str] = [] if stores is UNSET else stores
        self.successors: list[str] = [] if successors is UNSET else successors
        self.unknown_tags: UnknownTags = None


class TopologyDescriptionSubtopology(Struct):
    """Part of StreamsGroupTopologyDescriptionUpdateRequest."""

    __slots__ = (
        "subtopology_id",
        "nodes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        nodes: list[TopologyDescriptionNode] = UNSET,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.nodes: list[TopologyDescriptionNode] = [] if nodes is UNSET else nodes
        self.unknown_tags: UnknownTags = None


class TopologyDescription(Struct):
    """Part of StreamsGroupTopologyDescriptionUpdateRequest."""

    __slots__ = (
        "subtopologies",
        "global_stores",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopologies: list[TopologyDescriptionSubtopology] = UNSET,
        global_stores: list[TopologyDescriptionGlobalStore] = UNSET,
    ) -> None:
        self.subtopologies: list[TopologyDescriptionSubtopology] = (
            [] if subtopologies is UNSET else subtopologies
        )
        self.global_stores: list[TopologyDescriptionGlobalStore] = (
            [] if global_stores is UNSET else global_stores
        )
        self.unknown_tags: UnknownTags = None


class StreamsGroupTopologyDescriptionUpdateRequest(Message):
    """StreamsGroupTopologyDescriptionUpdateRequest, version 0."""

    __slots__ = (
        "group_id",
        "member_id",
        "topology_epoch",
        "topology_description",
        "unknown_tags",
    )
    NAME = "StreamsGroupTopologyDescriptionUpdateRequest"
    API_KEY = 93
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        topology_epoch: int = 0,
        topology_description: TopologyDescription = UNSET,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.topology_epoch = topology_epoch
        self.topology_description: TopologyDescription = (
            TopologyDescription() if topology_description is UNSET else topology_description
        )
        self.unknown_tags: UnknownTags = None


def _decode_topology_description_global_store_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescriptionGlobalStore], int]:
    items: list[TopologyDescriptionGlobalStore] = []
    for _ in range(count):
        o = TopologyDescriptionGlobalStore.__new__(TopologyDescriptionGlobalStore)
        items.append(o)
        (o.source,), pos = _decode_topology_description_node_v0(buf, pos, 1)
        (o.processor,), pos = _decode_topology_description_node_v0(buf, pos, 1)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_global_store_v0(
    out: bytearray,
    items: Iterable[TopologyDescriptionGlobalStore],
) -> None:
    for o in items:
        _encode_topology_description_node_v0(out, (o.source,))
        _encode_topology_description_node_v0(out, (o.processor,))
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_description_node_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescriptionNode], int]:
    items: list[TopologyDescriptionNode] = []
    for _ in range(count):
        o = TopologyDescriptionNode.__new__(TopologyDescriptionNode)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.node_type,) = unpack_b(buf, pos)
        pos += 1
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopics")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topics = values = []
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
            o.sink_topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.sink_topic, pos = read_compact_nullable_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("stores")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.stores = values = []
        for _ in range(n):
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                values.append(str(buf[pos + 1 : end], "utf-8"))
                pos = end
            else:
                value, pos = read_compact_string(buf, pos)
                values.append(value)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("successors")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.successors = values = []
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
    return items, pos


def _encode_topology_description_node_v0(out: bytearray, items: Iterable[TopologyDescriptionNode]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_b(o.node_type)
        n = len(o.source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.source_topics:
            write_compact_string(out, text)
        write_compact_nullable_string(out, o.sink_topic)
        n = len(o.stores) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.stores:
            write_compact_string(out, text)
        n = len(o.successors) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.successors:
            write_compact_string(out, text)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_description_subtopology_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescriptionSubtopology], int]:
    items: list[TopologyDescriptionSubtopology] = []
    for _ in range(count):
        o = TopologyDescriptionSubtopology.__new__(TopologyDescriptionSubtopology)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.subtopology_id = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.subtopology_id, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("nodes")
        if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.nodes, pos = _decode_topology_description_node_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_subtopology_v0(
    out: bytearray,
    items: Iterable[TopologyDescriptionSubtopology],
) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        n = len(o.nodes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topology_description_node_v0(out, o.nodes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topology_description_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TopologyDescription], int]:
    items: list[TopologyDescription] = []
    for _ in range(count):
        o = TopologyDescription.__new__(TopologyDescription)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("subtopologies")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.subtopologies, pos = _decode_topology_description_subtopology_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("globalStores")
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.global_stores, pos = _decode_topology_description_global_store_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topology_description_v0(out: bytearray, items: Iterable[TopologyDescription]) -> None:
    for o in items:
        n = len(o.subtopologies) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topology_description_subtopology_v0(out, o.subtopologies)
        n = len(o.global_stores) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topology_description_global_store_v0(out, o.global_stores)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_topology_description_update_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[StreamsGroupTopologyDescriptionUpdateRequest, int]:
    o = StreamsGroupTopologyDescriptionUpdateRequest.__new__(StreamsGroupTopologyDescriptionUpdateRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    (o.topology_epoch,) = unpack_i(buf, pos)
    pos += 4
    (o.topology_description,), pos = _decode_topology_description_v0(buf, pos, 1)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_topology_description_update_request_v0(
    out: bytearray,
    o: StreamsGroupTopologyDescriptionUpdateRequest,
) -> None:
    write_compact_string(out, o.group_id)
    write_compact_string(out, o.member_id)
    out += pack_i(o.topology_epoch)
    _encode_topology_description_v0(out, (o.topology_description,))
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupTopologyDescriptionUpdateRequest.DECODERS = {
    0: _decode_streams_group_topology_description_update_request_v0,
}
StreamsGroupTopologyDescriptionUpdateRequest.ENCODERS = {
    0: _encode_streams_group_topology_description_update_request_v0,
}
