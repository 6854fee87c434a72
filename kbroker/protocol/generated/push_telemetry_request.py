"""PushTelemetryRequest, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    Message,
    UnknownTags,
    ZERO_UUID,
    null_field,
    read_unknown_tags,
    read_uvarint,
    write_tags,
    write_uvarint,
)

pack_16siob = Layout(">16si?b").pack
unpack_16siob = Layout(">16si?b").unpack_from


class PushTelemetryRequest(Message):
    """PushTelemetryRequest, version 0."""

    __slots__ = (
        "client_instance_id",
        "subscription_id",
        "terminating",
        "compression_type",
        "metrics",
        "unknown_tags",
    )
    NAME = "PushTelemetryRequest"
    API_KEY = 72
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics
        self.unknown_tags: UnknownTags = None


def _decode_push_telemetry_request_v0(buf: Buffer, pos: int) -> tuple[PushTelemetryRequest, int]:
    o = PushTelemetryRequest.__new__(PushTelemetryRequest)
    o.client_instance_id, o.subscription_id, o.terminating, o.compression_type = unpack_16siob(buf, pos)
    pos += 22
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("metrics")
    end = pos + n
    o.metrics = bytes(buf[pos:end])
    pos = end
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_push_telemetry_request_v0(out: bytearray, o: PushTelemetryRequest) -> None:
    out += pack_16siob(o.client_instance_id, o.subscription_id, o.terminating, o.compression_type)
    n = len(o.metrics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += o.metrics
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


PushTelemetryRequest.DECODERS = {
    0: _decode_push_telemetry_request_v0,
}
PushTelemetryRequest.ENCODERS = {
    0: _encode_push_telemetry_request_v0,
}
