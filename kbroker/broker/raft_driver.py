"""Feeds the raft core; what it decides is done by disk (`raft_disk`), others (`raft_exchange`) and listener.

Flushes run elsewhere (`run_blocking`), one at a time; what is appended meanwhile is covered by the next
one, so that many requests share an fsync. While a vote or an epoch is made durable, the core stands still
and the rest of the node goes on. A disk that fails stops the node: a quorum that cannot tell what is durable
must not answer. One that is only full keeps it waiting, like a node that is paused: what it decided is
neither done nor told before there is room, and the others go on without it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from kbroker.broker.blocking import RunBlocking
from kbroker.broker.deferred import Deferred
from kbroker.broker.metadata_files import MetadataFiles
from kbroker.broker.quorum_listener import QuorumListener
from kbroker.broker.raft_disk import RaftDisk
from kbroker.broker.raft_exchange import RaftExchange, RaftTransport
from kbroker.broker.raft_log import RaftLog
from kbroker.broker.raft_sync import RaftSync
from kbroker.broker.raft_writer import RaftWriter
from kbroker.broker.timer import Timer, TimerHandle
from kbroker.clock import Clock
from kbroker.errors import ApiError, ErrorCode
from kbroker.raft.messages import (
    Appended,
    AppendFetched,
    BecomeLeader,
    Commit,
    Dropped,
    Effect,
    ElectionStored,
    Event,
    InstallSnapshot,
    LeaderChanged,
    Received,
    Resign,
    ResignRequested,
    RulesAt,
    RulesChanged,
    ShutDown,
    SnapshotInstalled,
    SnapshotTaken,
    Started,
    StoreElection,
    Tick,
    Warn,
)
from kbroker.raft.node import RaftNode, Role
from kbroker.raft.rpc import Request, Response
from kbroker.storage.log import Log
from kbroker.types import OffsetAndEpoch

_log = logging.getLogger(__name__)

#: A full disk is tried again after so long.
_ROOM_RETRY_MS = 500.0


class RaftDriver:
    """This node's part in the metadata quorum.

    Args:
        node: the core.
        log: the metadata partition's log, recovered.
        files: election state and snapshots.
        rules_in_log: control records of the quorum in snapshot and log.
        clock: wall clock for records, monotonic for the core.
        timer: for the core's deadlines.
        run_blocking: for fsync, and for the election state of a quorum of several.
        transport: the way to others; a quorum of one needs none.
        request_timeout_ms: controller.quorum.request.timeout.ms.
        on_failure: the disk failed: stop the node.
        wait_for_disk: records count as committed when they are durable; False: when they are written.
        give_room: on a full disk, whether there is room now that was kept.
    """

    def __init__(
        self,
        node: RaftNode,
        log: RaftLog,
        files: MetadataFiles,
        rules_in_log: Sequence[RulesAt],
        *,
        clock: Clock,
        timer: Timer,
        run_blocking: RunBlocking,
        on_failure: Callable[[BaseException], None],
        transport: RaftTransport | None = None,
        request_timeout_ms: int = 2000,
        wait_for_disk: bool = True,
        give_room: Callable[[], bool] = lambda: False,
    ) -> None:
        self.node = node
        self.failed = False
        self._log = log
        self._files = files
        self._clock = clock
        self._timer = timer
        self._run_blocking = run_blocking
        self._on_failure = on_failure
        self._listener: QuorumListener | None = None
        self._events: deque[Event] = deque()
        #: What waits for the disk, in order; nothing else happens before it. Either the election state is
        #: being stored, or there is no room.
        self._held: Sequence[Effect] = ()
        self._storing = False
        self._wants_room = False
        self._alarm: TimerHandle | None = None
        self._alarm_at = 0
        self._stepping = False
        self._stopped = False
        self._exchange = RaftExchange(node, log, files, transport, request_timeout_ms, self.step)
        self._disk = RaftDisk(
            log,
            files,
            RaftWriter(node, log, clock, rules_in_log),
            RaftSync(log.log, clock, run_blocking, self._fail),
            wait_for_disk=wait_for_disk,
            give_room=give_room,
            queue=self._events.append,
            feed=self.step,
            on_failure=self._fail,
        )
        self._performers: dict[type[Effect], Callable[[Any], None]] = {
            **self._exchange.performers(),
            **self._disk.performers(),
            StoreElection: self._store_election,
            InstallSnapshot: self._install_snapshot,
            BecomeLeader: self._become_leader,
            Commit: self._commit,
            Resign: self._resign,
            LeaderChanged: self._leader_changed,
            RulesChanged: self._rules_changed,
            Warn: self._warn,
        }

    @property
    def log(self) -> Log:
        """The metadata partition's log."""
        return self._log.log

    @property
    def end_offset(self) -> int:
        """See `MetadataWriter.end_offset`."""
        return self._log.end_offset

    def unrivalled(self) -> bool:
        """See `MetadataWriter.unrivalled`."""
        return self.node.unrivalled(self._clock.monotonic_ms())

    def start(self, listener: QuorumListener, snapshot_id: OffsetAndEpoch | None = None) -> None:
        """Take part in the quorum; `listener` hears what comes of it."""
        self._listener = listener
        log = self._log
        rules = self._disk.rules
        self.step(Started(log.end_offset, log.start_offset, log.epochs(), snapshot_id, rules))

    def stop(self) -> None:
        """Give up leadership; nothing is appended afterwards, and a flush under way is not waited for."""
        self.step(ShutDown())
        self._stopped = True
        self._disk.stop()
        if self._alarm is not None:
            self._alarm.cancel()
        self._exchange.watch(-1)

    # -- requests --------------------------------------------------------------------------------------------

    def append(self, values: Sequence[bytes]) -> int:
        """See `MetadataWriter.append`.

        Raises:
            ApiError: NOT_CONTROLLER, this node does not lead; KAFKA_STORAGE_ERROR.
        """
        if self.node.role is not Role.LEADER or self.failed or self._waits:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        try:
            self._disk.values(values, self.node.epoch)
        except ApiError:
            self._leave_to_others(self.node.epoch)
            raise
        self._proceed()
        return self._log.end_offset - 1

    def _leave_to_others(self, epoch: int) -> None:
        """No room is left here: a controller on another disk may have some."""
        if not self.failed and not self.node.voters.is_only(self.node.node_id):
            _log.error("no room for metadata: this controller resigns")
            self._timer.call_later(0, lambda: self.step(ResignRequested(epoch)))

    def ask(self, message: Request) -> Deferred[Response]:
        """The node's answer to a peer or administrator, now or later."""
        answer: Deferred[Response] = Deferred()
        if self._stopped or self.failed or (self._held and not self._storing):
            answer.fail(ApiError(ErrorCode.BROKER_NOT_AVAILABLE))
            return answer
        answer.on_cancel = lambda: self.step(Dropped(answer))
        self.step(Received(answer, message, self._clock.now_ms()))
        return answer

    def snapshot_taken(self, snapshot_id: OffsetAndEpoch) -> None:
        """A snapshot was written here, or the log was cut below one."""
        self.step(SnapshotTaken(snapshot_id, self._log.start_offset))

    # -- steps -----------------------------------------------------------------------------------------------

    def step(self, event: Event) -> None:
        """Feed the core and perform its effects in order; events that effects cause come after them."""
        if self._stopped:
            return
        self._events.append(event)
        self._proceed()

    @property
    def _waits(self) -> bool:
        """Whether the core stands still."""
        return self._storing or bool(self._held)

    def _proceed(self) -> None:
        if self._stepping:
            return
        self._stepping = True
        try:
            while self._events and not self.failed and not self._waits:
                self._perform_all(self.node.step(self._clock.monotonic_ms(), self._events.popleft()))
        finally:
            self._stepping = False
        self._arm()

    def _perform_all(self, effects: Sequence[Effect]) -> None:
        """In order; those after one that cannot be done may tell others of it."""
        for number, effect in enumerate(effects):
            if not self._perform(effect):
                if not self.failed:
                    self._held = effects[number:]
                return
            if self._waits:
                self._held = (*self._held, *effects[number + 1 :])
                return

    def _try_again(self) -> None:
        """There may be room now."""
        if self._stopped or self.failed:
            return
        self._perform_held()
        if not self._held and not self.failed:
            self._wants_room = False
            _log.warning("there is room on the disk again: back in the metadata quorum")
        self._proceed()

    def _perform_held(self) -> None:
        held, self._held = self._held, ()
        self._stepping = True
        try:
            self._perform_all(held)
        finally:
            self._stepping = False

    def _arm(self) -> None:
        due = self.node.deadline()
        if self._alarm is not None:
            if due == self._alarm_at:
                return
            self._alarm.cancel()
            self._alarm = None
        if due is not None and not self.failed and not self._stopped and not self._waits:
            self._alarm_at = due
            self._alarm = self._timer.call_later(max(due - self._clock.monotonic_ms(), 0), self._tick)

    def _tick(self) -> None:
        self._alarm = None
        self.step(Tick())

    def _perform(self, effect: Effect) -> bool:
        """Do it; whether the node goes on: it has not failed, and need not wait for room."""
        try:
            self._performers[type(effect)](effect)
        except ApiError as error:
            if self.failed:
                return False
            if isinstance(effect, AppendFetched):
                # A follower may ask again.
                self._events.append(Appended(self._log.end_offset))
                return True
            self._wait_for_room(error.text)
            return False
        return not self.failed

    def _wait_for_room(self, why: str) -> None:
        if not self._wants_room:
            self._wants_room = True
            _log.error("this node is out of the metadata quorum until its disk has room: %s", why)
        self._timer.call_later(_ROOM_RETRY_MS, self._try_again)

    # -- elections -------------------------------------------------------------------------------------------

    def _store_election(self, effect: StoreElection) -> None:
        voters = None if self.node.rules.kraft_version else [voter.id for voter in self.node.voters]

        def write() -> None:
            self._files.write_election(effect.state, voters)

        if self._exchange.is_alone or self._wants_room or self.node.voters.is_only(self.node.node_id):
            self._disk.attempt(write)
            self._events.append(ElectionStored(effect.state.epoch))
        else:
            self._storing = True
            self._run_blocking(write, lambda error: self._election_stored(effect, error))

    def _election_stored(self, effect: StoreElection, error: BaseException | None) -> None:
        if self._stopped:
            return
        self._storing = False
        if isinstance(error, OSError) and self._disk.is_full(error):
            self._held = (effect, *self._held)
            self._wait_for_room(str(error))
            return
        if error is not None:
            self._fail(error)
            return
        # What came meanwhile comes after it.
        self._events.appendleft(ElectionStored(effect.state.epoch))
        if not self._stepping:
            self._perform_held()
            self._proceed()

    def _fail(self, error: BaseException) -> None:
        if not self.failed:
            self.failed = True
            self._on_failure(error)

    # -- the listener ----------------------------------------------------------------------------------------

    def _commit(self, effect: Commit) -> None:
        assert self._listener is not None
        self._log.log.high_watermark = effect.high_watermark
        self._listener.committed(effect.high_watermark)

    def _install_snapshot(self, effect: InstallSnapshot) -> None:
        assert self._listener is not None
        rules = self._disk.install(effect.snapshot_id)
        if rules is None:
            self._events.append(SnapshotInstalled(effect.snapshot_id, installed=False))
            return
        self._listener.snapshot_installed(effect.snapshot_id)
        self._events.append(SnapshotInstalled(effect.snapshot_id, rules))

    def _become_leader(self, effect: BecomeLeader) -> None:
        assert self._listener is not None
        self._listener.became_leader(effect.epoch)

    def _resign(self, effect: Resign) -> None:
        assert self._listener is not None
        self._listener.resigned(effect.epoch)

    def _leader_changed(self, effect: LeaderChanged) -> None:
        assert self._listener is not None
        leader = effect.leader_id
        self._exchange.watch(leader)
        self._listener.leader_changed(leader, effect.epoch)

    def _rules_changed(self, effect: RulesChanged) -> None:
        _log.info(
            "the metadata quorum is now %s (kraft.version %d)",
            ", ".join(str(voter.id) for voter in effect.rules.voters or ()),
            effect.rules.kraft_version,
        )

    def _warn(self, effect: Warn) -> None:
        _log.warning("%s", effect.text)
