"""The published image: what this node knows to be committed, and who is told when it moves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from kbroker.metadata.delta import ClusterDelta, full_delta
from kbroker.metadata.image import ClusterImage

#: `(old image, new image, what changed)`; called after the change is committed, before its requester hears
#: of it.
Subscriber: TypeAlias = Callable[[ClusterImage, ClusterImage, ClusterDelta], None]

_log = logging.getLogger(__name__)


class MetadataCache:
    """Holds the current committed `ClusterImage`; tells subscribers of each successor, in order of
    subscription.

    The order is the wiring's promise: storage and replication first (logs appear and go), then coordinators,
    quotas, security, configs. A subscriber that raises does not keep the others from hearing: the committed
    change is a fact, so the error is logged and the rest go on.
    """

    __slots__ = ("_publishing", "_queue", "_subscribers", "image", "published")

    def __init__(self, cluster_id: str) -> None:
        self.image = ClusterImage(cluster_id)
        #: Whether a first image came; before that the node does not answer clients.
        self.published = False
        self._subscribers: list[Subscriber] = []
        self._queue: list[tuple[ClusterImage, ClusterDelta]] = []
        self._publishing = False

    def subscribe(self, subscriber: Subscriber) -> None:
        """Tell `subscriber` of every change from now on; at once of all there is, if there is something."""
        self._subscribers.append(subscriber)
        if self.published:
            self._tell(subscriber, ClusterImage(self.image.cluster_id), self.image, full_delta(self.image))

    def publish(self, new: ClusterImage, delta: ClusterDelta) -> None:
        """Make `new` the current image and tell everybody.

        A subscriber that causes another publication from inside its call gets it after this one is told to
        all.
        """
        self._queue.append((new, delta))
        if self._publishing:
            return
        self._publishing = True
        try:
            while self._queue:
                image, change = self._queue.pop(0)
                old, self.image, self.published = self.image, image, True
                for subscriber in tuple(self._subscribers):
                    self._tell(subscriber, old, image, change)
        finally:
            self._publishing = False

    @staticmethod
    def _tell(subscriber: Subscriber, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        try:
            subscriber(old, new, delta)
        except Exception:
            _log.exception("a subscriber failed on the metadata up to offset %d", new.offset)
