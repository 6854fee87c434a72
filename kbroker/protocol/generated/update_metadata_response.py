"""UpdateMetadataResponse, versions 0 to 8.

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

pack_h = Layout(">h").pack
unpack_h = Layout(">h").unpack_from


class UpdateMetadataResponse(Message):
    """UpdateMetadataResponse, versions 0 to 8."""

    __slots__ = (
        "error_code",
        "unknown_tags",
    )
    NAME = "UpdateMetadataResponse"
    API_KEY = 6
    MIN_VERSION = 0
    MAX_VERSION = 8
    FLEXIBLE_SINCE = 6

    def __init__(
        self,
        *,
        error_code: int = 0,
    ) -> None:
        self.error_code = error_code
        self.unknown_tags: UnknownTags = None


def _decode_update_metadata_response_v0(buf: Buffer, pos: int) -> tuple[UpdateMetadataResponse, int]:
    o = UpdateMetadataResponse.__new__(UpdateMetadataResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.unknown_tags = None
    return o, pos


def _encode_update_metadata_response_v0(out: bytearray, o: UpdateMetadataResponse) -> None:
    out += pack_h(o.error_code)
    if o.unknown_tags:
        raise not_in_version("tag section")


def _decode_update_metadata_response_v6(buf: Buffer, pos: int) -> tuple[UpdateMetadataResponse, int]:
    o = UpdateMetadataResponse.__new__(UpdateMetadataResponse)
    (o.error_code,) = unpack_h(buf, pos)
    pos += 2
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_update_metadata_response_v6(out: bytearray, o: UpdateMetadataResponse) -> None:
    out += pack_h(o.error_code)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UpdateMetadataResponse.DECODERS = {
    0: _decode_update_metadata_response_v0,
    1: _decode_update_metadata_response_v0,
    2: _decode_update_metadata_response_v0,
    3: _decode_update_metadata_response_v0,
    4: _decode_update_metadata_response_v0,
    5: _decode_update_metadata_response_v0,
    6: _decode_update_metadata_response_v6,
    7: _decode_update_metadata_response_v6,
    8: _decode_update_metadata_response_v6,
}
UpdateMetadataResponse.ENCODERS = {
    0: _encode_update_metadata_response_v0,
    1: _encode_update_metadata_response_v0,
    2: _encode_update_metadata_response_v0,
    3: _encode_update_metadata_response_v0,
    4: _encode_update_metadata_response_v0,
    5: _encode_update_metadata_response_v0,
    6: _encode_update_metadata_response_v6,
    7: _encode_update_metadata_response_v6,
    8: _encode_update_metadata_response_v6,
}
