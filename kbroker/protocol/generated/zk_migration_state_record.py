"""ZkMigrationStateRecord, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    read_unknown_tags,
    write_tags,
)

pack_b = Layout(">b").pack
unpack_b = Layout(">b").unpack_from


class ZkMigrationStateRecord(Message):
    """ZkMigrationStateRecord, version 0."""

    __slots__ = (
        "zk_migration_state",
        "unknown_tags",
    )
    NAME = "ZkMigrationStateRecord"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        zk_migration_state: int = 0,
    ) -> None:
        self.zk_migration_state = zk_migration_state
        self.unknown_tags: UnknownTags = None


def _decode_zk_migration_state_record_v0(buf: Buffer, pos: int) -> tuple[ZkMigrationStateRecord, int]:
    o = ZkMigrationStateRecord.__new__(ZkMigrationStateRecord)
    (o.zk_migration_state,) = unpack_b(buf, pos)
    pos += 1
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_zk_migration_state_record_v0(out: bytearray, o: ZkMigrationStateRecord) -> None:
    out += pack_b(o.zk_migration_state)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ZkMigrationStateRecord.DECODERS = {
    0: _decode_zk_migration_state_record_v0,
}
ZkMigrationStateRecord.ENCODERS = {
    0: _encode_zk_migration_state_record_v0,
}
