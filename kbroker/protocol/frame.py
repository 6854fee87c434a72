"""Length-prefixed frames, without I/O: feed bytes, take frames.

A frame's length is checked when its four bytes are there; memory then grows only with the bytes that arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kbroker.errors import ProtocolError
from kbroker.protocol.primitives import Buffer

LENGTH_BYTES: Final = 4


def frame(payload: Buffer) -> bytes:
    """The payload with its length in front."""
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


class FrameReader:
    """Collects the frames of one direction of one connection.

    Args:
        frame_bytes_max: the largest legal frame, its length not counted (`socket.request.max.bytes`).
    """

    __slots__ = ("_buffer", "_start", "frame_bytes_max")

    def __init__(self, frame_bytes_max: int) -> None:
        self.frame_bytes_max = frame_bytes_max
        self._buffer = bytearray()
        self._start = 0

    @property
    def buffered_bytes(self) -> int:
        """Bytes held that no frame has taken yet."""
        return len(self._buffer) - self._start

    def feed(self, data: Buffer) -> None:
        """Take what arrived; does not look at it."""
        if self._start:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += data

    def next_frame(self) -> bytes | None:
        """The next complete frame without its length, or None while bytes are missing.

        Raises:
            ProtocolError: the next length is zero, negative or too large; the stream is lost.
        """
        start = self._start + LENGTH_BYTES
        head = self._buffer[self._start : start]
        if len(head) < LENGTH_BYTES:
            return None
        size = int.from_bytes(head, "big", signed=True)
        if size <= 0 or size > self.frame_bytes_max:
            raise ProtocolError(f"frame of {size} bytes (at most {self.frame_bytes_max} are allowed)")
        end = start + size
        if end > len(self._buffer):
            return None
        self._start = end
        return bytes(memoryview(self._buffer)[start:end])

    def frames(self) -> Iterator[bytes]:
        """All complete frames that were fed.

        Raises:
            ProtocolError: as `next_frame`.
        """
        while (found := self.next_frame()) is not None:
            yield found
