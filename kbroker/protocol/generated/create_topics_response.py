"""CreateTopicsResponse, versions 0 to 7.

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
    bad_tag_size,
    not_in_version,
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

pack_16sh = Layout(">16sh").pack
unpack_16sh = Layout(">16sh").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_obo = Layout(">?b?").pack
unpack_obo = Layout(">?b?").unpack_from


class CreatableTopicConfigs(Struct):
    """Part of CreateTopicsResponse."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 5 to 7
        value: str | None = "",  # versions 5 to 7
        read_only: bool = False,  # versions 5 to 7
        config_source: int = -1,  # versions 5 to 7
        is_sensitive: bool = False,  # versions 5 to 7
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.unknown_tags: UnknownTags = None


class CreatableTopicResult(Struct):
    """Part of CreateTopicsResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "topic_config_error_code",
        "num_partitions",
        "replication_factor",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,  # version 7
        error_code: int = 0,
        error_message: str | None = "",  # versions 1 to 7
        topic_config_error_code: int = 0,  # versions 5 to 7
        num_partitions: int = -1,  # versions 5 to 7
        replication_factor: int = -1,  # versions 5 to 7
        configs: list[CreatableTopicConfigs] | None = UNSET,  # versions 5 to 7
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs: list[CreatableTopicConfigs] | None = [] if configs is UNSET else configs
        self.unknown_tags: UnknownTags = None


class CreateTopicsResponse(Message):
    """CreateTopicsResponse, versions 0 to 7."""

    __slots__ = (
        "throttle_time_ms",
        "topics",
        "unknown_tags",
    )
    NAME = "CreateTopicsResponse"
    API_KEY = 19
    MIN_VERSION = 0
    MAX_VERSION = 7
    FLEXIBLE_SINCE = 5

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 2 to 7
        topics: list[CreatableTopicResult] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics: list[CreatableTopicResult] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_creatable_topic_configs_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicConfigs], int]:
    items: list[CreatableTopicConfigs] = []
    for _ in range(count):
        o = CreatableTopicConfigs.__new__(CreatableTopicConfigs)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_nullable_string(buf, pos)
        o.read_only, o.config_source, o.is_sensitive = unpack_obo(buf, pos)
        pos += 3
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_creatable_topic_configs_v5(out: bytearray, items: Iterable[CreatableTopicConfigs]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_nullable_string(out, o.value)
        out += pack_obo(o.read_only, o.config_source, o.is_sensitive)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_creatable_topic_result_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = CreatableTopicResult.__new__(CreatableTopicResult)
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
        o.error_message = ""
        o.topic_config_error_code = 0
        o.num_partitions = -1
        o.replication_factor = -1
        o.configs = []
        o.unknown_tags = None
    return items, pos


def _encode_creatable_topic_result_v0(out: bytearray, items: Iterable[CreatableTopicResult]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_h(o.error_code)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_creatable_topic_result_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = CreatableTopicResult.__new__(CreatableTopicResult)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            o.error_message = None
        else:
            end = pos + n
            o.error_message = str(buf[pos:end], "utf-8")
            pos = end
        o.topic_id = ZERO_UUID
        o.topic_config_error_code = 0
        o.num_partitions = -1
        o.replication_factor = -1
        o.configs = []
        o.unknown_tags = None
    return items, pos


def _encode_creatable_topic_result_v1(out: bytearray, items: Iterable[CreatableTopicResult]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.error_message is None else o.error_message.encode()
        out += pack_hh(o.error_code, -1 if o.error_message is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_creatable_topic_result_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = CreatableTopicResult.__new__(CreatableTopicResult)
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
        o.num_partitions, o.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.configs = None
        else:
            if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.configs, pos = _decode_creatable_topic_configs_v5(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.topic_config_error_code = 0
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_creatable_topic_result_v5(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_creatable_topic_result_v5(buf: Buffer, pos: int, o: CreatableTopicResult) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.topic_config_error_code,) = unpack_h(buf, pos)
            pos += 2
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_creatable_topic_result_v5(out: bytearray, o: CreatableTopicResult) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.topic_config_error_code != 0:
        part = bytearray()
        part += pack_h(o.topic_config_error_code)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_creatable_topic_result_v5(out: bytearray, items: Iterable[CreatableTopicResult]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_ih(o.num_partitions, o.replication_factor)
        if o.configs is None:
            out.append(0)
        else:
            n = len(o.configs) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_creatable_topic_configs_v5(out, o.configs)
        if o.unknown_tags or o.topic_config_error_code != 0:
            _write_tags_of_creatable_topic_result_v5(out, o)
        else:
            out.append(0)


def _decode_creatable_topic_result_v7(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicResult], int]:
    items: list[CreatableTopicResult] = []
    for _ in range(count):
        o = CreatableTopicResult.__new__(CreatableTopicResult)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.topic_id, o.error_code = unpack_16sh(buf, pos)
        pos += 18
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.error_message = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.error_message, pos = read_compact_nullable_string(buf, pos)
        o.num_partitions, o.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            o.configs = None
        else:
            if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
                raise too_many(n)
            o.configs, pos = _decode_creatable_topic_configs_v5(buf, pos, n)
        o.topic_config_error_code = 0
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_creatable_topic_result_v7(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_creatable_topic_result_v7(buf: Buffer, pos: int, o: CreatableTopicResult) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.topic_config_error_code,) = unpack_h(buf, pos)
            pos += 2
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_creatable_topic_result_v7(out: bytearray, o: CreatableTopicResult) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.topic_config_error_code != 0:
        part = bytearray()
        part += pack_h(o.topic_config_error_code)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_creatable_topic_result_v7(out: bytearray, items: Iterable[CreatableTopicResult]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_16sh(o.topic_id, o.error_code)
        write_compact_nullable_string(out, o.error_message)
        out += pack_ih(o.num_partitions, o.replication_factor)
        if o.configs is None:
            out.append(0)
        else:
            n = len(o.configs) + 1
            out.append(n) if n < 128 else write_uvarint(out, n)
            _encode_creatable_topic_configs_v5(out, o.configs)
        if o.unknown_tags or o.topic_config_error_code != 0:
            _write_tags_of_creatable_topic_result_v7(out, o)
        else:
            out.append(0)


def _decode_create_topics_response_v0(buf: Buffer, pos: int) -> tuple[CreateTopicsResponse, int]:
    o = CreateTopicsResponse.__new__(CreateTopicsResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_result_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_create_topics_response_v0(out: bytearray, o: CreateTopicsResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_creatable_topic_result_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_topics_response_v1(buf: Buffer, pos: int) -> tuple[CreateTopicsResponse, int]:
    o = CreateTopicsResponse.__new__(CreateTopicsResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_result_v1(buf, pos, n)
    o.throttle_time_ms = 0
    o.unknown_tags = None
    return o, pos


def _encode_create_topics_response_v1(out: bytearray, o: CreateTopicsResponse) -> None:
    out += pack_i(len(o.topics))
    _encode_creatable_topic_result_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_topics_response_v2(buf: Buffer, pos: int) -> tuple[CreateTopicsResponse, int]:
    o = CreateTopicsResponse.__new__(CreateTopicsResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_result_v1(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_create_topics_response_v2(out: bytearray, o: CreateTopicsResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.topics))
    _encode_creatable_topic_result_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_topics_response_v5(buf: Buffer, pos: int) -> tuple[CreateTopicsResponse, int]:
    o = CreateTopicsResponse.__new__(CreateTopicsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_result_v5(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_topics_response_v5(out: bytearray, o: CreateTopicsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_creatable_topic_result_v5(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_create_topics_response_v7(buf: Buffer, pos: int) -> tuple[CreateTopicsResponse, int]:
    o = CreateTopicsResponse.__new__(CreateTopicsResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_result_v7(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_topics_response_v7(out: bytearray, o: CreateTopicsResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_creatable_topic_result_v7(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


CreateTopicsResponse.DECODERS = {
    0: _decode_create_topics_response_v0,
    1: _decode_create_topics_response_v1,
    2: _decode_create_topics_response_v2,
    3: _decode_create_topics_response_v2,
    4: _decode_create_topics_response_v2,
    5: _decode_create_topics_response_v5,
    6: _decode_create_topics_response_v5,
    7: _decode_create_topics_response_v7,
}
CreateTopicsResponse.ENCODERS = {
    0: _encode_create_topics_response_v0,
    1: _encode_create_topics_response_v1,
    2: _encode_create_topics_response_v2,
    3: _encode_create_topics_response_v2,
    4: _encode_create_topics_response_v2,
    5: _encode_create_topics_response_v5,
    6: _encode_create_topics_response_v5,
    7: _encode_create_topics_response_v7,
}
