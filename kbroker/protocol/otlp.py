"""Decodes the metrics of an OTLP message (OpenTelemetry's MetricsData, protobuf), as clients push them.

Just what clients send: gauges, sums and histograms. Summaries, exponential histograms, exemplars and what
later versions of the format add are passed over. A message has at most `POINTS_MAX` points and
`ATTRIBUTES_MAX` attributes, so that decoding takes a bounded time.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, error as StructError, unpack_from
from typing import NamedTuple, TypeAlias

POINTS_MAX = 5_000
ATTRIBUTES_MAX = 20_000
#: Messages within messages; attribute values may be lists of lists.
_DEPTH_MAX = 8

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_U64, _I64, _F64 = Struct("<Q"), Struct("<q"), Struct("<d")
_GAUGE, _SUM, _HISTOGRAM = 5, 7, 9
_DELTA = 1
_TEXT = "utf-8"

Attributes: TypeAlias = tuple[tuple[str, str], ...]
_Field: TypeAlias = "tuple[int, int, memoryview | int]"


class OtlpError(Exception):
    """The bytes are no such message, or one that is too large."""


class Histogram(NamedTuple):
    """How many values lay below each bound; `buckets` has one more than `bounds`."""

    value_count: int
    sum: float
    bounds: tuple[float, ...]
    buckets: tuple[int, ...]


class Point(NamedTuple):
    """One value of one series.

    Attributes:
        kind: `gauge`, `sum` or `histogram`.
        attributes: sorted by name.
        is_delta: it counts from the push before, not from the start.
        time_ms: when it was measured, by the client's clock; ms since 1970.
    """

    name: str
    kind: str
    unit: str
    attributes: Attributes
    value: float | int | Histogram
    is_delta: bool
    time_ms: int


class Metrics(NamedTuple):
    """A decoded message. `resource` says of whom it tells."""

    resource: Attributes
    points: list[Point]


class _Budget:
    """Counts down over one message."""

    __slots__ = ("attributes", "points")

    def __init__(self) -> None:
        self.points = POINTS_MAX
        self.attributes = ATTRIBUTES_MAX


def decode_metrics(data: bytes | memoryview) -> Metrics:
    """A whole message.

    Raises:
        OtlpError: damaged, or larger than the limits.
    """
    budget = _Budget()
    resource: list[tuple[str, str]] = []
    points: list[Point] = []
    try:
        for _, resource_metrics in _messages(memoryview(data), 1):
            for number, part in _messages(resource_metrics, 1, 2):
                if number == 1:
                    resource += _attributes(part, 1, budget)
                    continue
                for _, metric in _messages(part, 2):
                    _read_metric(metric, points, budget)
    except (StructError, UnicodeDecodeError, IndexError, OverflowError) as error:
        raise OtlpError(f"damaged: {error}") from None
    return Metrics(tuple(sorted(resource)), points)


def _read_metric(data: memoryview, points: list[Point], budget: _Budget) -> None:
    name = unit = ""
    bodies: list[tuple[int, memoryview]] = []
    for number, wire, value in _fields(data):
        if wire != _BYTES or isinstance(value, int):
            continue
        if number == 1:
            name = str(value, _TEXT)
        elif number == 3:
            unit = str(value, _TEXT)
        elif number in (_GAUGE, _SUM, _HISTOGRAM):
            bodies.append((number, value))
    for kind, body in bodies:
        _read_points(kind, body, name, unit, points, budget)


def _read_points(
    kind: int, body: memoryview, name: str, unit: str, points: list[Point], budget: _Budget
) -> None:
    is_delta = False
    found: list[memoryview] = []
    for number, _, value in _fields(body):
        if isinstance(value, int):
            is_delta = is_delta or (number == 2 and value == _DELTA)
        elif number == 1:
            found.append(value)
    budget.points -= len(found)
    if budget.points < 0:
        raise OtlpError(f"more than {POINTS_MAX} points")
    for point in found:
        if kind == _HISTOGRAM:
            time_ns, histogram = _read_histogram(point)
            attributes = tuple(sorted(_attributes(point, 9, budget)))
            points.append(
                Point(name, "histogram", unit, attributes, histogram, is_delta, time_ns // 1_000_000)
            )
        else:
            time_ns, number_value = _read_number(point)
            attributes = tuple(sorted(_attributes(point, 7, budget)))
            text = "gauge" if kind == _GAUGE else "sum"
            points.append(Point(name, text, unit, attributes, number_value, is_delta, time_ns // 1_000_000))


def _read_number(data: memoryview) -> tuple[int, float | int]:
    time_ns, value = 0, 0.0
    for number, wire, raw in _fields(data):
        if wire == _FIXED64 and isinstance(raw, memoryview):
            if number == 3:
                (time_ns,) = _U64.unpack(raw)
            elif number == 4:
                (value,) = _F64.unpack(raw)
            elif number == 6:
                (value,) = _I64.unpack(raw)
    return time_ns, value


def _read_histogram(data: memoryview) -> tuple[int, Histogram]:
    time_ns = count = 0
    total = 0.0
    buckets: tuple[int, ...] = ()
    bounds: tuple[float, ...] = ()
    for number, wire, raw in _fields(data):
        if isinstance(raw, int):
            continue
        if wire == _FIXED64 and number == 3:
            (time_ns,) = _U64.unpack(raw)
        elif wire == _FIXED64 and number == 4:
            (count,) = _U64.unpack(raw)
        elif wire == _FIXED64 and number == 5:
            (total,) = _F64.unpack(raw)
        elif number == 6:  # packed, or one at a time
            buckets += unpack_from(f"<{len(raw) // 8}Q", raw)
        elif number == 7:
            bounds += unpack_from(f"<{len(raw) // 8}d", raw)
    return time_ns, Histogram(count, total, bounds, buckets)


def _attributes(data: memoryview, field: int, budget: _Budget) -> list[tuple[str, str]]:
    found = []
    for _, pair in _messages(data, field):
        budget.attributes -= 1
        if budget.attributes < 0:
            raise OtlpError(f"more than {ATTRIBUTES_MAX} attributes")
        key = text = ""
        for number, _, value in _fields(pair):
            if isinstance(value, int):
                continue
            if number == 1:
                key = str(value, _TEXT)
            elif number == 2:
                text = _any_value(value)
        found.append((key, text))
    return found


def _any_value(data: memoryview, depth: int = 0) -> str:
    """An attribute's value as text; of a list its items, of anything else that is no single value nothing."""
    for number, wire, value in _fields(data):
        if number == 1 and isinstance(value, memoryview):
            return str(value, _TEXT)
        if number == 2:
            return "true" if value else "false"
        if number == 3 and isinstance(value, int):
            return str(value - (1 << 64) if value >> 63 else value)
        if number == 4 and wire == _FIXED64 and isinstance(value, memoryview):
            return repr(_F64.unpack(value)[0])
        if number == 5 and isinstance(value, memoryview) and depth < _DEPTH_MAX:
            return ",".join(_any_value(item, depth + 1) for _, item in _messages(value, 1))
    return ""


def _messages(data: memoryview, *wanted: int) -> Iterator[tuple[int, memoryview]]:
    for number, wire, value in _fields(data):
        if number in wanted and wire == _BYTES and isinstance(value, memoryview):
            yield number, value


def _fields(data: memoryview) -> Iterator[_Field]:
    """Number, wire type and value of each field; fixed numbers as their bytes."""
    position, end = 0, len(data)
    while position < end:
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise OtlpError("a field has number 0")
        if wire == _VARINT:
            value, position = _varint(data, position)
            yield number, wire, value
            continue
        if wire == _BYTES:
            size, position = _varint(data, position)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise OtlpError(f"unknown wire type {wire}")
        if size > end - position:
            raise OtlpError("cut short")
        yield number, wire, data[position : position + size]
        position += size


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, position
        shift += 7
        if shift > 63:
            raise OtlpError("a number has no end")
