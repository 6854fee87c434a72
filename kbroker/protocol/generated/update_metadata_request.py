"""UpdateMetadataRequest, versions 0 to 8.

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
    bad_tag,
    bad_tag_size,
    not_in_version,
    null_field,
    pack_int32s,
    read_compact_nullable_string,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_3i = Layout(">3i").pack
unpack_3i = Layout(">3i").unpack_from
pack_4i = Layout(">4i").pack
unpack_4i = Layout(">4i").unpack_from
pack_5i = Layout(">5i").pack
unpack_5i = Layout(">5i").unpack_from
pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iiq = Layout(">iiq").pack
unpack_iiq = Layout(">iiq").unpack_from
pack_iiqi = Layout(">iiqi").pack
unpack_iiqi = Layout(">iiqi").unpack_from
pack_ioiq = Layout(">i?iq").pack
unpack_ioiq = Layout(">i?iq").unpack_from


class UpdateMetadataEndpoint(Struct):
    """Part of UpdateMetadataRequest."""

    __slots__ = (
        "port",
        "host",
        "listener",
        "security_protocol",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        port: int = 0,  # versions 1 to 8
        host: str = "",  # versions 1 to 8
        listener: str = "",  # versions 3 to 8
        security_protocol: int = 0,  # versions 1 to 8
    ) -> None:
        self.port = port
        self.host = host
        self.listener = listener
        self.security_protocol = security_protocol
        self.unknown_tags: UnknownTags = None


class UpdateMetadataBroker(Struct):
    """Part of UpdateMetadataRequest."""

    __slots__ = (
        "id",
        "v0_host",
        "v0_port",
        "endpoints",
        "rack",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        id: int = 0,
        v0_host: str = "",  # version 0
        v0_port: int = 0,  # version 0
        endpoints: list[UpdateMetadataEndpoint] = UNSET,  # versions 1 to 8
        rack: str | None = "",  # versions 2 to 8
    ) -> None:
        self.id = id
        self.v0_host = v0_host
        self.v0_port = v0_port
        self.endpoints: list[UpdateMetadataEndpoint] = [] if endpoints is UNSET else endpoints
        self.rack = rack
        self.unknown_tags: UnknownTags = None


class UpdateMetadataTopicState(Struct):
    """Part of UpdateMetadataRequest."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "partition_states",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 5 to 8
        topic_id: bytes = ZERO_UUID,  # versions 7 to 8
        partition_states: list[UpdateMetadataPartitionState] = UNSET,  # versions 5 to 8
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partition_states: list[UpdateMetadataPartitionState] = (
            [] if partition_states is UNSET else partition_states
        )
        self.unknown_tags: UnknownTags = None


