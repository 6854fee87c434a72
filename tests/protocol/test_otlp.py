from __future__ import annotations

import contextlib
import random

import pytest

from kbroker.protocol import otlp
from kbroker.protocol.otlp import Histogram, OtlpError, Point, decode_metrics
from tests.protocol.otlp_messages import (
    attribute,
    field,
    gauge,
    histogram,
    message,
    number_point,
    total,
    varint,
)

SAMPLE = message(
    gauge("g", number_point(1.5, 3_000_000, b="2", a="1"), number_point(-7), unit="ms"),
    total("s", number_point(4, 9_999_999)),
    total("c", number_point(4.0), temporality=2),
    histogram("h", 3, 6.5, [1.0, 2.0], [1, 1, 1]),
    client_id="c",
    flag=True,
    number=12,
    ratio=0.5,
)


def test_all_that_clients_send():
    metrics = decode_metrics(SAMPLE)
    assert metrics.resource == (("client_id", "c"), ("flag", "true"), ("number", "12"), ("ratio", "0.5"))
    assert metrics.points == [
        Point("g", "gauge", "ms", (("a", "1"), ("b", "2")), 1.5, False, 3),
        Point("g", "gauge", "ms", (), -7, False, 0),
        Point("s", "sum", "", (), 4, True, 9),
        Point("c", "sum", "", (), 4.0, False, 0),
        Point("h", "histogram", "", (), Histogram(3, 6.5, (1.0, 2.0), (1, 1, 1)), True, 5),
    ]


def test_an_empty_message_tells_nothing():
    assert decode_metrics(b"") == ((), [])
    assert decode_metrics(message()).points == []


def test_lists_as_attributes():
    items = field(1, field(1, "x")) + field(1, field(3, (1 << 64) - 5))
    nested = items
    for _ in range(100):
        nested = field(1, field(5, nested))
    point = field(7, field(1, "l") + field(2, field(5, items))) + field(7, attribute("n", nested))
    (read,) = decode_metrics(message(gauge("g", point))).points
    assert dict(read.attributes) == {"l": "x,-5", "n": ""}


@pytest.mark.parametrize(
    "data",
    [
        b"not otlp",
        SAMPLE[:-1],
        b"\x0a",
        b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x00\x00",
        b"\x0b",
        message(field(1, b"\xff\xfe")),
        message(gauge("g", varint(3 << 3 | 1) + b"1234")),
    ],
)
def test_what_is_damaged_is_refused(data):
    with pytest.raises(OtlpError):
        decode_metrics(data)


def test_limits(monkeypatch):
    monkeypatch.setattr(otlp, "POINTS_MAX", 3)
    monkeypatch.setattr(otlp, "ATTRIBUTES_MAX", 3)
    point = number_point(1, a="1")
    assert len(decode_metrics(message(gauge("g", point, point), gauge("h", point))).points) == 3
    with pytest.raises(OtlpError, match="points"):
        decode_metrics(message(gauge("g", point, point), gauge("h", point, point)))
    with pytest.raises(OtlpError, match="attributes"):
        decode_metrics(message(gauge("g", point, point), r="1", s="2"))


def test_mutated_messages_are_read_or_refused():
    chance = random.Random(5)
    for _ in range(3000):
        data = bytearray(SAMPLE)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        with contextlib.suppress(OtlpError):
            decode_metrics(bytes(data[: chance.randint(0, len(data))]))
