"""StopReplicaRequest, versions 0 to 4.

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
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iio = Layout(">ii?").pack
unpack_iio = Layout(">ii?").unpack_from
pack_iioi = Layout(">ii?i").pack
unpack_iioi = Layout(">ii?i").unpack_from
pack_iiq = Layout(">iiq").pack
unpack_iiq = Layout(">iiq").unpack_from
pack_iiqo = Layout(">iiq?").pack
unpack_iiqo = Layout(">iiq?").unpack_from
pack_iiqoi = Layout(">iiq?i").pack
unpack_iiqoi = Layout(">iiq?i").unpack_from
pack_ioiq = Layout(">i?iq").pack
unpack_ioiq = Layout(">i?iq").unpack_from


class StopReplicaPartitionState(Struct):
    """Part of StopReplicaRequest."""

    __slots__ = (
        "partition_index",
        "leader_epoch",
        "delete_partition",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,  # versions 3 to 4
        leader_epoch: int = -1,  # versions 3 to 4
        delete_partition: bool = False,  # versions 3 to 4
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.delete_partition = delete_partition
        self.unknown_tags: UnknownTags = None


class StopReplicaTopicState(Struct):
    """Part of StopReplicaRequest."""

    __slots__ = (
        "topic_name",
        "partition_states",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 3 to 4
        partition_states: list[StopReplicaPartitionState] = UNSET,  # versions 3 to 4
    ) -> None:
        self.topic_name = topic_name
        self.partition_states: list[StopReplicaPartitionState] = (
            [] if partition_states is UNSET else partition_states
        )
        self.unknown_tags: UnknownTags = None


class StopReplicaTopicV1(Struct):
    """Part of StopReplicaRequest."""

    __slots__ = (
        "name",
        "partition_indexes",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 1 to 2
        partition_indexes: list[int] = UNSET,  # versions 1 to 2
    ) -> None:
        self.name = name
        self.partition_indexes: list[int] = [] if partition_indexes is UNSET else partition_indexes
        self.unknown_tags: UnknownTags = None


class StopReplicaPartitionV0(Struct):
    """Part of StopReplicaRequest."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # version 0
        partition_index: int = 0,  # version 0
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tags: UnknownTags = None


class StopReplicaRequest(Message):
    """StopReplicaRequest, versions 0 to 4."""

    __slots__ = (
        "controller_id",
        "is_kraft_controller",
        "controller_epoch",
        "broker_epoch",
        "delete_partitions",
        "ungrouped_partitions",
        "topics",
        "topic_states",
        "unknown_tags",
    )
    NAME = "StopReplicaRequest"
    API_KEY = 5
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_kraft_controller: bool = False,  # version 4
        controller_epoch: int = 0,
        broker_epoch: int = -1,  # versions 1 to 4
        delete_partitions: bool = False,  # versions 0 to 2
        ungrouped_partitions: list[StopReplicaPartitionV0] = UNSET,  # version 0
        topics: list[StopReplicaTopicV1] = UNSET,  # versions 1 to 2
        topic_states: list[StopReplicaTopicState] = UNSET,  # versions 3 to 4
    ) -> None:
        self.controller_id = controller_id
        self.is_kraft_controller = is_kraft_controller
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.delete_partitions = delete_partitions
        self.ungrouped_partitions: list[StopReplicaPartitionV0] = (
            [] if ungrouped_partitions is UNSET else ungrouped_partitions
        )
        self.topics: list[StopReplicaTopicV1] = [] if topics is UNSET else topics
        self.topic_states: list[StopReplicaTopicState] = [] if topic_states is UNSET else topic_states
        self.unknown_tags: UnknownTags = None