class UpdateMetadataPartitionState(Struct):
    """Part of UpdateMetadataRequest."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "controller_epoch",
        "leader",
        "leader_epoch",
        "isr",
        "zk_version",
        "replicas",
        "offline_replicas",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 0 to 4
        partition_index: int = 0,
        controller_epoch: int = 0,
        leader: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = UNSET,
        zk_version: int = 0,
        replicas: list[int] = UNSET,
        offline_replicas: list[int] = UNSET,  # versions 4 to 8
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.controller_epoch = controller_epoch
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.isr: list[int] = [] if isr is UNSET else isr
        self.zk_version = zk_version
        self.replicas: list[int] = [] if replicas is UNSET else replicas
        self.offline_replicas: list[int] = [] if offline_replicas is UNSET else offline_replicas
        self.unknown_tags: UnknownTags = None


class UpdateMetadataRequest(Message):
    """UpdateMetadataRequest, versions 0 to 8."""

    __slots__ = (
        "controller_id",
        "is_kraft_controller",
        "type",
        "controller_epoch",
        "broker_epoch",
        "ungrouped_partition_states",
        "topic_states",
        "live_brokers",
        "unknown_tags",
    )
    NAME = "UpdateMetadataRequest"
    API_KEY = 6
    MIN_VERSION = 0
    MAX_VERSION = 8
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_kraft_controller: bool = False,  # version 8
        type: int = 0,  # version 8
        controller_epoch: int = 0,
        broker_epoch: int = -1,  # versions 5 to 8
        ungrouped_partition_states: list[UpdateMetadataPartitionState] = UNSET,  # versions 0 to 4
        topic_states: list[UpdateMetadataTopicState] = UNSET,  # versions 5 to 8
        live_brokers: list[UpdateMetadataBroker] = UNSET,
    ) -> None:
        self.controller_id = controller_id
        self.is_kraft_controller = is_kraft_controller
        self.type = type
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.ungrouped_partition_states: list[UpdateMetadataPartitionState] = (
            [] if ungrouped_partition_states is UNSET else ungrouped_partition_states
        )
        self.topic_states: list[UpdateMetadataTopicState] = [] if topic_states is UNSET else topic_states
        self.live_brokers: list[UpdateMetadataBroker] = [] if live_brokers is UNSET else live_brokers
        self.unknown_tags: UnknownTags = None


def _decode_update_metadata_endpoint_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataEndpoint], int]:
    items: list[UpdateMetadataEndpoint] = []
    for _ in range(count):
        o = UpdateMetadataEndpoint.__new__(UpdateMetadataEndpoint)
        items.append(o)
        o.port, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise null_field("host")
        end = pos + n
        o.host = str(buf[pos:end], "utf-8")
        pos = end
        (o.security_protocol,) = unpack_h(buf, pos)
        pos += 2
        o.listener = ""
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_endpoint_v1(out: bytearray, items: Iterable[UpdateMetadataEndpoint]) -> None:
    for o in items:
        raw = o.host.encode()
        out += pack_ih(o.port, len(raw))
        out += raw
        out += pack_h(o.security_protocol)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_endpoint_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataEndpoint], int]:
    items: list[UpdateMetadataEndpoint] = []
    for _ in range(count):
        o = UpdateMetadataEndpoint.__new__(UpdateMetadataEndpoint)
        items.append(o)
        o.port, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise null_field("host")
        end = pos + n
        o.host = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("listener")
        end = pos + n
        o.listener = str(buf[pos:end], "utf-8")
        pos = end
        (o.security_protocol,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_endpoint_v3(out: bytearray, items: Iterable[UpdateMetadataEndpoint]) -> None:
    for o in items:
        raw = o.host.encode()
        out += pack_ih(o.port, len(raw))
        out += raw
        raw = o.listener.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_h(o.security_protocol)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_endpoint_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataEndpoint], int]:
    items: list[UpdateMetadataEndpoint] = []
    for _ in range(count):
        o = UpdateMetadataEndpoint.__new__(UpdateMetadataEndpoint)
        items.append(o)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.listener = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.listener, pos = read_compact_string(buf, pos)
        (o.security_protocol,) = unpack_h(buf, pos)
        pos += 2
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_update_metadata_endpoint_v6(out: bytearray, items: Iterable[UpdateMetadataEndpoint]) -> None:
    for o in items:
        out += pack_i(o.port)
        write_compact_string(out, o.host)
        write_compact_string(out, o.listener)
        out += pack_h(o.security_protocol)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_metadata_broker_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataBroker], int]:
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = UpdateMetadataBroker.__new__(UpdateMetadataBroker)
        items.append(o)
        o.id, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise null_field("v0Host")
        end = pos + n
        o.v0_host = str(buf[pos:end], "utf-8")
        pos = end
        (o.v0_port,) = unpack_i(buf, pos)
        pos += 4
        o.endpoints = []
        o.rack = ""
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_broker_v0(out: bytearray, items: Iterable[UpdateMetadataBroker]) -> None:
    for o in items:
        raw = o.v0_host.encode()
        out += pack_ih(o.id, len(raw))
        out += raw
        out += pack_i(o.v0_port)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_broker_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataBroker], int]:
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = UpdateMetadataBroker.__new__(UpdateMetadataBroker)
        items.append(o)
        o.id, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("endpoints")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.endpoints, pos = _decode_update_metadata_endpoint_v1(buf, pos, n)
        o.v0_host = ""
        o.v0_port = 0
        o.rack = ""
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_broker_v1(out: bytearray, items: Iterable[UpdateMetadataBroker]) -> None:
    for o in items:
        out += pack_ii(o.id, len(o.endpoints))
        _encode_update_metadata_endpoint_v1(out, o.endpoints)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_broker_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataBroker], int]:
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = UpdateMetadataBroker.__new__(UpdateMetadataBroker)
        items.append(o)
        o.id, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("endpoints")
        if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.endpoints, pos = _decode_update_metadata_endpoint_v1(buf, pos, n)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.rack = None
        else:
            end = pos + n
            o.rack = str(buf[pos:end], "utf-8")
            pos = end
        o.v0_host = ""
        o.v0_port = 0
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_broker_v2(out: bytearray, items: Iterable[UpdateMetadataBroker]) -> None:
    for o in items:
        out += pack_ii(o.id, len(o.endpoints))
        _encode_update_metadata_endpoint_v1(out, o.endpoints)
        raw = b"" if o.rack is None else o.rack.encode()
        out += pack_h(-1 if o.rack is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_broker_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataBroker], int]:
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = UpdateMetadataBroker.__new__(UpdateMetadataBroker)
        items.append(o)
        o.id, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("endpoints")
        if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.endpoints, pos = _decode_update_metadata_endpoint_v3(buf, pos, n)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            o.rack = None
        else:
            end = pos + n
            o.rack = str(buf[pos:end], "utf-8")
            pos = end
        o.v0_host = ""
        o.v0_port = 0
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_broker_v3(out: bytearray, items: Iterable[UpdateMetadataBroker]) -> None:
    for o in items:
        out += pack_ii(o.id, len(o.endpoints))
        _encode_update_metadata_endpoint_v3(out, o.endpoints)
        raw = b"" if o.rack is None else o.rack.encode()
        out += pack_h(-1 if o.rack is None else len(raw))
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_broker_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataBroker], int]:
    items: list[UpdateMetadataBroker] = []
    for _ in range(count):
        o = UpdateMetadataBroker.__new__(UpdateMetadataBroker)
        items.append(o)
        (o.id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("endpoints")
        if n * 9 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.endpoints, pos = _decode_update_metadata_endpoint_v6(buf, pos, n)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.rack = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.rack, pos = read_compact_nullable_string(buf, pos)
        o.v0_host = ""
        o.v0_port = 0
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_update_metadata_broker_v6(out: bytearray, items: Iterable[UpdateMetadataBroker]) -> None:
    for o in items:
        out += pack_i(o.id)
        n = len(o.endpoints) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_update_metadata_endpoint_v6(out, o.endpoints)
        write_compact_nullable_string(out, o.rack)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_metadata_topic_state_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataTopicState], int]:
    items: list[UpdateMetadataTopicState] = []
    for _ in range(count):
        o = UpdateMetadataTopicState.__new__(UpdateMetadataTopicState)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitionStates")
        if n * 32 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_update_metadata_partition_state_v5(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_topic_state_v5(out: bytearray, items: Iterable[UpdateMetadataTopicState]) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_states))
        _encode_update_metadata_partition_state_v5(out, o.partition_states)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_topic_state_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataTopicState], int]:
    items: list[UpdateMetadataTopicState] = []
    for _ in range(count):
        o = UpdateMetadataTopicState.__new__(UpdateMetadataTopicState)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitionStates")
        if n * 24 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_update_metadata_partition_state_v6(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_update_metadata_topic_state_v6(out: bytearray, items: Iterable[UpdateMetadataTopicState]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partition_states) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_update_metadata_partition_state_v6(out, o.partition_states)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_metadata_topic_state_v7(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataTopicState], int]:
    items: list[UpdateMetadataTopicState] = []
    for _ in range(count):
        o = UpdateMetadataTopicState.__new__(UpdateMetadataTopicState)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic_name, pos = read_compact_string(buf, pos)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitionStates")
        if n * 24 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_update_metadata_partition_state_v6(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_update_metadata_topic_state_v7(out: bytearray, items: Iterable[UpdateMetadataTopicState]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_16s(o.topic_id)
        n = len(o.partition_states) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_update_metadata_partition_state_v6(out, o.partition_states)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_metadata_partition_state_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataPartitionState], int]:
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = UpdateMetadataPartitionState.__new__(UpdateMetadataPartitionState)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = unpack_5i(buf, pos)
        pos += 20
        if n < 0:
            raise null_field("isr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.zk_version, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.offline_replicas = []
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_partition_state_v0(
    out: bytearray,
    items: Iterable[UpdateMetadataPartitionState],
) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.zk_version, len(o.replicas))
        out += pack_int32s(o.replicas)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_partition_state_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataPartitionState], int]:
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = UpdateMetadataPartitionState.__new__(UpdateMetadataPartitionState)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = unpack_5i(buf, pos)
        pos += 20
        if n < 0:
            raise null_field("isr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.zk_version, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
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


def _encode_update_metadata_partition_state_v4(
    out: bytearray,
    items: Iterable[UpdateMetadataPartitionState],
) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.zk_version, len(o.replicas))
        out += pack_int32s(o.replicas)
        out += pack_i(len(o.offline_replicas))
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_partition_state_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataPartitionState], int]:
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = UpdateMetadataPartitionState.__new__(UpdateMetadataPartitionState)
        items.append(o)
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = unpack_5i(buf, pos)
        pos += 20
        if n < 0:
            raise null_field("isr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.zk_version, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("offlineReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.offline_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.topic_name = ""
        o.unknown_tags = None
    return items, pos


def _encode_update_metadata_partition_state_v5(
    out: bytearray,
    items: Iterable[UpdateMetadataPartitionState],
) -> None:
    for o in items:
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.zk_version, len(o.replicas))
        out += pack_int32s(o.replicas)
        out += pack_i(len(o.offline_replicas))
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_update_metadata_partition_state_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[UpdateMetadataPartitionState], int]:
    items: list[UpdateMetadataPartitionState] = []
    for _ in range(count):
        o = UpdateMetadataPartitionState.__new__(UpdateMetadataPartitionState)
        items.append(o)
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch = unpack_4i(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("isr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (o.zk_version,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
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
        o.topic_name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_update_metadata_partition_state_v6(
    out: bytearray,
    items: Iterable[UpdateMetadataPartitionState],
) -> None:
    for o in items:
        out += pack_4i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch)
        n = len(o.isr) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.isr)
        out += pack_i(o.zk_version)
        n = len(o.replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.replicas)
        n = len(o.offline_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.offline_replicas)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_update_metadata_request_v0(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_update_metadata_partition_state_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveBrokers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v0(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_request_v0(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_brokers))
    _encode_update_metadata_broker_v0(out, o.live_brokers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_request_v1(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_update_metadata_partition_state_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveBrokers")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v1(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_request_v1(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_brokers))
    _encode_update_metadata_broker_v1(out, o.live_brokers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_request_v2(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_update_metadata_partition_state_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveBrokers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v2(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_request_v2(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_brokers))
    _encode_update_metadata_broker_v2(out, o.live_brokers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_request_v3(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_update_metadata_partition_state_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveBrokers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v3(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_request_v3(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_update_metadata_partition_state_v0(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_brokers))
    _encode_update_metadata_broker_v3(out, o.live_brokers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_request_v4(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 34 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_update_metadata_partition_state_v4(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveBrokers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v3(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.broker_epoch = -1
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_request_v4(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_update_metadata_partition_state_v4(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_brokers))
    _encode_update_metadata_broker_v3(out, o.live_brokers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_request_v5(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, n = unpack_iiqi(buf, pos)
    pos += 20
    if n < 0:
        raise null_field("topicStates")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_update_metadata_topic_state_v5(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveBrokers")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v3(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_request_v5(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiqi(o.controller_id, o.controller_epoch, o.broker_epoch, len(o.topic_states))
    _encode_update_metadata_topic_state_v5(out, o.topic_states)
    out += pack_i(len(o.live_brokers))
    _encode_update_metadata_broker_v3(out, o.live_brokers)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_request_v6(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch = unpack_iiq(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topicStates")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_update_metadata_topic_state_v6(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveBrokers")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v6(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_update_metadata_request_v6(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_update_metadata_request_v6(buf: Buffer, pos: int, o: UpdateMetadataRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_update_metadata_request_v6(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_update_metadata_topic_state_v6(out, o.topic_states)
    n = len(o.live_brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_update_metadata_broker_v6(out, o.live_brokers)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_update_metadata_request_v7(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch = unpack_iiq(buf, pos)
    pos += 16
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topicStates")
    if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_update_metadata_topic_state_v7(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveBrokers")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v6(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_update_metadata_request_v7(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_update_metadata_request_v7(buf: Buffer, pos: int, o: UpdateMetadataRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_update_metadata_request_v7(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_update_metadata_topic_state_v7(out, o.topic_states)
    n = len(o.live_brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_update_metadata_broker_v6(out, o.live_brokers)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_update_metadata_request_v8(buf: Buffer, pos: int) -> tuple[UpdateMetadataRequest, int]:
    o = UpdateMetadataRequest.__new__(UpdateMetadataRequest)
    o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch = unpack_ioiq(buf, pos)
    pos += 17
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topicStates")
    if n * 19 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_update_metadata_topic_state_v7(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveBrokers")
    if n * 7 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_brokers, pos = _decode_update_metadata_broker_v6(buf, pos, n)
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_update_metadata_request_v8(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_update_metadata_request_v8(buf: Buffer, pos: int, o: UpdateMetadataRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.type,) = unpack_b(buf, pos)
            pos += 1
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_update_metadata_request_v8(out: bytearray, o: UpdateMetadataRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.type != 0:
        part = bytearray()
        part += pack_b(o.type)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_update_metadata_request_v8(out: bytearray, o: UpdateMetadataRequest) -> None:
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_ioiq(o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_update_metadata_topic_state_v7(out, o.topic_states)
    n = len(o.live_brokers) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_update_metadata_broker_v6(out, o.live_brokers)
    if o.unknown_tags or o.type != 0:
        _write_tags_of_update_metadata_request_v8(out, o)
    else:
        out.append(0)


UpdateMetadataRequest.DECODERS = {
    0: _decode_update_metadata_request_v0,
    1: _decode_update_metadata_request_v1,
    2: _decode_update_metadata_request_v2,
    3: _decode_update_metadata_request_v3,
    4: _decode_update_metadata_request_v4,
    5: _decode_update_metadata_request_v5,
    6: _decode_update_metadata_request_v6,
    7: _decode_update_metadata_request_v7,
    8: _decode_update_metadata_request_v8,
}
UpdateMetadataRequest.ENCODERS = {
    0: _encode_update_metadata_request_v0,
    1: _encode_update_metadata_request_v1,
    2: _encode_update_metadata_request_v2,
    3: _encode_update_metadata_request_v3,
    4: _encode_update_metadata_request_v4,
    5: _encode_update_metadata_request_v5,
    6: _encode_update_metadata_request_v6,
    7: _encode_update_metadata_request_v7,
    8: _encode_update_metadata_request_v8,
}
