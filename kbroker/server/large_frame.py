"""Large frames: once their size is known, the rest is read from the socket straight to where it will stay.

The buffer grows by doubling as bytes arrive, never because a length promises them. A finished frame leaves
its buffer to the next one: growing is what costs, page by page, and one connection that sends large frames
sends many.
"""

from __future__ import annotations

from typing import Protocol

#: Frames above this are read in their own buffer.
LARGE_BYTES_MIN = 128 * 1024
#: Largest buffer that is kept for the next frame.
SPARE_BYTES_MAX = 2 * 1024 * 1024


class Buffers(Protocol):
    """Gives frames room that are large and not complete (`FrameBuffers`)."""

    @property
    def bytes_min(self) -> int:
        """How many bytes are large."""
        ...

    def begin(self, size: int, data: memoryview) -> LargeFrame:
        """A frame of `size` bytes that begins with `data`."""
        ...

    def give(self, buffer: bytearray) -> None:
        """It was complete and was handled."""
        ...


class FrameBuffers:
    """The spare buffer of one event loop; at most one."""

    __slots__ = ("_spare",)

    #: Incomplete frames of so many bytes begin here.
    bytes_min = LARGE_BYTES_MIN

    def __init__(self) -> None:
        self._spare: bytearray | None = None

    def begin(self, size: int, data: memoryview) -> LargeFrame:
        """A frame of `size` bytes that begins with `data`."""
        buffer, self._spare = self._spare or bytearray(2 * len(data)), None
        frame = LargeFrame(buffer, size)
        frame.copy(data)
        return frame

    def give(self, buffer: bytearray) -> None:
        """Nobody needs what is in `buffer` any more."""
        if len(buffer) <= SPARE_BYTES_MAX and (self._spare is None or len(self._spare) < len(buffer)):
            self._spare = buffer


class LargeFrame:
    """One frame, its length included, while it arrives.

    Args:
        buffer: its first, with room for at least one byte.
        size: bytes of the frame with its length.
    """

    __slots__ = ("_view", "buffer", "filled", "size")

    def __init__(self, buffer: bytearray, size: int) -> None:
        self.buffer = buffer
        self.size = size
        self.filled = 0
        self._view = memoryview(buffer)

    @property
    def is_complete(self) -> bool:
        """Whether all of it is there."""
        return self.filled == self.size

    def room(self) -> memoryview:
        """Where its next bytes belong; add their number to `filled`."""
        if self.filled == len(self.buffer):
            # Not by resizing: an answer that waits may still hold on to records in it.
            self.buffer = bytearray(min(2 * self.filled, self.size))
            self.buffer[: self.filled] = self._view
            self._view = memoryview(self.buffer)
        return self._view[self.filled : self.size]

    def copy(self, data: memoryview) -> int:
        """Take what belongs to the frame out of `data`; how much that is."""
        used = 0
        while used < len(data) and not self.is_complete:
            room = self.room()
            count = min(len(room), len(data) - used)
            room[:count] = data[used : used + count]
            self.filled += count
            used += count
        return used

    def frame(self) -> memoryview:
        """The complete frame."""
        return self._view[: self.size]
