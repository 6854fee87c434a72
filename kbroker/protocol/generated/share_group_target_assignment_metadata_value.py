"""ShareGroupTargetAssignmentMetadataValue, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    bad_tag_size,
    read_tag,
    read_tag_count,
    write_tags,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from


class ShareGroupTargetAssignmentMetadataValue(Message):
    """ShareGroupTargetAssignmentMetadataValue, version 0."""

    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
        "unknown_tags",
    )
    NAME = "ShareGroupTargetAssignmentMetadataValue"
    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp
        self.unknown_tags: UnknownTags = None


def _decode_share_group_target_assignment_metadata_value_v0(
    buf: Buffer,
    pos: int,
) -> tuple[ShareGroupTargetAssignmentMetadataValue, int]:
    o = ShareGroupTargetAssignmentMetadataValue.__new__(ShareGroupTargetAssignmentMetadataValue)
    (o.assignment_epoch,) = unpack_i(buf, pos)
    pos += 4
    o.assignment_timestamp = 0
    o.unknown_tags = None
    if buf[pos]:
        pos = _tags_of_share_group_target_assignment_metadata_value_v0(buf, pos, o)
    else:
        pos += 1
    return o, pos


def _tags_of_share_group_target_assignment_metadata_value_v0(
    buf: Buffer,
    pos: int,
    o: ShareGroupTargetAssignmentMetadataValue,
) -> int:
    unknown: list[tuple[int, bytes]] = []
    tags, pos = read_tag_count(buf, pos)
    for _ in range(tags):
        tag, stop, pos = read_tag(buf, pos)
        if tag == 0:
            (o.assignment_timestamp,) = unpack_q(buf, pos)
            pos += 8
        else:
            unknown.append((tag, bytes(buf[pos:stop])))
            pos = stop
        if pos != stop:
            raise bad_tag_size(tag)
    o.unknown_tags = unknown or None
    return pos


def _write_tags_of_share_group_target_assignment_metadata_value_v0(
    out: bytearray,
    o: ShareGroupTargetAssignmentMetadataValue,
) -> None:
    tags: list[tuple[int, bytearray]] = []
    if o.assignment_timestamp != 0:
        part = bytearray()
        part += pack_q(o.assignment_timestamp)
        tags.append((0, part))
    write_tags(out, tags, o.unknown_tags)


def _encode_share_group_target_assignment_metadata_value_v0(
    out: bytearray,
    o: ShareGroupTargetAssignmentMetadataValue,
) -> None:
    out += pack_i(o.assignment_epoch)
    if o.unknown_tags or o.assignment_timestamp != 0:
        _write_tags_of_share_group_target_assignment_metadata_value_v0(out, o)
    else:
        out.append(0)


ShareGroupTargetAssignmentMetadataValue.DECODERS = {
    0: _decode_share_group_target_assignment_metadata_value_v0,
}
ShareGroupTargetAssignmentMetadataValue.ENCODERS = {
    0: _encode_share_group_target_assignment_metadata_value_v0,
}
