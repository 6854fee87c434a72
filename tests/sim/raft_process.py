"""One raft core with the driver that the simulated world needs: a log, an election state, snapshots.

An entry of the log is (epoch, value); values are ints of clients, QuorumRules, or None (leader changes).
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from kbroker.errors import ErrorCode
from kbroker.raft.batches import QuorumRules
from kbroker.raft.election_state import ElectionState
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
    ElectionStored,
    EpochStart,
    Flushed,
    FlushLog,
    InstallSnapshot,
    LeaderChanged,
    PeerGone,
    ProbeVoter,
    ReadBarrier,
    Received,
    Reply,
    Resign,
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
from kbroker.raft.rpc import FetchRequest, FetchResponse, FetchSnapshotResponse, VoteRequest, VoteResponse
from kbroker.types import OffsetAndEpoch
from tests.sim.world import ANSWER, FAILED, GONE, MS, REQUEST, TIMER, Exchange, Process, SyncedList

FLUSHED, PROBED, SNAPSHOT, WRITE = 10, 11, 12, 13
_PIECE = 20


class RaftProcess(Process):
    """A node of the quorum.

    Args:
        voters, kraft_version: before anything in the log.
        options: more arguments of RaftNode.
    """

    node_class = RaftNode

    def __init__(
        self,
        world,
        node_id,
        checks,
        voters,
        *,
        fsync=(100, 3 * MS),
        snapshot_every=0,
        fetch_entries=50,
        slow_writes=False,
        **options,
    ):
        super().__init__(world, node_id)
        self.checks = checks
        self.base_voters, self.options = voters, options
        self.fsync, self.snapshot_every = fsync, snapshot_every
        self.fetch_entries = fetch_entries
        #: Whether other events may come between an effect that writes what was fetched, and its end.
        self.slow_writes = slow_writes
        self.log = SyncedList()
        self.durable_end = 0
        self.stored_election = ElectionState()
        #: (id, rules in force at it) of those installed or taken here, the newest last; what they contain is
        #: the beginning of `archive`. All of it durable.
        self.snapshots = []
        self.archive = []
        self.node = None
        self.told = []
        self.leads = None
        self._snapshotting = False
        self.high_watermark = 0
        self._events = deque()
        self._busy = False

    @property
    def snapshot(self):
        """The newest."""
        return self.snapshots[-1] if self.snapshots else None

    # -- life --

    def started(self):
        if self.snapshot and self._is_stale_log():
            # The snapshot has its name, and the crash came before the log was dropped for it.
            self.log.reset(self.snapshot[0].offset)
        self.node = self.node_class(
            self.id, self.base_voters, self.stored_election, random=self.world.below, **self.options
        )
        self.leads = None
        self._snapshotting = False
        self.high_watermark = self.snapshot[0].offset if self.snapshot else 0
        self.durable_end = self.log.start
        self._part = []
        self.feed(
            Started(
                self.log.end,
                self.log.start,
                self._epochs(self.log.start, self.log.items),
                self.snapshot[0] if self.snapshot else None,
                self._rules_before_log() + self._rules(self.log.start, self.log.items),
            )
        )

    def stop(self):
        self.feed(ShutDown())

    def killed(self, power):
        self._events.clear()
        self.leads = None
        if power:
            self.log.crash(self.world.random)

    def _is_stale_log(self):
        snapshot_id, end = self.snapshot[0], self.log.end
        last_epoch = self.log.items[-1][0] if self.log.items else snapshot_id.epoch
        return end < snapshot_id.offset or last_epoch < snapshot_id.epoch

    def _rules_before_log(self):
        if self.snapshot is None or self.snapshot[1] is None:
            return ()
        return (RulesAt(self.snapshot[0].offset - 1, self.snapshot[1]),)

    @staticmethod
    def _rules(start, items):
        found = []
        for offset, (_, value) in enumerate(items, start):
            if value.__class__ is QuorumRules:
                found.append(RulesAt(offset, value))
        return tuple(found)

    @staticmethod
    def _epochs(start, items):
        found, last = [], -1
        for offset, (epoch, _) in enumerate(items, start):
            if epoch != last:
                found.append(EpochStart(epoch, offset))
                last = epoch
        return tuple(found)

    def entry(self, offset):
        """The entry at an offset; None if the log does not have it, of the snapshot if that has."""
        if offset < self.log.start:
            return self.archive[offset]
        index = offset - self.log.start
        return self.log.items[index] if index < len(self.log.items) else None

    # -- events --

    def handle(self, kind, payload):
        if kind == TIMER:
            self.feed(Tick())
        elif kind == REQUEST:
            if payload.asker.life == payload.asker_life:
                self.feed(Received(payload, payload.request))
        elif kind == ANSWER:
            if self.world.network.end(payload):
                self.feed(Answered(payload.peer, payload.request, payload.answer))
        elif kind == FAILED:
            if self.world.network.end(payload):
                self.feed(SendFailed(payload.peer, payload.request))
        elif kind == FLUSHED:
            mark, end = payload
            self.log.synced(mark)
            self.durable_end = max(self.durable_end, min(end, self._flush_limit, self.log.end))
            self.feed(Flushed(end))
        elif kind == PROBED:
            self.feed(VoterProbed(payload, (0, 1)))
        elif kind == WRITE:
            if payload.__class__ is InstallSnapshot:
                self._finish_install(payload)
            else:
                self._write(payload)
        elif kind == SNAPSHOT:
            self._take_snapshot(payload)
        elif kind == GONE:
            self.feed(PeerGone(payload))
        else:
            self.feed(payload)

    def feed(self, event):
        """Step the core, perform what comes of it, arm the timer."""
        events = self._events
        events.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while events:
                for effect in self.node.step(self.now_ms(), events.popleft()):
                    self._PERFORM[effect.__class__](self, effect)
        finally:
            self._busy = False
        self.arm(self.node.deadline())

    def append(self, value):
        """A client's value, if this node takes any; its offset."""
        if self.leads is None or not self.up:
            return None
        offset = self.log.end
        self._append([(self.leads, value)])
        return offset

    def read(self):
        """Ask for a linearizable read."""
        if self.up:
            self.feed(ReadBarrier(len(self.checks.committed)))

    def ask(self, request):
        """A request of an administrator, whose answers are kept in `told`."""
        self.feed(Received(Exchange(self, self, request, None), request))

    def _append(self, items, **more):
        start = self.log.end
        self.log.append(items)
        self.feed(Appended(self.log.end, rules=self._rules(start, items), **more))

    # -- effects --

    def _store(self, effect):
        self.stored_election = effect.state
        if effect.state.voted_id == self.id:
            self.checks.voted(self, effect.state.epoch, self.id)
        self._events.append(ElectionStored(effect.state.epoch))

    def _leader_change(self, effect):
        self.checks.wrote(self, effect.epoch)
        self.checks.elected(self, effect.epoch)
        self._append([(effect.epoch, None)])

    def _append_rules(self, effect):
        self._append([(effect.epoch, effect.rules)])

    def _no_op(self, effect):
        self._append([(effect.epoch, None)], no_op=True)

    def _fetched(self, effect):
        if self.slow_writes:
            self.world.push(self.world.now + self.world.between(0, 5 * MS), self, WRITE, effect)
        else:
            self._write(effect)

    def _write(self, effect):
        items, start = effect.response.records, self.log.end
        last = self.log.items[-1][0] if self.log.items else (self.snapshot[0].epoch if self.snapshot else 0)
        self.log.append(list(items))
        epochs = self._epochs(start, items)
        if epochs and epochs[0].epoch == last and self.log.items[: -len(items)]:
            epochs = epochs[1:]
        self.feed(Appended(self.log.end, epochs, self._rules(start, items)))

    def _flush(self, effect):
        low, high = self.fsync
        self._flush_limit = 1 << 62
        at = self.world.now + self.world.between(low, high)
        self.world.push(at, self, FLUSHED, (self.log.mark(), self.log.end))

    def _truncate(self, effect):
        self.checks.truncated(self, effect.end_offset, self.high_watermark)
        self.log.truncate(effect.end_offset)
        self._flush_limit = min(self._flush_limit, effect.end_offset)
        self.durable_end = min(self.durable_end, effect.end_offset)

    _flush_limit = 1 << 62

    def _commit(self, effect):
        self.checks.committed_to(self, self.high_watermark, effect.high_watermark)
        self.high_watermark = effect.high_watermark
        every = self.snapshot_every
        if every and effect.high_watermark >= self.log.start + every and not self._snapshotting:
            self._snapshotting = True
            self.world.push(self.world.now + 5 * MS, self, SNAPSHOT, effect.high_watermark)

    _snapshotting = False

    def _take_snapshot(self, offset):
        self._snapshotting = False
        if offset <= self.log.start:
            return
        entry = self.entry(offset - 1)
        rules = self.snapshot[1] if self.snapshot else None
        new = self.log.items[len(self.archive) - self.log.start : offset - self.log.start]
        self.archive.extend(new)
        for _, value in new:
            if value.__class__ is QuorumRules:
                rules = value
        self.snapshots.append((OffsetAndEpoch(offset, entry[0]), rules))
        del self.snapshots[:-50]
        # Some of the log stays, as with Kafka's older snapshots.
        start = max(self.log.start, offset - self.snapshot_every // 2)
        if self.durable_end >= start:
            self.log.drop_before(start)
        self.feed(SnapshotTaken(self.snapshot[0], self.log.start))

    def _lead(self, effect):
        self.leads = effect.epoch

    def _resign(self, effect):
        self.leads = None

    def _send(self, effect):
        request = effect.request
        kind = request.__class__
        if kind is FetchRequest:
            self.checks.told_durable(self, request.offset)
        elif kind is VoteRequest and not request.pre_vote:
            self.checks.voted(self, request.epoch, self.id)
        to = effect.to if effect.to >= 0 else self.bootstrap[-1 - effect.to]
        self.world.network.request(self, to, request, 2000 * MS)

    bootstrap = ()

    def _reply(self, effect):
        response, exchange = effect.response, effect.token
        if response.__class__ is VoteResponse and response.granted and not exchange.request.pre_vote:
            self.checks.voted(self, exchange.request.epoch, exchange.request.replica.id)
        if exchange.answer is not None:
            raise AssertionError(f"{exchange.request} is answered twice")
        if exchange.asker is self:
            self.told.append(response)
        else:
            self.world.network.answer(exchange, response)

    def _serve(self, effect):
        first = effect.offset - self.log.start
        last = min(effect.end_offset - self.log.start, first + self.fetch_entries)
        response = effect.response
        records = self.log.items[first:last] if first >= 0 else []
        self.world.network.answer(
            effect.token,
            FetchResponse(
                response.error,
                response.leader,
                response.high_watermark,
                response.log_start_offset,
                records=records,
            ),
        )

    def _serve_snapshot(self, effect):
        request, response = effect.request, effect.response
        found = [rules for snapshot_id, rules in self.snapshots if snapshot_id == request.snapshot_id]
        if not found:
            answer = FetchSnapshotResponse(ErrorCode.SNAPSHOT_NOT_FOUND, response.leader, request.snapshot_id)
        else:
            whole = [*self.archive[: request.snapshot_id.offset], found[0]]
            pieces = max(_PIECE, len(whole) // 4 + 1)
            piece = whole[request.position : request.position + pieces]
            answer = FetchSnapshotResponse(
                response.error, response.leader, request.snapshot_id, len(whole), request.position, piece
            )
        self.world.network.answer(effect.token, answer)

    def _write_snapshot(self, effect):
        if effect.response.position == 0:
            self._part = []
        assert len(self._part) == effect.response.position
        self._part.extend(effect.response.data)

    def _install(self, effect):
        *entries, rules = self._part
        assert len(entries) == effect.snapshot_id.offset
        self.archive = entries
        self.snapshots = [(effect.snapshot_id, rules)]
        if self.slow_writes:
            self.world.push(self.world.now + self.world.between(0, 5 * MS), self, WRITE, effect)
        else:
            self._finish_install(effect)

    def _finish_install(self, effect):
        self.log.reset(effect.snapshot_id.offset)
        self.durable_end = self.log.start
        self._flush_limit = self.log.start
        self.feed(SnapshotInstalled(effect.snapshot_id, self._rules_before_log()))

    def _probe(self, effect):
        self.world.push(self.world.now + 2 * MS, self, PROBED, effect.voter)

    def _barrier(self, effect):
        if effect.high_watermark is not None:
            self.checks.barrier_passed(self, effect.token, effect.high_watermark)

    def _warn(self, effect):
        self.checks.warned(self, effect.text)

    def _ignore(self, effect):
        pass

    _PERFORM: ClassVar = {
        StoreElection: _store,
        AppendLeaderChange: _leader_change,
        AppendRules: _append_rules,
        AppendNoOp: _no_op,
        AppendFetched: _fetched,
        FlushLog: _flush,
        Truncate: _truncate,
        WriteSnapshot: _write_snapshot,
        InstallSnapshot: _install,
        BecomeLeader: _lead,
        Commit: _commit,
        Resign: _resign,
        LeaderChanged: _ignore,
        RulesChanged: _ignore,
        Send: _send,
        Reply: _reply,
        ServeFetch: _serve,
        ServeSnapshot: _serve_snapshot,
        ProbeVoter: _probe,
        BarrierPassed: _barrier,
        Warn: _warn,
    }

    @property
    def is_leader(self):
        """Whether it leads, and takes records."""
        return self.up and self.leads is not None and self.node.role is Role.LEADER
