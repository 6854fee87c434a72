"""From the batches of the metadata log, and from its snapshots, to cluster images.

Used on start for all there is, and by whoever does not lead for what is committed since
(`committed_metadata.py`). Records of a metadata transaction (KIP-868) count when its end record arrives, all
at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbroker.metadata.delta import ClusterDelta, MetadataCorruption
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import MetadataRecord, decode_record
from kbroker.plain import replace
from kbroker.raft.batches import LogItem, QuorumRules, check_snapshot
from kbroker.types import OffsetAndEpoch

NO_RULES = QuorumRules()


class MetadataLoader:
    """Folds one snapshot (or none) and then log batches, in order; `image()` at any time.

    Args:
        base: what has been folded before: an empty cluster, or the image of the log so far.

    Attributes:
        rules: what the control records so far say of the quorum.
        last_timestamp_ms: the time of the newest batch, 0 for none.
        in_transaction: a metadata transaction is open.
        has_snapshot: it began with a snapshot.
    """

    def __init__(self, base: ClusterImage, rules: QuorumRules = NO_RULES) -> None:
        self.rules = rules
        self.last_timestamp_ms = 0
        self.in_transaction = False
        self.has_snapshot = False
        self._transaction: list[MetadataRecord] = []
        self._offset = base.offset
        self._epoch = base.epoch
        self._delta = ClusterDelta(base)

    def load_snapshot(self, items: Sequence[LogItem], snapshot_id: OffsetAndEpoch) -> None:
        """Start from a snapshot; call it first, or not at all.

        Raises:
            RaftLogCorruption: the snapshot is not whole.
            MetadataCorruption: a record in it cannot be.
        """
        check_snapshot(items, snapshot_id)
        self.has_snapshot = True
        for item in items:
            self._fold(item)
        header = items[0].snapshot_timestamp_ms
        self.last_timestamp_ms = header if header is not None else 0
        self._offset, self._epoch = snapshot_id.offset - 1, snapshot_id.epoch

    def load(self, items: Iterable[LogItem]) -> None:
        """Go on with committed batches of the log.

        Raises:
            MetadataCorruption: a record cannot follow those before it.
        """
        for item in items:
            if item.last_offset <= self._offset:
                continue
            self._fold(item)
            self._offset, self._epoch = item.last_offset, item.epoch
            self.last_timestamp_ms = max(self.last_timestamp_ms, item.timestamp_ms)

    @property
    def next_offset(self) -> int:
        """Where the next batch begins."""
        return self._offset + 1

    def image(self) -> ClusterImage:
        """The cluster as of the last batch; later batches build on it."""
        return self.take()[0]

    def take(self) -> tuple[ClusterImage, ClusterDelta]:
        """The cluster as of the last batch, and what changed since it was last taken."""
        delta = self._delta
        image = delta.image(self._offset, self._epoch)
        if image.kraft_version != self.rules.kraft_version:
            image = replace(image, kraft_version=self.rules.kraft_version)
            delta.features_changed = True
        self._delta = ClusterDelta(image)
        return image, delta

    def rebase(self, image: ClusterImage) -> None:
        """Go on from `image`, which is the one taken last but for what no record says."""
        self._delta = ClusterDelta(image)

    def _fold(self, item: LogItem) -> None:
        if item.is_control:
            if item.rules is not None:
                self.rules = item.rules
            return
        for value in item.values:
            if value is None:
                raise MetadataCorruption("a metadata record without a value")
            self._replay(decode_record(value))

    def _replay(self, record: MetadataRecord) -> None:
        if record.NAME == "BeginTransactionRecord":
            if self.in_transaction:
                raise MetadataCorruption("a metadata transaction begins inside another one")
            self.in_transaction = True
        elif record.NAME in ("EndTransactionRecord", "AbortTransactionRecord"):
            if record.NAME == "EndTransactionRecord":
                for held in self._transaction:
                    self._delta.replay(held)
            self._transaction = []
            self.in_transaction = False
        elif self.in_transaction:
            self._transaction.append(record)
        else:
            self._delta.replay(record)
