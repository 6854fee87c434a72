"""EndTxnMarker, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
)

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class EndTxnMarker(Message):
    """EndTxnMarker, version 0."""

    __slots__ = ("coordinator_epoch",)
    NAME = "EndTxnMarker"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch


def _decode_end_txn_marker_v0(buf: Buffer, pos: int) -> tuple[EndTxnMarker, int]:
    o = EndTxnMarker.__new__(EndTxnMarker)
    (o.coordinator_epoch,) = unpack_i(buf, pos)
    pos += 4
    return o, pos


def _encode_end_txn_marker_v0(out: bytearray, o: EndTxnMarker) -> None:
    out += pack_i(o.coordinator_epoch)


EndTxnMarker.DECODERS = {
    0: _decode_end_txn_marker_v0,
}
EndTxnMarker.ENCODERS = {
    0: _encode_end_txn_marker_v0,
}
