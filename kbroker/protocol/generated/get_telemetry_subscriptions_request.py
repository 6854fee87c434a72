"""GetTelemetrySubscriptionsRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    read_unknown_tags,
    write_tags,
)

pack_16s = Layout(">16s").pack
unpack_16s = Layout(">16s").unpack_from


class GetTelemetrySubscriptionsRequest(Message):
    """GetTelemetrySubscriptionsRequest, version 0."""

    __slots__ = (
        "client_instance_id",
        "unknown_tags",
    )
    NAME = "GetTelemetrySubscriptionsRequest"
    API_KEY = 71
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
    ) -> None:
        self.client_instance_id = client_instance_id
        self.unknown_tags: UnknownTags = None


def _decode_get_telemetry_subscriptions_request_v0(
    buf: Buffer,
    pos: int,
) -> tuple[GetTelemetrySubscriptionsRequest, int]:
    o = GetTelemetrySubscriptionsRequest.__new__(GetTelemetrySubscriptionsRequest)
    (o.client_instance_id,) = unpack_16s(buf, pos)
    pos += 16
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_get_telemetry_subscriptions_request_v0(
    out: bytearray,
    o: GetTelemetrySubscriptionsRequest,
) -> None:
    out += pack_16s(o.client_instance_id)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


GetTelemetrySubscriptionsRequest.DECODERS = {
    0: _decode_get_telemetry_subscriptions_request_v0,
}
GetTelemetrySubscriptionsRequest.ENCODERS = {
    0: _encode_get_telemetry_subscriptions_request_v0,
}
