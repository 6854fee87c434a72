"""A Fetch that waits for enough data.

It holds no data: it is told which partition moved, asks how much of that one could be read now, and
finishes when the sum reaches `min_bytes`, or at once when an answer has become due for another reason (an
error, another leader).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable


class DelayedFetch:
    """One parked Fetch.

    Args:
        min_bytes: how much has to be readable.
        readable: what each partition has now, by key, as far as it counts (its own limit applied).
        probe: looks at one partition again: its bytes, or None when the answer is due whatever there is.
        finish: called once, to read and answer.
    """

    __slots__ = ("_finish", "_min_bytes", "_probe", "_readable", "_total")

    def __init__(
        self,
        min_bytes: int,
        readable: dict[Hashable, int],
        probe: Callable[[Hashable], int | None],
        finish: Callable[[], None],
    ) -> None:
        self._min_bytes = min_bytes
        self._readable = readable
        self._total = sum(readable.values())
        self._probe = probe
        self._finish = finish

    def try_complete(self, key: Hashable) -> bool:
        """See `Operation.try_complete`."""
        found = self._probe(key)
        if found is not None:
            self._total += found - self._readable.get(key, 0)
            self._readable[key] = found
            if self._total < self._min_bytes:
                return False
        self._finish()
        return True

    def expire(self) -> None:
        """See `Operation.expire`."""
        self._finish()
