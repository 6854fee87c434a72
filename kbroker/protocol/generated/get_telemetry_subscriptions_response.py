"""GetTelemetrySubscriptionsResponse, version 0.

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations

from struct import Struct as Layout

from kbroker.protocol.primitives import (
    Buffer,
    ELEMENTS_MAX,
    Message,
    UNSET,
    UnknownTags,
    ZERO_UUID,
    null_field,
    pack_int8s,
    read_compact_string,
    read_unknown_tags,
    read_uvarint,
    too_many,
    unpack_int8s,
    write_compact_string,
    write_tags,
    write_uvarint,
)

pack_ih16si = Layout(">ih16si").pack
unpack_ih16si = Layout(">ih16si").unpack_from
pack_iio = Layout(">ii?").pack
unpack_iio = Layout(">ii?").unpack_from


class GetTelemetrySubscriptionsResponse(Message):
    """GetTelemetrySubscriptionsResponse, version 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "client_instance_id",
        "subscription_id",
        "accepted_compression_types",
        "push_interval_ms",
        "telemetry_max_bytes",
        "delta_temporality",
        "requested_metrics",
        "unknown_tags",
    )
    NAME = "GetTelemetrySubscriptionsResponse"
    API_KEY = 71
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_SINCE = 0

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = UNSET,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = UNSET,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types: list[int] = (
            [] if accepted_compression_types is UNSET else accepted_compression_types
        )
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics: list[str] = [] if requested_metrics is UNSET else requested_metrics
        self.unknown_tags: UnknownTags = None


def _decode_get_telemetry_subscriptions_response_v0(
    buf: Buffer,
    pos: int,
) -> tuple[GetTelemetrySubscriptionsResponse, int]:
    o = GetTelemetrySubscriptionsResponse.__new__(GetTelemetrySubscriptionsResponse)
    o.throttle_time_ms, o.error_code, o.client_instance_id, o.subscription_id = unpack_ih16si(buf, pos)
    pos += 26
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("acceptedCompressionTypes")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.accepted_compression_types = unpack_int8s(buf, pos, n)
    pos += n
    o.push_interval_ms, o.telemetry_max_bytes, o.delta_temporality = unpack_iio(buf, pos)
    pos += 9
    n = buf[pos] - 1
    if n < 127:
        pos += 1
    else:
        n, pos = read_uvarint(buf, pos)
        n -= 1
    if n < 0:
        raise null_field("requestedMetrics")
    if n > len(buf) - pos or n > ELEMENTS_MAX:
        raise too_many(n)
    o.requested_metrics = values = []
    for _ in range(n):
        n = buf[pos]
        if 0 < n < 128:
            end = pos + n
            values.append(str(buf[pos + 1 : end], "utf-8"))
            pos = end
        else:
            value, pos = read_compact_string(buf, pos)
            values.append(value)
    o.unknown_tags = None
    if buf[pos]:
        o.unknown_tags, pos = read_unknown_tags(buf, pos)
    else:
        pos += 1
    return o, pos


def _encode_get_telemetry_subscriptions_response_v0(
    out: bytearray,
    o: GetTelemetrySubscriptionsResponse,
) -> None:
    out += pack_ih16si(o.throttle_time_ms, o.error_code, o.client_instance_id, o.subscription_id)
    n = len(o.accepted_compression_types) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    out += pack_int8s(o.accepted_compression_types)
    out += pack_iio(o.push_interval_ms, o.telemetry_max_bytes, o.delta_temporality)
    n = len(o.requested_metrics) + 1
    out.append(n) if n < 128 else write_uvarint(out, n)
    for text in o.requested_metrics:
        write_compact_string(out, text)
    if o.unknown_tags:
        write_tags(out, [], o.unknown_tags)
    else:
        out.append(0)


GetTelemetrySubscriptionsResponse.DECODERS = {
    0: _decode_get_telemetry_subscriptions_response_v0,
}
GetTelemetrySubscriptionsResponse.ENCODERS = {
    0: _encode_get_telemetry_subscriptions_response_v0,
}
