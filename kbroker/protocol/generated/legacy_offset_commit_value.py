"""LegacyOffsetCommitValue, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    null_field,
)

pack_q = Layout(">q").pack
unpack_q = Layout(">q").unpack_from
pack_qh = Layout(">qh").pack
unpack_qh = Layout(">qh").unpack_from


class LegacyOffsetCommitValue(Message):
    """LegacyOffsetCommitValue, version 0."""

    __slots__ = (
        "offset",
        "metadata",
        "commit_timestamp",
    )
    NAME = "LegacyOffsetCommitValue"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp


def _decode_legacy_offset_commit_value_v0(buf: Buffer, pos: int) -> tuple[LegacyOffsetCommitValue, int]:
    o = LegacyOffsetCommitValue.__new__(LegacyOffsetCommitValue)
    o.offset, n = unpack_qh(buf, pos)
    pos += 10
    if n < 0:
        raise null_field("metadata")
    end = pos + n
    o.metadata = str(buf[pos:end], "utf-8")
    pos = end
    (o.commit_timestamp,) = unpack_q(buf, pos)
    pos += 8
    return o, pos


def _encode_legacy_offset_commit_value_v0(out: bytearray, o: LegacyOffsetCommitValue) -> None:
    raw = o.metadata.encode()
    out += pack_qh(o.offset, len(raw))
    out += raw
    out += pack_q(o.commit_timestamp)


LegacyOffsetCommitValue.DECODERS = {
    0: _decode_legacy_offset_commit_value_v0,
}
LegacyOffsetCommitValue.ENCODERS = {
    0: _encode_legacy_offset_commit_value_v0,
}
