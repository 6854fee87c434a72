"""One partition as this broker sees it: the log, who leads, what is committed, who waits.

Drives a `Log` and the pure leader state of `replication/leader.py`. The law of this file: what was appended is
staged, `flush` makes it visible, and the high watermark moves only in `_advance`, which tells the log first and wakes
the waiters afterwards.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Protocol

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.replication.leader import LeaderState
from kbroker.types import TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.clock import Clock
    from kbroker.storage.log import AppendOrigin, AppendResult, Log


class DataWaiter(Protocol):
    """Somebody who waits for readable data: a parked fetch."""

    def on_progress(self) -> None:
        """The log end, the high watermark, the stable offset or the leader may have changed: look again."""
        ...


class Partition:
    """A partition that this broker hosts.

    Args:
        topic_partition: its name.
        topic_id: its topic's id.
        log: its log; None while the log directory is offline.
        clock: for leader epochs and append times.
    """

    __slots__ = (
        "_commit_order",
        "_commit_waiters",
        "_data_waiters",
        "clock",
        "leader_epoch",
        "leader_id",
        "leader_state",
        "log",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self, topic_partition: TopicPartition, topic_id: Uuid, log: Log | None, clock: Clock
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.log = log
        self.clock = clock
        self.leader_id = -1
        self.leader_epoch = -1
        self.leader_state: LeaderState | None = None
        self._commit_order = count()
        self._commit_waiters: list[tuple[int, int, Deferred[None]]] = []
        self._data_waiters: dict[DataWaiter, None] = {}

    # -- who leads ---------------------------------------------------------------------------------------------

    @property
    def is_leader(self) -> bool:
        """Whether this broker leads the partition."""
        return self.leader_state is not None

    def check_leader(self, current_leader_epoch: int = -1) -> Log:
        """The log, if this broker leads and the client's idea of the epoch (-1: none) is ours.

        Raises:
            ApiError: NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH or KAFKA_STORAGE_ERROR.
        """
        self.check_epoch(current_leader_epoch)
        if self.leader_state is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return self.online_log()

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Compare a client's leader epoch with ours (KIP-320); -1 means that it names none."""
        if current_leader_epoch < 0 or current_leader_epoch == self.leader_epoch:
            return
        if current_leader_epoch < self.leader_epoch:
            raise ApiError(ErrorCode.FENCED_LEADER_EPOCH)
        raise ApiError(ErrorCode.UNKNOWN_LEADER_EPOCH)

    def online_log(self) -> Log:
        """The log; KAFKA_STORAGE_ERROR while its directory is offline."""
        if self.log is None:
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        return self.log

    def lead(
        self,
        local_id: int,
        leader_epoch: int,
        partition_epoch: int,
        replicas: tuple[int, ...],
        isr: tuple[int, ...],
        min_isr: int,
    ) -> None:
        """Become leader in `leader_epoch`, or take a change of replicas within it."""
        state = self.leader_state
        if state is not None and state.leader_epoch == leader_epoch:
            state.change_replicas(replicas, isr, partition_epoch)
            state.min_isr = min_isr
        else:
            log = self.online_log()
            log_end = log.log_end_offset
            log.assign_epoch(leader_epoch, log_end)
            self.leader_state = LeaderState(
                local_id=local_id,
                leader_epoch=leader_epoch,
                epoch_start_offset=log_end,
                replicas=replicas,
                isr=isr,
                high_watermark=max(min(log.high_watermark, log_end), log.log_start_offset),
                partition_epoch=partition_epoch,
                min_isr=min_isr,
            )
        self.leader_id = local_id
        self.leader_epoch = leader_epoch
        self._advance()

    def follow(self, leader_id: int, leader_epoch: int) -> None:
        """Stop leading; whoever waits here is told to ask the new leader."""
        self.leader_state = None
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self._refuse_waiters(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    def close(self, code: ErrorCode) -> None:
        """The partition leaves this broker (deleted, or its disk failed): waiters get `code`."""
        self.leader_state = None
        self.log = None
        self._refuse_waiters(code)

    # -- what is readable --------------------------------------------------------------------------------------

    @property
    def high_watermark(self) -> int:
        """The end of what is committed, as far as this replica knows."""
        return self.log.high_watermark if self.log is not None else -1

    def readable_end(self, *, committed_only: bool, is_follower: bool = False) -> int:
        """Where a read must stop: log end for a follower, stable offset for read_committed, else high watermark."""
        log = self.online_log()
        if is_follower:
            return log.log_end_offset
        return log.last_stable_offset if committed_only else log.high_watermark

    # -- appending ---------------------------------------------------------------------------------------------

    def append(
        self, records: bytes | memoryview, now_ms: int, origin: AppendOrigin, required_acks: int = 1
    ) -> AppendResult:
        """Validate and stage records as leader; `flush` must follow before anybody is answered.

        Raises:
            ApiError: not leader, too few in-sync replicas for acks=all, or what the log finds wrong in the records.
        """
        state = self.leader_state
        if state is None:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if required_acks == -1 and not state.has_enough_in_sync:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
        return self.online_log().append_as_leader(memoryview(records), state.leader_epoch, now_ms, origin)

    def flush(self) -> None:
        """Write what is staged (one write), advance the high watermark, wake whoever waits.

        Raises:
            StorageError: the disk failed; nothing staged since the last flush is in the log.
        """
        self.online_log().flush_staged()
        self._advance()
        if self._data_waiters:
            self.wake()

    def _advance(self) -> None:
        state, log = self.leader_state, self.log
        if state is None or log is None:
            return
        if state.advance(log.log_end_offset, self.clock.now_ms() if state.followers else 0):
            log.high_watermark = state.high_watermark
            if self._commit_waiters:
                self._release_commits(state.high_watermark)
        elif log.high_watermark != state.high_watermark:
            log.high_watermark = state.high_watermark

    # -- waiting -----------------------------------------------------------------------------------------------

    def when_committed(self, last_offset: int) -> Deferred[None]:
        """Done when the record at `last_offset` is below the high watermark; fails when leadership is lost."""
        done: Deferred[None] = Deferred()
        if self.high_watermark > last_offset:
            done.resolve(None)
        else:
            heappush(self._commit_waiters, (last_offset, next(self._commit_order), done))
        return done

    def watch(self, waiter: DataWaiter) -> None:
        """Tell `waiter` whenever there may be more to read."""
        self._data_waiters[waiter] = None

    def unwatch(self, waiter: DataWaiter) -> None:
        """Stop telling `waiter`; harmless when it does not watch."""
        self._data_waiters.pop(waiter, None)

    def wake(self) -> None:
        """Let every data waiter look again (after an append, a new stable offset, a deletion or a truncation)."""
        for waiter in list(self._data_waiters):
            waiter.on_progress()

    def _release_commits(self, high_watermark: int) -> None:
        waiters = self._commit_waiters
        while waiters and waiters[0][0] < high_watermark:
            heappop(waiters)[2].resolve(None)

    def _refuse_waiters(self, code: ErrorCode) -> None:
        waiters, self._commit_waiters = self._commit_waiters, []
        for _, _, done in sorted(waiters):
            done.fail(ApiError(code))
        self.wake()
