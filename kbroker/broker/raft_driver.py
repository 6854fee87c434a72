"""Performs what the raft core decides: writes election state and log, flushes, sends, answers, tells.

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
from typing import Any, Protocol, TypeVar

from kbroker.broker.blocking import RunBlocking
from kbroker.broker.deferred import Deferred
from kbroker.broker.metadata_files import MetadataFiles
from kbroker.broker.quorum_listener import QuorumListener
from kbroker.broker.raft_log import RaftLog, Written
from kbroker.broker.raft_snapshots import SnapshotTransfer
from kbroker.broker.raft_sync import RaftSync
from kbroker.broker.raft_writer import RaftWriter
from kbroker.broker.timer import Timer, TimerHandle
from kbroker.clock import Clock
from kbroker.errors import ApiError, ErrorCode
from kbroker.plain import replace
from kbroker.raft.messages import (
    Answered,
    Appended,
    AppendFetched,
    AppendLeaderChange,
    AppendNoOp,
    AppendRules,
    BarrierPassed,
    BecomeLeader,
    Commit,
    Dropped,
    Effect,
    ElectionStored,
    Event,
    Flushed,
    FlushLog,
    InstallSnapshot,
    LeaderChanged,
    PeerGone,
    ProbeVoter,
    Received,
    Reply,
    Resign,
    ResignRequested,
    RulesAt,
    RulesChanged,
    Send,
    SendFailed,
    ServeFetch,
    ServeSnapshot,
    ShutDown,
    SnapshotInstalled,
    SnapshotTaken,
    Started,
    StoreElection,
    Tick,
    Truncate,
    VoterProbed,
    Warn,
    WriteSnapshot,
)
from kbroker.raft.node import RaftNode, Role
from kbroker.raft.rpc import Request, Response
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter
from kbroker.storage.disk import StorageError
from kbroker.storage.log import Log
from kbroker.storage.open_files import NO_ROOM
from kbroker.types import OffsetAndEpoch

_log = logging.getLogger(__name__)

T = TypeVar("T")

#: A full disk is tried again after so long.
_ROOM_RETRY_MS = 500.0


class RaftTransport(Protocol):
    """The way to the other nodes of the quorum (broker/raft_peers.py)."""

    def send(
        self, to: int, endpoints: Sequence[QuorumEndpoint], request: Request, timeout_ms: int
    ) -> Deferred[Response]:
        """The answer; fails with any Exception where there is none."""
        ...

    def probe(self, voter: QuorumVoter, timeout_ms: int) -> Deferred[tuple[int, int]]:
        """The range of kraft.version that the node there supports; fails where it does not answer."""
        ...

    def watch(self, to: int, endpoints: Sequence[QuorumEndpoint], on_gone: Callable[[], None]) -> None:
        """Tell when the process there is gone; takes the place of the watch before. No endpoints: none."""
        ...


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
        self._writer = RaftWriter(node, log, clock, rules_in_log)
        self._sync = RaftSync(log.log, clock, run_blocking, self._fail)
        self._snapshots = SnapshotTransfer(files)
        self._clock = clock
        self._timer = timer
        self._run_blocking = run_blocking
        self._transport = transport
        self._request_timeout_ms = request_timeout_ms
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
        self._wait_for_disk = wait_for_disk
        self._give_room = give_room

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
        rules = self._writer.rules
        self.step(Started(log.end_offset, log.start_offset, log.epochs(), snapshot_id, rules))

    def stop(self) -> None:
        """Give up leadership; nothing is appended afterwards, and a flush under way is not waited for."""
        self.step(ShutDown())
        self._stopped = True
        self._sync.stop()
        if self._alarm is not None:
            self._alarm.cancel()
        if self._transport is not None:
            self._transport.watch(-1, (), _nothing)

    # -- requests --------------------------------------------------------------------------------------------

    def append(self, values: Sequence[bytes]) -> int:
        """See `MetadataWriter.append`.

        Raises:
            ApiError: NOT_CONTROLLER, this node does not lead; KAFKA_STORAGE_ERROR.
        """
        if self.node.role is not Role.LEADER or self.failed or self._waits:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        try:
            self._wrote(self._attempt(lambda: self._writer.values(values, self.node.epoch)))
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
            _PERFORM[type(effect)](self, effect)
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

    # -- the log ---------------------------------------------------------------------------------------------

    def _store_election(self, effect: StoreElection) -> None:
        voters = None if self.node.rules.kraft_version else [voter.id for voter in self.node.voters]

        def write() -> None:
            self._files.write_election(effect.state, voters)

        if self._transport is None or self._wants_room or self.node.voters.is_only(self.node.node_id):
            self._attempt(write)
            self._events.append(ElectionStored(effect.state.epoch))
        else:
            self._storing = True
            self._run_blocking(write, lambda error: self._election_stored(effect, error))

    def _election_stored(self, effect: StoreElection, error: BaseException | None) -> None:
        if self._stopped:
            return
        self._storing = False
        if isinstance(error, OSError) and self._is_full(error):
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

    def _append_leader_change(self, effect: AppendLeaderChange) -> None:
        self._wrote(self._attempt(lambda: self._writer.leader_change(effect)))

    def _append_rules(self, effect: AppendRules) -> None:
        self._wrote(self._attempt(lambda: self._writer.changed_rules(effect)))

    def _append_no_op(self, effect: AppendNoOp) -> None:
        self._wrote(self._attempt(lambda: self._writer.no_op(effect)), no_op=True)

    def _append_fetched(self, effect: AppendFetched) -> None:
        self._wrote(self._attempt(lambda: self._writer.fetched(effect)))

    def _wrote(self, written: Written, no_op: bool = False) -> None:
        self._events.append(Appended(written.end_offset, written.epochs, written.rules, no_op))

    def _truncate(self, effect: Truncate) -> None:
        self._attempt(lambda: self._writer.truncate(effect.end_offset))
        self._sync.rewritten()

    def _attempt(self, work: Callable[[], T]) -> T:
        """Do it; a failure is the end of this node's part in the quorum, unless the disk is only full.

        Raises:
            ApiError: KAFKA_STORAGE_ERROR.
        """
        try:
            return work()
        except (ApiError, OSError) as error:
            if not self._is_full(error):
                self._fail(error)
            elif self._give_room():
                return self._attempt(work)
            raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error

    def _is_full(self, error: ApiError | OSError) -> bool:
        """Whether a change merely found no room: it was taken back, the next one may find some."""
        if isinstance(error, OSError):
            return error.errno in NO_ROOM
        directory = self._log.log.directory
        return isinstance(error, StorageError) and directory.own_refusal is not None and not directory.offline

    # -- durability ------------------------------------------------------------------------------------------

    def _flush(self, effect: FlushLog) -> None:
        if self._wait_for_disk:
            # Also what was appended after the core asked: it is written, and so covered.
            covered = self._log.end_offset
            self._sync.run(lambda: self.step(Flushed(covered)))
            return
        self._events.append(Flushed(effect.end_offset))
        if not self._sync.under_way:
            self._sync.run(_nothing)

    def _fail(self, error: BaseException) -> None:
        if not self.failed:
            self.failed = True
            self._on_failure(error)

    # -- others ----------------------------------------------------------------------------------------------

    def _send(self, effect: Send) -> None:
        request, to = effect.request, effect.to
        if self._transport is None:
            self._events.append(SendFailed(to, request))
            return
        endpoints = self.node.endpoints_of(to)
        answer = self._transport.send(to, endpoints, request, self._request_timeout_ms)
        answer.then(lambda done: self._answered(to, request, done))

    def _answered(self, to: int, request: Request, done: Deferred[Response]) -> None:
        try:
            response = done.result()
        except Exception as error:
            _log.debug("no answer from node %d to %s: %s", to, type(request).__name__, error)
            self.step(SendFailed(to, request))
        else:
            self.step(Answered(to, request, response))

    def _serve_fetch(self, effect: ServeFetch) -> None:
        try:
            records = self._log.read(effect.offset, effect.end_offset)
        except (ApiError, OSError) as error:
            _log.error("cannot read the metadata log for a follower: %s", error)
            _resolve(effect.token, replace(effect.response, error=ErrorCode.KAFKA_STORAGE_ERROR))
        else:
            _resolve(effect.token, replace(effect.response, records=records))

    def _serve_snapshot(self, effect: ServeSnapshot) -> None:
        _resolve(effect.token, self._snapshots.serve(effect.request, effect.response))

    def _write_snapshot(self, effect: WriteSnapshot) -> None:
        self._attempt(lambda: self._snapshots.write(effect.response))

    def _install_snapshot(self, effect: InstallSnapshot) -> None:
        assert self._listener is not None
        rules = self._attempt(lambda: self._snapshots.install(effect.snapshot_id))
        if rules is None:
            self._events.append(SnapshotInstalled(effect.snapshot_id, installed=False))
            return
        self._attempt(lambda: self._writer.start_at(effect.snapshot_id, rules))
        self._sync.rewritten()
        self._listener.snapshot_installed(effect.snapshot_id)
        self._events.append(SnapshotInstalled(effect.snapshot_id, rules))

    def _probe(self, effect: ProbeVoter) -> None:
        voter = effect.voter
        if self._transport is None:
            self._events.append(VoterProbed(voter, None))
            return

        def probed(done: Deferred[tuple[int, int]]) -> None:
            try:
                self.step(VoterProbed(voter, done.result()))
            except Exception as error:
                _log.debug("voter %d does not answer: %s", voter.id, error)
                self.step(VoterProbed(voter, None))

        self._transport.probe(voter, self._request_timeout_ms).then(probed)

    # -- the listener ----------------------------------------------------------------------------------------

    def _commit(self, effect: Commit) -> None:
        assert self._listener is not None
        self._log.log.high_watermark = effect.high_watermark
        self._listener.committed(effect.high_watermark)

    def _become_leader(self, effect: BecomeLeader) -> None:
        assert self._listener is not None
        self._listener.became_leader(effect.epoch)

    def _resign(self, effect: Resign) -> None:
        assert self._listener is not None
        self._listener.resigned(effect.epoch)

    def _leader_changed(self, effect: LeaderChanged) -> None:
        assert self._listener is not None
        leader = effect.leader_id
        if self._transport is not None:
            endpoints = self.node.endpoints_of(leader) if leader >= 0 else ()
            self._transport.watch(leader, endpoints, lambda: self.step(PeerGone(leader)))
        self._listener.leader_changed(leader, effect.epoch)

    def _rules_changed(self, effect: RulesChanged) -> None:
        _log.info(
            "the metadata quorum is now %s (kraft.version %d)",
            ", ".join(str(voter.id) for voter in effect.rules.voters or ()),
            effect.rules.kraft_version,
        )


def _resolve(token: object, value: object) -> None:
    assert isinstance(token, Deferred)
    token.resolve(value)


def _nothing() -> None:
    """Nobody waits for it."""


_PERFORM: dict[type[Effect], Callable[[RaftDriver, Any], None]] = {
    StoreElection: RaftDriver._store_election,
    AppendLeaderChange: RaftDriver._append_leader_change,
    AppendRules: RaftDriver._append_rules,
    AppendNoOp: RaftDriver._append_no_op,
    AppendFetched: RaftDriver._append_fetched,
    FlushLog: RaftDriver._flush,
    Truncate: RaftDriver._truncate,
    WriteSnapshot: RaftDriver._write_snapshot,
    InstallSnapshot: RaftDriver._install_snapshot,
    BecomeLeader: RaftDriver._become_leader,
    Commit: RaftDriver._commit,
    Resign: RaftDriver._resign,
    LeaderChanged: RaftDriver._leader_changed,
    RulesChanged: RaftDriver._rules_changed,
    Warn: lambda _, effect: _log.warning("%s", effect.text),
    Send: RaftDriver._send,
    Reply: lambda _, effect: _resolve(effect.token, effect.response),
    ServeFetch: RaftDriver._serve_fetch,
    ServeSnapshot: RaftDriver._serve_snapshot,
    ProbeVoter: RaftDriver._probe,
    BarrierPassed: lambda _, effect: _resolve(effect.token, effect.high_watermark),
}
