"""The registry as OTLP (OpenTelemetry's metrics in protobuf), in messages that a collector takes at once.

The names are Prometheus', without `_total`: a collector that exports to Prometheus adds it again. Counts are
cumulative sums, gauges gauges, distributions summaries (their quantiles are of the last minutes, which the
histograms of OTLP could not say). Pure: times come in as arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any

from kbroker.metrics.histogram import QUANTILES, Histogram
from kbroker.metrics.prometheus import attribute_sample, is_quota, label_keys, names_of
from kbroker.metrics.registry import ATTRIBUTES, GAUGE, HISTOGRAM, Family, Labels, Registry

#: Points of one message: some 300 KB.
POINTS_MAX = 2000
#: Points that are made in one go, before others have their turn.
_SLICE = 250

_U64, _I64, _F64 = Struct("<Q"), Struct("<q"), Struct("<d")
_CUMULATIVE = 2
_GAUGE_FIELD, _SUM_FIELD, _SUMMARY_FIELD = 5, 7, 11


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _fixed(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 1) + data


def _attribute(field: int, key: str, value: str) -> bytes:
    return _bytes(field, _text(1, key) + _bytes(2, _text(1, value)))


class _Message:
    """Metrics on their way into one message."""

    def __init__(self, resource: Mapping[str, str], version: str) -> None:
        self._resource = b"".join(_attribute(1, key, value) for key, value in resource.items())
        self._scope = _bytes(1, _text(1, "kbroker") + _text(2, version))
        self._metrics: list[bytes] = []
        self.points = 0

    def add(self, name: str, kind: str, points: list[bytes]) -> None:
        """Points of one metric."""
        data = b"".join(_bytes(1, point) for point in points)
        if kind == "summary":
            body = _bytes(_SUMMARY_FIELD, data)
        elif kind == "counter":
            monotonic = _varint(3 << 3) + b"\x01"
            body = _bytes(_SUM_FIELD, data + _varint(2 << 3) + _varint(_CUMULATIVE) + monotonic)
        else:
            body = _bytes(_GAUGE_FIELD, data)
        self._metrics.append(_bytes(2, _text(1, name) + body))
        self.points += len(points)

    def take(self) -> bytes:
        """The message; then it is empty."""
        metrics, self._metrics = b"".join(self._metrics), []
        self.points = 0
        return _bytes(1, _bytes(1, self._resource) + _bytes(2, self._scope + metrics))


def messages(
    registry: Registry, resource: Mapping[str, str], version: str, start_ns: int, now_ns: int
) -> Iterator[bytes]:
    """Messages for a collector, one after the other; empty bytes in between: let others have their turn.

    Args:
        resource: of whom it tells (`service.name` …).
        start_ns, now_ns: since 1970: when counting began, and now.
    """
    message = _Message(resource, version)
    times = _fixed(2, _U64.pack(start_ns)) + _fixed(3, _U64.pack(now_ns))
    families = registry.families()
    for _ in registry.prepare():
        yield b""
    for family in families:
        for name, kind, points in _metrics(family, times):
            if points:
                message.add(name, kind, points)
            if message.points >= POINTS_MAX:
                yield message.take()
            else:
                yield b""
    if message.points:
        yield message.take()


def _metrics(family: Family, times: bytes) -> Iterator[tuple[str, str, list[bytes]]]:
    keys = label_keys(family)
    if family.kind == ATTRIBUTES:
        yield from _of_attributes(family, keys, times)
        return
    name, kind = names_of(family)[0]
    if family.kind == HISTOGRAM:
        kind = "summary"
    points: list[bytes] = []
    for labels, value in family.rows():
        attributes = _labels(keys, labels)
        if isinstance(value, Histogram):
            points.append(_summary(value, attributes, times))
        elif not isinstance(value, str):
            points.append(_number(value, attributes, times))
        if len(points) >= _SLICE:
            yield name.removesuffix("_total"), kind, points
            points = []
    yield name.removesuffix("_total"), kind if family.kind != GAUGE else "gauge", points


def _of_attributes(
    family: Family, keys: tuple[str, ...], times: bytes
) -> Iterator[tuple[str, str, list[bytes]]]:
    for labels, values in family.rows():
        attributes = _labels(keys, labels)
        if is_quota(family):
            attributes += _attribute(7, "resource", family.type_name)
        for attribute, value in values.items():
            sample = attribute_sample(family, attribute, value)
            if sample is not None:
                extra = _attribute(7, "state", value) if isinstance(value, str) else b""
                point = _number(sample.value, attributes + extra, times)
                yield sample.name.removesuffix("_total"), sample.kind, [point]


def _labels(keys: tuple[str, ...], labels: Labels) -> bytes:
    return b"".join(_attribute(7, key, value) for key, value in zip(keys, labels) if value)


def _number(value: Any, attributes: bytes, times: bytes) -> bytes:
    if isinstance(value, int):
        return attributes + times + _fixed(6, _I64.pack(value))
    return attributes + times + _fixed(4, _F64.pack(value))


def _summary(histogram: Histogram, attributes: bytes, times: bytes) -> bytes:
    summary = histogram.summary()
    quantiles = b"".join(
        _bytes(6, _fixed(1, _F64.pack(share)) + _fixed(2, _F64.pack(summary[name])))
        for share, name in QUANTILES
    )
    count, total = histogram.count, histogram.total * histogram.scale
    return attributes + times + _fixed(4, _U64.pack(count)) + _fixed(5, _F64.pack(total)) + quantiles
