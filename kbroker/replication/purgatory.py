"""Where requests wait for something to happen to one of the partitions they name, or for their time to run
out.

An operation is watched under each of its keys. `check(key)` lets those under one key look again; one that is
complete leaves all its keys. Everything happens on one thread, so that no wake-up can be lost between the
look that failed and the watch that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol


class Operation(Protocol):
    """A parked request."""

    def try_complete(self, key: Hashable) -> bool:
        """Something happened to `key`: finish if the conditions are met now; whether it finished.

        Never called again after True.
        """
        ...

    def expire(self) -> None:
        """The time is over: finish with what there is."""
        ...


class Cancellable(Protocol):
    """A time-out that may be taken back."""

    def cancel(self) -> None:
        """Forget it."""
        ...


class _Parked:
    __slots__ = ("keys", "timeout")

    def __init__(self, keys: tuple[Hashable, ...], timeout: Cancellable) -> None:
        self.keys = keys
        self.timeout = timeout


class Purgatory:
    """Waiting operations, by key.

    Args:
        call_later: the timer: (delay in ms, callback) -> a handle that can be cancelled.
    """

    __slots__ = ("_call_later", "_parked", "_watchers")

    def __init__(self, call_later: Callable[[float, Callable[[], None]], Cancellable]) -> None:
        self._call_later = call_later
        self._parked: dict[Operation, _Parked] = {}
        self._watchers: dict[Hashable, dict[Operation, None]] = {}

    def __len__(self) -> int:
        return len(self._parked)

    def count(self, kind: str) -> int:
        """How many of that `KIND` wait; those without one are of kind ""."""
        return sum(getattr(operation, "KIND", "") == kind for operation in self._parked)

    def park(self, operation: Operation, keys: Iterable[Hashable], timeout_ms: float) -> None:
        """Let `operation` wait; its caller has just found that it is not complete."""
        unique = tuple(dict.fromkeys(keys))
        timeout = self._call_later(timeout_ms, lambda: self._expire(operation))
        self._parked[operation] = _Parked(unique, timeout)
        for key in unique:
            watchers = self._watchers.get(key)
            if watchers is None:
                self._watchers[key] = {operation: None}
            else:
                watchers[operation] = None

    def check(self, key: Hashable) -> int:
        """Something happened to `key`: let its watchers look again; how many finished."""
        watchers = self._watchers.get(key)
        if not watchers:
            return 0
        finished = 0
        for operation in list(watchers):
            if operation in self._parked and operation.try_complete(key):
                self.remove(operation)
                finished += 1
        return finished

    def remove(self, operation: Operation) -> bool:
        """Forget `operation` without finishing it (its connection is gone); whether it was here."""
        parked = self._parked.pop(operation, None)
        if parked is None:
            return False
        parked.timeout.cancel()
        for key in parked.keys:
            watchers = self._watchers[key]
            del watchers[operation]
            if not watchers:
                del self._watchers[key]
        return True

    def _expire(self, operation: Operation) -> None:
        if self.remove(operation):
            operation.expire()
