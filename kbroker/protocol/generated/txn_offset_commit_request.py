"""TxnOffsetCommitRequest, versions 0 to 6.

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
    read_compact_nullable_string,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_nullable_string,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iqh = Layout(">iqh").pack
unpack_iqh = Layout(">iqh").unpack_from
pack_iqi = Layout(">iqi").pack
unpack_iqi = Layout(">iqi").unpack_from
pack_iqih = Layout(">iqih").pack
unpack_iqih = Layout(">iqih").unpack_from
pack_qhi = Layout(">qhi").pack
unpack_qhi = Layout(">qhi").unpack_from


class TxnOffsetCommitRequestPartition(Struct):
    """Part of TxnOffsetCommitRequest."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "committed_metadata",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,  # versions 2 to 6
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata
        self.unknown_tags: UnknownTags = None


class TxnOffsetCommitRequestTopic(Struct):
    """Part of TxnOffsetCommitRequest."""

    __slots__ = (
        "name",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",  # versions 0 to 5
        topic_id: bytes = ZERO_UUID,  # version 6
        partitions: list[TxnOffsetCommitRequestPartition] = UNSET,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions: list[TxnOffsetCommitRequestPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class TxnOffsetCommitRequest(Message):
    """TxnOffsetCommitRequest, versions 0 to 6."""

    __slots__ = (
        "transactional_id",
        "group_id",
        "producer_id",
        "producer_epoch",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "topics",
        "unknown_tags",
    )
    NAME = "TxnOffsetCommitRequest"
    API_KEY = 28
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id_or_member_epoch: int = -1,  # versions 3 to 6
        member_id: str = "",  # versions 3 to 6
        group_instance_id: str | None = None,  # versions 3 to 6
        topics: list[TxnOffsetCommitRequestTopic] = UNSET,
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics: list[TxnOffsetCommitRequestTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


def _decode_txn_offset_commit_request_partition_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestPartition.__new__(TxnOffsetCommitRequestPartition)
        items.append(o)
        o.partition_index, o.committed_offset, n = unpack_iqh(buf, pos)
        pos += 14
        if n < 0:
            o.committed_metadata = None
        else:
            end = pos + n
            o.committed_metadata = str(buf[pos:end], "utf-8")
            pos = end
        o.committed_leader_epoch = -1
        o.unknown_tags = None
    return items, pos


def _encode_txn_offset_commit_request_partition_v0(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestPartition],
) -> None:
    for o in items:
        raw = b"" if o.committed_metadata is None else o.committed_metadata.encode()
        out += pack_iqh(
            o.partition_index,
            o.committed_offset,
            -1 if o.committed_metadata is None else len(raw),
        )
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_txn_offset_commit_request_partition_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestPartition.__new__(TxnOffsetCommitRequestPartition)
        items.append(o)
        o.partition_index, o.committed_offset, o.committed_leader_epoch, n = unpack_iqih(buf, pos)
        pos += 18
        if n < 0:
            o.committed_metadata = None
        else:
            end = pos + n
            o.committed_metadata = str(buf[pos:end], "utf-8")
            pos = end
        o.unknown_tags = None
    return items, pos


def _encode_txn_offset_commit_request_partition_v2(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestPartition],
) -> None:
    for o in items:
        raw = b"" if o.committed_metadata is None else o.committed_metadata.encode()
        out += pack_iqih(
            o.partition_index,
            o.committed_offset,
            o.committed_leader_epoch,
            -1 if o.committed_metadata is None else len(raw),
        )
        out += raw
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_txn_offset_commit_request_partition_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestPartition], int]:
    items: list[TxnOffsetCommitRequestPartition] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestPartition.__new__(TxnOffsetCommitRequestPartition)
        items.append(o)
        o.partition_index, o.committed_offset, o.committed_leader_epoch = unpack_iqi(buf, pos)
        pos += 16
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.committed_metadata = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.committed_metadata, pos = read_compact_nullable_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_txn_offset_commit_request_partition_v3(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestPartition],
) -> None:
    for o in items:
        out += pack_iqi(o.partition_index, o.committed_offset, o.committed_leader_epoch)
        write_compact_nullable_string(out, o.committed_metadata)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_txn_offset_commit_request_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestTopic.__new__(TxnOffsetCommitRequestTopic)
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
            raise null_field("partitions")
        if n * 14 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_txn_offset_commit_request_partition_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_txn_offset_commit_request_topic_v0(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestTopic],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_txn_offset_commit_request_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_txn_offset_commit_request_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestTopic.__new__(TxnOffsetCommitRequestTopic)
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
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_txn_offset_commit_request_partition_v2(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_txn_offset_commit_request_topic_v2(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestTopic],
) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_txn_offset_commit_request_partition_v2(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_txn_offset_commit_request_topic_v3(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestTopic.__new__(TxnOffsetCommitRequestTopic)
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
            raise null_field("partitions")
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_txn_offset_commit_request_partition_v3(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_txn_offset_commit_request_topic_v3(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestTopic],
) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_txn_offset_commit_request_partition_v3(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_txn_offset_commit_request_topic_v6(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[TxnOffsetCommitRequestTopic], int]:
    items: list[TxnOffsetCommitRequestTopic] = []
    for _ in range(count):
        o = TxnOffsetCommitRequestTopic.__new__(TxnOffsetCommitRequestTopic)
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
        if n * 18 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_txn_offset_commit_request_partition_v3(buf, pos, n)
        o.name = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_txn_offset_commit_request_topic_v6(
    out: bytearray,
    items: Iterable[TxnOffsetCommitRequestTopic],
) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_txn_offset_commit_request_partition_v3(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_txn_offset_commit_request_v0(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    o = TxnOffsetCommitRequest.__new__(TxnOffsetCommitRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("transactionalId")
    end = pos + n
    o.transactional_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.producer_id, o.producer_epoch, n = unpack_qhi(buf, pos)
    pos += 14
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_txn_offset_commit_request_topic_v0(buf, pos, n)
    o.generation_id_or_member_epoch = -1
    o.member_id = ""
    o.group_instance_id = None
    o.unknown_tags = None
    return o, pos


def _encode_txn_offset_commit_request_v0(out: bytearray, o: TxnOffsetCommitRequest) -> None:
    if o.generation_id_or_member_epoch != -1:
        raise not_in_version("generationIdOrMemberEpoch")
    if o.member_id != "":
        raise not_in_version("memberId")
    if o.group_instance_id is not None:
        raise not_in_version("groupInstanceId")
    raw = o.transactional_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_qhi(o.producer_id, o.producer_epoch, len(o.topics))
    _encode_txn_offset_commit_request_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_txn_offset_commit_request_v2(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    o = TxnOffsetCommitRequest.__new__(TxnOffsetCommitRequest)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("transactionalId")
    end = pos + n
    o.transactional_id = str(buf[pos:end], "utf-8")
    pos = end
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("groupId")
    end = pos + n
    o.group_id = str(buf[pos:end], "utf-8")
    pos = end
    o.producer_id, o.producer_epoch, n = unpack_qhi(buf, pos)
    pos += 14
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_txn_offset_commit_request_topic_v2(buf, pos, n)
    o.generation_id_or_member_epoch = -1
    o.member_id = ""
    o.group_instance_id = None
    o.unknown_tags = None
    return o, pos


def _encode_txn_offset_commit_request_v2(out: bytearray, o: TxnOffsetCommitRequest) -> None:
    if o.generation_id_or_member_epoch != -1:
        raise not_in_version("generationIdOrMemberEpoch")
    if o.member_id != "":
        raise not_in_version("memberId")
    if o.group_instance_id is not None:
        raise not_in_version("groupInstanceId")
    raw = o.transactional_id.encode()
    out += pack_h(len(raw))
    out += raw
    raw = o.group_id.encode()
    out += pack_h(len(raw))
    out += raw
    out += pack_qhi(o.producer_id, o.producer_epoch, len(o.topics))
    _encode_txn_offset_commit_request_topic_v2(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_txn_offset_commit_request_v3(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    o = TxnOffsetCommitRequest.__new__(TxnOffsetCommitRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    o.producer_id, o.producer_epoch, o.generation_id_or_member_epoch = unpack_qhi(buf, pos)
    pos += 14
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_instance_id, pos = read_compact_nullable_string(buf, pos)
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
    o.topics, pos = _decode_txn_offset_commit_request_topic_v3(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_txn_offset_commit_request_v3(out: bytearray, o: TxnOffsetCommitRequest) -> None:
    write_compact_string(out, o.transactional_id)
    write_compact_string(out, o.group_id)
    out += pack_qhi(o.producer_id, o.producer_epoch, o.generation_id_or_member_epoch)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_txn_offset_commit_request_topic_v3(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


def _decode_txn_offset_commit_request_v6(buf: Buffer, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    o = TxnOffsetCommitRequest.__new__(TxnOffsetCommitRequest)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.transactional_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.transactional_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_id, pos = read_compact_string(buf, pos)
    o.producer_id, o.producer_epoch, o.generation_id_or_member_epoch = unpack_qhi(buf, pos)
    pos += 14
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.member_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.member_id, pos = read_compact_string(buf, pos)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.group_instance_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.group_instance_id, pos = read_compact_nullable_string(buf, pos)
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
    o.topics, pos = _decode_txn_offset_commit_request_topic_v6(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_txn_offset_commit_request_v6(out: bytearray, o: TxnOffsetCommitRequest) -> None:
    write_compact_string(out, o.transactional_id)
    write_compact_string(out, o.group_id)
    out += pack_qhi(o.producer_id, o.producer_epoch, o.generation_id_or_member_epoch)
    write_compact_string(out, o.member_id)
    write_compact_nullable_string(out, o.group_instance_id)
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_txn_offset_commit_request_topic_v6(out, o.topics)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


TxnOffsetCommitRequest.DECODERS = {
    0: _decode_txn_offset_commit_request_v0,
    1: _decode_txn_offset_commit_request_v0,
    2: _decode_txn_offset_commit_request_v2,
    3: _decode_txn_offset_commit_request_v3,
    4: _decode_txn_offset_commit_request_v3,
    5: _decode_txn_offset_commit_request_v3,
    6: _decode_txn_offset_commit_request_v6,
}
TxnOffsetCommitRequest.ENCODERS = {
    0: _encode_txn_offset_commit_request_v0,
    1: _encode_txn_offset_commit_request_v0,
    2: _encode_txn_offset_commit_request_v2,
    3: _encode_txn_offset_commit_request_v3,
    4: _encode_txn_offset_commit_request_v3,
    5: _encode_txn_offset_commit_request_v3,
    6: _encode_txn_offset_commit_request_v6,
}
