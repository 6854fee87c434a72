"""AlterReplicaLogDirsRequest, versions 0 to 2.

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


class AlterReplicaLogDirTopic(Struct):
    """Part of AlterReplicaLogDirsRequest."""

    __slots__ = (
        "name",
        "partitions",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = UNSET,
    ) -> None:
        self.name = name
        self.partitions: list[int] = [] if partitions is UNSET else partitions
        self.unknown_tags: UnknownTags = None


class AlterReplicaLogDir(Struct):
    """Part of AlterReplicaLogDirsRequest."""

    __slots__ = (
        "path",
        "topics",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = UNSET,
    ) -> None:
        self.path = path
        self.topics: list[AlterReplicaLogDirTopic] = [] if topics is UNSET else topics
        self.unknown_tags: UnknownTags = None


class AlterReplicaLogDirsRequest(Message):
    """AlterReplicaLogDirsRequest, versions 0 to 2."""

    __slots__ = (
        "dirs",
        "unknown_tags",
    )
    NAME = "AlterReplicaLogDirsRequest"
    API_KEY = 34
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_SINCE = 2

    def __init__(
        self,
        *,
        dirs: list[AlterReplicaLogDir] = UNSET,
    ) -> None:
        self.dirs: list[AlterReplicaLogDir] = [] if dirs is UNSET else dirs
        self.unknown_tags: UnknownTags = None


def _decode_alter_replica_log_dir_topic_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDirTopic], int]:
    items: list[AlterReplicaLogDirTopic] = []
    for _ in range(count):
        o = AlterReplicaLogDirTopic.__new__(AlterReplicaLogDirTopic)
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
        if n * 4 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.partitions = unpack_int32s(buf, pos, n)
        pos += 4 * n
        o.unknown_tags = None
    return items, pos


def _encode_alter_replica_log_dir_topic_v0(out: bytearray, items: Iterable[AlterReplicaLogDirTopic]) -> None:
    for o in items:
        raw = o.name.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.partitions))
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alter_replica_log_dir_topic_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDirTopic], int]:
    items: list[AlterReplicaLogDirTopic] = []
    for _ in range(count):
        o = AlterReplicaLogDirTopic.__new__(AlterReplicaLogDirTopic)
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


def _encode_alter_replica_log_dir_topic_v2(out: bytearray, items: Iterable[AlterReplicaLogDirTopic]) -> None:
    for o in items:
        write_compact_string(out, o.name)
        n = len(o.partitions) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        out += pack_int32s(o.partitions)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_replica_log_dir_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDir], int]:
    items: list[AlterReplicaLogDir] = []
    for _ in range(count):
        o = AlterReplicaLogDir.__new__(AlterReplicaLogDir)
        items.append(o)
        (n,) = unpack_h(buf, pos)
        pos += 2
        if n < 0:
            raise null_field("path")
        end = pos + n
        o.path = str(buf[pos:end], "utf-8")
        pos = end
        (n,) = unpack_i(buf, pos)
        pos += 4
        if n < 0:
            raise null_field("topics")
        if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
            raise too_many(n)
        o.topics, pos = _decode_alter_replica_log_dir_topic_v0(buf, pos, n)
        o.unknown_tags = None
    return items, pos


def _encode_alter_replica_log_dir_v0(out: bytearray, items: Iterable[AlterReplicaLogDir]) -> None:
    for o in items:
        raw = o.path.encode()
        out += pack_h(len(raw))
        out += raw
        out += pack_i(len(o.topics))
        _encode_alter_replica_log_dir_topic_v0(out, o.topics)
        if o.unknown_tags:
            raise not_in_version("tag section")


def _decode_alter_replica_log_dir_v2(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[AlterReplicaLogDir], int]:
    items: list[AlterReplicaLogDir] = []
    for _ in range(count):
        o = AlterReplicaLogDir.__new__(AlterReplicaLogDir)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.path = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.path, pos = read_compact_string(buf, pos)
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
        o.topics, pos = _decode_alter_replica_log_dir_topic_v2(buf, pos, n)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_alter_replica_log_dir_v2(out: bytearray, items: Iterable[AlterReplicaLogDir]) -> None:
    for o in items:
        write_compact_string(out, o.path)
        n = len(o.topics) + 1
        out.append(n) if n < 128 else write_uvarint(out, n)
        _encode_alter_replica_log_dir_topic_v2(out, o.topics)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_alter_replica_log_dirs_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[AlterReplicaLogDirsRequest, int]:
    o = AlterReplicaLogDirsRequest.__new__(AlterReplicaLogDirsRequest)
    (n,) = unpack_i(buf, pos)
    pos += 4
    if n < 0:
        raise null_field("dirs")
    if n * 6 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.dirs, pos = _decode_alter_replica_log_dir_v0(buf, pos, n)
    o.unknown_tags = None
    return o, pos


def _encode_alter_replica_log_dirs_request_v0(out: bytearray, o: AlterReplicaLogDirsRequest) -> None:
    out += pack_i(len(o.dirs))
    _encode_alter_replica_log_dir_v0(out, o.dirs)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_alter_replica_log_dirs_request_v2(
    buf: Buffer,
    pos: int,
) -> tuple[AlterReplicaLogDirsRequest, int]:
    o = AlterReplicaLogDirsRequest.__new__(AlterReplicaLogDirsRequest)
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("dirs")
    if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.dirs, pos = _decode_alter_replica_log_dir_v2(buf, pos, n)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_alter_replica_log_dirs_request_v2(out: bytearray, o: AlterReplicaLogDirsRequest) -> None:
    n = len(o.dirs) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_alter_replica_log_dir_v2(out, o.dirs)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AlterReplicaLogDirsRequest.DECODERS = {
    0: _decode_alter_replica_log_dirs_request_v0,
    1: _decode_alter_replica_log_dirs_request_v0,
    2: _decode_alter_replica_log_dirs_request_v2,
}
AlterReplicaLogDirsRequest.ENCODERS = {
    0: _encode_alter_replica_log_dirs_request_v0,
    1: _encode_alter_replica_log_dirs_request_v0,
    2: _encode_alter_replica_log_dirs_request_v2,
}
