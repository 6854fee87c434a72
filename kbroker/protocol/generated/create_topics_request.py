"""CreateTopicsRequest, versions 0 to 7.

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
    not_in_version,
    null_field,
    pack_int32s,
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ihi = Layout(">ihi").pack
unpack_ihi = Layout(">ihi").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_io = Layout(">i?").pack
unpack_io = Layout(">i?").unpack_from


class CreatableTopicConfig(Struct):
    """Part of CreateTopicsRequest."""

    __slots__ = (
        "name",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tags: UnknownTags = None


class CreatableReplicaAssignment(Struct):
    """Part of CreateTopicsRequest."""

    __slots__ = (
        "partition_index",
        "broker_ids",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        broker_ids: list[int] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids: list[int] = [] if broker_ids is UNSET else broker_ids
        self.unknown_tags: UnknownTags = None


class CreatableTopic(Struct):
    """Part of CreateTopicsRequest."""

    __slots__ = (
        "name",
        "num_partitions",
        "replication_factor",
        "assignments",
        "configs",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = UNSET,
        configs: list[CreatableTopicConfig] = UNSET,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments: list[CreatableReplicaAssignment] = [] if assignments is UNSET else assignments
        self.configs: list[CreatableTopicConfig] = [] if configs is UNSET else configs
        self.unknown_tags: UnknownTags = None


class CreateTopicsRequest(Message):
    """CreateTopicsRequest, versions 0 to 7."""

    __slots__ = (
        "topics",
        "timeout_ms",
        "validate_only",
        "unknown_tags",
    )
    NAME = "CreateTopicsRequest"
    API_KEY = 19
    MIN_VERSION = 0
    MAX_VERSION = 7
    FLEXIBLE_SINCE = 5

    def __init__(
        self,
        *,
        topics: list[CreatableTopic] = UNSET,
        timeout_ms: int = 60000,
        validate_only: bool = False,  # versions 1 to 7
    ) -> None:
        self.topics: list[CreatableTopic] = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tags: UnknownTags = None


def _decode_creatable_topic_config_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicConfig], int]:
    items: list[CreatableTopicConfig] = []
    for _ in range(count):
        o = CreatableTopicConfig.__new__(CreatableTopicConfig)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.value = None
        else:
            end = pos + n
            o.value = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_creatable_topic_config_v0(out: bytearray, items: Iterable[CreatableTopicConfig]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        raw = b"" if o.value is None else o.value.encode()
        out += pack_h(-1 if o.value is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_creatable_topic_config_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableTopicConfig], int]:
    items: list[CreatableTopicConfig] = []
    for _ in range(count):
        o = CreatableTopicConfig.__new__(CreatableTopicConfig)
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
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_creatable_topic_config_v5(out: bytearray, items: Iterable[CreatableTopicConfig]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        write_compact_nullable_string(out, o.value)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_creatable_replica_assignment_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableReplicaAssignment], int]:
    items: list[CreatableReplicaAssignment] = []
    for _ in range(count):
        o = CreatableReplicaAssignment.__new__(CreatableReplicaAssignment)
        items.append(o)
        o.partition_index, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("brokerIds")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.broker_ids = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_creatable_replica_assignment_v0(
    out: bytearray,
    items: Iterable[CreatableReplicaAssignment],
) -> None:
    for o in items:
        out += pack_ii(o.partition_index, len(o.broker_ids))
        out += pack_int32s(o.broker_ids)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_creatable_replica_assignment_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[CreatableReplicaAssignment], int]:
    items: list[CreatableReplicaAssignment] = []
    for _ in range(count):
        o = CreatableReplicaAssignment.__new__(CreatableReplicaAssignment)
        items.append(o)
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("brokerIds")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.broker_ids = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_creatable_replica_assignment_v5(
    out: bytearray,
    items: Iterable[CreatableReplicaAssignment],
) -> None:
    for o in items:
        out += pack_i(o.partition_index)
        n = len(o.broker_ids) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.broker_ids)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_creatable_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[CreatableTopic], int]:
    items: list[CreatableTopic] = []
    for _ in range(count):
        o = CreatableTopic.__new__(CreatableTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.num_partitions, o.replication_factor, n = unpack_ihi(buf, pos)
        pos += 10
        if n < 0:
            raise null_field("assignments")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.assignments, pos = _decode_creatable_replica_assignment_v0(buf, pos, n)
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("configs")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_creatable_topic_config_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_creatable_topic_v0(out: bytearray, items: Iterable[CreatableTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_ihi(o.num_partitions, o.replication_factor, len(o.assignments))
        _encode_creatable_replica_assignment_v0(out, o.assignments)
        out += pack_i(len(o.configs))
        _encode_creatable_topic_config_v0(out, o.configs)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_creatable_topic_v5(buf: Buffer, pos: int, count: int) -> tuple[list[CreatableTopic], int]:
    items: list[CreatableTopic] = []
    for _ in range(count):
        o = CreatableTopic.__new__(CreatableTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.num_partitions, o.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("assignments")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.assignments, pos = _decode_creatable_replica_assignment_v5(buf, pos, n)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("configs")
        if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.configs, pos = _decode_creatable_topic_config_v5(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_creatable_topic_v5(out: bytearray, items: Iterable[CreatableTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        out += pack_ih(o.num_partitions, o.replication_factor)
        n = len(o.assignments) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_creatable_replica_assignment_v5(out, o.assignments)
        n = len(o.configs) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_creatable_topic_config_v5(out, o.configs)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_create_topics_request_v0(buf: Buffer, pos: int) -> tuple[CreateTopicsRequest, int]:
    o = CreateTopicsRequest.__new__(CreateTopicsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_v0(buf, pos, n)
    (o.timeout_ms,) = unpack_i(buf, pos)
    pos += 4
    o.validate_only = False
    o.unknown_tags = None
    return o, pos


def _encode_create_topics_request_v0(out: bytearray, o: CreateTopicsRequest) -> None:
    if o.validate_only:
        raise not_in_version("validateOnly")
    out += pack_i(len(o.topics))
    _encode_creatable_topic_v0(out, o.topics)
    out += pack_i(o.timeout_ms)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_topics_request_v1(buf: Buffer, pos: int) -> tuple[CreateTopicsRequest, int]:
    o = CreateTopicsRequest.__new__(CreateTopicsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_v0(buf, pos, n)
    o.timeout_ms, o.validate_only = unpack_io(buf, pos)
    pos += 5
    o.unknown_tags = None
    return o, pos


def _encode_create_topics_request_v1(out: bytearray, o: CreateTopicsRequest) -> None:
    out += pack_i(len(o.topics))
    _encode_creatable_topic_v0(out, o.topics)
    out += pack_io(o.timeout_ms, o.validate_only)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_create_topics_request_v5(buf: Buffer, pos: int) -> tuple[CreateTopicsRequest, int]:
    o = CreateTopicsRequest.__new__(CreateTopicsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_creatable_topic_v5(buf, pos, n)
    o.timeout_ms, o.validate_only = unpack_io(buf, pos)
    pos += 5
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_create_topics_request_v5(out: bytearray, o: CreateTopicsRequest) -> None:
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_creatable_topic_v5(out, o.topics)
    out += pack_io(o.timeout_ms, o.validate_only)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


CreateTopicsRequest.DECODERS = {
    0: _decode_create_topics_request_v0,
    1: _decode_create_topics_request_v1,
    2: _decode_create_topics_request_v1,
    3: _decode_create_topics_request_v1,
    4: _decode_create_topics_request_v1,
    5: _decode_create_topics_request_v5,
    6: _decode_create_topics_request_v5,
    7: _decode_create_topics_request_v5,
}
CreateTopicsRequest.ENCODERS = {
    0: _encode_create_topics_request_v0,
    1: _encode_create_topics_request_v1,
    2: _encode_create_topics_request_v1,
    3: _encode_create_topics_request_v1,
    4: _encode_create_topics_request_v1,
    5: _encode_create_topics_request_v5,
    6: _encode_create_topics_request_v5,
    7: _encode_create_topics_request_v5,
}
