"""ShareSnapshotValue, version 0.

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
    null_field,
    read_tag,
    read_tag_count,
    read_unknown_tags,
    read_uvarint,
    too_many,
    write_tags,
    write_uvarint,
)

pack_3i3q = Layout(">3i3q").pack
unpack_3i3q = Layout(">3i3q").unpack_from
pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_qqbh = Layout(">qqbh").pack
unpack_qqbh = Layout(">qqbh").unpack_from


class StateBatch(Struct):
    """Part of ShareSnapshotValue."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_state",
        "delivery_count",
        "unknown_tags",
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tags: UnknownTags = None


class ShareSnapshotValue(Message):
    """ShareSnapshotValue, version 0."""

    __slots__ = (
        "snapshot_epoch",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "create_timestamp",
        "write_timestamp",
        "state_batches",
        "unknown_tags",
    )
    NAME = "ShareSnapshotValue"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        snapshot_epoch: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        create_timestamp: int = 0,
        write_timestamp: int = 0,
        state_batches: list[StateBatch] = UNSET,
    ) -> None:
        self.snapshot_epoch = snapshot_epoch
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.create_timestamp = create_timestamp
        self.write_timestamp = write_timestamp
        self.state_batches: list[StateBatch] = [] if state_batches is UNSET else state_batches
        self.unknown_tags: UnknownTags = None


def _decode_state_batch_v0(buf: Buffer, pos: int, count: int) -> tuple[list[StateBatch], int]:
    items: list[StateBatch] = []
    for _ in range(count):
        o = StateBatch.__new__(StateBatch)
        items.append(o)
        o.first_offset, o.last_offset, o.delivery_state, o.delivery_count = unpack_qqbh(buf, pos)
        pos += 19
        o.unknown_tags = None
        if buf[pos]:
            o.unknown_tags, pos = read_unknown_tags(buf, pos)
        else:
            pos += 1
    return items, pos


def _encode_state_batch_v0(out: bytearray, items: Iterable[StateBatch]) -> None:
    for o in items:
        out += pack_qqbh(o.first_offset, o.last_offset, o.delivery_state, o.delivery_count)
        if o.unknown_tags:
            write_tags(out, [], o.unknown_tags)
        else:
            out.append(0)


def _decode_share_snapshot_value_v0(buf: Buffer, pos: int) -> tuple[ShareSnapshotValue, int]:
    o = ShareSnapshotValue.__new__(ShareSnapshotValue)
    (
        o.snapshot_epoch,
        o.state_epoch,
        o.leader_epoch,
        o.start_offset,
        o.create_timestamp,
        o.write_timestamp,
    ) = unpack_3i3q(buf, pos)
    pos += 36
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("stateBatches")
    if n * 20 > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.state_batches, pos = _decode_state_batch_v0(buf, pos, n)
    o.delivery_complete_count = -1
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_share_snapshot_value_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_share_snapshot_value_v0(buf: Buffer, pos: int, o: ShareSnapshotValue) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.delivery_complete_count,) = unpack_i(buf, pos)
            pos += 4
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_share_snapshot_value_v0(out: bytearray, o: ShareSnapshotValue) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.delivery_complete_count != -1:
        part = bytearray()
        part += pack_i(o.delivery_complete_count)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_share_snapshot_value_v0(out: bytearray, o: ShareSnapshotValue) -> None:
    out += pack_3i3q(
        o.snapshot_epoch,
        o.state_epoch,
        o.leader_epoch,
        o.start_offset,
        o.create_timestamp,
        o.write_timestamp,
    )
    n = len(o.state_batches) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    _encode_state_batch_v0(out, o.state_batches)
    if o.unknown_tags or o.delivery_complete_count != -1:
        _write_tags_of_share_snapshot_value_v0(out, o)
    else:
        out.append(0)


ShareSnapshotValue.DECODERS = {
    0: _decode_share_snapshot_value_v0,
}
ShareSnapshotValue.ENCODERS = {
    0: _encode_share_snapshot_value_v0,
}
