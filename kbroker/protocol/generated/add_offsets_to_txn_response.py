"""AddOffsetsToTxnResponse, versions 0 to 4.

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

pack_ih = Layout(">ih").pack
unpack_ih = Layout(">ih").unpack_from


class AddOffsetsToTxnResponse(Message):
    """AddOffsetsToTxnResponse, versions 0 to 4."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_tags",
    )
    NAME = "AddOffsetsToTxnResponse"
    API_KEY = 25
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_SINCE = 3

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


def _decode_add_offsets_to_txn_response_v0(buf: Buffer, pos: int) -> tuple[AddOffsetsToTxnResponse, int]:
    o = AddOffsetsToTxnResponse.__new__(AddOffsetsToTxnResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.unknown_tags = None
    return o, pos


def _encode_add_offsets_to_txn_response_v0(out: bytearray, o: AddOffsetsToTxnResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_add_offsets_to_txn_response_v3(buf: Buffer, pos: int) -> tuple[AddOffsetsToTxnResponse, int]:
    o = AddOffsetsToTxnResponse.__new__(AddOffsetsToTxnResponse)
    o.throttle_time_ms, o.error_code = unpack_ih(buf, pos)
    pos += 6
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_add_offsets_to_txn_response_v3(out: bytearray, o: AddOffsetsToTxnResponse) -> None:
    out += pack_ih(o.throttle_time_ms, o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


AddOffsetsToTxnResponse.DECODERS = {
    0: _decode_add_offsets_to_txn_response_v0,
    1: _decode_add_offsets_to_txn_response_v0,
    2: _decode_add_offsets_to_txn_response_v0,
    3: _decode_add_offsets_to_txn_response_v3,
    4: _decode_add_offsets_to_txn_response_v3,
}
AddOffsetsToTxnResponse.ENCODERS = {
    0: _encode_add_offsets_to_txn_response_v0,
    1: _encode_add_offsets_to_txn_response_v0,
    2: _encode_add_offsets_to_txn_response_v0,
    3: _encode_add_offsets_to_txn_response_v3,
    4: _encode_add_offsets_to_txn_response_v3,
}
