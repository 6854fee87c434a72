"""FetchRequest, versions 0 to 18.

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
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from
pack_3ibii = Layout(">3ibii").pack
unpack_3ibii = Layout(">3ibii").unpack_from
pack_4i = Layout(">4i").pack
unpack_4i = Layout(">4i").unpack_from
pack_4ib3i = Layout(">4ib3i").pack
unpack_4ib3i = Layout(">4ib3i").unpack_from
pack_4ibi = Layout(">4ibi").pack
unpack_4ibi = Layout(">4ibi").unpack_from
pack_4ibii = Layout(">4ibii").pack
unpack_4ibii = Layout(">4ibii").unpack_from
pack_5i = Layout(">5i").pack
unpack_5i = Layout(">5i").unpack_from
pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iiqiqi = Layout(">iiqiqi").pack
unpack_iiqiqi = Layout(">iiqiqi").unpack_from
pack_iiqqi = Layout(">iiqqi").pack
unpack_iiqqi = Layout(">iiqqi").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from
pack_iqi = Layout(">iqi").pack
unpack_iqi = Layout(">iqi").unpack_from
pack_iqqi = Layout(">iqqi").pack
unpack_iqqi = Layout(">iqqi").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class ForgottenTopic(Struct):
    """Part of FetchRequest."""

    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",  # versions 7 to 12
        topic_id: bytes = ZERO_UUID,  # versions 13 to 18
        partitions: list[int] = UNSET,  # versions 7 to 18
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class FetchPartition(Struct):
    """Part of FetchRequest."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_max_bytes",
        "replica_directory_id",
        "high_watermark",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,  # versions 9 to 18
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,  # versions 12 to 18
        log_start_offset: int = -1,  # versions 5 to 18
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,  # versions 17 to 18
        high_watermark: int = 9223372036854775807,  # version 18
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark
        self.unknown_tags: UnknownTags = None


