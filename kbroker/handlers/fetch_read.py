"""Reading one partition for a Fetch: which checks, up to where, and what else the answer says about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.log_encryption import OpenedSlice, opened

if TYPE_CHECKING:
    from kbroker.broker.fetch_session import FetchedPartition
    from kbroker.broker.partition import Partition
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.metadata.cache import MetadataCache
    from kbroker.storage.log import Log
    from kbroker.storage.log_reader import FileSlice

_UNKNOWN = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
)


class PartitionRead:
    """The answer for one partition, its records still in the file."""

    __slots__ = (
        "aborted",
        "diverging",
        "error",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "preferred_replica",
        "removable_to",
        "size",
        "slice",
        "wanted",
    )

    def __init__(self, wanted: FetchedPartition, error: ErrorCode = ErrorCode.NONE) -> None:
        self.wanted = wanted
        self.error = error
        self.high_watermark = -1
        self.last_stable_offset = -1
        self.log_start_offset = -1
        self.slice: FileSlice | OpenedSlice | None = None
        self.size = 0
        #: Where a consumer should rather read (KIP-392), -1: here.
        self.preferred_replica = -1
        #: Told to followers of compacted topics, 0: nothing to tell.
        self.removable_to = 0
        #: (producer id, first offset) pairs; None: not asked for.
        self.aborted: list[tuple[int, int]] | None = None
        #: (epoch, end offset): where the fetcher's log leaves ours (KIP-595).
        self.diverging: tuple[int, int] | None = None

    def fail(self, error: ErrorCode) -> None:
        """Answer with an error instead of what was found."""
        self.error = error
        self.high_watermark = self.last_stable_offset = self.log_start_offset = -1
        self.slice, self.size = None, 0

    @property
    def is_unknown(self) -> bool:
        """Refused by name or id: listed behind the others, and no reason to answer early."""
        return self.error in _UNKNOWN


class PartitionReader:
    """Reads for one request.

    Args:
        metadata: what exists.
        replicas: what is here.
        replica_id: -1 for a consumer, -2 for a debugging one, else the follower that asks.
        committed_only: read_committed.
        broker_epoch: of a follower's registration (KIP-903), -1 if it does not say.
        any_replica: a consumer that may be served by a follower, too (KIP-392).
        prefer: (partition, offset) -> the replica that a consumer should rather ask, -1 for this one.
        may_read: whether the fetcher may read a topic; None: everybody may.
    """

    __slots__ = (
        "_any_replica",
        "_broker_epoch",
        "_committed_only",
        "_may_read",
        "_metadata",
        "_prefer",
        "_replicas",
        "notes_fetches",
        "replica_id",
    )

    def __init__(
        self,
        metadata: MetadataCache,
        replicas: ReplicaManager,
        replica_id: int,
        committed_only: bool,
        broker_epoch: int = -1,
        any_replica: bool = False,
        prefer: Callable[[Partition, int], int] | None = None,
        may_read: Callable[[str], bool] | None = None,
    ) -> None:
        self._metadata = metadata
        self._replicas = replicas
        self._committed_only = committed_only
        self._broker_epoch = broker_epoch
        self._any_replica = any_replica
        self._prefer = prefer
        self._may_read = may_read
        self.replica_id = replica_id
        #: A follower's request tells how far it is when it comes, not when it has waited.
        self.notes_fetches = True

    def read(self, wanted: FetchedPartition, bytes_max: int, min_one: bool) -> PartitionRead:
        """Read up to `bytes_max` bytes; the first batch whole if `min_one`."""
        answer = PartitionRead(wanted)
        try:
            if self._may_read is not None:
                self._check(wanted, self._may_read)
            self._read(self.locate(wanted), wanted, bytes_max, min_one, answer)
        except ApiError as error:
            answer = PartitionRead(wanted, error.code)
            if error.code in _UNKNOWN:
                answer.aborted = []
        return answer

    def is_quiet(self, wanted: FetchedPartition) -> bool:
        """Whether a partition of a session has certainly nothing to tell: most of a large one's, most of
        the time.
        """
        partition = wanted.served_by
        if partition is None or partition.leader_state is None:
            return False
        if self._may_read is not None and not self._may_read(wanted.topic or ""):
            return False
        log = partition.log
        if (
            log is None
            or log.high_watermark != wanted.sent_high_watermark
            or log.log_start_offset != wanted.sent_log_start
        ):
            return False
        if self.replica_id >= 0:
            return (
                wanted.matched
                and wanted.fetch_offset == log.log_end_offset
                and wanted.leader_epoch == partition.leader_epoch
                and partition.follower_has_all(self.replica_id, self._broker_epoch)
            )
        return (
            wanted.leader_epoch in (-1, partition.leader_epoch)
            and wanted.last_fetched_epoch < 0
            and wanted.fetch_offset == self._readable_end(log)
        )

    def _serves(self, partition: Partition) -> bool:
        """Whether what was found once may still be asked: it leads, or a follower will do."""
        return partition.leader_state is not None or (self._any_replica and partition.log is not None)

    def locate(self, wanted: FetchedPartition) -> Partition:
        """The partition here that is asked for. Raises ApiError."""
        partition = wanted.served_by
        if partition is not None and self._serves(partition):
            return partition
        image = self._metadata.image
        name = wanted.topic if wanted.topic is not None else self._name(wanted)
        if image.topics.partition(name, wanted.partition) is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partition = self._find(name, wanted.partition)
        if any(wanted.topic_id) and partition.topic_id != wanted.topic_id:
            raise ApiError(ErrorCode.INCONSISTENT_TOPIC_ID)
        wanted.served_by = partition
        return partition

    def _name(self, wanted: FetchedPartition) -> str:
        """The name of a topic that is asked for by id. Raises ApiError."""
        topic = self._metadata.image.topics.by_id(wanted.topic_id)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        wanted.topic = topic.name
        return topic.name

    def _check(self, wanted: FetchedPartition, may_read: Callable[[str], bool]) -> None:
        """That the topic may be read, whether it exists or not. Raises ApiError."""
        if not may_read(wanted.topic if wanted.topic is not None else self._name(wanted)):
            raise ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)

    def _find(self, topic: str, index: int) -> Partition:
        if self._any_replica:
            followed = self._replicas.get(topic, index)
            if followed is not None and followed.log is not None:
                return followed
        return self._replicas.led(topic, index)

    def readable_bytes(self, wanted: FetchedPartition, enough: int) -> int | None:
        """How much could be read now, at least `enough` meaning just that; None: only an answer can tell."""
        partition = wanted.served_by
        if partition is None or not self._serves(partition):
            return None
        if wanted.served_epoch != partition.leader_epoch:
            return None
        log = partition.online_log()
        offset = wanted.fetch_offset
        if not log.log_start_offset <= offset <= log.log_end_offset:
            return None
        end = self._readable_end(log)
        if end <= offset or (partition.leader_throttled and self._is_held(partition)):
            return 0
        if enough <= 1:
            return 1
        try:
            return min(log.read(offset, wanted.bytes_max, end, True).size, wanted.bytes_max)
        except ApiError:
            return None

    def _readable_end(self, log: Log) -> int:
        """Where a read must stop: log end (follower), stable offset (read_committed) or high watermark."""
        if self.replica_id >= 0:
            return log.log_end_offset
        return log.last_stable_offset if self._committed_only else log.high_watermark

    def _read(
        self,
        partition: Partition,
        wanted: FetchedPartition,
        bytes_max: int,
        min_one: bool,
        answer: PartitionRead,
    ) -> None:
        wanted.served_epoch = partition.leader_epoch
        if self._any_replica:
            partition.check_epoch(wanted.leader_epoch)
            log = partition.online_log()
        else:
            log = partition.check_leader(wanted.leader_epoch)
        held = False
        if self.replica_id >= 0:
            partition.check_follower(self.replica_id)
            if partition.leader_throttled and self._is_held(partition):
                bytes_max, min_one, held = 0, False, True
        elif self._prefer is not None and partition.leader_state is not None:
            answer.preferred_replica = self._prefer(partition, wanted.fetch_offset)
            if answer.preferred_replica >= 0:
                bytes_max, min_one = 0, False
        offset = wanted.fetch_offset
        if wanted.last_fetched_epoch >= 0:
            epoch, end_offset = log.end_offset_for_epoch(wanted.last_fetched_epoch)
            if epoch < 0 or end_offset < 0:
                raise ApiError(ErrorCode.OFFSET_OUT_OF_RANGE)
            if epoch < wanted.last_fetched_epoch or end_offset < offset:
                answer.diverging = (epoch, end_offset)
        if answer.diverging is None:
            end = self._readable_end(log)
            found = log.read(offset, bytes_max, end, min_one)
            if found.size:
                answer.slice = found.parts[0]
                answer.size = found.size
                if log.encrypted and self.replica_id < 0:
                    answer.slice = opened(log, found)
                    answer.size = answer.slice.length
            if self.replica_id >= 0:
                self._note_fetch(partition, wanted)
                if log.config.compact:
                    answer.removable_to = self._replicas.removable_to(log)
                if partition.leader_throttled and not held:
                    self._count(partition, found.size)
            if self._committed_only and (found.size or offset >= end or bytes_max <= 0):
                # A batch that is there but too large for the answer leaves the list null.
                aborted = log.aborted_txns(offset, found.next_offset) if found.size else ()
                answer.aborted = [(txn.producer_id, txn.first_offset) for txn in aborted]
        answer.high_watermark = log.high_watermark
        answer.last_stable_offset = log.last_stable_offset
        answer.log_start_offset = log.log_start_offset

    def watch(self, wanted: FetchedPartition) -> None:
        """Let a partition of a follower's session tell of what comes from now on."""
        partition = wanted.served_by
        if partition is not None and wanted.session is not None:
            partition.watch(self.replica_id, wanted)

    def _note_fetch(self, partition: Partition, wanted: FetchedPartition) -> None:
        wanted.matched = True
        if self.notes_fetches:
            partition.follower_fetched(
                self.replica_id,
                wanted.fetch_offset,
                wanted.log_start_offset,
                self._broker_epoch,
                wanted.cleaned_offset,
            )

    def _is_held(self, partition: Partition) -> bool:
        """Whether a follower that is behind has to wait, as replication is throttled (KIP-73)."""
        quota, state = self._replicas.leader_quota, partition.leader_state
        return (
            quota is not None
            and self.replica_id >= 0
            and state is not None
            and self.replica_id not in state.isr
            and quota.is_exceeded(self._replicas.clock.monotonic_ms())
        )

    def _count(self, partition: Partition, size: int) -> None:
        quota, state = self._replicas.leader_quota, partition.leader_state
        if quota is not None and size and state is not None and self.replica_id not in state.isr:
            quota.record(size, self._replicas.clock.monotonic_ms())
