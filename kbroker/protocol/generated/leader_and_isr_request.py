"""LeaderAndIsrRequest, versions 0 to 7.

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
pack_3i = Layout(">3i").pack
unpack_3i = Layout(">3i").unpack_from
pack_4i = Layout(">4i").pack
unpack_4i = Layout(">4i").unpack_from
pack_5i = Layout(">5i").pack
unpack_5i = Layout(">5i").unpack_from
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
pack_iiqb = Layout(">iiqb").pack
unpack_iiqb = Layout(">iiqb").unpack_from
pack_iiqi = Layout(">iiqi").pack
unpack_iiqi = Layout(">iiqi").unpack_from
pack_ioiqb = Layout(">i?iqb").pack
unpack_ioiqb = Layout(">i?iqb").unpack_from
pack_o = Layout(">?").pack
unpack_o = Layout(">?").unpack_from
pack_ob = Layout(">?b").pack
unpack_ob = Layout(">?b").unpack_from


class LeaderAndIsrLiveLeader(Struct):
    """Part of LeaderAndIsrRequest."""

    __slots__ = (
        "broker_id",
        "host_name",
        "port",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        broker_id: int = 0,
        host_name: str = "",
        port: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.host_name = host_name
        self.port = port
        self.unknown_tags: UnknownTags = None


class LeaderAndIsrTopicState(Struct):
    """Part of LeaderAndIsrRequest."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "partition_states",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 2 to 7
        topic_id: bytes = ZERO_UUID,  # versions 5 to 7
        partition_states: list[LeaderAndIsrPartitionState] = UNSET,  # versions 2 to 7
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partition_states: list[LeaderAndIsrPartitionState] = (
            [] if partition_states is UNSET else partition_states
        )
        self.unknown_tags: UnknownTags = None


