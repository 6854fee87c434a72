"""The share partitions that this broker leads: what groups have in flight, loaded when first asked for.

A partition's records in flight (coordinator/share/share_partition.py) live here as long as its leadership, or
until nobody of the group is connected any more; what has to outlive that is with the share coordinator.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed
from kbroker.coordinator.share.dead_letters import Cause, DeadLetters
from kbroker.coordinator.share.share_partition import Change, SharePartition
from kbroker.coordinator.share.spans import TERMINAL, RecordState
from kbroker.coordinator.share.state_shard import UNKNOWN_OFFSET, ShareKey, ShareState, Written
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.dead_letters import DeadLetterQueue
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.broker.share_persister import SharePersister
    from kbroker.broker.share_settings import ShareSettings
    from kbroker.broker.timer import TimerHandle
    from kbroker.coordinator.share.acknowledgement import AckBatch
    from kbroker.coordinator.share.acquisition import Wish
    from kbroker.coordinator.share.spans import Acquired, StateBatch

_log = logging.getLogger(__name__)

#: What a client hears when the coordinator cannot write or read.
_FOR_CLIENTS = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
#: Somebody else wrote since we read: what is here is of no use any more.
_FENCED = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


class LiveShare:
    """One group in one partition that this broker leads."""

    __slots__ = (
        "_alarm",
        "_alarm_ms",
        "_all",
        "_to_archive",
        "closed",
        "core",
        "key",
        "leader_epoch",
        "partition",
        "state_epoch",
        "waiting",
    )

    def __init__(self, shares: SharePartitions, key: ShareKey, partition: Partition) -> None:
        self._all = shares
        self.key = key
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.state_epoch = 0
        self.core = SharePartition(0)
        self.closed = False
        #: Who waits for the state to be loaded; None: it is.
        self.waiting: list[Deferred[LiveShare]] | None = []
        self._alarm: TimerHandle | None = None
        self._alarm_ms = 0
        self._to_archive: list[DeadLetters] = []

    @property
    def is_led(self) -> bool:
        """Whether this broker still leads the partition in the epoch it began in."""
        return self.partition.is_leader and self.partition.leader_epoch == self.leader_epoch

    def with_start(self, state: ShareState) -> ShareState | Deferred[ShareState]:
        """The coordinator's answer, with a start where it has none."""
        if state.start_offset != UNKNOWN_OFFSET:
            return state
        log, settings = self.partition.online_log(), self._all.settings
        start = settings.first_offset(self.key.group_id, log, self._all.wall_ms())
        if isinstance(start, Deferred):
            return start.map(lambda found: state._replace(start_offset=found))
        return state._replace(start_offset=start)

    def loaded(self, state: ShareState) -> None:
        """The state, which has a start."""
        log = self.partition.online_log()
        self.state_epoch = state.state_epoch
        self.core = SharePartition(
            state.start_offset, state.batches, self._all.settings.limits(self.key.group_id)
        )
        unfinished = self.core.dead_letters()
        self.core.log_start_moved(log.log_start_offset)
        self._bury(unfinished)

    def refresh(self) -> SharePartition:
        """The core, with the settings and the log's start as they are now."""
        core = self.core
        core.limits = self._all.settings.limits(self.key.group_id)
        core.log_start_moved(self.partition.online_log().log_start_offset)
        return core

    def acquire(
        self, member: str, fetch_offset: int, log_batches: Sequence[tuple[int, int]], wish: Wish
    ) -> list[Acquired]:
        """Give records to a member."""
        found = self.core.acquire(member, fetch_offset, log_batches, wish, self._all.now_ms())
        self._set_alarm()
        return found

    def acknowledge(self, member: str, batches: Sequence[AckBatch]) -> Deferred[None]:
        """Take acknowledgements; done when they are written, fails with ApiError."""
        if not self.is_led:
            return failed(ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER))
        try:
            change = self.refresh().acknowledge(member, batches, self._all.now_ms())
        except ApiError as error:
            return failed(error)
        self._set_alarm()
        return self._settle_when_written(change)

    def release(self, member: str) -> None:
        """A member's session ended."""
        if self.is_led and self.waiting is None:
            self._settle_when_written(self.core.release(member)).then(_ignore)

    def _settle_when_written(self, change: Change) -> Deferred[None]:
        answer: Deferred[None] = Deferred()
        if not change.batches:
            answer.resolve(None)
            return answer

        def written(done: Deferred[None]) -> None:
            try:
                done.result()
            except ApiError as error:
                self.core.settle(change, False)
                self._refused(error)
                answer.fail(ApiError(_FOR_CLIENTS.get(error.code, error.code)))
            else:
                self.core.settle(change, True)
                answer.resolve(None)
                self._bury(change.dead)
            self._set_alarm()
            self._all.wake(self.key)

        self._write(change.start_offset, change.complete_count, change.batches).then(written)
        return answer

    def _write(self, start: int, complete_count: int, batches: list[StateBatch]) -> Deferred[None]:
        what = Written(self.state_epoch, self.leader_epoch, start, complete_count, batches)
        return self._all.persister.write(self.key, what)

    def _refused(self, error: ApiError) -> None:
        _log.warning("the state of %s could not be written: %s", self.key.text, error)
        if error.code in _FENCED:
            self._all.forget(self)

    # -- locks -----------------------------------------------------------------------------------------------

    def _set_alarm(self) -> None:
        deadline = self.core.deadline()
        if deadline is None or self.closed or (self._alarm is not None and self._alarm_ms <= deadline):
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_ms = deadline
        self._alarm = self._all.call_later(max(deadline - self._all.now_ms(), 0), self._ring)

    def _ring(self) -> None:
        self._alarm = None
        if self.closed or not self.is_led:
            return
        start, before = self.core.start_offset, self.core.complete_count
        ended = self.core.expire(self._all.now_ms())
        if ended:
            # Nobody waits for it: what is lost with a broker is only that these were delivered.
            self._write_later(start, before, ended)
        self._set_alarm()

    def _write_later(self, start: int, complete_count: int, batches: list[StateBatch]) -> None:
        """Write what is true already, the start and the count as they were before it was."""
        complete_count += sum(each.last - each.first + 1 for each in batches if each.state in TERMINAL)
        dead = [
            DeadLetters(each.first, each.last, each.deliveries, Cause.EXCEEDED)
            for each in batches
            if each.state == RecordState.ARCHIVING
        ]

        def written(done: Deferred[None]) -> None:
            try:
                done.result()
            except ApiError as error:
                self._refused(error)
            self._bury(dead)

        self._write(start, complete_count, batches).then(written)
        self._all.wake(self.key)
        self._all.forget_if_idle(self)

    # -- dead letters ----------------------------------------------------------------------------------------

    def _bury(self, dead: list[DeadLetters]) -> None:
        """Have dead letters written. With them, or when they cannot be written, the records are done with."""
        for each in dead:
            self._all.dead_letters.put(self.key.group_id, self.partition, each).then(
                lambda _, each=each: self._buried(each)  # type: ignore[misc]
            )

    def _buried(self, dead: DeadLetters) -> None:
        if not self._to_archive:
            # Those that were written together are archived together.
            self._all.call_later(0, self._archive)
        self._to_archive.append(dead)

    def _archive(self) -> None:
        dead, self._to_archive = self._to_archive, []
        if self.closed or not self.is_led:
            return
        start, before = self.core.start_offset, self.core.complete_count
        done = [batch for each in dead for batch in self.core.archived(each.first, each.last)]
        if done:
            self._write_later(start, before, done)

    def close(self) -> None:
        """It is of no use any more."""
        self.closed = True
        if self._alarm is not None:
            self._alarm.cancel()


