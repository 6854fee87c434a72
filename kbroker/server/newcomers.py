"""How many may be on their way in: those that began a handshake or a login and have not finished it.

An honest client needs a moment, so that when there are too many it is the oldest that has to go: who opens
thousands and leaves them costs no more memory than this, and keeps nobody else out.
"""

from __future__ import annotations

from collections.abc import Callable

#: Each holds some 50 KiB in the TLS library.
NEWCOMERS_MAX = 1000


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
