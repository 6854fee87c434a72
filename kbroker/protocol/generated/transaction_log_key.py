"""TransactionLogKey, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    null_field,
)

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class TransactionLogKey(Message):
    """TransactionLogKey, version 0."""

    __slots__ = ("transactional_id",)
    NAME = "TransactionLogKey"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = None

    def __init__(
        self,
        *,
        transactional_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id


def _decode_transaction_log_key_v0(buf: Buffer, pos: int) -> tuple[TransactionLogKey, int]:
    o = TransactionLogKey.__new__(TransactionLogKey)
    (n,) = unpack_h(buf, pos)
    pos += 2
    if n < 0:
        raise null_field("transactionalId")
    end = pos + n
    o.transactional_id = str(buf[pos:end], "utf-8")
    pos = end
    return o, pos


def _encode_transaction_log_key_v0(out: bytearray, o: TransactionLogKey) -> None:
    raw = o.transactional_id.encode()
    out += pack_h(len(raw))
    out += raw


TransactionLogKey.DECODERS = {
    0: _decode_transaction_log_key_v0,
}
TransactionLogKey.ENCODERS = {
    0: _encode_transaction_log_key_v0,
}
