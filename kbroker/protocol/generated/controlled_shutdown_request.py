"""ControlledShutdownRequest, versions 0 to 3.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    not_in_version,
    read_unknown_tags,
    write_tags,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from
pack_iq = Layout(">iq").pack
unpack_iq = Layout(">iq").unpack_from


class ControlledShutdownRequest(Message):
    """ControlledShutdownRequest, versions 0 to 3."""

    __slots__ = (
        "broker_id",
        "broker_epoch",
        "unknown_tags",
    )
    NAME = "ControlledShutdownRequest"
    API_KEY = 7
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,  # versions 2 to 3
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.unknown_tags: UnknownTags = None


def _decode_controlled_shutdown_request_v0(buf: Buffer, pos: int) -> tuple[ControlledShutdownRequest, int]:
    o = ControlledShutdownRequest.__new__(ControlledShutdownRequest)
    (o.broker_id,) = unpack_i(buf, pos)
    pos += 4
    o.broker_epoch = -1
    o.unknown_tags = None
    return o, pos


def _encode_controlled_shutdown_request_v0(out: bytearray, o: ControlledShutdownRequest) -> None:
    out += pack_i(o.broker_id)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_controlled_shutdown_request_v2(buf: Buffer, pos: int) -> tuple[ControlledShutdownRequest, int]:
    o = ControlledShutdownRequest.__new__(ControlledShutdownRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.unknown_tags = None
    return o, pos


def _encode_controlled_shutdown_request_v2(out: bytearray, o: ControlledShutdownRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_controlled_shutdown_request_v3(buf: Buffer, pos: int) -> tuple[ControlledShutdownRequest, int]:
    o = ControlledShutdownRequest.__new__(ControlledShutdownRequest)
    o.broker_id, o.broker_epoch = unpack_iq(buf, pos)
    pos += 12
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_controlled_shutdown_request_v3(out: bytearray, o: ControlledShutdownRequest) -> None:
    out += pack_iq(o.broker_id, o.broker_epoch)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


ControlledShutdownRequest.DECODERS = {
    0: _decode_controlled_shutdown_request_v0,
    1: _decode_controlled_shutdown_request_v0,
    2: _decode_controlled_shutdown_request_v2,
    3: _decode_controlled_shutdown_request_v3,
}
ControlledShutdownRequest.ENCODERS = {
    0: _encode_controlled_shutdown_request_v0,
    1: _encode_controlled_shutdown_request_v0,
    2: _encode_controlled_shutdown_request_v2,
    3: _encode_controlled_shutdown_request_v3,
}
