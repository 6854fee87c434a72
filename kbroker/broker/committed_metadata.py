"""The committed image of this node, and its publication.

The active controller hands over the images it has made while deciding; everybody else folds committed
batches from the log, or a whole snapshot of the leader's. One owner, so that a node that begins or stops to
lead goes on from exactly what is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from kbroker.broker.metadata_loader import MetadataLoader
from kbroker.metadata.delta import ClusterDelta, full_delta
from kbroker.metadata.difference import difference
from kbroker.metadata.image import ClusterImage
from kbroker.metrics.histogram import Histogram
from kbroker.plain import replace
from kbroker.raft.batches import LogItem, QuorumRules, read_items
from kbroker.types import OffsetAndEpoch

if TYPE_CHECKING:
    from kbroker.metadata.cache import MetadataCache


class CommittedMetadata:
    """What this node knows to be committed.

    Args:
        cache: where images are published, once `publish_from_now` was called.
        image: what snapshot and log on this node's disk come to, as far as they are known to be committed.
        loader: has folded just that.
        read_log: `(start, end)` -> the log's whole batches from the one that holds `start` on, below `end`.
    """

    def __init__(
        self,
        cache: MetadataCache,
        image: ClusterImage,
        loader: MetadataLoader,
        read_log: Callable[[int, int], Iterator[bytes]],
    ) -> None:
        self.image = image
        self._cache = cache
        self._loader = loader
        self._read_log = read_log
        self._publishing = False
        #: Records of what was committed together, and what folding and publishing them takes, in µs.
        self.sizes, self.times = Histogram(), Histogram(1)
        #: How often another controller became known, and how many snapshots were loaded, at the start too.
        self.new_controllers, self.snapshots = 0, int(loader.has_snapshot)
        #: Called with each new committed image, after its publication.
        self.on_commit: Callable[[ClusterImage], None] = _ignore

    @property
    def rules(self) -> QuorumRules:
        """What committed control records say of the quorum."""
        return self._loader.rules

    @property
    def last_timestamp_ms(self) -> int:
        """When the newest record was written, by its writer's clock; 0: there is none."""
        return self._loader.last_timestamp_ms

    @property
    def in_transaction(self) -> bool:
        """A metadata transaction of an earlier leader is open."""
        return self._loader.in_transaction

    def committed(self, high_watermark: int) -> None:
        """Everything before `high_watermark` is committed: fold what is new of the log.

        Raises:
            RaftLogCorruption, MetadataCorruption: the log cannot be what a quorum committed.
        """
        start = self._loader.next_offset
        if high_watermark <= start:
            return
        began_s = perf_counter()
        for data in self._read_log(start, high_watermark):
            self._loader.load(read_items(data))
        if not self._loader.in_transaction:
            # What lies within one is not there before its end: nobody is to take a snapshot of that.
            self._take()
        self._measured(self._loader.next_offset - start, began_s)

    def loaded(self, items: Sequence[LogItem], snapshot_id: OffsetAndEpoch) -> None:
        """The leader's snapshot takes the place of all that was folded before.

        Raises:
            RaftLogCorruption, MetadataCorruption: the snapshot is not whole, or no cluster.
        """
        loader = MetadataLoader(ClusterImage(self.image.cluster_id))
        loader.load_snapshot(items, snapshot_id)
        self._loader = loader
        self.snapshots += 1
        image = replace(loader.image(), controller_id=self.image.controller_id)
        self._set(image, difference(self.image, image))

    def handed_over(self, first_offset: int, image: ClusterImage, delta: ClusterDelta) -> None:
        """The active controller's own batch from `first_offset` on is committed, and comes to `image`."""
        began_s = perf_counter()
        # What this leader wrote in between is the quorum's own: changes of its voters and of its version.
        self.committed(first_offset)
        rules = self._loader.rules
        if image.kraft_version != rules.kraft_version:
            image = replace(image, kraft_version=rules.kraft_version)
        self._loader = MetadataLoader(image, rules)
        self._set(image, delta)
        self._measured(image.offset + 1 - first_offset, began_s)

    def _measured(self, records: int, began_s: float) -> None:
        self.sizes.record(max(records, 0))
        self.times.record(int((perf_counter() - began_s) * 1e6))

    def controller_is(self, node_id: int) -> None:
        """Another leader is known: part of what is published, though no record says it."""
        if self.image.controller_id == node_id:
            return
        self.new_controllers += node_id >= 0
        image = replace(self.image, controller_id=node_id)
        self._loader.rebase(image)
        self._set(image, ClusterDelta(self.image))

    def publish_from_now(self) -> None:
        """Publish the committed image with all it holds, and every one after it.

        Until then replayed history and the node's own registration stay private: subscribers see each log
        created, led and fenced again only as what is true in the end.
        """
        if not self._publishing:
            self._publishing = True
            self._cache.publish(self.image, full_delta(self.image))

    def publish_no_more(self) -> None:
        """What is still committed is nobody's business here: the node stops."""
        self._publishing = False
        self._cache.stop()

    def when_told(self, then: Callable[[], None]) -> None:
        """Call `then` when all that is committed so far has been told to those it concerns."""
        self._cache.when_told(then)

    @property
    def told_offset(self) -> int:
        """Up to where this node acts on the metadata."""
        return self._cache.told_offset if self._publishing else self.image.offset

    def _take(self) -> None:
        self._set(*self._loader.take())

    def _set(self, image: ClusterImage, delta: ClusterDelta) -> None:
        self.image = image
        if self._publishing:
            self._cache.publish(image, delta)
        self.on_commit(image)


def _ignore(image: ClusterImage) -> None:
    """Nobody asked to hear of commits."""
