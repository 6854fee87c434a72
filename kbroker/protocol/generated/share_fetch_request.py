"""ShareFetchRequest, versions 0 to 2.

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
    pack_int8s,
    read_compact_nullable_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int32s,
    unpack_int8s,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_4i = Layout(">4i").pack
unpack_4i = Layout(">4i").unpack_from
pack_6i = Layout(">6i").pack
unpack_6i = Layout(">6i").unpack_from
pack_6ibo = Layout(">6ib?").pack
unpack_6ibo = Layout(">6ib?").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_ii = Layout(">ii").pack
unpack_ii = Layout(">ii").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class ForgottenTopic(Struct):
    """Part of ShareFetchRequest."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AcknowledgementBatch(Struct):
    """Part of ShareFetchRequest."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "acknowledge_types",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = UNSET,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types: list[int] = [] if acknowledge_types is UNSET else acknowledge_types
        self.unknown_tags: UnknownTags = None


class FetchPartition(Struct):
    """Part of ShareFetchRequest."""

    __slots__ = (
        "partition_index",
        "partition_max_bytes",
        "acknowledgement_batches",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_max_bytes: int = 0,  # version 0
        acknowledgement_batches: list[AcknowledgementBatch] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.partition_max_bytes = partition_max_bytes
        self.acknowledgement_batches: list[AcknowledgementBatch] = (
            [] if acknowledgement_batches is UNSET else acknowledgement_batches
        )
        self.unknown_tags: UnknownTags = None


class FetchTopic(Struct):
    """Part of ShareFetchRequest."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[FetchPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ShareFetchRequest(Message):
    """ShareFetchRequest, versions 0 to 2."""

    __slots__ = (
        "group_id",
        "member_id",
        "share_session_epoch",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "max_records",
        "batch_size",
        "share_acquire_mode",
        "is_renew_ack",
        "topics",
        "forgotten_topics_data",
        "unknown_tags",
    )
    NAME = "ShareFetchRequest"
    API_KEY = 78
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,  # versions 1 to 2
        batch_size: int = 0,  # versions 1 to 2
        share_acquire_mode: int = 0,  # version 2
        is_renew_ack: bool = False,  # version 2
        topics: list[FetchTopic] = UNSET,
        forgotten_topics_data: list[ForgottenTopic] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics: list[FetchTopic] = [] if topics is UNSET else topics
        self.forgotten_topics_data: list[ForgottenTopic] = (
            [] if forgotten_topics_data is UNSET else forgotten_topics_data
        )
        self.unknown_tags: UnknownTags = None


