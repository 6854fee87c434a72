"""SubscriptionInfoData, versions 1 to 11.

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
    ZERO_UUID,
    not_in_version,
    null_field,
    too_many,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from
pack_bi = Layout(">bi").pack
unpack_bi = Layout(">bi").unpack_from
pack_bii = Layout(">bii").pack
unpack_bii = Layout(">bii").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_i16si = Layout(">i16si").pack
unpack_i16si = Layout(">i16si").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_ii16si = Layout(">ii16si").pack
unpack_ii16si = Layout(">ii16si").unpack_from
pack_iiqh = Layout(">iiqh").pack
unpack_iiqh = Layout(">iiqh").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class ClientTag(Struct):
    """Part of SubscriptionInfoData."""

    __slots__ = (
        "key",
        "value",
    )

    def __init__(
        self,
        *,
        key: bytes = b"",  # version 11
        value: bytes = b"",  # version 11
    ) -> None:
        self.key = key
        self.value = value


class PartitionToOffsetSum(Struct):
    """Part of SubscriptionInfoData."""

    __slots__ = (
        "partition",
        "offset_sum",
    )

    def __init__(
        self,
        *,
        partition: int = 0,  # versions 7 to 9
        offset_sum: int = 0,  # versions 7 to 9
    ) -> None:
        self.partition = partition
        self.offset_sum = offset_sum


class TaskOffsetSum(Struct):
    """Part of SubscriptionInfoData."""

    __slots__ = (
        "topic_group_id",
        "partition",
        "offset_sum",
        "named_topology",
        "partition_to_offset_sum",
    )

    def __init__(
        self,
        *,
        topic_group_id: int = 0,  # versions 7 to 11
        partition: int = 0,  # versions 10 to 11
        offset_sum: int = 0,  # versions 10 to 11
        named_topology: str | None = "",  # versions 10 to 11
        partition_to_offset_sum: list[PartitionToOffsetSum] = UNSET,  # versions 7 to 9
    ) -> None:
        self.topic_group_id = topic_group_id
        self.partition = partition
        self.offset_sum = offset_sum
        self.named_topology = named_topology
        self.partition_to_offset_sum: list[PartitionToOffsetSum] = (
            [] if partition_to_offset_sum is UNSET else partition_to_offset_sum
        )


class TaskId(Struct):
    """Part of SubscriptionInfoData."""

    __slots__ = (
        "topic_group_id",
        "partition",
    )

    def __init__(
        self,
        *,
        topic_group_id: int = 0,  # versions 1 to 6
        partition: int = 0,  # versions 1 to 6
    ) -> None:
        self.topic_group_id = topic_group_id
        self.partition = partition


class SubscriptionInfoData(Message):
    """SubscriptionInfoData, versions 1 to 11."""

    __slots__ = (
        "version",
        "latest_supported_version",
        "process_id",
        "prev_tasks",
        "standby_tasks",
        "user_end_point",
        "task_offset_sums",
        "unique_field",
        "error_code",
        "client_tags",
    )
    NAME = "SubscriptionInfoData"
    API_KEY = None
    MIN_VERSION = 1
    MAX_VERSION = 11
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        version: int = 0,
        latest_supported_version: int = -1,  # versions 3 to 11
        process_id: bytes = ZERO_UUID,
        prev_tasks: list[TaskId] = UNSET,  # versions 1 to 6
        standby_tasks: list[TaskId] = UNSET,  # versions 1 to 6
        user_end_point: bytes = b"",  # versions 2 to 11
        task_offset_sums: list[TaskOffsetSum] = UNSET,  # versions 7 to 11
        unique_field: int = 0,  # versions 8 to 11
        error_code: int = 0,  # versions 9 to 11
        client_tags: list[ClientTag] = UNSET,  # version 11
    ) -> None:
        self.version = version
        self.latest_supported_version = latest_supported_version
        self.process_id = process_id
        self.prev_tasks: list[TaskId] = [] if prev_tasks is UNSET else prev_tasks
        self.standby_tasks: list[TaskId] = [] if standby_tasks is UNSET else standby_tasks
        self.user_end_point = user_end_point
        self.task_offset_sums: list[TaskOffsetSum] = [] if task_offset_sums is UNSET else task_offset_sums
        self.unique_field = unique_field
        self.error_code = error_code
        self.client_tags: list[ClientTag] = [] if client_tags is UNSET else client_tags


def _decode_client_tag_v11(buf: Buffer, pos: int, count: int) -> tuple[list[ClientTag], int]:
    items: list[ClientTag] = []
    for _ in range(count):
        o = ClientTag.__new__(ClientTag)
        items.append(o)
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("key")
        end = pos + n
        o.key = bytes(buf[pos:end])
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("value")
        end = pos + n
        o.value = bytes(buf[pos:end])
        pos = end
    return items, pos


def _encode_client_tag_v11(out: bytearray, items: Iterable[ClientTag]) -> None:
    for o in items:
        out += pack_i(len(o.key))
        out += o.key
        out += pack_i(len(o.value))
        out += o.value


def _decode_partition_to_offset_sum_v7(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[PartitionToOffsetSum], int]:
    items: list[PartitionToOffsetSum] = []
    for _ in range(count):
        o = PartitionToOffsetSum.__new__(PartitionToOffsetSum)
        items.append(o)
        o.partition, o.offset_sum = unpack_iq(buf, pos)
        pos += 12
    return items, pos


def _encode_partition_to_offset_sum_v7(out: bytearray, items: Iterable[PartitionToOffsetSum]) -> None:
    for o in items:
        out += pack_iq(o.partition, o.offset_sum)


def _decode_task_offset_sum_v7(buf: Buffer, pos: int, count: int) -> tuple[list[TaskOffsetSum], int]:
    items: list[TaskOffsetSum] = []
    for _ in range(count):
        o = TaskOffsetSum.__new__(TaskOffsetSum)
        items.append(o)
        o.topic_group_id, n = unpack_ii(buf, pos)
        pos += 8
        if n < 0:
            raise null_field("partitionToOffsetSum")
        if n * 12 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partition_to_offset_sum, pos = _decode_partition_to_offset_sum_v7(buf, pos, n)
        o.partition = 0
        o.offset_sum = 0
        o.named_topology = ""
    return items, pos


def _encode_task_offset_sum_v7(out: bytearray, items: Iterable[TaskOffsetSum]) -> None:
    for o in items:
        if o.partition != 0:
            raise not_in_version("partition")
        if o.offset_sum != 0:
            raise not_in_version("offsetSum")
        out += pack_ii(o.topic_group_id, len(o.partition_to_offset_sum))
        _encode_partition_to_offset_sum_v7(out, o.partition_to_offset_sum)


def _decode_task_offset_sum_v10(buf: Buffer, pos: int, count: int) -> tuple[list[TaskOffsetSum], int]:
    items: list[TaskOffsetSum] = []
    for _ in range(count):
        o = TaskOffsetSum.__new__(TaskOffsetSum)
        items.append(o)
        o.topic_group_id, o.partition, o.offset_sum, n = unpack_iiqh(buf, pos)
        pos += 18
        if n < 0:
            o.named_topology = None
        else:
            end = pos + n
            o.named_topology = str(buf[pos:end], "utf-8")
            pos = end
        o.partition_to_offset_sum = []
    return items, pos


def _encode_task_offset_sum_v10(out: bytearray, items: Iterable[TaskOffsetSum]) -> None:
    for o in items:
        if o.partition_to_offset_sum:
            raise not_in_version("partitionToOffsetSum")
        raw = b"" if o.named_topology is None else o.named_topology.encode()
        out += pack_iiqh(
            o.topic_group_id,
            o.partition,
            o.offset_sum,
            -1 if o.named_topology is None else len(raw),
        )
        out += raw


def _decode_task_id_v1(buf: Buffer, pos: int, count: int) -> tuple[list[TaskId], int]:
    items: list[TaskId] = []
    for _ in range(count):
        o = TaskId.__new__(TaskId)
        items.append(o)
        o.topic_group_id, o.partition = unpack_ii(buf, pos)
        pos += 8
    return items, pos


def _encode_task_id_v1(out: bytearray, items: Iterable[TaskId]) -> None:
    for o in items:
        out += pack_ii(o.topic_group_id, o.partition)


def _decode_subscription_info_data_v1(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.process_id, n = unpack_i16si(buf, pos)
    pos += 24
    if n < 0:
        raise null_field("prevTasks")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.prev_tasks, pos = _decode_task_id_v1(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("standbyTasks")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.standby_tasks, pos = _decode_task_id_v1(buf, pos, n)
    o.latest_supported_version = -1
    o.user_end_point = b""
    o.task_offset_sums = []
    o.unique_field = 0
    o.error_code = 0
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v1(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.latest_supported_version != -1:
        raise not_in_version("latestSupportedVersion")
    if o.user_end_point:
        raise not_in_version("userEndPoint")
    if o.task_offset_sums:
        raise not_in_version("taskOffsetSums")
    if o.unique_field != 0:
        raise not_in_version("uniqueField")
    if o.error_code != 0:
        raise not_in_version("errorCode")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_i16si(o.version, o.process_id, len(o.prev_tasks))
    _encode_task_id_v1(out, o.prev_tasks)
    out += pack_i(len(o.standby_tasks))
    _encode_task_id_v1(out, o.standby_tasks)


def _decode_subscription_info_data_v2(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.process_id, n = unpack_i16si(buf, pos)
    pos += 24
    if n < 0:
        raise null_field("prevTasks")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.prev_tasks, pos = _decode_task_id_v1(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("standbyTasks")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.standby_tasks, pos = _decode_task_id_v1(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    o.latest_supported_version = -1
    o.task_offset_sums = []
    o.unique_field = 0
    o.error_code = 0
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v2(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.latest_supported_version != -1:
        raise not_in_version("latestSupportedVersion")
    if o.task_offset_sums:
        raise not_in_version("taskOffsetSums")
    if o.unique_field != 0:
        raise not_in_version("uniqueField")
    if o.error_code != 0:
        raise not_in_version("errorCode")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_i16si(o.version, o.process_id, len(o.prev_tasks))
    _encode_task_id_v1(out, o.prev_tasks)
    out += pack_i(len(o.standby_tasks))
    _encode_task_id_v1(out, o.standby_tasks)
    out += pack_i(len(o.user_end_point))
    out += o.user_end_point


def _decode_subscription_info_data_v3(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.latest_supported_version, o.process_id, n = unpack_ii16si(buf, pos)
    pos += 28
    if n < 0:
        raise null_field("prevTasks")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.prev_tasks, pos = _decode_task_id_v1(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("standbyTasks")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.standby_tasks, pos = _decode_task_id_v1(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    o.task_offset_sums = []
    o.unique_field = 0
    o.error_code = 0
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v3(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.task_offset_sums:
        raise not_in_version("taskOffsetSums")
    if o.unique_field != 0:
        raise not_in_version("uniqueField")
    if o.error_code != 0:
        raise not_in_version("errorCode")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_ii16si(o.version, o.latest_supported_version, o.process_id, len(o.prev_tasks))
    _encode_task_id_v1(out, o.prev_tasks)
    out += pack_i(len(o.standby_tasks))
    _encode_task_id_v1(out, o.standby_tasks)
    out += pack_i(len(o.user_end_point))
    out += o.user_end_point


def _decode_subscription_info_data_v7(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.latest_supported_version, o.process_id, n = unpack_ii16si(buf, pos)
    pos += 28
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("taskOffsetSums")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.task_offset_sums, pos = _decode_task_offset_sum_v7(buf, pos, n)
    o.prev_tasks = []
    o.standby_tasks = []
    o.unique_field = 0
    o.error_code = 0
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v7(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.prev_tasks:
        raise not_in_version("prevTasks")
    if o.standby_tasks:
        raise not_in_version("standbyTasks")
    if o.unique_field != 0:
        raise not_in_version("uniqueField")
    if o.error_code != 0:
        raise not_in_version("errorCode")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_ii16si(o.version, o.latest_supported_version, o.process_id, len(o.user_end_point))
    out += o.user_end_point
    out += pack_i(len(o.task_offset_sums))
    _encode_task_offset_sum_v7(out, o.task_offset_sums)


def _decode_subscription_info_data_v8(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.latest_supported_version, o.process_id, n = unpack_ii16si(buf, pos)
    pos += 28
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("taskOffsetSums")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.task_offset_sums, pos = _decode_task_offset_sum_v7(buf, pos, n)
    (o.unique_field,) = unpack_b(buf, pos)
    pos += 1
    o.prev_tasks = []
    o.standby_tasks = []
    o.error_code = 0
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v8(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.prev_tasks:
        raise not_in_version("prevTasks")
    if o.standby_tasks:
        raise not_in_version("standbyTasks")
    if o.error_code != 0:
        raise not_in_version("errorCode")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_ii16si(o.version, o.latest_supported_version, o.process_id, len(o.user_end_point))
    out += o.user_end_point
    out += pack_i(len(o.task_offset_sums))
    _encode_task_offset_sum_v7(out, o.task_offset_sums)
    out += pack_b(o.unique_field)


def _decode_subscription_info_data_v9(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.latest_supported_version, o.process_id, n = unpack_ii16si(buf, pos)
    pos += 28
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("taskOffsetSums")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.task_offset_sums, pos = _decode_task_offset_sum_v7(buf, pos, n)
    o.unique_field, o.error_code = unpack_bi(buf, pos)
    pos += 5
    o.prev_tasks = []
    o.standby_tasks = []
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v9(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.prev_tasks:
        raise not_in_version("prevTasks")
    if o.standby_tasks:
        raise not_in_version("standbyTasks")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_ii16si(o.version, o.latest_supported_version, o.process_id, len(o.user_end_point))
    out += o.user_end_point
    out += pack_i(len(o.task_offset_sums))
    _encode_task_offset_sum_v7(out, o.task_offset_sums)
    out += pack_bi(o.unique_field, o.error_code)


def _decode_subscription_info_data_v10(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.latest_supported_version, o.process_id, n = unpack_ii16si(buf, pos)
    pos += 28
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("taskOffsetSums")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.task_offset_sums, pos = _decode_task_offset_sum_v10(buf, pos, n)
    o.unique_field, o.error_code = unpack_bi(buf, pos)
    pos += 5
    o.prev_tasks = []
    o.standby_tasks = []
    o.client_tags = []
    return o, pos


def _encode_subscription_info_data_v10(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.prev_tasks:
        raise not_in_version("prevTasks")
    if o.standby_tasks:
        raise not_in_version("standbyTasks")
    if o.client_tags:
        raise not_in_version("clientTags")
    out += pack_ii16si(o.version, o.latest_supported_version, o.process_id, len(o.user_end_point))
    out += o.user_end_point
    out += pack_i(len(o.task_offset_sums))
    _encode_task_offset_sum_v10(out, o.task_offset_sums)
    out += pack_bi(o.unique_field, o.error_code)


def _decode_subscription_info_data_v11(buf: Buffer, pos: int) -> tuple[SubscriptionInfoData, int]:
    o = SubscriptionInfoData.__new__(SubscriptionInfoData)
    o.version, o.latest_supported_version, o.process_id, n = unpack_ii16si(buf, pos)
    pos += 28
    if n < 0:
        raise null_field("userEndPoint")
    end = pos + n
    o.user_end_point = bytes(buf[pos:end])
    pos = end
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("taskOffsetSums")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.task_offset_sums, pos = _decode_task_offset_sum_v10(buf, pos, n)
    o.unique_field, o.error_code, n = unpack_bii(buf, pos)
    pos += 9
    if n < 0:
        raise null_field("clientTags")
    if n * 8 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.client_tags, pos = _decode_client_tag_v11(buf, pos, n)
    o.prev_tasks = []
    o.standby_tasks = []
    return o, pos


def _encode_subscription_info_data_v11(out: bytearray, o: SubscriptionInfoData) -> None:
    if o.prev_tasks:
        raise not_in_version("prevTasks")
    if o.standby_tasks:
        raise not_in_version("standbyTasks")
    out += pack_ii16si(o.version, o.latest_supported_version, o.process_id, len(o.user_end_point))
    out += o.user_end_point
    out += pack_i(len(o.task_offset_sums))
    _encode_task_offset_sum_v10(out, o.task_offset_sums)
    out += pack_bii(o.unique_field, o.error_code, len(o.client_tags))
    _encode_client_tag_v11(out, o.client_tags)


SubscriptionInfoData.DECODERS = {
    1: _decode_subscription_info_data_v1,
    2: _decode_subscription_info_data_v2,
    3: _decode_subscription_info_data_v3,
    4: _decode_subscription_info_data_v3,
    5: _decode_subscription_info_data_v3,
    6: _decode_subscription_info_data_v3,
    7: _decode_subscription_info_data_v7,
    8: _decode_subscription_info_data_v8,
    9: _decode_subscription_info_data_v9,
    10: _decode_subscription_info_data_v10,
    11: _decode_subscription_info_data_v11,
}
SubscriptionInfoData.ENCODERS = {
    1: _encode_subscription_info_data_v1,
    2: _encode_subscription_info_data_v2,
    3: _encode_subscription_info_data_v3,
    4: _encode_subscription_info_data_v3,
    5: _encode_subscription_info_data_v3,
    6: _encode_subscription_info_data_v3,
    7: _encode_subscription_info_data_v7,
    8: _encode_subscription_info_data_v8,
    9: _encode_subscription_info_data_v9,
    10: _encode_subscription_info_data_v10,
    11: _encode_subscription_info_data_v11,
}
