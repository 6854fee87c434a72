"""One connection of a transcript: frames out, frames in, answers by correlation id."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections import deque

_LENGTH = struct.Struct(">i")
_FRAME_BYTES_MAX = 200_000_000
_CONNECT_TIMEOUT_S = 5.0
_READ_BYTES = 1 << 18


class Closed(Exception):
    """The broker has closed the connection."""


class Timeout(Exception):
    """No answer in time."""


class Peer:
    """Connects at once.

    Raises:
        OSError: nobody listens.
    """

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), _CONNECT_TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = bytearray()
        self._pending: set[int] = set()
        self._answers: dict[int, bytes] = {}
        self._others: deque[bytes] = deque()
        self._next_id = 100_001
        self._closed = False

    def next_id(self) -> int:
        """A correlation id that `take` can wait for."""
        self._next_id += 1
        return self._next_id - 1

    def expect(self, correlation_id: int) -> None:
        """An answer with this id will come."""
        self._pending.add(correlation_id)

    def forget_others(self) -> None:
        """Drop the frames that nobody waited for."""
        self._read_available()
        self._others.clear()

    @property
    def is_closed(self) -> bool:
        """Whether the broker, or we, have ended it."""
        self._read_available()
        return self._closed

    def send(self, frame: bytes, length: int | None = None) -> None:
        """Send a frame, with another length in front of it if one is given."""
        self._socket.settimeout(_CONNECT_TIMEOUT_S)
        try:
            self._socket.sendall(_LENGTH.pack(len(frame) if length is None else length) + frame)
        except OSError:
            self._read_available()
            self._closed = True

    def take(self, correlation_id: int | None, timeout_ms: float) -> bytes:
        """The answer with the id; with None a frame that nobody waits for.

        Raises:
            Closed, Timeout: there is none.
        """
        end = time.monotonic() + timeout_ms / 1000
        while True:
            if correlation_id is None:
                if self._others:
                    return self._others.popleft()
            elif correlation_id in self._answers:
                return self._answers.pop(correlation_id)
            if self._closed:
                raise Closed
            left = end - time.monotonic()
            if left <= 0:
                raise Timeout
            self._read(left)

    def close(self) -> None:
        """End the connection."""
        self._closed = True
        self._socket.close()

    def _read_available(self) -> None:
        while not self._closed and self._read(0.0):
            pass

    def _read(self, timeout_s: float) -> bool:
        """Read once; False if nothing came."""
        self._socket.settimeout(timeout_s)
        try:
            data = self._socket.recv(_READ_BYTES)
        except (TimeoutError, BlockingIOError):
            return False
        except OSError:
            data = b""
        if not data:
            self._end()
            return False
        self._buffer += data
        self._sort_frames()
        return True

    def _sort_frames(self) -> None:
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if not 0 <= length <= _FRAME_BYTES_MAX:
                self._end()
                return
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            correlation_id = _LENGTH.unpack_from(frame)[0] if length >= _LENGTH.size else None
            if correlation_id in self._pending:
                self._pending.remove(correlation_id)
                self._answers[correlation_id] = frame
            else:
                self._others.append(frame)

    def _end(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.close()
