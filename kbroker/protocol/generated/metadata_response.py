"""MetadataResponse, versions 0 to 13.

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

pack_16so = Layout(">16s?").pack
unpack_16so = Layout(">16s?").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_h3i = Layout(">h3i").pack
unpack_h3i = Layout(">h3i").unpack_from
pack_h4i = Layout(">h4i").pack
unpack_h4i = Layout(">h4i").unpack_from
pack_hh = Layout(">hh").pack
unpack_hh = Layout(">hh").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_oi = Layout(">?i").pack
unpack_oi = Layout(">?i").unpack_from


class MetadataResponsePartition(Struct):
    """Part of MetadataResponse."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "offline_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,  # versions 7 to 13
        replica_nodes: list[int] = UNSET,
        isr_nodes: list[int] = UNSET,
        offline_replicas: list[int] = UNSET,  # versions 5 to 13
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is UNSET else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is UNSET else isr_nodes
        self.offline_replicas: list[int] = [] if offline_replicas is UNSET else offline_replicas
        self.unknown_tags: UnknownTags = None


class MetadataResponseTopic(Struct):
    """Part of MetadataResponse."""

    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,  # versions 10 to 13
        is_internal: bool = False,  # versions 1 to 13
        partitions: list[MetadataResponsePartition] = UNSET,
        topic_authorized_operations: int = -2147483648,  # versions 8 to 13
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions: list[MetadataResponsePartition] = [] if partitions is UNSET else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tags: UnknownTags = None


