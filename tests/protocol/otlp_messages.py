"""Writes OTLP metrics in protobuf, independently of the decoder."""

from __future__ import annotations

from struct import pack


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """An int as a varint, a float as a double, text and bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + pack("<d", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed64(number, value):
    return varint(number << 3 | 1) + pack("<q", value)


def attribute(name, value):
    number = {str: 1, bool: 2, int: 3, float: 4, bytes: 5}[type(value)]
    return field(1, name) + field(2, field(number, int(value) if isinstance(value, bool) else value))


def number_point(value, time_ns=0, **attributes):
    point = b"".join(field(7, attribute(name, text)) for name, text in attributes.items())
    return point + fixed64(3, time_ns) + (field(4, value) if isinstance(value, float) else fixed64(6, value))


def gauge(name, *points, unit=""):
    return field(1, name) + field(3, unit) + field(5, b"".join(field(1, point) for point in points))


def total(name, *points, temporality=1):
    body = b"".join(field(1, point) for point in points) + field(2, temporality) + field(3, 1)
    return field(1, name) + field(7, body)


def histogram(name, count, value_sum, bounds, buckets, temporality=1):
    point = fixed64(3, 5_000_000) + fixed64(4, count) + field(5, value_sum)
    point += field(6, pack(f"<{len(buckets)}q", *buckets)) + field(7, pack(f"<{len(bounds)}d", *bounds))
    return field(1, name) + field(9, field(1, point) + field(2, temporality))


def message(*metrics, **resource):
    about = field(1, b"".join(field(1, attribute(name, value)) for name, value in resource.items()))
    scope = field(2, field(1, field(1, "scope")) + b"".join(field(2, metric) for metric in metrics))
    return field(1, about + scope)
