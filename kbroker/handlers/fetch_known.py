"""Fetch requests that a connection sends again and again (known_requests.py).

From one to the next only the correlation id, the session epoch and the offsets change.
"""

from __future__ import annotations

from typing import Any

from kbroker.handlers.known_requests import KnownRequests, differing, pattern
from kbroker.protocol.generated.fetch_request import FetchRequest

#: First version with sessions.
VERSION_MIN = 7


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
        self._unpack: Any
        self._constants: tuple[bytes, ...]
        first, *offsets = holes
        self._unpack, self._constants = pattern(frame, [(first, "i"), *((at, "q") for at in offsets)])
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


class KnownFetches(KnownRequests[KnownFetch]):
    """What one connection has asked for."""

    __slots__ = ()

    def learn(
        self, frame: bytes, position: int, request: FetchRequest, version: int, client_id: str | None
    ) -> bool:
        """Remember a request, unless remembering has not paid so far; whether it did."""

        def look() -> KnownFetch | None:
            holes = _find_holes(frame, position, request, version)
            return None if holes is None else KnownFetch(frame, holes, request, version, client_id)

        return self.remember(len(frame), look)


def _find_holes(frame: bytes, position: int, request: FetchRequest, version: int) -> list[int] | None:
    """Where the session epoch and the offsets begin; None if the body is not as our codec writes it."""
    body = request.encode(version)
    if body != frame[position:]:
        return None
    _flip(request)
    flipped = request.encode(version)
    _flip(request)
    places = differing(body, flipped, position)
    return [places[0], *places[4::8]]


def _flip(request: FetchRequest) -> None:
    request.session_epoch = ~request.session_epoch
    for topic in request.topics:
        for partition in topic.partitions:
            partition.fetch_offset = ~partition.fetch_offset
