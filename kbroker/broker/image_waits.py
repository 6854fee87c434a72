"""Waiting for the cluster to be as somebody needs it."""

from __future__ import annotations

from collections.abc import Callable

from kbroker.broker.deferred import Deferred
from kbroker.metadata.image import ClusterImage


class ImageWaits:
    """Who waits for a committed image, published or not.

    Args:
        current: the newest one.
    """

    __slots__ = ("_current", "_waiting")

    def __init__(self, current: Callable[[], ClusterImage]) -> None:
        self._current = current
        self._waiting: list[tuple[Callable[[ClusterImage], bool], Deferred[ClusterImage]]] = []

    def when(self, test: Callable[[ClusterImage], bool]) -> Deferred[ClusterImage]:
        """The first committed image from now on that passes `test`."""
        found: Deferred[ClusterImage] = Deferred()
        image = self._current()
        if test(image):
            found.resolve(image)
        else:
            self._waiting.append((test, found))
        return found

    def committed(self, image: ClusterImage) -> None:
        """There is a new one."""
        if self._waiting:
            ready = [each for each in self._waiting if each[0](image)]
            self._waiting = [each for each in self._waiting if each not in ready]
            for _, found in ready:
                found.resolve(image)
