"""The published image: what this node knows to be committed, and who is told when it moves."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeAlias

from kbroker.metadata.delta import ClusterDelta, full_delta
from kbroker.metadata.image import ClusterImage

#: `(old image, new image, what changed)`; called after the change is committed, before its requester hears
#: of it. Who has much to do may return the rest of it as an iterator: each step is one turn of the loop.
Subscriber: TypeAlias = Callable[[ClusterImage, ClusterImage, ClusterDelta], Iterator[None] | None]

_log = logging.getLogger(__name__)


class MetadataCache:
    """Holds the current committed `ClusterImage`; tells subscribers of each successor, in order of
    subscription.

    The order is the wiring's promise: storage and replication first (logs appear and go), then coordinators,
    quotas, security, configs. A subscriber that raises does not keep the others from hearing: the committed
    change is a fact, so the error is logged and the rest go on.
    """

    __slots__ = (
        "_publishing",
        "_queue",
        "_subscribers",
        "_work",
        "image",
        "pause",
        "published",
        "told_offset",
    )

    def __init__(self, cluster_id: str) -> None:
        self.image = ClusterImage(cluster_id)
        #: Whether a first image came; before that the node does not answer clients.
        self.published = False
        #: The last record of what everybody has been told.
        self.told_offset = self.image.offset
        #: Runs a function in a later turn of the loop; None: there are no pauses, all is told at once.
        self.pause: Callable[[Callable[[], None]], object] | None = None
        self._subscribers: list[Subscriber] = []
        #: What is to be told; and, between, who waits until all before is told.
        self._queue: deque[tuple[ClusterImage, ClusterDelta] | Callable[[], None]] = deque()
        self._publishing = False
        self._work: Iterator[None] = iter(())

    def subscribe(self, subscriber: Subscriber) -> None:
        """Tell `subscriber` of every change from now on; at once of all there is, if there is something."""
        self._subscribers.append(subscriber)
        if self.published:
            for _ in _tell(
                subscriber, ClusterImage(self.image.cluster_id), self.image, full_delta(self.image)
            ):
                pass

    def publish(self, new: ClusterImage, delta: ClusterDelta) -> None:
        """Make `new` the current image and tell everybody.

        What is published meanwhile, also by a subscriber from inside its call, comes after that.
        """
        self._queue.append((new, delta))
        self._begin()

    def when_told(self, then: Callable[[], None]) -> None:
        """Call `then` when everybody has been told of all that is published: now, unless there is a pause."""
        if self._publishing:
            self._queue.append(then)
        else:
            then()

    def stop(self) -> None:
        """Tell nobody of what is published so far and not told yet."""
        queue, self._queue = self._queue, deque()
        self._work = iter(())
        self._publishing = False
        for entry in queue:
            if not isinstance(entry, tuple):
                entry()

    def _begin(self) -> None:
        if not self._publishing:
            self._publishing = True
            self._work = self._tell_all()
            self._go_on()

    def _go_on(self) -> None:
        for _ in self._work:
            if self.pause is not None:
                self.pause(self._go_on)
                return

    def _tell_all(self) -> Iterator[None]:
        try:
            while self._queue:
                entry = self._queue.popleft()
                if not isinstance(entry, tuple):
                    entry()
                    continue
                image, change = entry
                old, self.image, self.published = self.image, image, True
                for subscriber in tuple(self._subscribers):
                    yield from _tell(subscriber, old, image, change)
                self.told_offset = image.offset
        finally:
            self._publishing = False


def _tell(
    subscriber: Subscriber, old: ClusterImage, new: ClusterImage, delta: ClusterDelta
) -> Iterator[None]:
    try:
        rest = subscriber(old, new, delta)
        if rest is not None:
            yield from rest
    except Exception:
        _log.exception("a subscriber failed on the metadata up to offset %d", new.offset)