class MetadataResponseBroker(Struct):
    """Part of MetadataResponse."""

    __slots__ = (
        "node_id",
        "host",
        "port",
        "rack",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,  # versions 1 to 13
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tags: UnknownTags = None


class MetadataResponse(Message):
    """MetadataResponse, versions 0 to 13."""

    __slots__ = (
        "throttle_time_ms",
        "brokers",
        "cluster_id",
        "controller_id",
        "topics",
        "cluster_authorized_operations",
        "error_code",
        "unknown_tags",
    )
    NAME = "MetadataResponse"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 13
    FLEXIBLE_SINCE = 9

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,  # versions 3 to 13
        brokers: list[MetadataResponseBroker] = UNSET,
        cluster_id: str | None = None,  # versions 2 to 13
        controller_id: int = -1,  # versions 1 to 13
        topics: list[MetadataResponseTopic] = UNSET,
        cluster_authorized_operations: int = -2147483648,  # versions 8 to 10
        error_code: int = 0,  # version 13
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers: list[MetadataResponseBroker] = [] if brokers is UNSET else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics: list[MetadataResponseTopic] = [] if topics is UNSET else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


def _decode_metadata_response_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = MetadataResponsePartition.__new__(MetadataResponsePartition)
        items.append(o)
        o.error_code, o.partition_index, o.leader_id, n = unpack_h3i(buf, pos)
        pos += 14
        if n < 0:
            raise null_field("replicaNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replica_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("isrNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.leader_epoch = -1
        o.offline_replicas = []
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_partition_v0(
    out: bytearray,
    items: Iterable[MetadataResponsePartition],
) -> None:
    for o in items:
        out += pack_h3i(o.error_code, o.partition_index, o.leader_id, len(o.replica_nodes))
        out += pack_int32s(o.replica_nodes)
        out += pack_i(len(o.isr_nodes))
        out += pack_int32s(o.isr_nodes)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_partition_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = MetadataResponsePartition.__new__(MetadataResponsePartition)
        items.append(o)
        o.error_code, o.partition_index, o.leader_id, n = unpack_h3i(buf, pos)
        pos += 14
        if n < 0:
            raise null_field("replicaNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replica_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("isrNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("offlineReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.offline_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_partition_v5(
    out: bytearray,
    items: Iterable[MetadataResponsePartition],
) -> None:
    for o in items:
        out += pack_h3i(o.error_code, o.partition_index, o.leader_id, len(o.replica_nodes))
        out += pack_int32s(o.replica_nodes)
        out += pack_i(len(o.isr_nodes))
        out += pack_int32s(o.isr_nodes)
        out += pack_i(len(o.offline_replicas))
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_partition_v7(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = MetadataResponsePartition.__new__(MetadataResponsePartition)
        items.append(o)
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch, n = unpack_h4i(buf, pos)
        pos += 18
        if n < 0:
            raise null_field("replicaNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replica_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("isrNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("offlineReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.offline_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_partition_v7(
    out: bytearray,
    items: Iterable[MetadataResponsePartition],
) -> None:
    for o in items:
        out += pack_h4i(o.error_code, o.partition_index, o.leader_id, o.leader_epoch, len(o.replica_nodes))
        out += pack_int32s(o.replica_nodes)
        out += pack_i(len(o.isr_nodes))
        out += pack_int32s(o.isr_nodes)
        out += pack_i(len(o.offline_replicas))
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_partition_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponsePartition], int]:
    items: list[MetadataResponsePartition] = []
    for _ in range(count):
        o = MetadataResponsePartition.__new__(MetadataResponsePartition)
        items.append(o)
        o.error_code, o.partition_index, o.leader_id, o.leader_epoch = unpack_h3i(buf, pos)
        pos += 14
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("replicaNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replica_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("isrNodes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr_nodes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("offlineReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.offline_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_response_partition_v9(
    out: bytearray,
    items: Iterable[MetadataResponsePartition],
) -> None:
    for o in items:
        out += pack_h3i(o.error_code, o.partition_index, o.leader_id, o.leader_epoch)
        n = len(o.replica_nodes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.replica_nodes)
        n = len(o.isr_nodes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.isr_nodes)
        n = len(o.offline_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_response_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.is_internal = False
        o.topic_authorized_operations = -2147483648
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_topic_v0(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.topic_authorized_operations != -2147483648:
            raise not_in_version("topicAuthorizedOperations")
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_metadata_response_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_topic_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.is_internal, n = unpack_oi(buf, pos)
        pos += 5
        if n < 0:
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.topic_authorized_operations = -2147483648
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_topic_v1(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.topic_authorized_operations != -2147483648:
            raise not_in_version("topicAuthorizedOperations")
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        out += pack_oi(o.is_internal, len(o.partitions))
        _encode_metadata_response_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_topic_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.is_internal, n = unpack_oi(buf, pos)
        pos += 5
        if n < 0:
            raise null_field("partitions")
        if n * 22 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v5(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.topic_authorized_operations = -2147483648
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_topic_v5(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.topic_authorized_operations != -2147483648:
            raise not_in_version("topicAuthorizedOperations")
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        out += pack_oi(o.is_internal, len(o.partitions))
        _encode_metadata_response_partition_v5(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_topic_v7(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.is_internal, n = unpack_oi(buf, pos)
        pos += 5
        if n < 0:
            raise null_field("partitions")
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v7(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.topic_authorized_operations = -2147483648
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_topic_v7(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.topic_authorized_operations != -2147483648:
            raise not_in_version("topicAuthorizedOperations")
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        out += pack_oi(o.is_internal, len(o.partitions))
        _encode_metadata_response_partition_v7(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_topic_v8(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        o.error_code, n = unpack_hh(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        o.is_internal, n = unpack_oi(buf, pos)
        pos += 5
        if n < 0:
            raise null_field("partitions")
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v7(buf, pos, n)
        (o.topic_authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_topic_v8(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        raw = o.name.encode()
        out += pack_hh(o.error_code, len(raw))
        out += raw
        out += pack_oi(o.is_internal, len(o.partitions))
        _encode_metadata_response_partition_v7(out, o.partitions)
        out += pack_i(o.topic_authorized_operations)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_topic_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        (o.is_internal,) = unpack_o(buf, pos)
        pos += 1
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v9(buf, pos, n)
        (o.topic_authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_response_topic_v9(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        out += pack_h(o.error_code)
        write_compact_string(out, o.name)
        out += pack_o(o.is_internal)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_metadata_response_partition_v9(out, o.partitions)
        out += pack_i(o.topic_authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_response_topic_v10(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_string(buf, pos)
        o.topic_id, o.is_internal = unpack_16so(buf, pos)
        pos += 17
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v9(buf, pos, n)
        (o.topic_authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_response_topic_v10(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        if o.name is None:
            raise null_value("name")
        out += pack_h(o.error_code)
        write_compact_string(out, o.name)
        out += pack_16so(o.topic_id, o.is_internal)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_metadata_response_partition_v9(out, o.partitions)
        out += pack_i(o.topic_authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_response_topic_v12(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseTopic], int]:
    items: list[MetadataResponseTopic] = []
    for _ in range(count):
        o = MetadataResponseTopic.__new__(MetadataResponseTopic)
        items.append(o)
        (o.error_code,) = unpack_h(buf, pos)
        pos += 2
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.name, pos = read_compact_nullable_string(buf, pos)
        o.topic_id, o.is_internal = unpack_16so(buf, pos)
        pos += 17
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_metadata_response_partition_v9(buf, pos, n)
        (o.topic_authorized_operations,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_response_topic_v12(out: bytearray, items: Iterable[MetadataResponseTopic]) -> None:
    for o in items:
        out += pack_h(o.error_code)
        write_compact_nullable_string(out, o.name)
        out += pack_16so(o.topic_id, o.is_internal)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_metadata_response_partition_v9(out, o.partitions)
        out += pack_i(o.topic_authorized_operations)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_response_broker_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseBroker], int]:
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        o = MetadataResponseBroker.__new__(MetadataResponseBroker)
        items.append(o)
        o.node_id, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise null_field("host")
        end = pos + n
        o.host = str(buf[pos:end], "utf-8")
        pos = end
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        o.rack = None
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_broker_v0(out: bytearray, items: Iterable[MetadataResponseBroker]) -> None:
    for o in items:
        raw = o.host.encode()
        out += pack_ih(o.node_id, len(raw))
        out += raw
        out += pack_i(o.port)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_broker_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseBroker], int]:
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        o = MetadataResponseBroker.__new__(MetadataResponseBroker)
        items.append(o)
        o.node_id, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise null_field("host")
        end = pos + n
        o.host = str(buf[pos:end], "utf-8")
        pos = end
        o.port, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            o.rack = None
        else:
            end = pos + n
            o.rack = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_metadata_response_broker_v1(out: bytearray, items: Iterable[MetadataResponseBroker]) -> None:
    for o in items:
        raw = o.host.encode()
        out += pack_ih(o.node_id, len(raw))
        out += raw
        raw = b"" if o.rack is None else o.rack.encode()
        out += pack_ih(o.port, -1 if o.rack is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_metadata_response_broker_v9(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[MetadataResponseBroker], int]:
    items: list[MetadataResponseBroker] = []
    for _ in range(count):
        o = MetadataResponseBroker.__new__(MetadataResponseBroker)
        items.append(o)
        (o.node_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_metadata_response_broker_v9(out: bytearray, items: Iterable[MetadataResponseBroker]) -> None:
    for o in items:
        out += pack_i(o.node_id)
        write_compact_string(out, o.host)
        out += pack_i(o.port)
        write_compact_nullable_string(out, o.rack)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_metadata_response_v0(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("brokers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("topics")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v0(buf, pos, n)
    o.throttle_time_ms = 0
    o.cluster_id = None
    o.controller_id = -1
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v0(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_i(len(o.brokers))
    _encode_metadata_response_broker_v0(out, o.brokers)
    out += pack_i(len(o.topics))
    _encode_metadata_response_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v1(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v1(buf, pos, n)
    o.controller_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v1(buf, pos, n)
    o.throttle_time_ms = 0
    o.cluster_id = None
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v1(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_i(len(o.brokers))
    _encode_metadata_response_broker_v1(out, o.brokers)
    out += pack_ii(o.controller_id, len(o.topics))
    _encode_metadata_response_topic_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v2(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v1(buf, pos, n)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        end = pos + n
        o.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    o.controller_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v1(buf, pos, n)
    o.throttle_time_ms = 0
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v2(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_i(len(o.brokers))
    _encode_metadata_response_broker_v1(out, o.brokers)
    raw = b"" if o.cluster_id is None else o.cluster_id.encode()
    out += pack_h(-1 if o.cluster_id is None else len(raw))
    out += raw
    out += pack_ii(o.controller_id, len(o.topics))
    _encode_metadata_response_topic_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v3(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v1(buf, pos, n)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        end = pos + n
        o.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    o.controller_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v1(buf, pos, n)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v3(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_ii(o.throttle_time_ms, len(o.brokers))
    _encode_metadata_response_broker_v1(out, o.brokers)
    raw = b"" if o.cluster_id is None else o.cluster_id.encode()
    out += pack_h(-1 if o.cluster_id is None else len(raw))
    out += raw
    out += pack_ii(o.controller_id, len(o.topics))
    _encode_metadata_response_topic_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v5(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v1(buf, pos, n)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        end = pos + n
        o.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    o.controller_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v5(buf, pos, n)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v5(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_ii(o.throttle_time_ms, len(o.brokers))
    _encode_metadata_response_broker_v1(out, o.brokers)
    raw = b"" if o.cluster_id is None else o.cluster_id.encode()
    out += pack_h(-1 if o.cluster_id is None else len(raw))
    out += raw
    out += pack_ii(o.controller_id, len(o.topics))
    _encode_metadata_response_topic_v5(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v7(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v1(buf, pos, n)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        end = pos + n
        o.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    o.controller_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v7(buf, pos, n)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v7(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_ii(o.throttle_time_ms, len(o.brokers))
    _encode_metadata_response_broker_v1(out, o.brokers)
    raw = b"" if o.cluster_id is None else o.cluster_id.encode()
    out += pack_h(-1 if o.cluster_id is None else len(raw))
    out += raw
    out += pack_ii(o.controller_id, len(o.topics))
    _encode_metadata_response_topic_v7(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v8(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    o.throttle_time_ms, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("brokers")
    if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v1(buf, pos, n)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        o.cluster_id = None
    else:
        end = pos + n
        o.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    o.controller_id, n = unpack_ii(buf, pos)
    pos += 8
    if n < 0:
        raise null_field("topics")
    if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v8(buf, pos, n)
    (o.cluster_authorized_operations,) = unpack_i(buf, pos)
    pos += 4
    o.error_code = 0
    o.unknown_tags = None
    return o, pos


def _encode_metadata_response_v8(out: bytearray, o: MetadataResponse) -> None:
    out += pack_ii(o.throttle_time_ms, len(o.brokers))
    _encode_metadata_response_broker_v1(out, o.brokers)
    raw = b"" if o.cluster_id is None else o.cluster_id.encode()
    out += pack_h(-1 if o.cluster_id is None else len(raw))
    out += raw
    out += pack_ii(o.controller_id, len(o.topics))
    _encode_metadata_response_topic_v8(out, o.topics)
    out += pack_i(o.cluster_authorized_operations)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_metadata_response_v9(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v9(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
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
    o.topics, pos = _decode_metadata_response_topic_v9(buf, pos, n)
    (o.cluster_authorized_operations,) = unpack_i(buf, pos)
    pos += 4
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_response_v9(out: bytearray, o: MetadataResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_broker_v9(out, o.brokers)
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_topic_v9(out, o.topics)
    out += pack_i(o.cluster_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_metadata_response_v10(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v9(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v10(buf, pos, n)
    (o.cluster_authorized_operations,) = unpack_i(buf, pos)
    pos += 4
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_response_v10(out: bytearray, o: MetadataResponse) -> None:
    out += pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_broker_v9(out, o.brokers)
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_topic_v10(out, o.topics)
    out += pack_i(o.cluster_authorized_operations)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_metadata_response_v11(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v9(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v10(buf, pos, n)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_response_v11(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_broker_v9(out, o.brokers)
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_topic_v10(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_metadata_response_v12(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v9(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v12(buf, pos, n)
    o.cluster_authorized_operations = -2147483648
    o.error_code = 0
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_response_v12(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_broker_v9(out, o.brokers)
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_topic_v12(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_metadata_response_v13(buf: Buffer, pos: int) -> tuple[MetadataResponse, int]:
    o = MetadataResponse.__new__(MetadataResponse)
    (o.throttle_time_ms,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("brokers")
    if n * 11 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.brokers, pos = _decode_metadata_response_broker_v9(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.cluster_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.cluster_id, pos = read_compact_nullable_string(buf, pos)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_metadata_response_topic_v12(buf, pos, n)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.cluster_authorized_operations = -2147483648
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_metadata_response_v13(out: bytearray, o: MetadataResponse) -> None:
    if o.cluster_authorized_operations != -2147483648:
        raise not_in_version("clusterAuthorizedOperations")
    out += pack_i(o.throttle_time_ms)
    n = len(o.brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_broker_v9(out, o.brokers)
    write_compact_nullable_string(out, o.cluster_id)
    out += pack_i(o.controller_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_metadata_response_topic_v12(out, o.topics)
    out += pack_h(o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


MetadataResponse.DECODERS = {
    0: _decode_metadata_response_v0,
    1: _decode_metadata_response_v1,
    2: _decode_metadata_response_v2,
    3: _decode_metadata_response_v3,
    4: _decode_metadata_response_v3,
    5: _decode_metadata_response_v5,
    6: _decode_metadata_response_v5,
    7: _decode_metadata_response_v7,
    8: _decode_metadata_response_v8,
    9: _decode_metadata_response_v9,
    10: _decode_metadata_response_v10,
    11: _decode_metadata_response_v11,
    12: _decode_metadata_response_v12,
    13: _decode_metadata_response_v13,
}
MetadataResponse.ENCODERS = {
    0: _encode_metadata_response_v0,
    1: _encode_metadata_response_v1,
    2: _encode_metadata_response_v2,
    3: _encode_metadata_response_v3,
    4: _encode_metadata_response_v3,
    5: _encode_metadata_response_v5,
    6: _encode_metadata_response_v5,
    7: _encode_metadata_response_v7,
    8: _encode_metadata_response_v8,
    9: _encode_metadata_response_v9,
    10: _encode_metadata_response_v10,
    11: _encode_metadata_response_v11,
    12: _encode_metadata_response_v12,
    13: _encode_metadata_response_v13,
}
