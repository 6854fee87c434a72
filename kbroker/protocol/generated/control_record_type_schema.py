"""ControlRecordTypeSchema, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class ControlRecordTypeSchema(Message):
    """ControlRecordTypeSchema, version 0."""

    __slots__ = ("type",)
    NAME = "ControlRecordTypeSchema"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        type: int = 0,
    ) -> None:
        self.type = type


def _decode_control_record_type_schema_v0(buf: Buffer, pos: int) -> tuple[ControlRecordTypeSchema, int]:
    o = ControlRecordTypeSchema.__new__(ControlRecordTypeSchema)
    (o.type,) = unpack_h(buf, pos)
    pos += 2
    return o, pos


def _encode_control_record_type_schema_v0(out: bytearray, o: ControlRecordTypeSchema) -> None:
    out += pack_h(o.type)


ControlRecordTypeSchema.DECODERS = {
    0: _decode_control_record_type_schema_v0,
}
ControlRecordTypeSchema.ENCODERS = {
    0: _encode_control_record_type_schema_v0,
}
