"""StreamsGroupTopologyValue, version 0.

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
    pack_int16s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int16s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class CopartitionGroup(Struct):
    """Part of StreamsGroupTopologyValue."""

    __slots__ = (
        "source_topics",
        "source_topic_regex",
        "repartition_source_topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        source_topics: list[int] = UNSET,
        source_topic_regex: list[int] = UNSET,
        repartition_source_topics: list[int] = UNSET,
    ) -> None:
        self.source_topics: list[int] = [] if source_topics is UNSET else source_topics
        self.source_topic_regex: list[int] = [] if source_topic_regex is UNSET else source_topic_regex
        self.repartition_source_topics: list[int] = (
            [] if repartition_source_topics is UNSET else repartition_source_topics
        )
        self.unknown_tags: UnknownTags = None


class TopicConfig(Struct):
    """Part of StreamsGroupTopologyValue."""

    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags: UnknownTags = None


class TopicInfo(Struct):
    """Part of StreamsGroupTopologyValue."""

    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[TopicConfig] = UNSET,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs: list[TopicConfig] = [] if topic_configs is UNSET else topic_configs
        self.unknown_tags: UnknownTags = None


class Subtopology(Struct):
    """Part of StreamsGroupTopologyValue."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "source_topic_regex",
        "state_changelog_topics",
        "repartition_sink_topics",
        "repartition_source_topics",
        "copartition_groups",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = UNSET,
        source_topic_regex: list[str] = UNSET,
        state_changelog_topics: list[TopicInfo] = UNSET,
        repartition_sink_topics: list[str] = UNSET,
        repartition_source_topics: list[TopicInfo] = UNSET,
        copartition_groups: list[CopartitionGroup] = UNSET,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics: list[str] = [] if source_topics is UNSET else source_topics
        self.source_topic_regex: list[str] = [] if source_topic_regex is UNSET else source_topic_regex
        self.state_changelog_topics: list[TopicInfo] = (
            [] if state_changelog_topics is UNSET else state_changelog_topics
        )
        self.repartition_sink_topics: list[str] = (
            [] if repartition_sink_topics is UNSET else repartition_sink_topics
        )
        self.repartition_source_topics: list[TopicInfo] = (
            [] if repartition_source_topics is UNSET else repartition_source_topics
        )
        self.copartition_groups: list[CopartitionGroup] = (
            [] if copartition_groups is UNSET else copartition_groups
        )
        self.unknown_tags: UnknownTags = None


class StreamsGroupTopologyValue(Message):
    """StreamsGroupTopologyValue, version 0."""

    __slots__ = (
        "epoch",
        "subtopologies",
        "unknown_tags",
    )
    NAME = "StreamsGroupTopologyValue"
    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[Subtopology] = UNSET,
    ) -> None:
        self.epoch = epoch
        self.subtopologies: list[Subtopology] = [] if subtopologies is UNSET else subtopologies
        self.unknown_tags: UnknownTags = None


def _decode_copartition_group_v0(buf: Buffer, pos: int, count: int) -> tuple[list[CopartitionGroup], int]:
    items: list[CopartitionGroup] = []
    for _ in range(count):
        o = CopartitionGroup.__new__(CopartitionGroup)
        items.append(o)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopics")
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topics = unpack_int16s(buf, pos, n)
        pos += 2 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopicRegex")
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topic_regex = unpack_int16s(buf, pos, n)
        pos += 2 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("repartitionSourceTopics")
        if n * 2 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_source_topics = unpack_int16s(buf, pos, n)
        pos += 2 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_copartition_group_v0(out: bytearray, items: Iterable[CopartitionGroup]) -> None:
    for o in items:
        n = len(o.source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int16s(o.source_topics)
        n = len(o.source_topic_regex) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int16s(o.source_topic_regex)
        n = len(o.repartition_source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int16s(o.repartition_source_topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_config_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicConfig], int]:
    items: list[TopicConfig] = []
    for _ in range(count):
        o = TopicConfig.__new__(TopicConfig)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.key = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.key, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_config_v0(out: bytearray, items: Iterable[TopicConfig]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        write_compact_string(out, o.value)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_info_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicInfo], int]:
    items: list[TopicInfo] = []
    for _ in range(count):
        o = TopicInfo.__new__(TopicInfo)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.partitions, o.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("topicConfigs")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topic_configs, pos = _decode_topic_config_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_info_v0(out: bytearray, items: Iterable[TopicInfo]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_ih(o.partitions, o.replication_factor)
        n = len(o.topic_configs) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_config_v0(out, o.topic_configs)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_subtopology_v0(buf: Buffer, pos: int, count: int) -> tuple[list[Subtopology], int]:
    items: list[Subtopology] = []
    for _ in range(count):
        o = Subtopology.__new__(Subtopology)
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
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("sourceTopicRegex")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.source_topic_regex = values = []
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
            raise null_field("stateChangelogTopics")
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.state_changelog_topics, pos = _decode_topic_info_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("repartitionSinkTopics")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_sink_topics = values = []
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
            raise null_field("repartitionSourceTopics")
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.repartition_source_topics, pos = _decode_topic_info_v0(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("copartitionGroups")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.copartition_groups, pos = _decode_copartition_group_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_subtopology_v0(out: bytearray, items: Iterable[Subtopology]) -> None:
    for o in items:
        write_compact_string(out, o.subtopology_id)
        n = len(o.source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.source_topics:
            write_compact_string(out, text)
        n = len(o.source_topic_regex) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.source_topic_regex:
            write_compact_string(out, text)
        n = len(o.state_changelog_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_info_v0(out, o.state_changelog_topics)
        n = len(o.repartition_sink_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        for text in o.repartition_sink_topics:
            write_compact_string(out, text)
        n = len(o.repartition_source_topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_topic_info_v0(out, o.repartition_source_topics)
        n = len(o.copartition_groups) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_copartition_group_v0(out, o.copartition_groups)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_topology_value_v0(buf: Buffer, pos: int) -> tuple[StreamsGroupTopologyValue, int]:
    o = StreamsGroupTopologyValue.__new__(StreamsGroupTopologyValue)
    (o.epoch,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("subtopologies")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.subtopologies, pos = _decode_subtopology_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_streams_group_topology_value_v0(out: bytearray, o: StreamsGroupTopologyValue) -> None:
    out += pack_i(o.epoch)
    n = len(o.subtopologies) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_subtopology_v0(out, o.subtopologies)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StreamsGroupTopologyValue.DECODERS = {
    0: _decode_streams_group_topology_value_v0,
}
StreamsGroupTopologyValue.ENCODERS = {
    0: _encode_streams_group_topology_value_v0,
}
