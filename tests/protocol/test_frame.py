"""Frames: whole, byte by byte, several at once, and lengths that cannot be."""

from __future__ import annotations

import struct

import pytest

from kbroker.errors import ProtocolError
from kbroker.protocol.frame import FrameReader, frame


def test_frames_come_out_as_they_went_in():
    payloads = [b"a", b"bc" * 1000, b"\x00"]
    stream = b"".join(map(frame, payloads))
    for step in (1, 3, 7, len(stream)):
        reader = FrameReader(10_000)
        found = []
        for start in range(0, len(stream), step):
            reader.feed(memoryview(stream)[start : start + step])
            found += reader.frames()
        assert found == payloads
        assert reader.buffered_bytes == 0


def test_an_incomplete_frame_waits():
    reader = FrameReader(100)
    reader.feed(frame(b"12345")[:-1])
    assert reader.next_frame() is None
    assert reader.buffered_bytes == 8
    reader.feed(b"5" + frame(b"6")[:2])
    assert reader.next_frame() == b"12345"
    assert reader.next_frame() is None


@pytest.mark.parametrize("size", [0, -1, -(2**31), 101, 2**31 - 1])
def test_impossible_lengths_are_refused_by_the_four_bytes_alone(size):
    reader = FrameReader(100)
    reader.feed(struct.pack(">i", size))
    with pytest.raises(ProtocolError, match=str(size)):
        reader.next_frame()


def test_good_frames_before_a_bad_one_are_delivered():
    reader = FrameReader(100)
    reader.feed(frame(b"x" * 100) + b"GET / HTTP/1.1\r\n")
    frames = reader.frames()
    assert next(frames) == b"x" * 100
    with pytest.raises(ProtocolError):
        next(frames)
