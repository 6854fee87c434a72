"""Varints at their edges, and strings with a compact length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from kbroker.errors import ProtocolError
from kbroker.protocol import primitives

REPEATABLE = settings(derandomize=True, database=None, deadline=None)


def written(write, value):
    out = bytearray()
    write(out, value)
    return bytes(out)


@REPEATABLE
@given(st.integers(0, 2**31 - 1))
def test_uvarint(value):
    raw = written(primitives.write_uvarint, value)
    assert primitives.read_uvarint(raw, 0) == (value, len(raw))


def test_known_bytes():
    assert written(primitives.write_uvarint, 300) == b"\xac\x02"


def test_a_uvarint_has_32_bits_and_five_bytes():
    assert primitives.read_uvarint(b"\xff\xff\xff\xff\x0f", 0) == (-1, 5)
    assert primitives.read_uvarint(b"\x80\x80\x80\x80\x10", 0) == (0, 5)
    with pytest.raises(ProtocolError, match="five bytes"):
        primitives.read_uvarint(b"\x80" * 5 + b"\x00", 0)


@pytest.mark.parametrize("size", [0, 1, 126, 127, 128, 32767])
def test_compact_strings(size):
    raw = written(primitives.write_compact_nullable_string, "x" * size)
    assert primitives.read_compact_string(raw, 0) == ("x" * size, len(raw))
    assert primitives.read_compact_nullable_string(raw, 0) == ("x" * size, len(raw))


def test_null_strings():
    assert written(primitives.write_compact_nullable_string, None) == b"\x00"
    assert primitives.read_compact_nullable_string(b"\x00", 0) == (None, 1)
    with pytest.raises(ProtocolError, match="null"):
        primitives.read_compact_string(b"\x00", 0)
