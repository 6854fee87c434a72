"""AlterPartitionRequest, versions 0 to 3.

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

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_bi = Layout(">bi").pack
unpack_bi = Layout(">bi").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class BrokerState(Struct):
    """Part of AlterPartitionRequest."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,  # version 3
        broker_epoch: int = -1,  # version 3
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags: UnknownTags = None


class PartitionData(Struct):
    """Part of AlterPartitionRequest."""

    __slots__ = (
        "partition_index",
        "leader_epoch",
        "new_isr",
        "new_isr_with_epochs",
        "leader_recovery_state",
        "partition_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = UNSET,  # versions 0 to 2
        new_isr_with_epochs: list[BrokerState] = UNSET,  # version 3
        leader_recovery_state: int = 0,  # versions 1 to 3
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr: list[int] = [] if new_isr is UNSET else new_isr
        self.new_isr_with_epochs: list[BrokerState] = (
            [] if new_isr_with_epochs is UNSET else new_isr_with_epochs
        )
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        self.unknown_tags: UnknownTags = None


class TopicData(Struct):
    """Part of AlterPartitionRequest."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 0 to 1
        topic_id: bytes = ZERO_UUID,  # versions 2 to 3
        partitions: list[PartitionData] = UNSET,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions: list[PartitionData] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AlterPartitionRequest(Message):
    """AlterPartitionRequest, versions 0 to 3."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "topics",
        "unknown_tags",
    )
    NAME = "AlterPartitionRequest"
    API_KEY = 56
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[TopicData] = UNSET,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics: list[TopicData] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_broker_state_v3(buf: Buffer, pos: int, count: int) -> tuple[list[BrokerState], int]:
    items: list[BrokerState] = []
    for _ in range(count):
        o = BrokerState.__new__(BrokerState)
        items.append(o)
        o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_broker_state_v3(out: bytearray, items: Iterable[BrokerState]) -> None:
    for o in items:
        out += pack_iq(o.broker_id, o.broker_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("newIsr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.new_isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (o.partition_epoch,) = unpack_i(buf, pos)
        pos += 4
        o.new_isr_with_epochs = []
        o.leader_recovery_state = 0
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v0(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.new_isr_with_epochs:
            raise not_in_version("newIsrWithEpochs")
        if o.leader_recovery_state != 0:
            raise not_in_version("leaderRecoveryState")
        out += pack_ii(o.partition_index, o.leader_epoch)
        n = len(o.new_isr) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.new_isr)
        out += pack_i(o.partition_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("newIsr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.new_isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.leader_recovery_state, o.partition_epoch = unpack_bi(buf, pos)
        pos += 5
        o.new_isr_with_epochs = []
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v1(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.new_isr_with_epochs:
            raise not_in_version("newIsrWithEpochs")
        out += pack_ii(o.partition_index, o.leader_epoch)
        n = len(o.new_isr) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.new_isr)
        out += pack_bi(o.leader_recovery_state, o.partition_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_partition_data_v3(buf: Buffer, pos: int, count: int) -> tuple[list[PartitionData], int]:
    items: list[PartitionData] = []
    for _ in range(count):
        o = PartitionData.__new__(PartitionData)
        items.append(o)
        o.partition_index, o.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("newIsrWithEpochs")
        if n * 13 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.new_isr_with_epochs, pos = _decode_broker_state_v3(buf, pos, n)
        o.leader_recovery_state, o.partition_epoch = unpack_bi(buf, pos)
        pos += 5
        o.new_isr = []
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_partition_data_v3(out: bytearray, items: Iterable[PartitionData]) -> None:
    for o in items:
        if o.new_isr:
            raise not_in_version("newIsr")
        out += pack_ii(o.partition_index, o.leader_epoch)
        n = len(o.new_isr_with_epochs) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_broker_state_v3(out, o.new_isr_with_epochs)
        out += pack_bi(o.leader_recovery_state, o.partition_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v0(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
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
            raise null_field("partitions")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v0(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v1(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
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
            raise null_field("partitions")
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v1(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v1(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v2(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v1(buf, pos, n)
        o.topic_name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v2(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_topic_data_v3(buf: Buffer, pos: int, count: int) -> tuple[list[TopicData], int]:
    items: list[TopicData] = []
    for _ in range(count):
        o = TopicData.__new__(TopicData)
        items.append(o)
        (o.topic_id,) = unpack_16s(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 15 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_partition_data_v3(buf, pos, n)
        o.topic_name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_topic_data_v3(out: bytearray, items: Iterable[TopicData]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_partition_data_v3(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_partition_request_v0(buf: Buffer, pos: int) -> tuple[AlterPartitionRequest, int]:
    o = AlterPartitionRequest.__new__(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
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
    o.topics, pos = _decode_topic_data_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_request_v0(out: bytearray, o: AlterPartitionRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_alter_partition_request_v1(buf: Buffer, pos: int) -> tuple[AlterPartitionRequest, int]:
    o = AlterPartitionRequest.__new__(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
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
    o.topics, pos = _decode_topic_data_v1(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_request_v1(out: bytearray, o: AlterPartitionRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v1(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_alter_partition_request_v2(buf: Buffer, pos: int) -> tuple[AlterPartitionRequest, int]:
    o = AlterPartitionRequest.__new__(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_data_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_request_v2(out: bytearray, o: AlterPartitionRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v2(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_alter_partition_request_v3(buf: Buffer, pos: int) -> tuple[AlterPartitionRequest, int]:
    o = AlterPartitionRequest.__new__(AlterPartitionRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("topics")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_topic_data_v3(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_partition_request_v3(out: bytearray, o: AlterPartitionRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_topic_data_v3(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterPartitionRequest.DECODERS = {
    0: _decode_alter_partition_request_v0,
    1: _decode_alter_partition_request_v1,
    2: _decode_alter_partition_request_v2,
    3: _decode_alter_partition_request_v3,
}
AlterPartitionRequest.ENCODERS = {
    0: _encode_alter_partition_request_v0,
    1: _encode_alter_partition_request_v1,
    2: _encode_alter_partition_request_v2,
    3: _encode_alter_partition_request_v3,
}
