"""What the shards of one coordinator count, whichever come and go: records, and how long things take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kbroker.coordinator.shard import CoordinatorRecord
from kbroker.metrics.histogram import Histogram

#: Keys of offsets, and of records that begin another epoch of a group.
OFFSET = "OffsetCommitKey"
EPOCHS = {
    "consumer": "ConsumerGroupMetadataKey",
    "share": "ShareGroupMetadataKey",
    "streams": "StreamsGroupMetadataKey",
}
_COUNTED = frozenset({OFFSET, *EPOCHS.values()})


class ShardFigures:
    """See the module.

    Attributes:
        timed: whether somebody looks at times; else they are not taken.
        written: records by the class of their key; offsets that are removed count as `removed`, or, where it
            was only time that passed, as `expired`.
        own: commits that were written without such records.
        batches: that were appended.
        rebalances: of classic groups on shards that have gone.
        deciding, flushing, waiting: in µs: a request, an append, the commit of what was appended.
    """

    __slots__ = (
        "batches",
        "deciding",
        "expired",
        "flushing",
        "own",
        "rebalances",
        "removed",
        "timed",
        "waiting",
        "written",
    )

    def __init__(self) -> None:
        self.timed = False
        self.written: Counter[str] = Counter()
        self.own = self.batches = self.removed = self.expired = self.rebalances = 0
        self.deciding, self.flushing, self.waiting = (Histogram(0.001) for _ in range(3))

    def wrote(self, records: Iterable[CoordinatorRecord], by_time: bool) -> None:
        """These are in the log."""
        for record in records:
            name = type(record.key).__name__
            if name not in _COUNTED:
                continue
            if record.value is not None:
                self.written[name] += 1
            elif name == OFFSET:
                if by_time:
                    self.expired += 1
                else:
                    self.removed += 1

    @property
    def commits(self) -> int:
        """Offsets that were committed."""
        return self.written[OFFSET] + self.own