class SharePartitions:
    """All of this broker."""

    def __init__(
        self,
        services: Services,
        persister: SharePersister,
        settings: ShareSettings,
        dead_letters: DeadLetterQueue,
    ) -> None:
        self._services = services
        self.persister = persister
        self.settings = settings
        self.dead_letters = dead_letters
        self.now_ms: Callable[[], int] = services.clock.monotonic_ms
        self.wall_ms: Callable[[], int] = services.clock.now_ms
        self.call_later = services.timer.call_later
        self._live: dict[ShareKey, LiveShare] = {}
        #: Groups nobody of which is connected, while something of them is still here.
        self._idle_groups: dict[str, None] = {}

    def get(self, group_id: str, topic_id: bytes, index: int) -> Deferred[LiveShare]:
        """A group in a partition that this broker leads; fails with ApiError."""
        key = ShareKey(group_id, topic_id, index)
        live = self._live.get(key)
        if live is not None and not live.is_led:
            self.forget(live)
            live = None
        if live is None:
            try:
                live = self._load(key)
            except ApiError as error:
                return failed(error.with_traceback(None))
        answer: Deferred[LiveShare] = Deferred()
        if live.waiting is None:
            answer.resolve(live)
        else:
            live.waiting.append(answer)
        return answer

    def here(self, group_id: str, topic_id: bytes, index: int) -> LiveShare | None:
        """The same, if it is loaded and good."""
        live = self._live.get(ShareKey(group_id, topic_id, index))
        if live is None or live.waiting is not None or not live.is_led:
            return None
        return live

    def _load(self, key: ShareKey) -> LiveShare:
        services = self._services
        topic = services.metadata.image.topics.by_id(key.topic_id)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID)
        live = self._live[key] = LiveShare(self, key, services.led_partition(topic.name, key.partition))

        def loaded(done: Deferred[ShareState]) -> None:
            waiting, live.waiting = live.waiting or [], None
            failure: ApiError | None = None
            try:
                live.loaded(done.result())
            except ApiError as error:
                self.forget(live)
                failure = ApiError(_FOR_CLIENTS.get(error.code, error.code))
            for each in waiting:
                if failure is None:
                    each.resolve(live)
                else:
                    each.fail(failure)

        self.persister.read(key, live.leader_epoch).lead_to(live.with_start).then(loaded)
        return live

    def forget(self, live: LiveShare) -> None:
        """It will be loaded anew."""
        live.close()
        if self._live.get(live.key) is live:
            del self._live[live.key]
            group_id = live.key.group_id
            if group_id in self._idle_groups and all(each.group_id != group_id for each in self._live):
                del self._idle_groups[group_id]

    def forget_group(self, group_id: str) -> None:
        """Nobody of the group is connected any more."""
        theirs = [each for each in self._live.values() if each.key.group_id == group_id]
        if theirs:
            self._idle_groups[group_id] = None
        for live in theirs:
            self.forget_if_idle(live)

    def used(self, group_id: str) -> None:
        """Somebody of the group is connected."""
        self._idle_groups.pop(group_id, None)

    def forget_if_idle(self, live: LiveShare) -> None:
        """Locks outlast sessions (of forgotten partitions): what has some stays until they have ended."""
        if live.key.group_id in self._idle_groups and live.waiting is None and not live.core.is_locked:
            self.forget(live)

    def wake(self, key: ShareKey) -> None:
        """Records are free again: who waits for some may look."""
        self._services.replicas.fetches.check(key)

    def close(self) -> None:
        """The broker stops."""
        for live in list(self._live.values()):
            self.forget(live)


def _ignore(done: Deferred[None]) -> None:
    """A release that could not be written: the locks end by themselves."""
