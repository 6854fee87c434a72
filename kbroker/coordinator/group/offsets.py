"""The committed offsets of one shard: what is true, and what open transactions would make true.

Law of this file: it changes only by `put`, `remove` and `end_transaction`, that is, by records and
markers in the order of the log. What decides sees all that is in the log; who asks where to read on is told
what is committed (`as_committed`), so that he need not wait for replicas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kbroker.types import ZERO_UUID, Uuid

#: `expire_timestamp_ms` of an offset that expires by the rules of its group.
NO_EXPIRY = -1
#: No log gets here.
MAX_OFFSET = (1 << 63) - 1


class CommittedOffset(NamedTuple):
    """What a consumer left for a partition. `record_offset` is where in the log the commit lies."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int = NO_EXPIRY
    topic_id: Uuid = ZERO_UUID
    record_offset: int = -1


class _Change(NamedTuple):
    """What the log at `at` changed, while that is not committed: what was true before, and whether a
    transaction was open then."""

    at: int
    before: CommittedOffset | None
    was_open: bool


_Pending = dict[tuple[str, int], CommittedOffset]
_NOTHING: dict[str, dict[int, CommittedOffset]] = {}
_UNCHANGED: dict[tuple[str, int], list[_Change]] = {}


class OffsetStore:
    """Offsets by group, topic and partition; those of open transactions aside, by producer."""

    __slots__ = ("_by_group", "_changes", "_committed_end", "_last_change", "_open", "_pending")

    def __init__(self) -> None:
        self._by_group: dict[str, dict[str, dict[int, CommittedOffset]]] = {}
        self._pending: dict[int, dict[str, _Pending]] = {}
        #: How many open transactions touch a partition of a group.
        self._open: dict[str, dict[tuple[str, int], int]] = {}
        #: What is not committed, by group and partition, in the order of the log.
        self._changes: dict[str, dict[tuple[str, int], list[_Change]]] = {}
        #: The log is committed below this; what it holds when it is loaded counts as committed.
        self._committed_end = MAX_OFFSET
        self._last_change = -1

    # -- reading ---------------------------------------------------------------------------------------------

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """The committed offset, None if there is none."""
        partitions = self._by_group.get(group_id, _NOTHING).get(topic)
        return None if partitions is None else partitions.get(partition)

    def topics(self, group_id: str) -> dict[str, dict[int, CommittedOffset]]:
        """All of a group, to read: topic to partition to offset."""
        return self._by_group.get(group_id, _NOTHING)

    def has_any(self, group_id: str) -> bool:
        """The group has an offset, or an open transaction that would give it one."""
        return group_id in self._by_group or group_id in self._open

    def is_unstable(self, group_id: str, topic: str, partition: int) -> bool:
        """An open transaction may still change it (KIP-447)."""
        return (topic, partition) in self._open.get(group_id, ())

    def as_committed(self, group_id: str, topic: str, partition: int) -> tuple[CommittedOffset | None, bool]:
        """What the committed part of the log says of it, and whether it is unstable."""
        unstable = self.is_unstable(group_id, topic, partition)
        changes = self._changes.get(group_id, _UNCHANGED).get((topic, partition), ())
        later = [change for change in changes if change.at >= self._committed_end]
        if later:
            return later[0].before, unstable or any(change.was_open for change in later)
        return self.get(group_id, topic, partition), unstable

    def committed_keys(self, group_id: str) -> list[tuple[str, int]]:
        """Every partition that may have a committed offset, in the order of the topics."""
        present = self.topics(group_id)
        found = dict.fromkeys((topic, partition) for topic, each in present.items() for partition in each)
        found.update(dict.fromkeys(self._changes.get(group_id, ())))
        return list(found)

    def keys(self, group_id: str) -> list[tuple[str, int]]:
        """Every partition that the group has an offset for, open transactions included."""
        found = dict.fromkeys(
            (topic, partition) for topic, each in self.topics(group_id).items() for partition in each
        )
        found.update(dict.fromkeys(self._open.get(group_id, ())))
        return list(found)

    def everything(self) -> Iterator[tuple[str, str, int, CommittedOffset]]:
        """Group, topic, partition and offset of all that is committed now."""
        for group_id, topics in list(self._by_group.items()):
            for topic, partitions in list(topics.items()):
                for partition, committed in list(partitions.items()):
                    yield group_id, topic, partition, committed

    @property
    def count(self) -> int:
        """How many are committed now."""
        return sum(len(partitions) for topics in self._by_group.values() for partitions in topics.values())

    def groups_with_topic(self, topic: str) -> Iterator[str]:
        """Groups that have offsets of the topic."""
        for group_id, topics in self._by_group.items():
            if topic in topics:
                yield group_id

    # -- changing --------------------------------------------------------------------------------------------

    def committed(self, end: int) -> None:
        """The log is committed below `end`."""
        self._committed_end = end
        if self._changes and end > self._last_change:
            self._changes.clear()

    def _remember(self, group_id: str, topic: str, partition: int, at: int, was_open: bool = False) -> None:
        before = _Change(at, self.get(group_id, topic, partition), was_open)
        changes = self._changes.setdefault(group_id, {}).setdefault((topic, partition), [])
        if changes:  # what became committed since is of no use
            changes[:] = [change for change in changes if change.at >= self._committed_end]
        changes.append(before)
        self._last_change = at

    def put(
        self, group_id: str, topic: str, partition: int, offset: CommittedOffset, producer_id: int = -1
    ) -> None:
        """A commit; with a producer id it is true only when that producer's transaction commits."""
        if producer_id >= 0:
            pending = self._pending.setdefault(producer_id, {}).setdefault(group_id, {})
            if (topic, partition) not in pending:
                counts = self._open.setdefault(group_id, {})
                counts[topic, partition] = counts.get((topic, partition), 0) + 1
            pending[topic, partition] = offset
            return
        if offset.record_offset >= self._committed_end:
            self._remember(group_id, topic, partition, offset.record_offset)
        self._by_group.setdefault(group_id, {}).setdefault(topic, {})[partition] = offset

    def remove(self, group_id: str, topic: str, partition: int, at: int) -> None:
        """A tombstone at `at` of the log: the offset is gone, and what open transactions would make of it."""
        if at >= self._committed_end:
            unstable = self.is_unstable(group_id, topic, partition)
            self._remember(group_id, topic, partition, at, unstable)
        topics = self._by_group.get(group_id)
        if topics is not None and topic in topics:
            topics[topic].pop(partition, None)
            if not topics[topic]:
                del topics[topic]
            if not topics:
                del self._by_group[group_id]
        if self.is_unstable(group_id, topic, partition):
            for groups in self._pending.values():
                if groups.get(group_id, {}).pop((topic, partition), None) is not None:
                    self._close(group_id, (topic, partition))

    def end_transaction(self, producer_id: int, committed: bool, at: int) -> None:
        """A marker at `at` of the log: the producer's pending offsets become true, unless a later commit
        overtook them, or go.
        """
        for group_id, pending in self._pending.pop(producer_id, {}).items():
            for (topic, partition), offset in pending.items():
                if at >= self._committed_end:
                    self._remember(group_id, topic, partition, at, was_open=True)
                self._close(group_id, (topic, partition))
                present = self.get(group_id, topic, partition)
                if committed and (present is None or present.record_offset < offset.record_offset):
                    self._by_group.setdefault(group_id, {}).setdefault(topic, {})[partition] = offset

    def _close(self, group_id: str, key: tuple[str, int]) -> None:
        counts = self._open[group_id]
        counts[key] -= 1
        if not counts[key]:
            del counts[key]
        if not counts:
            del self._open[group_id]
