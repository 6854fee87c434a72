"""Fetch requests that a connection sends again and again are recognised instead of parsed.

From one to the next only the correlation id, the session epoch and the offsets change. They have a fixed
size, so a request whose other bytes are the same means the same, read from left to right. Where they lie is
found by encoding a parsed request twice, the second time with all their bits flipped. A few shapes a
connection, each by its length; whoever never repeats himself is looked at ever more rarely.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from kbroker.protocol.generated.fetch_request import FetchRequest

#: Larger requests, of some 30 partitions, are not remembered.
REQUEST_BYTES_MAX = 1024
#: Lengths that one connection may have; then it begins anew.
SHAPES_MAX = 4
#: First version with sessions.
VERSION_MIN = 7
_PATIENCE_MAX = 1024


class KnownFetch:
    """A request seen before.

    Args:
        frame: all of it, from the API key on.
        holes: where the session epoch and the offsets begin.
        request: what it says; changed by `recognise`.
        version: its version.
        client_id: from its header.
    """

    __slots__ = ("_constants", "_partitions", "_unpack", "client_id", "request", "used", "version")

    def __init__(
        self, frame: bytes, holes: list[int], request: FetchRequest, version: int, client_id: str | None
    ) -> None:
        layout, last = ">4si", 8
        for index, start in enumerate(holes):
            layout += f"{start - last}s{'q' if index else 'i'}"
            last = start + (8 if index else 4)
        unpack = Struct(f"{layout}{len(frame) - last}s").unpack_from
        self._unpack: Any = unpack
        self._constants: tuple[bytes, ...] = unpack(frame)[::2]
        self._partitions = [partition for topic in request.topics for partition in topic.partitions]
        self.request = request
        self.version = version
        self.client_id = client_id
        self.used = False

    def recognise(self, data: memoryview, start: int) -> int | None:
        """Bring `request` up to date from the frame at `start`; its correlation id, or None: another one."""
        values = self._unpack(data, start)
        if values[::2] != self._constants:
            return None
        correlation_id: int
        correlation_id, self.request.session_epoch, *offsets = values[1::2]
        for partition, offset in zip(self._partitions, offsets):
            partition.fetch_offset = offset
        self.used = True
        return correlation_id


class KnownFetches:
    """What one connection has asked for, by length of the frame."""

    __slots__ = ("_patience", "_waits", "by_size")

    def __init__(self) -> None:
        self.by_size: dict[int, KnownFetch] = {}
        self._patience = 1
        self._waits = 1

    def learn(
        self, frame: bytes, position: int, request: FetchRequest, version: int, client_id: str | None
    ) -> bool:
        """Remember a request, unless remembering has not paid so far; whether it did."""
        size = len(frame)
        if size > REQUEST_BYTES_MAX:
            return False
        if self._waits:
            self._waits -= 1
            return False
        known = self.by_size
        paid = any(fetch.used for fetch in known.values()) or not known
        self._patience = 1 if paid else min(self._patience * 2, _PATIENCE_MAX)
        self._waits = self._patience
        for fetch in known.values():
            fetch.used = False
        holes = _find_holes(frame, position, request, version)
        if holes is None:
            return False
        if len(known) >= SHAPES_MAX and size not in known:
            known.clear()
        known[size] = KnownFetch(frame, holes, request, version, client_id)
        return True


def _find_holes(frame: bytes, position: int, request: FetchRequest, version: int) -> list[int] | None:
    """Where the session epoch and the offsets begin; None if the body is not as our codec writes it."""
    body = request.encode(version)
    if body != frame[position:]:
        return None
    _flip(request)
    flipped = request.encode(version)
    _flip(request)
    differing = [index for index, (a, b) in enumerate(zip(body, flipped), position) if a != b]
    return [differing[0], *differing[4::8]]


def _flip(request: FetchRequest) -> None:
    request.session_epoch = ~request.session_epoch
    for topic in request.topics:
        for partition in topic.partitions:
            partition.fetch_offset = ~partition.fetch_offset
