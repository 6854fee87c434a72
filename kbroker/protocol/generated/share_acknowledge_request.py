"""ShareAcknowledgeRequest, versions 0 to 2.

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
    pack_int8s,
    read_compact_nullable_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int8s,
    write_compact_nullable_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_io = Layout(">i?").pack
unpack_io = Layout(">i?").unpack_from
pack_qq = Layout(">qq").pack
unpack_qq = Layout(">qq").unpack_from


class AcknowledgementBatch(Struct):
    """Part of ShareAcknowledgeRequest."""

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


class AcknowledgePartition(Struct):
    """Part of ShareAcknowledgeRequest."""

    __slots__ = (
        "partition_index",
        "acknowledgement_batches",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = UNSET,
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches: list[AcknowledgementBatch] = (
            [] if acknowledgement_batches is UNSET else acknowledgement_batches
        )
        self.unknown_tags: UnknownTags = None


class AcknowledgeTopic(Struct):
    """Part of ShareAcknowledgeRequest."""

    __slots__ = (
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AcknowledgePartition] = UNSET,
    ) -> None:
        self.topic_id = topic_id
        self.partitions: list[AcknowledgePartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ShareAcknowledgeRequest(Message):
    """ShareAcknowledgeRequest, versions 0 to 2."""

    __slots__ = (
        "group_id",
        "member_id",
        "share_session_epoch",
        "is_renew_ack",
        "topics",
        "unknown_tags",
    )
    NAME = "ShareAcknowledgeRequest"
    API_KEY = 79
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,  # version 2
        topics: list[AcknowledgeTopic] = UNSET,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics: list[AcknowledgeTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


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


def _decode_acknowledge_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AcknowledgePartition], int]:
    items: list[AcknowledgePartition] = []
    for _ in range(count):
        o = AcknowledgePartition.__new__(AcknowledgePartition)
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
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_acknowledge_partition_v0(out: bytearray, items: Iterable[AcknowledgePartition]) -> None:
    for o in items:
        out += pack_i(o.partition_index)
        n = len(o.acknowledgement_batches) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acknowledgement_batch_v0(out, o.acknowledgement_batches)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_acknowledge_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[AcknowledgeTopic], int]:
    items: list[AcknowledgeTopic] = []
    for _ in range(count):
        o = AcknowledgeTopic.__new__(AcknowledgeTopic)
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
        o.partitions, pos = _decode_acknowledge_partition_v0(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_acknowledge_topic_v0(out: bytearray, items: Iterable[AcknowledgeTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_acknowledge_partition_v0(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_acknowledge_request_v0(buf: Buffer, pos: int) -> tuple[ShareAcknowledgeRequest, int]:
    o = ShareAcknowledgeRequest.__new__(ShareAcknowledgeRequest)
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
    (o.share_session_epoch,) = unpack_i(buf, pos)
    pos += 4
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
    o.topics, pos = _decode_acknowledge_topic_v0(buf, pos, n)
    o.is_renew_ack = False
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_acknowledge_request_v0(out: bytearray, o: ShareAcknowledgeRequest) -> None:
    if o.is_renew_ack:
        raise not_in_version("isRenewAck")
    write_compact_nullable_string(out, o.group_id)
    write_compact_nullable_string(out, o.member_id)
    out += pack_i(o.share_session_epoch)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_acknowledge_topic_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_share_acknowledge_request_v2(buf: Buffer, pos: int) -> tuple[ShareAcknowledgeRequest, int]:
    o = ShareAcknowledgeRequest.__new__(ShareAcknowledgeRequest)
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
    o.share_session_epoch, o.is_renew_ack = unpack_io(buf, pos)
    pos += 5
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
    o.topics, pos = _decode_acknowledge_topic_v0(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_share_acknowledge_request_v2(out: bytearray, o: ShareAcknowledgeRequest) -> None:
    write_compact_nullable_string(out, o.group_id)
    write_compact_nullable_string(out, o.member_id)
    out += pack_io(o.share_session_epoch, o.is_renew_ack)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_acknowledge_topic_v0(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ShareAcknowledgeRequest.DECODERS = {
    0: _decode_share_acknowledge_request_v0,
    1: _decode_share_acknowledge_request_v0,
    2: _decode_share_acknowledge_request_v2,
}
ShareAcknowledgeRequest.ENCODERS = {
    0: _encode_share_acknowledge_request_v0,
    1: _encode_share_acknowledge_request_v0,
    2: _encode_share_acknowledge_request_v2,
}
