"""How many may be on their way in: those that began a handshake or a login and have not finished it.

An honest client needs a moment, so that when there are too many it is the oldest that has to go: who opens
thousands and leaves them costs no more memory than this, and keeps nobody else out.
"""

from __future__ import annotations

from collections.abc import Callable

#: Each holds some 50 KiB in the TLS library.
NEWCOMERS_MAX = 1000


#: What all of them on all listeners may have sent of frames and handshakes that are not complete.
EARLY_BYTES_MAX = 64 * 1024 * 1024
#: What each may without being counted.
UNCOUNTED_BYTES = 4096


class EarlyBytes:
    """How many bytes are held, or have room promised, for those who are not in: one budget for a node.

    Who needs room when there is none makes the oldest go that has some.
    """

    def __init__(self, most: int = EARLY_BYTES_MAX) -> None:
        self._most = most
        self._held: dict[int, tuple[int, Callable[[], None]]] = {}
        self._next = 0
        self.total = 0
        #: So many had to go.
        self.dropped = 0

    def take(self, size: int, drop: Callable[[], None]) -> int:
        """Room for `size` bytes; `drop` sends who has it away. Returns a number for `give`."""
        while self._held and self.total + size > self._most:
            number = next(iter(self._held))
            send_away = self._held[number][1]
            self.give(number)
            self.dropped += 1
            send_away()
        self._next += 1
        self._held[self._next] = (size, drop)
        self.total += size
        return self._next

    def give(self, number: int) -> None:
        """The room is free again. More than once is fine."""
        size, _ = self._held.pop(number, (0, None))
        self.total -= size


class Newcomers:
    """Those of one listener."""

    def __init__(self, most: int = NEWCOMERS_MAX) -> None:
        self._most = most
        self._drops: dict[int, Callable[[], None]] = {}
        self._next = 0
        #: So many had to go.
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._drops)

    def add(self, drop: Callable[[], None]) -> int:
        """One more; `drop` sends it away. Returns its number for `done`."""
        if len(self._drops) >= self._most:
            oldest = next(iter(self._drops))
            self.dropped += 1
            self._drops.pop(oldest)()
        self._next += 1
        self._drops[self._next] = drop
        return self._next

    def done(self, number: int) -> None:
        """It is in, or gone. More than once is fine."""
        self._drops.pop(number, None)