class FetchTopic(Struct):
    """Part of FetchRequest."""

    __slots__ = (
        "topic",
        "topic_id",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        topic: str = "",  # versions 0 to 12
        topic_id: bytes = ZERO_UUID,  # versions 13 to 18
        partitions: list[FetchPartition] = UNSET,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions: list[FetchPartition] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class ReplicaState(Struct):
    """Part of FetchRequest."""

    __slots__ = (
        "replica_id",
        "replica_epoch",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        replica_id: int = -1,  # versions 15 to 18
        replica_epoch: int = -1,  # versions 15 to 18
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        self.unknown_tags: UnknownTags = None


class FetchRequest(Message):
    """FetchRequest, versions 0 to 18."""

    __slots__ = (
        "cluster_id",
        "replica_id",
        "replica_state",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "isolation_level",
        "session_id",
        "session_epoch",
        "topics",
        "forgotten_topics_data",
        "rack_id",
        "unknown_tags",
    )
    NAME = "FetchRequest"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 18
    FLEXIBLE_SINCE = 12

    def __init__(
        self,
        *,
        cluster_id: str | None = None,  # versions 12 to 18
        replica_id: int = -1,  # versions 0 to 14
        replica_state: ReplicaState = UNSET,  # versions 15 to 18
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,  # versions 3 to 18
        isolation_level: int = 0,  # versions 4 to 18
        session_id: int = 0,  # versions 7 to 18
        session_epoch: int = -1,  # versions 7 to 18
        topics: list[FetchTopic] = UNSET,
        forgotten_topics_data: list[ForgottenTopic] = UNSET,  # versions 7 to 18
        rack_id: str = "",  # versions 11 to 18
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state: ReplicaState = ReplicaState() if replica_state is UNSET else replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics: list[FetchTopic] = [] if topics is UNSET else topics
        self.forgotten_topics_data: list[ForgottenTopic] = (
            [] if forgotten_topics_data is UNSET else forgotten_topics_data
        )
        self.rack_id = rack_id
        self.unknown_tags: UnknownTags = None


def _decode_forgotten_topic_v7(buf: Buffer, pos: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        o = ForgottenTopic.__new__(ForgottenTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_forgotten_topic_v7(out: bytearray, items: Iterable[ForgottenTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_forgotten_topic_v12(buf: Buffer, pos: int, count: int) -> tuple[list[ForgottenTopic], int]:
    items: list[ForgottenTopic] = []
    for _ in range(count):
        o = ForgottenTopic.__new__(ForgottenTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
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
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_forgotten_topic_v12(out: bytearray, items: Iterable[ForgottenTopic]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_forgotten_topic_v13(buf: Buffer, pos: int, count: int) -> tuple[list[ForgottenTopic], int]:
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
        o.topic = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_forgotten_topic_v13(out: bytearray, items: Iterable[ForgottenTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_partition_v0(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        o.partition, o.fetch_offset, o.partition_max_bytes = unpack_iqi(buf, pos)
        pos += 16
        o.current_leader_epoch = -1
        o.last_fetched_epoch = -1
        o.log_start_offset = -1
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.unknown_tags = None
    return items, pos


def _encode_fetch_partition_v0(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        if o.last_fetched_epoch != -1:
            raise not_in_version("lastFetchedEpoch")
        out += pack_iqi(o.partition, o.fetch_offset, o.partition_max_bytes)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetch_partition_v5(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        o.partition, o.fetch_offset, o.log_start_offset, o.partition_max_bytes = unpack_iqqi(buf, pos)
        pos += 24
        o.current_leader_epoch = -1
        o.last_fetched_epoch = -1
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.unknown_tags = None
    return items, pos


def _encode_fetch_partition_v5(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        if o.last_fetched_epoch != -1:
            raise not_in_version("lastFetchedEpoch")
        out += pack_iqqi(o.partition, o.fetch_offset, o.log_start_offset, o.partition_max_bytes)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetch_partition_v9(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        (
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.log_start_offset,
            o.partition_max_bytes,
        ) = unpack_iiqqi(buf, pos)
        pos += 28
        o.last_fetched_epoch = -1
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.unknown_tags = None
    return items, pos


def _encode_fetch_partition_v9(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        if o.last_fetched_epoch != -1:
            raise not_in_version("lastFetchedEpoch")
        out += pack_iiqqi(
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.log_start_offset,
            o.partition_max_bytes,
        )
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetch_partition_v12(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        (
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.last_fetched_epoch,
            o.log_start_offset,
            o.partition_max_bytes,
        ) = unpack_iiqiqi(buf, pos)
        pos += 32
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_fetch_partition_v12(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_fetch_partition_v12(buf: Buffer, pos: int, o: FetchPartition) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag in (0, 1):
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _encode_fetch_partition_v12(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        out += pack_iiqiqi(
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.last_fetched_epoch,
            o.log_start_offset,
            o.partition_max_bytes,
        )
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_partition_v17(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        (
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.last_fetched_epoch,
            o.log_start_offset,
            o.partition_max_bytes,
        ) = unpack_iiqiqi(buf, pos)
        pos += 32
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_fetch_partition_v17(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_fetch_partition_v17(buf: Buffer, pos: int, o: FetchPartition) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.replica_directory_id,) = unpack_16s(buf, pos)
            pos += 16
        elif tag == 1:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_partition_v17(out: bytearray, o: FetchPartition) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.replica_directory_id != ZERO_UUID:
        part = bytearray()
        part += pack_16s(o.replica_directory_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_partition_v17(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        out += pack_iiqiqi(
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.last_fetched_epoch,
            o.log_start_offset,
            o.partition_max_bytes,
        )
        if o.unknown_tags or o.replica_directory_id != ZERO_UUID:
            _write_tags_of_fetch_partition_v17(out, o)
        else:
            out.append(0)


def _decode_fetch_partition_v18(buf: Buffer, pos: int, count: int) -> tuple[list[FetchPartition], int]:
    items: list[FetchPartition] = []
    for _ in range(count):
        o = FetchPartition.__new__(FetchPartition)
        items.append(o)
        (
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.last_fetched_epoch,
            o.log_start_offset,
            o.partition_max_bytes,
        ) = unpack_iiqiqi(buf, pos)
        pos += 32
        o.replica_directory_id = ZERO_UUID
        o.high_watermark = 9223372036854775807
        o.unknown_tags = None
        if buf[pos]:
            pos = _tags_of_fetch_partition_v18(buf, pos, o)
        else:
            pos += 1
    return items, pos


def _tags_of_fetch_partition_v18(buf: Buffer, pos: int, o: FetchPartition) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.replica_directory_id,) = unpack_16s(buf, pos)
            pos += 16
        elif tag == 1:
            (o.high_watermark,) = unpack_q(buf, pos)
            pos += 8
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_partition_v18(out: bytearray, o: FetchPartition) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.replica_directory_id != ZERO_UUID:
        part = bytearray()
        part += pack_16s(o.replica_directory_id)
        tags.append((0, part))
    if o.high_watermark != 9223372036854775807:
        part = bytearray()
        part += pack_q(o.high_watermark)
        tags.append((1, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_partition_v18(out: bytearray, items: Iterable[FetchPartition]) -> None:
    for o in items:
        out += pack_iiqiqi(
            o.partition,
            o.current_leader_epoch,
            o.fetch_offset,
            o.last_fetched_epoch,
            o.log_start_offset,
            o.partition_max_bytes,
        )
        if o.unknown_tags or o.replica_directory_id != ZERO_UUID or o.high_watermark != 9223372036854775807:
            _write_tags_of_fetch_partition_v18(out, o)
        else:
            out.append(0)


def _decode_fetch_topic_v0(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        o = FetchTopic.__new__(FetchTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 16 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v0(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetch_topic_v0(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_fetch_partition_v0(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetch_topic_v5(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        o = FetchTopic.__new__(FetchTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 24 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v5(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetch_topic_v5(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_fetch_partition_v5(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetch_topic_v9(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        o = FetchTopic.__new__(FetchTopic)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("topic")
        end = pos + n
        o.topic = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("partitions")
        if n * 28 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v9(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
    return items, pos


def _encode_fetch_topic_v9(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        raw = o.topic.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        _encode_fetch_partition_v9(out, o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_fetch_topic_v12(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
    items: list[FetchTopic] = []
    for _ in range(count):
        o = FetchTopic.__new__(FetchTopic)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.topic = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.topic, pos = read_compact_string(buf, pos)
        n = buf[pos] - 1
        if n < 127:
            pos += 1
        else:
            n, pos = read_uvarint(buf, pos)
            n -= 1
        if n < 0:
            raise null_field("partitions")
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v12(buf, pos, n)
        o.topic_id = ZERO_UUID
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_topic_v12(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        write_compact_string(out, o.topic)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_fetch_partition_v12(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_topic_v13(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
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
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v12(buf, pos, n)
        o.topic = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_topic_v13(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_fetch_partition_v12(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_topic_v17(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
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
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v17(buf, pos, n)
        o.topic = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_topic_v17(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_fetch_partition_v17(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_topic_v18(buf: Buffer, pos: int, count: int) -> tuple[list[FetchTopic], int]:
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
        if n * 33 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions, pos = _decode_fetch_partition_v18(buf, pos, n)
        o.topic = ""
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_fetch_topic_v18(out: bytearray, items: Iterable[FetchTopic]) -> None:
    for o in items:
        out += pack_16s(o.topic_id)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_fetch_partition_v18(out, o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_replica_state_v15(buf: Buffer, pos: int, count: int) -> tuple[list[ReplicaState], int]:
    items: list[ReplicaState] = []
    for _ in range(count):
        o = ReplicaState.__new__(ReplicaState)
        items.append(o)
        o.replica_id, o.replica_epoch = unpack_iq(buf, pos)
        pos += 12
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_replica_state_v15(out: bytearray, items: Iterable[ReplicaState]) -> None:
    for o in items:
        out += pack_iq(o.replica_id, o.replica_epoch)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_fetch_request_v0(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    o.replica_id, o.max_wait_ms, o.min_bytes, n = unpack_4i(buf, pos)
    pos += 16
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v0(buf, pos, n)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.max_bytes = 2147483647
    o.isolation_level = 0
    o.session_id = 0
    o.session_epoch = -1
    o.forgotten_topics_data = []
    o.rack_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v0(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    if o.forgotten_topics_data:
        raise not_in_version("forgottenTopicsData")
    out += pack_4i(o.replica_id, o.max_wait_ms, o.min_bytes, len(o.topics))
    _encode_fetch_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v3(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, n = unpack_5i(buf, pos)
    pos += 20
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v0(buf, pos, n)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.isolation_level = 0
    o.session_id = 0
    o.session_epoch = -1
    o.forgotten_topics_data = []
    o.rack_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v3(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    if o.forgotten_topics_data:
        raise not_in_version("forgottenTopicsData")
    out += pack_5i(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, len(o.topics))
    _encode_fetch_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v4(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, n = unpack_4ibi(buf, pos)
    pos += 21
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v0(buf, pos, n)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.session_id = 0
    o.session_epoch = -1
    o.forgotten_topics_data = []
    o.rack_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v4(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    if o.forgotten_topics_data:
        raise not_in_version("forgottenTopicsData")
    out += pack_4ibi(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, len(o.topics))
    _encode_fetch_topic_v0(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v5(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, n = unpack_4ibi(buf, pos)
    pos += 21
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v5(buf, pos, n)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.session_id = 0
    o.session_epoch = -1
    o.forgotten_topics_data = []
    o.rack_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v5(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    if o.forgotten_topics_data:
        raise not_in_version("forgottenTopicsData")
    out += pack_4ibi(o.replica_id, o.max_wait_ms, o.min_bytes, o.max_bytes, o.isolation_level, len(o.topics))
    _encode_fetch_topic_v5(out, o.topics)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v7(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
        n,
    ) = unpack_4ib3i(buf, pos)
    pos += 29
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v5(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v7(buf, pos, n)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.rack_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v7(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    out += pack_4ib3i(
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
        len(o.topics),
    )
    _encode_fetch_topic_v5(out, o.topics)
    out += pack_i(len(o.forgotten_topics_data))
    _encode_forgotten_topic_v7(out, o.forgotten_topics_data)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v9(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
        n,
    ) = unpack_4ib3i(buf, pos)
    pos += 29
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v9(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v7(buf, pos, n)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.rack_id = ""
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v9(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    out += pack_4ib3i(
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
        len(o.topics),
    )
    _encode_fetch_topic_v9(out, o.topics)
    out += pack_i(len(o.forgotten_topics_data))
    _encode_forgotten_topic_v7(out, o.forgotten_topics_data)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v11(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
        n,
    ) = unpack_4ib3i(buf, pos)
    pos += 29
    if n < 0:
        raise null_field("topics")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.topics, pos = _decode_fetch_topic_v9(buf, pos, n)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v7(buf, pos, n)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("rackId")
    end = pos + n
    o.rack_id = str(buf[pos:end], "utf-8")
    pos = end
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.unknown_tags = None
    return o, pos


def _encode_fetch_request_v11(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    out += pack_4ib3i(
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
        len(o.topics),
    )
    _encode_fetch_topic_v9(out, o.topics)
    out += pack_i(len(o.forgotten_topics_data))
    _encode_forgotten_topic_v7(out, o.forgotten_topics_data)
    raw = o.rack_id.encode()
    out += pack_h(len(raw))
    out += raw
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_fetch_request_v12(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    ) = unpack_4ibii(buf, pos)
    pos += 25
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
    o.topics, pos = _decode_fetch_topic_v12(buf, pos, n)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("forgottenTopicsData")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v12(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_string(buf, pos)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_request_v12(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_request_v12(buf: Buffer, pos: int, o: FetchRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        elif tag == 1:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_request_v12(out: bytearray, o: FetchRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_request_v12(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    out += pack_4ibii(
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v12(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v12(out, o.forgotten_topics_data)
    write_compact_string(out, o.rack_id)
    if o.unknown_tags or o.cluster_id is not None:
        _write_tags_of_fetch_request_v12(out, o)
    else:
        out.append(0)


def _decode_fetch_request_v13(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    ) = unpack_4ibii(buf, pos)
    pos += 25
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
    o.topics, pos = _decode_fetch_topic_v13(buf, pos, n)
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
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v13(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_string(buf, pos)
    o.cluster_id = None
    o.replica_state = ReplicaState()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_request_v13(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_request_v13(buf: Buffer, pos: int, o: FetchRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        elif tag == 1:
            raise bad_tag(tag)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_request_v13(out: bytearray, o: FetchRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_request_v13(out: bytearray, o: FetchRequest) -> None:
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        raise not_in_version("replicaState")
    out += pack_4ibii(
        o.replica_id,
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v13(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v13(out, o.forgotten_topics_data)
    write_compact_string(out, o.rack_id)
    if o.unknown_tags or o.cluster_id is not None:
        _write_tags_of_fetch_request_v13(out, o)
    else:
        out.append(0)


def _decode_fetch_request_v15(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    ) = unpack_3ibii(buf, pos)
    pos += 21
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
    o.topics, pos = _decode_fetch_topic_v13(buf, pos, n)
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
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v13(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_string(buf, pos)
    o.cluster_id = None
    o.replica_id = -1
    o.replica_state = ReplicaState()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_request_v15(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_request_v15(buf: Buffer, pos: int, o: FetchRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        elif tag == 1:
            (o.replica_state,), pos = _decode_replica_state_v15(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_request_v15(out: bytearray, o: FetchRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        part = bytearray()
        _encode_replica_state_v15(part, (o.replica_state,))
        tags.append((1, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_request_v15(out: bytearray, o: FetchRequest) -> None:
    if o.replica_id != -1:
        raise not_in_version("replicaId")
    out += pack_3ibii(
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v13(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v13(out, o.forgotten_topics_data)
    write_compact_string(out, o.rack_id)
    if (
        o.unknown_tags
        or o.cluster_id is not None
        or o.replica_state.replica_id != -1
        or o.replica_state.replica_epoch != -1
    ):
        _write_tags_of_fetch_request_v15(out, o)
    else:
        out.append(0)


def _decode_fetch_request_v17(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    ) = unpack_3ibii(buf, pos)
    pos += 21
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
    o.topics, pos = _decode_fetch_topic_v17(buf, pos, n)
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
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v13(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_string(buf, pos)
    o.cluster_id = None
    o.replica_id = -1
    o.replica_state = ReplicaState()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_request_v17(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_request_v17(buf: Buffer, pos: int, o: FetchRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        elif tag == 1:
            (o.replica_state,), pos = _decode_replica_state_v15(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_request_v17(out: bytearray, o: FetchRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        part = bytearray()
        _encode_replica_state_v15(part, (o.replica_state,))
        tags.append((1, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_request_v17(out: bytearray, o: FetchRequest) -> None:
    if o.replica_id != -1:
        raise not_in_version("replicaId")
    out += pack_3ibii(
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v17(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v13(out, o.forgotten_topics_data)
    write_compact_string(out, o.rack_id)
    if (
        o.unknown_tags
        or o.cluster_id is not None
        or o.replica_state.replica_id != -1
        or o.replica_state.replica_epoch != -1
    ):
        _write_tags_of_fetch_request_v17(out, o)
    else:
        out.append(0)


def _decode_fetch_request_v18(buf: Buffer, pos: int) -> tuple[FetchRequest, int]:
    o = FetchRequest.__new__(FetchRequest)
    (
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    ) = unpack_3ibii(buf, pos)
    pos += 21
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
    o.topics, pos = _decode_fetch_topic_v18(buf, pos, n)
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
    o.forgotten_topics_data, pos = _decode_forgotten_topic_v13(buf, pos, n)
    n = buf[pos]
    if 0 < n < 128:
        end = pos + n
        o.rack_id = str(buf[pos + 1 : end], "utf-8")
        pos = end
    else:
        o.rack_id, pos = read_compact_string(buf, pos)
    o.cluster_id = None
    o.replica_id = -1
    o.replica_state = ReplicaState()
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_fetch_request_v18(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_fetch_request_v18(buf: Buffer, pos: int, o: FetchRequest) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            n = buf[pos]
            if 0 < n < 128:
                end = pos + n
                o.cluster_id = str(buf[pos + 1 : end], "utf-8")
                pos = end
            else:
                o.cluster_id, pos = read_compact_nullable_string(buf, pos)
        elif tag == 1:
            (o.replica_state,), pos = _decode_replica_state_v15(buf, pos, 1)
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_fetch_request_v18(out: bytearray, o: FetchRequest) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.cluster_id is not None:
        part = bytearray()
        write_compact_string(part, o.cluster_id)
        tags.append((0, part))
    if o.replica_state.replica_id != -1 or o.replica_state.replica_epoch != -1:
        part = bytearray()
        _encode_replica_state_v15(part, (o.replica_state,))
        tags.append((1, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_fetch_request_v18(out: bytearray, o: FetchRequest) -> None:
    if o.replica_id != -1:
        raise not_in_version("replicaId")
    out += pack_3ibii(
        o.max_wait_ms,
        o.min_bytes,
        o.max_bytes,
        o.isolation_level,
        o.session_id,
        o.session_epoch,
    )
    n = len(o.topics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_fetch_topic_v18(out, o.topics)
    n = len(o.forgotten_topics_data) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_forgotten_topic_v13(out, o.forgotten_topics_data)
    write_compact_string(out, o.rack_id)
    if (
        o.unknown_tags
        or o.cluster_id is not None
        or o.replica_state.replica_id != -1
        or o.replica_state.replica_epoch != -1
    ):
        _write_tags_of_fetch_request_v18(out, o)
    else:
        out.append(0)


FetchRequest.DECODERS = {
    0: _decode_fetch_request_v0,
    1: _decode_fetch_request_v0,
    2: _decode_fetch_request_v0,
    3: _decode_fetch_request_v3,
    4: _decode_fetch_request_v4,
    5: _decode_fetch_request_v5,
    6: _decode_fetch_request_v5,
    7: _decode_fetch_request_v7,
    8: _decode_fetch_request_v7,
    9: _decode_fetch_request_v9,
    10: _decode_fetch_request_v9,
    11: _decode_fetch_request_v11,
    12: _decode_fetch_request_v12,
    13: _decode_fetch_request_v13,
    14: _decode_fetch_request_v13,
    15: _decode_fetch_request_v15,
    16: _decode_fetch_request_v15,
    17: _decode_fetch_request_v17,
    18: _decode_fetch_request_v18,
}
FetchRequest.ENCODERS = {
    0: _encode_fetch_request_v0,
    1: _encode_fetch_request_v0,
    2: _encode_fetch_request_v0,
    3: _encode_fetch_request_v3,
    4: _encode_fetch_request_v4,
    5: _encode_fetch_request_v5,
    6: _encode_fetch_request_v5,
    7: _encode_fetch_request_v7,
    8: _encode_fetch_request_v7,
    9: _encode_fetch_request_v9,
    10: _encode_fetch_request_v9,
    11: _encode_fetch_request_v11,
    12: _encode_fetch_request_v12,
    13: _encode_fetch_request_v13,
    14: _encode_fetch_request_v13,
    15: _encode_fetch_request_v15,
    16: _encode_fetch_request_v15,
    17: _encode_fetch_request_v17,
    18: _encode_fetch_request_v18,
}
