"""AbortedTxn, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
)

pack_4q = Layout(">4q").pack
unpack_4q = Layout(">4q").unpack_from


class AbortedTxn(Message):
    """AbortedTxn, version 0."""

    __slots__ = (
        "producer_id",
        "first_offset",
        "last_offset",
        "last_stable_offset",
    )
    NAME = "AbortedTxn"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
        last_offset: int = 0,
        last_stable_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.last_stable_offset = last_stable_offset


def _decode_aborted_txn_v0(buf: Buffer, pos: int) -> tuple[AbortedTxn, int]:
    o = AbortedTxn.__new__(AbortedTxn)
    o.producer_id, o.first_offset, o.last_offset, o.last_stable_offset = unpack_4q(buf, pos)
    pos += 32
    return o, pos


def _encode_aborted_txn_v0(out: bytearray, o: AbortedTxn) -> None:
    out += pack_4q(o.producer_id, o.first_offset, o.last_offset, o.last_stable_offset)


AbortedTxn.DECODERS = {
    0: _decode_aborted_txn_v0,
}
AbortedTxn.ENCODERS = {
    0: _encode_aborted_txn_v0,
}