def _decode_stop_replica_partition_state_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaPartitionState], int]:
    items: list[StopReplicaPartitionState] = []
    for _ in range(count):
        o = StopReplicaPartitionState.__new__(StopReplicaPartitionState)
        items.append(o)
        o.partition_index, o.leader_epoch, o.delete_partition = unpack_iio(buf, pos)
        pos += 9
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_stop_replica_partition_state_v3(
    out: bytearray,
    items: Iterable[StopReplicaPartitionState],
) -> None:
    for o in items:
        out += pack_iio(o.partition_index, o.leader_epoch, o.delete_partition)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_stop_replica_topic_state_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaTopicState], int]:
    items: list[StopReplicaTopicState] = []
    for _ in range(count):
        o = StopReplicaTopicState.__new__(StopReplicaTopicState)
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
        if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_stop_replica_partition_state_v3(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_stop_replica_topic_state_v3(out: bytearray, items: Iterable[StopReplicaTopicState]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partition_states) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_stop_replica_partition_state_v3(out, o.partition_states)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_stop_replica_topic_v1_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaTopicV1], int]:
    items: list[StopReplicaTopicV1] = []
    for _ in range(count):
        o = StopReplicaTopicV1.__new__(StopReplicaTopicV1)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("name")
        end = pos + n
        o.name = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_stop_replica_topic_v1_v1(out: bytearray, items: Iterable[StopReplicaTopicV1]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_indexes))
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_stop_replica_topic_v1_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaTopicV1], int]:
    items: list[StopReplicaTopicV1] = []
    for _ in range(count):
        o = StopReplicaTopicV1.__new__(StopReplicaTopicV1)
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
            raise null_field("partitionIndexes")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_indexes = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_stop_replica_topic_v1_v2(out: bytearray, items: Iterable[StopReplicaTopicV1]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partition_indexes) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partition_indexes)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_stop_replica_partition_v0_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[StopReplicaPartitionV0], int]:
    items: list[StopReplicaPartitionV0] = []
    for _ in range(count):
        o = StopReplicaPartitionV0.__new__(StopReplicaPartitionV0)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topicName")
        end = pos + n
        o.topic_name = str(buf[pos:end], "utf-8")
        pos = end
        (o.partition_index,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
    return items, pos


def _encode_stop_replica_partition_v0_v0(out: bytearray, items: Iterable[StopReplicaPartitionV0]) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(o.partition_index)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_stop_replica_request_v0(buf: Buffer, pos: int) -> tuple[StopReplicaRequest, int]:
    o = StopReplicaRequest.__new__(StopReplicaRequest)
    o.controller_id, o.controller_epoch, o.delete_partitions, n = unpack_iioi(buf, pos)
    pos += 13
    if n < 0:
        raise null_field("ungroupedPartitions")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partitions, pos = _decode_stop_replica_partition_v0_v0(buf, pos, n)
    o.is_kraft_controller = False
    o.broker_epoch = -1
    o.topics = []
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_stop_replica_request_v0(out: bytearray, o: StopReplicaRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.topics:
        raise not_in_version("topics")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_iioi(o.controller_id, o.controller_epoch, o.delete_partitions, len(o.ungrouped_partitions))
    _encode_stop_replica_partition_v0_v0(out, o.ungrouped_partitions)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_stop_replica_request_v1(buf: Buffer, pos: int) -> tuple[StopReplicaRequest, int]:
    o = StopReplicaRequest.__new__(StopReplicaRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions, n = unpack_iiqoi(buf, pos)
    pos += 21
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_stop_replica_topic_v1_v1(buf, pos, n)
    o.is_kraft_controller = False
    o.ungrouped_partitions = []
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_stop_replica_request_v1(out: bytearray, o: StopReplicaRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.ungrouped_partitions:
        raise not_in_version("ungroupedPartitions")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_iiqoi(o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions, len(o.topics))
    _encode_stop_replica_topic_v1_v1(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_stop_replica_request_v2(buf: Buffer, pos: int) -> tuple[StopReplicaRequest, int]:
    o = StopReplicaRequest.__new__(StopReplicaRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions = unpack_iiqo(buf, pos)
    pos += 17
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_stop_replica_topic_v1_v2(buf, pos, n)
    o.is_kraft_controller = False
    o.ungrouped_partitions = []
    o.topic_states = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_stop_replica_request_v2(out: bytearray, o: StopReplicaRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.ungrouped_partitions:
        raise not_in_version("ungroupedPartitions")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_iiqo(o.controller_id, o.controller_epoch, o.broker_epoch, o.delete_partitions)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_stop_replica_topic_v1_v2(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_stop_replica_request_v3(buf: Buffer, pos: int) -> tuple[StopReplicaRequest, int]:
    o = StopReplicaRequest.__new__(StopReplicaRequest)
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
    o.topic_states, pos = _decode_stop_replica_topic_state_v3(buf, pos, n)
    o.is_kraft_controller = False
    o.delete_partitions = False
    o.ungrouped_partitions = []
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_stop_replica_request_v3(out: bytearray, o: StopReplicaRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.delete_partitions:
        raise not_in_version("deletePartitions")
    if o.ungrouped_partitions:
        raise not_in_version("ungroupedPartitions")
    if o.topics:
        raise not_in_version("topics")
    out += pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_stop_replica_topic_state_v3(out, o.topic_states)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_stop_replica_request_v4(buf: Buffer, pos: int) -> tuple[StopReplicaRequest, int]:
    o = StopReplicaRequest.__new__(StopReplicaRequest)
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
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_stop_replica_topic_state_v3(buf, pos, n)
    o.delete_partitions = False
    o.ungrouped_partitions = []
    o.topics = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_stop_replica_request_v4(out: bytearray, o: StopReplicaRequest) -> None:
    if o.delete_partitions:
        raise not_in_version("deletePartitions")
    if o.ungrouped_partitions:
        raise not_in_version("ungroupedPartitions")
    if o.topics:
        raise not_in_version("topics")
    out += pack_ioiq(o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_stop_replica_topic_state_v3(out, o.topic_states)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


StopReplicaRequest.DECODERS = {
    0: _decode_stop_replica_request_v0,
    1: _decode_stop_replica_request_v1,
    2: _decode_stop_replica_request_v2,
    3: _decode_stop_replica_request_v3,
    4: _decode_stop_replica_request_v4,
}
StopReplicaRequest.ENCODERS = {
    0: _encode_stop_replica_request_v0,
    1: _encode_stop_replica_request_v1,
    2: _encode_stop_replica_request_v2,
    3: _encode_stop_replica_request_v3,
    4: _encode_stop_replica_request_v4,
}
