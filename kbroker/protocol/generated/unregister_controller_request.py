"""UnregisterControllerRequest, version 0.

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

pack_i = Layout(">i").pack
unpack_i = Layout(">i").unpack_from


class UnregisterControllerRequest(Message):
    """UnregisterControllerRequest, version 0."""

    __slots__ = (
        "controller_id",
        "unknown_tags",
    )
    NAME = "UnregisterControllerRequest"
    API_KEY = 94
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        controller_id: int = 0,
    ) -> None:
        self.controller_id = controller_id
        self.unknown_tags: UnknownTags = None


def _decode_unregister_controller_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[UnregisterControllerRequest, int]:
    o = UnregisterControllerRequest.__new__(UnregisterControllerRequest)
    (o.controller_id,) = unpack_i(buf, pos)
    pos += 4
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_unregister_controller_request_v0(out: bytearray, o: UnregisterControllerRequest) -> None:
    out += pack_i(o.controller_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


UnregisterControllerRequest.DECODERS = {
    0: _decode_unregister_controller_request_v0,
}
UnregisterControllerRequest.ENCODERS = {
    0: _encode_unregister_controller_request_v0,
}
