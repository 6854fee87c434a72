"""One partition as this broker sees it: the log, who leads, what is committed, who waits.

Drives a `Log` and the pure leader state of `replication/leader.py`. The law of this file: what was appended
is staged, `flush` makes it visible, and the high watermark moves only in `_advance`, which tells the log
first and wakes those who wait afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.broker import partition_followers, record_deletion
from kbroker.broker.deferred import Deferred
from kbroker.broker.follower_news import Watchers
from kbroker.broker.in_sync_port import ALONE, InSyncPort
from kbroker.errors import ApiError, ErrorCode
from kbroker.metrics.topics import TopicStats
from kbroker.replication.delayed_produce import CommitQueue
from kbroker.replication.leader import LeaderState
from kbroker.storage.follower_append import follow_log_start, stage_as_follower
from kbroker.storage.log_append import append_own
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.broker.fetch_session import FetchedPartition
    from kbroker.clock import Clock
    from kbroker.storage.append_checks import BatchLook
    from kbroker.storage.log import AppendOrigin, AppendResult, Log
    from kbroker.storage.log_config import LogConfig


#: How long a request may be on its way to the leader before (librdkafka's socket.timeout.ms).
STRANGERS_MS = 60_000.0


def _ignore(_log: Log) -> None:
    """Nobody syncs."""


class Partition:
    """A partition that this broker hosts.

    Args:
        topic_partition: its name.
        topic_id: its topic's id.
        log: its log; None while the log directory is offline.
        clock: the time, for the lag of followers.
        on_unsynced: told, with the log, when something written has to be synced before it is acknowledged.
        on_progress: told, with the name, whenever there may be more to read, or nothing any more: the log
            end, high watermark, stable offset, start offset or leader may have changed.
        in_sync: who may be in sync, and where changes are asked for.
        stats: where to count what goes in and out.
    """

    __slots__ = (
        "_clock",
        "_commits",
        "_deletions",
        "_in_sync",
        "_on_progress",
        "_on_unsynced",
        "_watchers",
        "adding",
        "follower_throttled",
        "leader_epoch",
        "leader_id",
        "leader_state",
        "leader_throttled",
        "log",
        "removable_to",
        "stats",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: Uuid,
        log: Log | None,
        clock: Clock,
        on_progress: Callable[[TopicPartition], object],
        on_unsynced: Callable[[Log], object] | None = None,
        in_sync: InSyncPort = ALONE,
        stats: TopicStats | None = None,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.log = log
        self.stats = stats or TopicStats()
        self.leader_id = -1
        self.leader_epoch = -1
        self.leader_state: LeaderState | None = None
        #: Whether what we send to, or fetch as, a follower that is behind is throttled (KIP-73).
        self.leader_throttled = self.follower_throttled = False
        #: Replicas that a reassignment adds.
        self.adding: tuple[int, ...] = ()
        #: Up to here all replicas have compacted, as far as was heard; it never falls.
        self.removable_to = 0
        self._clock = clock
        self._commits: CommitQueue[Deferred[None]] = CommitQueue()
        self._deletions: CommitQueue[Deferred[None]] = CommitQueue()
        self._in_sync = in_sync
        self._watchers = Watchers()
        self._on_progress = on_progress
        self._on_unsynced = on_unsynced or _ignore

    # -- who leads --

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads the partition."""
        return self.leader_state is not None

    @property
    def has_followers(self) -> bool:
        """Whether this broker leads and others copy, so that an append is not committed at once."""
        return self.leader_state is not None and bool(self.leader_state.followers)

    def check_leader(self, current_leader_epoch: int = -1) -> Log:
        """The log, if this broker leads and the client's idea of the epoch (-1: none) is ours.

        Raises:
            ApiError: NOT_LEADER_OR_FOLLOWER, FENCED_ or UNKNOWN_LEADER_EPOCH, KAFKA_STORAGE_ERROR.
        """
        self.check_epoch(current_leader_epoch)
        if self.leader_state is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self.online_log()

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Compare a client's leader epoch with ours (KIP-320); -1 means that it names none."""
        if current_leader_epoch in (-1, self.leader_epoch):
            return
        if current_leader_epoch < self.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def online_log(self) -> Log:
        """The log; KAFKA_STORAGE_ERROR while its directory is offline."""
        if self.log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return self.log

    def may_lead(self, leader_epoch: int) -> bool:
        """Whether we can be meant: not the process before, and the log knows of no later epoch."""
        return self._in_sync.may_lead() and self.online_log().latest_epoch <= leader_epoch

    def lead(
        self,
        local_id: int,
        leader_epoch: int,
        partition_epoch: int,
        replicas: tuple[int, ...],
        isr: tuple[int, ...],
        min_isr: int,
        recovering: bool = False,
    ) -> None:
        """Become leader in `leader_epoch`, or take a change of replicas within it."""
        state = self.leader_state
        begins = state is None or state.leader_epoch != leader_epoch
        before = () if state is None else state.isr
        proposed, dropped = None if state is None else state.in_sync.proposal, False
        if state is not None and not begins:
            state.change_replicas(replicas, isr, partition_epoch, recovering)
            state.min_isr, dropped = min_isr, proposed is not state.in_sync.proposal
        else:
            log = self.online_log()
            log.settle()  # what is left to a sync belongs to the epoch before
            log.counts = self.stats.appended
            log_end = log.log_end_offset
            log.assign_epoch(leader_epoch, log_end)
            # A producer's first batch may be on its way to the leader before. Taken before that, the next one
            # would stand for both: librdkafka takes all that it sent earlier for written, too.
            log.producers.strangers_wait = leader_epoch > 0 and len(replicas) > 1
            self.leader_state = LeaderState(
                local_id=local_id,
                leader_epoch=leader_epoch,
                epoch_start_offset=log_end,
                replicas=replicas,
                isr=isr,
                high_watermark=max(min(log.high_watermark, log_end), log.log_start_offset),
                partition_epoch=partition_epoch,
                min_isr=min_isr,
                lag_time_max_ms=self._in_sync.lag_time_max_ms,
                began_ms=self._clock.monotonic_ms(),
                may_join=self._may_join,
                recovering=recovering,
            )
        self.leader_id = local_id
        self.leader_epoch = leader_epoch
        # News for parked fetches: a new epoch (what waits to be committed is still in the log), and for a
        # follower that it is out of the in-sync set, or no longer proposed, and has to be looked at again.
        if self._advance() or begins or isr != before or dropped:
            self.wake()
        self.check_deletions()
        self._ask_for_sync()
        self._propose_recovered()

    def configure(self, config: LogConfig, min_isr: int) -> None:
        """Obey a changed configuration from now on."""
        if self.log is not None:
            self.log.config = config
        if self.leader_state is not None:
            self.leader_state.min_isr = min_isr
            if self._advance():
                self.wake()
            self._ask_for_sync()

    def follow(self, leader_id: int, leader_epoch: int) -> None:
        """Stop leading; whoever waits here is told to ask the new leader."""
        if self.log is not None:
            self.log.settle()
            self.log.counts = self.stats.copied
        self.leader_state = None
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self._refuse_waiters(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def close(self, code: ErrorCode) -> None:
        """The partition leaves this broker (deleted, or its disk failed): waiters get `code`."""
        self.leader_state = None
        self.log = None
        self._refuse_waiters(code)

    # -- following --

    def copy(
        self, records: bytes | memoryview | None, high_watermark: int, log_start: int, leader_epoch: int
    ) -> bool:
        """Append what the leader of `leader_epoch` sent, take its watermark and start; whether records came.

        Batches of a later epoch than that are left for later (KAFKA-18723): who asked for these was not
        told yet that it began.

        Raises:
            ApiError: CORRUPT_MESSAGE, OFFSET_OUT_OF_RANGE (they do not continue the log); what came before
                the bad batch is in the log.
            StorageError: the disk failed, or is full.
        """
        log = self.online_log()
        before = log.high_watermark
        came = False
        if records is not None and len(records):
            try:
                came = stage_as_follower(log, memoryview(records), self._clock.now_ms(), leader_epoch)
            finally:
                log.flush_staged()
            if self.waits_for_sync:
                self._on_unsynced(log)
        committed = min(high_watermark, log.log_end_offset)
        if committed > before:
            log.high_watermark = committed
        if log_start > log.log_start_offset:
            follow_log_start(log, min(log_start, log.high_watermark))
        if log.high_watermark != before:
            self.wake()
        return came

    # -- what is readable --

    @property
    def high_watermark(self) -> int:
        """The end of what is committed, as far as this replica knows."""
        return self.log.high_watermark if self.log is not None else -1

    def readable_end(self, *, committed_only: bool, is_follower: bool = False) -> int:
        """Where a read must stop: log end (follower), stable offset (read_committed) or high watermark."""
        log = self.online_log()
        if is_follower:
            return log.log_end_offset
        return log.last_stable_offset if committed_only else log.high_watermark

    # -- its followers --

    check_follower = partition_followers.check_follower
    follower_fetched = partition_followers.follower_fetched
    follower_has_all = partition_followers.follower_has_all
    removable = partition_followers.removable
    check_in_sync = partition_followers.check_in_sync
    isr_accepted = partition_followers.isr_accepted
    isr_refused = partition_followers.isr_refused
    _may_join = partition_followers.may_join
    _propose_recovered = partition_followers.propose_recovered

    # -- appending --

    def append(
        self,
        records: bytes | bytearray | memoryview,
        now_ms: int,
        origin: AppendOrigin,
        required_acks: int = 1,
        look: BatchLook | None = None,
    ) -> AppendResult:
        """Validate and stage records as leader; `flush` must follow before anybody is answered.

        Args:
            look: see `Log.append_as_leader`.

        Raises:
            ApiError: not leader, too few in-sync replicas for acks=all, or what is wrong with the records.
        """
        state = self.leader_state
        if state is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if required_acks == -1 and not state.has_enough_in_sync:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
        log = self.online_log()
        if log.producers.strangers_wait and self._clock.monotonic_ms() > state.began_ms + STRANGERS_MS:
            log.producers.strangers_wait = False
        return log.append_as_leader(memoryview(records), state.leader_epoch, now_ms, origin, look)

    def append_own(self, batch: bytearray, delta: int, timestamp: int, now_ms: int) -> int:
        """Append and write a batch as `log_append.append_own` takes it; its first offset.

        Raises:
            ApiError, StorageError: as `append` and `flush`.
        """
        state, log = self.leader_state, self.log
        if state is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if state.followers and not state.has_enough_in_sync:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
        if log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        base = append_own(log, batch, delta, timestamp, state.leader_epoch, now_ms)
        self._written(log)
        return base

    def flush(self) -> None:
        """Write what is staged (one write), advance the high watermark, wake whoever waits.

        With flush.messages the high watermark stops where the disk has to be synced first; `synced` goes on.

        Raises:
            StorageError: the disk failed; nothing staged since the last flush is in the log.
        """
        log = self.log
        if log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        log.flush_staged()
        self._written(log)

    def _written(self, log: Log) -> None:
        state, end = self.leader_state, log.log_end_offset
        is_unsynced = end - log.durable_end >= log.flush_messages
        if is_unsynced or state is None or state.followers or self._commits:
            self._advance()
            if is_unsynced:
                self._on_unsynced(log)
        elif end > state.high_watermark:  # as `_advance` does where it is alone
            state.high_watermark = log.high_watermark = end
        self.wake()

    @property
    def waits_for_sync(self) -> bool:
        """Whether what was appended last must not be acknowledged before `synced`."""
        log = self.log
        return log is not None and log.staged_end_offset - log.durable_end >= log.flush_messages

    def moved(self, log: Log) -> None:
        """The log lies in another directory now; what it holds is the same, and durable."""
        log.counts = self.stats.copied if self.leader_state is None else self.stats.appended
        self.log = log
        self.synced()

    def synced(self) -> None:
        """More of the log is durable: it may be committed now."""
        self._advance()
        self.wake()

    def _ask_for_sync(self) -> None:
        if self.log is not None and self.waits_for_sync:
            self._on_unsynced(self.log)

    def _advance(self) -> bool:
        """Move the high watermark if it may; whether it did."""
        state, log = self.leader_state, self.log
        if state is None or log is None:
            return False
        moved = state.advance(log.committable_end, self._clock.monotonic_ms() if state.followers else 0)
        if moved:
            log.high_watermark = state.high_watermark
            if self._commits:
                for done in self._commits.release(state.high_watermark):
                    done.resolve(None)
        elif log.high_watermark != state.high_watermark:
            log.high_watermark = state.high_watermark
        return moved

    # -- deleting --

    @property
    def low_watermark(self) -> int:
        """The lowest log start of the replicas that are alive, this one included; -1 while one is unknown."""
        state, log = self.leader_state, self.log
        if state is None or log is None:
            return -1
        if not state.followers:
            return log.log_start_offset
        return state.low_watermark(log.log_start_offset, self._in_sync.alive())

    delete_records = record_deletion.delete_records
    when_deleted = record_deletion.when_deleted
    check_deletions = record_deletion.check_deletions

    @property
    def waiting_deletions(self) -> int:
        """How many wait until all replicas have deleted what was to be deleted."""
        return len(self._deletions)

    # -- waiting --

    def when_committed(self, last_offset: int) -> Deferred[None]:
        """Done when the record at `last_offset` is below the high watermark; fails if leadership goes."""
        done: Deferred[None] = Deferred()
        if self.high_watermark > last_offset:
            done.resolve(None)
        else:
            self._commits.add(last_offset, done)
        return done

    @property
    def waiting_commits(self) -> int:
        """How many wait for a commit."""
        return len(self._commits)

    def watch(self, replica_id: int, wanted: FetchedPartition) -> None:
        """Tell that follower's session of news; see `Watchers.watch`."""
        self._watchers.watch(replica_id, wanted)

    def wake(self) -> None:
        """Let parked fetches look again: there may be more to read, or nothing any more."""
        self._on_progress(self.topic_partition)
        if self._watchers:
            self._watchers.tell(self.leader_state)

    def _refuse_waiters(self, code: ErrorCode) -> None:
        for waiting in (self._commits, self._deletions):
            for done in waiting.drain():
                done.fail(ApiError(code))
        self.wake()
