"""StreamsGroupMetadataValue, version 0.

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
    bad_tag_size,
    read_compact_string,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class LastAssignmentConfig(Struct):
    """Part of StreamsGroupMetadataValue."""

    __slots__ = (
        "key",
        "value",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tags: UnknownTags = None


class StreamsGroupMetadataValue(Message):
    """StreamsGroupMetadataValue, version 0."""

    __slots__ = (
        "epoch",
        "metadata_hash",
        "validated_topology_epoch",
        "last_assignment_configs",
        "stored_description_topology_epoch",
        "failed_description_topology_epoch",
        "unknown_tags",
    )
    NAME = "StreamsGroupMetadataValue"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = UNSET,
        stored_description_topology_epoch: int = -1,
        failed_description_topology_epoch: int = -1,
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs: list[LastAssignmentConfig] | None = (
            [] if last_assignment_configs is UNSET else last_assignment_configs
        )
        self.stored_description_topology_epoch = stored_description_topology_epoch
        self.failed_description_topology_epoch = failed_description_topology_epoch
        self.unknown_tags: UnknownTags = None


def _decode_last_assignment_config_v0(
    buf: Buffer,
    pos: int,
    count: int,
) -> tuple[list[LastAssignmentConfig], int]:
    items: list[LastAssignmentConfig] = []
    for _ in range(count):
        o = LastAssignmentConfig.__new__(LastAssignmentConfig)
        items.append(o)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.key = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.key, pos = read_compact_string(buf, pos)
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            o.value = str(buf[pos + 1 : end], "utf-8")
            pos = end
        else:
            o.value, pos = read_compact_string(buf, pos)
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_last_assignment_config_v0(out: bytearray, items: Iterable[LastAssignmentConfig]) -> None:
    for o in items:
        write_compact_string(out, o.key)
        write_compact_string(out, o.value)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_streams_group_metadata_value_v0(buf: Buffer, pos: int) -> tuple[StreamsGroupMetadataValue, int]:
    o = StreamsGroupMetadataValue.__new__(StreamsGroupMetadataValue)
    o.epoch, o.metadata_hash = unpack_iq(buf, pos)
    pos += 12
    o.validated_topology_epoch = -1
    o.last_assignment_configs = []
    o.stored_description_topology_epoch = -1
    o.failed_description_topology_epoch = -1
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_streams_group_metadata_value_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_streams_group_metadata_value_v0(buf: Buffer, pos: int, o: StreamsGroupMetadataValue) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.validated_topology_epoch,) = unpack_i(buf, pos)
            pos += 4
        elif tag == 1:
            n = buf[pos] - 1
            if n < 127:
                pos += 1
            else:
                n, pos = read_uvarint(buf, pos)
                n -= 1
            if n < 0:
                o.last_assignment_configs = None
            else:
                if n * 3 > len(buf) - pos or n > ELEMENTS_MAX:
                    raise too_many(n)
                o.last_assignment_configs, pos = _decode_last_assignment_config_v0(buf, pos, n)
        elif tag == 2:
            (o.stored_description_topology_epoch,) = unpack_i(buf, pos)
            pos += 4
        elif tag == 3:
            (o.failed_description_topology_epoch,) = unpack_i(buf, pos)
            pos += 4
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_streams_group_metadata_value_v0(out: bytearray, o: StreamsGroupMetadataValue) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.validated_topology_epoch != -1:
        part = bytearray()
        part += pack_i(o.validated_topology_epoch)
        tags.append((0, part))
    if o.last_assignment_configs is None or o.last_assignment_configs:
        part = bytearray()
        if o.last_assignment_configs is None:
            part.append(0)
        else:
            n = len(o.last_assignment_configs) + 1
            part.append(n) if n < 128 else write_uvarint(part, n)
            _encode_last_assignment_config_v0(part, o.last_assignment_configs)
        tags.append((1, part))
    if o.stored_description_topology_epoch != -1:
        part = bytearray()
        part += pack_i(o.stored_description_topology_epoch)
        tags.append((2, part))
    if o.failed_description_topology_epoch != -1:
        part = bytearray()
        part += pack_i(o.failed_description_topology_epoch)
        tags.append((3, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_streams_group_metadata_value_v0(out: bytearray, o: StreamsGroupMetadataValue) -> None:
    out += pack_iq(o.epoch, o.metadata_hash)
    if (
        o.unknown_tags
        or o.validated_topology_epoch != -1
        or o.last_assignment_configs is None
        or o.last_assignment_configs
        or o.stored_description_topology_epoch != -1
        or o.failed_description_topology_epoch != -1
    ):
        _write_tags_of_streams_group_metadata_value_v0(out, o)
    else:
        out.append(0)


StreamsGroupMetadataValue.DECODERS = {
    0: _decode_streams_group_metadata_value_v0,
}
StreamsGroupMetadataValue.ENCODERS = {
    0: _encode_streams_group_metadata_value_v0,
}