class LeaderAndIsrPartitionState(Struct):
    """Part of LeaderAndIsrRequest."""

    __slots__ = (
        "topic_name",
        "partition_index",
        "controller_epoch",
        "leader",
        "leader_epoch",
        "isr",
        "partition_epoch",
        "replicas",
        "adding_replicas",
        "removing_replicas",
        "is_new",
        "leader_recovery_state",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_name: str = "",  # versions 0 to 1
        partition_index: int = 0,
        controller_epoch: int = 0,
        leader: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = UNSET,
        partition_epoch: int = 0,
        replicas: list[int] = UNSET,
        adding_replicas: list[int] = UNSET,  # versions 3 to 7
        removing_replicas: list[int] = UNSET,  # versions 3 to 7
        is_new: bool = False,  # versions 1 to 7
        leader_recovery_state: int = 0,  # versions 6 to 7
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.controller_epoch = controller_epoch
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.isr: list[int] = [] if isr is UNSET else isr
        self.partition_epoch = partition_epoch
        self.replicas: list[int] = [] if replicas is UNSET else replicas
        self.adding_replicas: list[int] = [] if adding_replicas is UNSET else adding_replicas
        self.removing_replicas: list[int] = [] if removing_replicas is UNSET else removing_replicas
        self.is_new = is_new
        self.leader_recovery_state = leader_recovery_state
        self.unknown_tags: UnknownTags = None


class LeaderAndIsrRequest(Message):
    """LeaderAndIsrRequest, versions 0 to 7."""

    __slots__ = (
        "controller_id",
        "is_kraft_controller",
        "controller_epoch",
        "broker_epoch",
        "type",
        "ungrouped_partition_states",
        "topic_states",
        "live_leaders",
        "unknown_tags",
    )
    NAME = "LeaderAndIsrRequest"
    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 7
    FLEXIBLE_SINCE = 4

    def __init__(
        self,
        *,
        controller_id: int = 0,
        is_kraft_controller: bool = False,  # version 7
        controller_epoch: int = 0,
        broker_epoch: int = -1,  # versions 2 to 7
        type: int = 0,  # versions 5 to 7
        ungrouped_partition_states: list[LeaderAndIsrPartitionState] = UNSET,  # versions 0 to 1
        topic_states: list[LeaderAndIsrTopicState] = UNSET,  # versions 2 to 7
        live_leaders: list[LeaderAndIsrLiveLeader] = UNSET,
    ) -> None:
        self.controller_id = controller_id
        self.is_kraft_controller = is_kraft_controller
        self.controller_epoch = controller_epoch
        self.broker_epoch = broker_epoch
        self.type = type
        self.ungrouped_partition_states: list[LeaderAndIsrPartitionState] = (
            [] if ungrouped_partition_states is UNSET else ungrouped_partition_states
        )
        self.topic_states: list[LeaderAndIsrTopicState] = [] if topic_states is UNSET else topic_states
        self.live_leaders: list[LeaderAndIsrLiveLeader] = [] if live_leaders is UNSET else live_leaders
        self.unknown_tags: UnknownTags = None


def _decode_leader_and_isr_live_leader_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrLiveLeader], int]:
    items: list[LeaderAndIsrLiveLeader] = []
    for _ in range(count):
        o = LeaderAndIsrLiveLeader.__new__(LeaderAndIsrLiveLeader)
        items.append(o)
        o.broker_id, n = unpack_ih(buf, pos)
        pos += 6
        if n < 0:
            raise null_field("hostName")
        end = pos + n
        o.host_name = str(buf[pos:end], "utf-8")
        pos = end
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_live_leader_v0(out: bytearray, items: Iterable[LeaderAndIsrLiveLeader]) -> None:
    for o in items:
        raw = o.host_name.encode()
        out += pack_ih(o.broker_id, len(raw))
        out += raw
        out += pack_i(o.port)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_live_leader_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrLiveLeader], int]:
    items: list[LeaderAndIsrLiveLeader] = []
    for _ in range(count):
        o = LeaderAndIsrLiveLeader.__new__(LeaderAndIsrLiveLeader)
        items.append(o)
        (o.broker_id,) = unpack_i(buf, pos)
        pos += 4
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.host_name = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.host_name, pos = read_compact_string(buf, pos)
        (o.port,) = unpack_i(buf, pos)
        pos += 4
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_live_leader_v4(out: bytearray, items: Iterable[LeaderAndIsrLiveLeader]) -> None:
    for o in items:
        out += pack_i(o.broker_id)
        write_compact_string(out, o.host_name)
        out += pack_i(o.port)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_topic_state_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrTopicState], int]:
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = LeaderAndIsrTopicState.__new__(LeaderAndIsrTopicState)
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
        if n * 29 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_leader_and_isr_partition_state_v2(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_topic_state_v2(out: bytearray, items: Iterable[LeaderAndIsrTopicState]) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_states))
        _encode_leader_and_isr_partition_state_v2(out, o.partition_states)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_topic_state_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrTopicState], int]:
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = LeaderAndIsrTopicState.__new__(LeaderAndIsrTopicState)
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
        if n * 37 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_leader_and_isr_partition_state_v3(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_topic_state_v3(out: bytearray, items: Iterable[LeaderAndIsrTopicState]) -> None:
    for o in items:
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partition_states))
        _encode_leader_and_isr_partition_state_v3(out, o.partition_states)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_topic_state_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrTopicState], int]:
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = LeaderAndIsrTopicState.__new__(LeaderAndIsrTopicState)
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
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_leader_and_isr_partition_state_v4(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_topic_state_v4(out: bytearray, items: Iterable[LeaderAndIsrTopicState]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        n = len(o.partition_states) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_leader_and_isr_partition_state_v4(out, o.partition_states)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_topic_state_v5(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrTopicState], int]:
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = LeaderAndIsrTopicState.__new__(LeaderAndIsrTopicState)
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
        if n * 26 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_leader_and_isr_partition_state_v4(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_topic_state_v5(out: bytearray, items: Iterable[LeaderAndIsrTopicState]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_16s(o.topic_id)
        n = len(o.partition_states) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_leader_and_isr_partition_state_v4(out, o.partition_states)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_topic_state_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrTopicState], int]:
    items: list[LeaderAndIsrTopicState] = []
    for _ in range(count):
        o = LeaderAndIsrTopicState.__new__(LeaderAndIsrTopicState)
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
        if n * 27 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_states, pos = _decode_leader_and_isr_partition_state_v6(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_topic_state_v6(out: bytearray, items: Iterable[LeaderAndIsrTopicState]) -> None:
    for o in items:
        write_compact_string(out, o.topic_name)
        out += pack_16s(o.topic_id)
        n = len(o.partition_states) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_leader_and_isr_partition_state_v6(out, o.partition_states)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_partition_state_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionState.__new__(LeaderAndIsrPartitionState)
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
        o.partition_epoch, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.adding_replicas = []
        o.removing_replicas = []
        o.is_new = False
        o.leader_recovery_state = 0
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_partition_state_v0(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionState],
) -> None:
    for o in items:
        if o.leader_recovery_state != 0:
            raise not_in_version("leaderRecoveryState")
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.partition_epoch, len(o.replicas))
        out += pack_int32s(o.replicas)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_partition_state_v1(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionState.__new__(LeaderAndIsrPartitionState)
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
        o.partition_epoch, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (o.is_new,) = unpack_o(buf, pos)
        pos += 1
        o.adding_replicas = []
        o.removing_replicas = []
        o.leader_recovery_state = 0
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_partition_state_v1(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionState],
) -> None:
    for o in items:
        if o.leader_recovery_state != 0:
            raise not_in_version("leaderRecoveryState")
        raw = o.topic_name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.partition_epoch, len(o.replicas))
        out += pack_int32s(o.replicas)
        out += pack_o(o.is_new)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_partition_state_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionState.__new__(LeaderAndIsrPartitionState)
        items.append(o)
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = unpack_5i(buf, pos)
        pos += 20
        if n < 0:
            raise null_field("isr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.partition_epoch, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("replicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (o.is_new,) = unpack_o(buf, pos)
        pos += 1
        o.topic_name = ""
        o.adding_replicas = []
        o.removing_replicas = []
        o.leader_recovery_state = 0
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_partition_state_v2(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionState],
) -> None:
    for o in items:
        if o.leader_recovery_state != 0:
            raise not_in_version("leaderRecoveryState")
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.partition_epoch, len(o.replicas))
        out += pack_int32s(o.replicas)
        out += pack_o(o.is_new)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_partition_state_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionState.__new__(LeaderAndIsrPartitionState)
        items.append(o)
        o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, n = unpack_5i(buf, pos)
        pos += 20
        if n < 0:
            raise null_field("isr")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.isr = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.partition_epoch, n = unpack_ii(buf, pos)
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
            raise null_field("addingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.adding_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("removingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.removing_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (o.is_new,) = unpack_o(buf, pos)
        pos += 1
        o.topic_name = ""
        o.leader_recovery_state = 0
        o.unknown_tags = None
    return items, pos


def _encode_leader_and_isr_partition_state_v3(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionState],
) -> None:
    for o in items:
        if o.leader_recovery_state != 0:
            raise not_in_version("leaderRecoveryState")
        out += pack_5i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch, len(o.isr))
        out += pack_int32s(o.isr)
        out += pack_ii(o.partition_epoch, len(o.replicas))
        out += pack_int32s(o.replicas)
        out += pack_i(len(o.adding_replicas))
        out += pack_int32s(o.adding_replicas)
        out += pack_i(len(o.removing_replicas))
        out += pack_int32s(o.removing_replicas)
        out += pack_o(o.is_new)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_leader_and_isr_partition_state_v4(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionState.__new__(LeaderAndIsrPartitionState)
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
        (o.partition_epoch,) = unpack_i(buf, pos)
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
            raise null_field("addingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.adding_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("removingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.removing_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        (o.is_new,) = unpack_o(buf, pos)
        pos += 1
        o.topic_name = ""
        o.leader_recovery_state = 0
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_partition_state_v4(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionState],
) -> None:
    for o in items:
        if o.leader_recovery_state != 0:
            raise not_in_version("leaderRecoveryState")
        out += pack_4i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch)
        n = len(o.isr) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.isr)
        out += pack_i(o.partition_epoch)
        n = len(o.replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.replicas)
        n = len(o.adding_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.adding_replicas)
        n = len(o.removing_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.removing_replicas)
        out += pack_o(o.is_new)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_partition_state_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LeaderAndIsrPartitionState], int]:
    items: list[LeaderAndIsrPartitionState] = []
    for _ in range(count):
        o = LeaderAndIsrPartitionState.__new__(LeaderAndIsrPartitionState)
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
        (o.partition_epoch,) = unpack_i(buf, pos)
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
            raise null_field("addingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.adding_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("removingReplicas")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.removing_replicas = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.is_new, o.leader_recovery_state = unpack_ob(buf, pos)
        pos += 2
        o.topic_name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_leader_and_isr_partition_state_v6(
    out: bytearray,
    items: Iterable[LeaderAndIsrPartitionState],
) -> None:
    for o in items:
        out += pack_4i(o.partition_index, o.controller_epoch, o.leader, o.leader_epoch)
        n = len(o.isr) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.isr)
        out += pack_i(o.partition_epoch)
        n = len(o.replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.replicas)
        n = len(o.adding_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.adding_replicas)
        n = len(o.removing_replicas) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.removing_replicas)
        out += pack_ob(o.is_new, o.leader_recovery_state)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_leader_and_isr_request_v0(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 30 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_leader_and_isr_partition_state_v0(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v0(buf, pos, n)
    o.is_kraft_controller = False
    o.broker_epoch = -1
    o.type = 0
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_leader_and_isr_request_v0(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_leader_and_isr_partition_state_v0(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_leaders))
    _encode_leader_and_isr_live_leader_v0(out, o.live_leaders)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leader_and_isr_request_v1(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    o.controller_id, o.controller_epoch, n = unpack_3i(buf, pos)
    pos += 12
    if n < 0:
        raise null_field("ungroupedPartitionStates")
    if n * 31 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.ungrouped_partition_states, pos = _decode_leader_and_isr_partition_state_v1(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v0(buf, pos, n)
    o.is_kraft_controller = False
    o.broker_epoch = -1
    o.type = 0
    o.topic_states = []
    o.unknown_tags = None
    return o, pos


def _encode_leader_and_isr_request_v1(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.topic_states:
        raise not_in_version("topicStates")
    out += pack_3i(o.controller_id, o.controller_epoch, len(o.ungrouped_partition_states))
    _encode_leader_and_isr_partition_state_v1(out, o.ungrouped_partition_states)
    out += pack_i(len(o.live_leaders))
    _encode_leader_and_isr_live_leader_v0(out, o.live_leaders)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leader_and_isr_request_v2(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, n = unpack_iiqi(buf, pos)
    pos += 20
    if n < 0:
        raise null_field("topicStates")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_leader_and_isr_topic_state_v2(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v0(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    return o, pos


def _encode_leader_and_isr_request_v2(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiqi(o.controller_id, o.controller_epoch, o.broker_epoch, len(o.topic_states))
    _encode_leader_and_isr_topic_state_v2(out, o.topic_states)
    out += pack_i(len(o.live_leaders))
    _encode_leader_and_isr_live_leader_v0(out, o.live_leaders)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leader_and_isr_request_v3(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, n = unpack_iiqi(buf, pos)
    pos += 20
    if n < 0:
        raise null_field("topicStates")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topic_states, pos = _decode_leader_and_isr_topic_state_v3(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v0(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    return o, pos


def _encode_leader_and_isr_request_v3(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiqi(o.controller_id, o.controller_epoch, o.broker_epoch, len(o.topic_states))
    _encode_leader_and_isr_topic_state_v3(out, o.topic_states)
    out += pack_i(len(o.live_leaders))
    _encode_leader_and_isr_live_leader_v0(out, o.live_leaders)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_leader_and_isr_request_v4(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
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
    o.topic_states, pos = _decode_leader_and_isr_topic_state_v4(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v4(buf, pos, n)
    o.is_kraft_controller = False
    o.type = 0
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_and_isr_request_v4(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.type != 0:
        raise not_in_version("type")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiq(o.controller_id, o.controller_epoch, o.broker_epoch)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_topic_state_v4(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_live_leader_v4(out, o.live_leaders)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_leader_and_isr_request_v5(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, o.type = unpack_iiqb(buf, pos)
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
    o.topic_states, pos = _decode_leader_and_isr_topic_state_v5(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v4(buf, pos, n)
    o.is_kraft_controller = False
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_and_isr_request_v5(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiqb(o.controller_id, o.controller_epoch, o.broker_epoch, o.type)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_topic_state_v5(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_live_leader_v4(out, o.live_leaders)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_leader_and_isr_request_v6(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    o.controller_id, o.controller_epoch, o.broker_epoch, o.type = unpack_iiqb(buf, pos)
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
    o.topic_states, pos = _decode_leader_and_isr_topic_state_v6(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v4(buf, pos, n)
    o.is_kraft_controller = False
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_and_isr_request_v6(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.is_kraft_controller:
        raise not_in_version("isKRaftController")
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_iiqb(o.controller_id, o.controller_epoch, o.broker_epoch, o.type)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_topic_state_v6(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_live_leader_v4(out, o.live_leaders)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_leader_and_isr_request_v7(buf: Buffer, pos: int) -> tuple[LeaderAndIsrRequest, int]:
    o = LeaderAndIsrRequest.__new__(LeaderAndIsrRequest)
    (
        o.controller_id,
        o.is_kraft_controller,
        o.controller_epoch,
        o.broker_epoch,
        o.type,
    ) = unpack_ioiqb(buf, pos)
    pos += 18
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
    o.topic_states, pos = _decode_leader_and_isr_topic_state_v6(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("liveLeaders")
    if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.live_leaders, pos = _decode_leader_and_isr_live_leader_v4(buf, pos, n)
    o.ungrouped_partition_states = []
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_leader_and_isr_request_v7(out: bytearray, o: LeaderAndIsrRequest) -> None:
    if o.ungrouped_partition_states:
        raise not_in_version("ungroupedPartitionStates")
    out += pack_ioiqb(o.controller_id, o.is_kraft_controller, o.controller_epoch, o.broker_epoch, o.type)
    n = len(o.topic_states) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_topic_state_v6(out, o.topic_states)
    n = len(o.live_leaders) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_leader_and_isr_live_leader_v4(out, o.live_leaders)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


LeaderAndIsrRequest.DECODERS = {
    0: _decode_leader_and_isr_request_v0,
    1: _decode_leader_and_isr_request_v1,
    2: _decode_leader_and_isr_request_v2,
    3: _decode_leader_and_isr_request_v3,
    4: _decode_leader_and_isr_request_v4,
    5: _decode_leader_and_isr_request_v5,
    6: _decode_leader_and_isr_request_v6,
    7: _decode_leader_and_isr_request_v7,
}
LeaderAndIsrRequest.ENCODERS = {
    0: _encode_leader_and_isr_request_v0,
    1: _encode_leader_and_isr_request_v1,
    2: _encode_leader_and_isr_request_v2,
    3: _encode_leader_and_isr_request_v3,
    4: _encode_leader_and_isr_request_v4,
    5: _encode_leader_and_isr_request_v5,
    6: _encode_leader_and_isr_request_v6,
    7: _encode_leader_and_isr_request_v7,
}