def _decode_forgotten_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        o = ForgottenTopic.__new__(ForgottenTopic)
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
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_forgotten_topic_v0(out: bytearray, items: Iterable[ForgottenTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_acknowledgement_batch_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AcknowledgementBatch], int]:
    items: list[AcknowledgementBatch] = []
    for _ in range(count):
        o = AcknowledgementBatch.__new__(AcknowledgementBatch)
        items.append(o)
        o.first_offset, o.last_offset = unpack_qq(buf, pos)
        pos += 16
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("acknowledgeTypes")
        if n > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acknowledge_types = unpack_int8s(buf, pos, n)
        pos += n
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_acknowledgement_batch_v0(out: bytearray, items: Iterable[AcknowledgementBatch]) -> None:
    for o in items:
        out += pack_qq(o.first_offset, o.last_offset)
        n = len(o.acknowledge_types) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int8s(o.acknowledge_types)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_partition_v0(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        o.partition_index, o.partition_max_bytes = unpack_ii(buf, pos)
        pos += 8
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("acknowledgementBatches")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acknowledgement_batches, pos = _decode_acknowledgement_batch_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_partition_v0(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        out += pack_ii(o.partition_index, o.partition_max_bytes)
        n = len(o.acknowledgement_batches) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acknowledgement_batch_v0(out, o.acknowledgement_batches)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_partition_v1(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
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
            raise null_field("acknowledgementBatches")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.acknowledgement_batches, pos = _decode_acknowledgement_batch_v0(buf, pos, n)
        o.partition_max_bytes = 0
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_partition_v1(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        if o.partition_max_bytes != 0:
            raise not_in_version("partitionMaxBytes")
        out += pack_i(o.partition_index)
        n = len(o.acknowledgement_batches) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acknowledgement_batch_v0(out, o.acknowledgement_batches)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        o = FetchTopic.__new__(FetchTopic)
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
        if n * 10 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_topic_v0(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_fetch_partition_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_topic_v1(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        o = FetchTopic.__new__(FetchTopic)
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
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v1(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_topic_v1(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_fetch_partition_v1(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_fetch_request_v0(buf: Buffer, pos: int) -> tuple[ShareFetchRequest, int]:
    o = ShareFetchRequest.__new__(ShareFetchRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_nullable_string(buf, pos)
    o.share_session_epoch, o.max_wait_ms, o.min_bytes, o.max_bytes = unpack_4i(buf, pos)
    pos += 16
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
    o.topics, pos = _decode_fetch_topic_v0(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v0(buf, pos, n)
    o.max_records = 0
    o.batch_size = 0
    o.share_acquire_mode = 0
    o.is_renew_ack = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_fetch_request_v0(out: bytearray, o: ShareFetchRequest) -> None:
    if o.max_records != 0:
        raise not_in_version("maxRecords")
    if o.batch_size != 0:
        raise not_in_version("batchSize")
    if o.is_renew_ack:
        raise not_in_version("isRenewAck")
    write_compact_nullable_string(out, o.group_id)
    write_compact_nullable_string(out, o.member_id)
    out += pack_4i(o.share_session_epoch, o.max_wait_ms, o.min_bytes, o.max_bytes)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v0(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v0(out, o.forgotten_topics_data)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_share_fetch_request_v1(buf: Buffer, pos: int) -> tuple[ShareFetchRequest, int]:
    o = ShareFetchRequest.__new__(ShareFetchRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_nullable_string(buf, pos)
    (
        o.share_session_epoch,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.max_records,
        o.batch_size,
    ) = unpack_6i(buf, pos)
    pos += 24
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
    o.topics, pos = _decode_fetch_topic_v1(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v0(buf, pos, n)
    o.share_acquire_mode = 0
    o.is_renew_ack = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_fetch_request_v1(out: bytearray, o: ShareFetchRequest) -> None:
    if o.is_renew_ack:
        raise not_in_version("isRenewAck")
    write_compact_nullable_string(out, o.group_id)
    write_compact_nullable_string(out, o.member_id)
    out += pack_6i(
        o.share_session_epoch,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.max_records,
        o.batch_size,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v1(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v0(out, o.forgotten_topics_data)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_share_fetch_request_v2(buf: Buffer, pos: int) -> tuple[ShareFetchRequest, int]:
    o = ShareFetchRequest.__new__(ShareFetchRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_nullable_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_nullable_string(buf, pos)
    (
        o.share_session_epoch,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.max_records,
        o.batch_size,
        o.share_acquire_mode,
        o.is_renew_ack,
    ) = unpack_6ibo(buf, pos)
    pos += 26
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
    o.topics, pos = _decode_fetch_topic_v1(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_fetch_request_v2(out: bytearray, o: ShareFetchRequest) -> None:
    write_compact_nullable_string(out, o.group_id)
    write_compact_nullable_string(out, o.member_id)
    out += pack_6ibo(
        o.share_session_epoch,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.max_records,
        o.batch_size,
        o.share_acquire_mode,
        o.is_renew_ack,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v1(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v0(out, o.forgotten_topics_data)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareFetchRequest.DECODERS = {
    0: _decode_share_fetch_request_v0,
    1: _decode_share_fetch_request_v1,
    2: _decode_share_fetch_request_v2,
}
ShareFetchRequest.ENCODERS = {
    0: _encode_share_fetch_request_v0,
    1: _encode_share_fetch_request_v1,
    2: _encode_share_fetch_request_v2,
}
