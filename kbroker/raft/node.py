"""One node of a KRaft quorum as a pure state machine: `step(now, event) -> effects`.

The law: epoch and vote are stored before any message of them leaves; a leader's epoch opens with a
leader-change record; the high watermark rises only over records that a majority has on stable storage, and
only once the epoch's own first record is below it. Effects are performed in order.

The parts: `elections` (votes), `leader` and `serving` (its answers), `follower`, `voter_changes`, and the
moves between `roles`, over the one `state`.
"""

from __future__ import annotations

from collections.abc import Callable

from kbroker.errors import ConfigError
from kbroker.raft import elections, follower, leader, serving, voter_changes
from kbroker.raft.batches import QuorumRules
from kbroker.raft.election_state import NOBODY, ElectionState
from kbroker.raft.messages import (
    Answered,
    Appended,
    Dropped,
    Effect,
    ElectionStored,
    Event,
    Flushed,
    PeerGone,
    ReadBarrier,
    Received,
    ResignRequested,
    SendFailed,
    ShutDown,
    SnapshotInstalled,
    SnapshotTaken,
    Started,
    Tick,
    VoterProbed,
)
from kbroker.raft.roles import become_follower, flush, rules_changed
from kbroker.raft.rpc import (
    BeginQuorumEpochRequest,
    DescribeQuorumRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Request,
    VoterChangeResponse,
    VoteRequest,
    VoteResponse,
)
from kbroker.raft.rules_history import RulesHistory
from kbroker.raft.state import QuorumState, Role
from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumEndpoint, ReplicaKey, VoterSet
from kbroker.types import ZERO_UUID, Uuid

__all__ = ["RaftNode", "Role"]

#: A voter that was started asks after this time, and up to as much again, whether it would be elected.
_FIRST_ELECTION_MS = 60


def _always_first(_: int) -> int:
    return 0


class RaftNode:
    """The node's view of the quorum.

    Args:
        node_id: this node.
        voters: the voter set that holds before anything in the log: static, or of the bootstrap snapshot.
        election: what the quorum-state file says.
        directory_id: of the directory that holds log and election state; zero: not known.
        kraft_version: that goes with `voters`.
        timeouts: in milliseconds.
        random: of n, a number from 0 to n - 1. Several nodes need different ones.
        bootstrap_servers: how many addresses the driver knows of nodes that may know the leader.
        endpoints: this node's controller listeners.
        kraft_versions: the range that this node supports.
        auto_join: as an observer, ask to become a voter (controller.quorum.auto.join.enable).

    Raises:
        ConfigError: there is no quorum that this node could be part of.
    """

    def __init__(
        self,
        node_id: int,
        voters: VoterSet,
        election: ElectionState,
        *,
        directory_id: Uuid = ZERO_UUID,
        kraft_version: int = 0,
        timeouts: RaftTimeouts | None = None,
        random: Callable[[int], int] = _always_first,
        bootstrap_servers: int = 0,
        endpoints: tuple[QuorumEndpoint, ...] = (),
        kraft_versions: tuple[int, int] = (0, 1),
        auto_join: bool = False,
    ) -> None:
        if not len(voters) and not bootstrap_servers:
            raise ConfigError(
                f"node {node_id} is told of no voter of the metadata quorum and of no server to ask"
            )
        if election.leader_id == node_id:
            # It led this epoch: it may not vote for another leader of it.
            election = election._replace(leader_id=NOBODY, voted_id=node_id, voted_directory_id=directory_id)
        self._state = QuorumState(
            ReplicaKey(node_id, directory_id),
            election,
            RulesHistory(QuorumRules(kraft_version, voters)),
            timeouts or RaftTimeouts(),
            random,
            bootstrap_servers,
            endpoints,
            kraft_versions,
            auto_join,
        )

    @property
    def node_id(self) -> int:
        """This node."""
        return self._state.me.id

    @property
    def namesake_leads(self) -> bool:
        """Whether others name this node as the leader, though it cannot be: another one has its id."""
        return self._state.namesake_leads

    @property
    def role(self) -> Role:
        """What it is in its epoch."""
        return self._state.role

    @property
    def election(self) -> ElectionState:
        """Epoch, leader and vote."""
        return self._state.election

    @property
    def epoch(self) -> int:
        """The newest epoch this node knows."""
        return self._state.election.epoch

    @property
    def leader_id(self) -> int:
        """The leader of the epoch, -1 if there is none that this node knows."""
        return self._state.election.leader_id

    @property
    def voters(self) -> VoterSet:
        """The voters in force."""
        return self._state.voters

    @property
    def rules(self) -> QuorumRules:
        """kraft.version and voters in force."""
        return self._state.rules.current

    @property
    def changes_voters(self) -> bool:
        """Whether the voters in force are written, but not committed yet."""
        return self._state.rules.offset >= max(self._state.high_watermark, 0)

    @property
    def is_voter(self) -> bool:
        """Whether this node is one of them; else it is an observer."""
        return self._state.is_voter

    @property
    def high_watermark(self) -> int:
        """Everything before it is committed; -1: not known."""
        return self._state.high_watermark

    @property
    def end_offset(self) -> int:
        """Where the log ends, as far as the driver has told."""
        return self._state.log.end

    @property
    def observer_count(self) -> int:
        """Who follows this leader without a vote; 0 where this is none."""
        leading = self._state.leading
        return 0 if leading is None else len(leading.observers)

    def may_hand_over(self, now_ms: int) -> bool:
        """Whether another voter listens, and has what is committed: it would be elected if this leader
        resigned (`ResignRequested`)."""
        s = self._state
        if s.leading is None or not s.leading.established:
            return False
        return any(
            replica.fetched_at is not None
            and replica.fetched_at > now_ms - s.timeouts.fetch_ms // 2
            and replica.end >= s.high_watermark
            for id, replica in s.leading.voters.items()
            if id != s.me.id
        )

    def unrivalled(self, now_ms: int) -> bool:
        """Whether this node leads, and nobody else can have been elected by now."""
        return now_ms < leader.unrivalled_until(self._state)

    def endpoints_of(self, node_id: int) -> tuple[QuorumEndpoint, ...]:
        """Where the controller listeners of a node are, as far as known: where a `Send` goes."""
        return self._state.endpoints_of(node_id)

    def deadline(self) -> int | None:
        """When `step` wants a `Tick` if nothing happens; None: never."""
        s = self._state
        if s.leading is not None:
            at = leader.leader_deadline(s)
            return at if at < leader.NEVER else None
        due = s.election_at
        if s.votes is not None:
            due = _earlier(due, s.votes.round.deadline())
        if s.ending is not None:
            due = _earlier(due, s.ending.deadline())
        if follower.may_fetch(s) and s.log.flushed >= s.log.end:
            due = _earlier(due, s.following.retry_at)
        return due

    def step(self, now_ms: int, event: Event) -> list[Effect]:
        """What to do about `event`, in order. `now_ms` is monotonic."""
        s = self._state
        s.out = []
        match event:
            case Received(token=token, message=message):
                self._received(now_ms, token, message, event.wall_ms)
            case Answered():
                self._answered(now_ms, event)
            case Appended():
                self._appended(now_ms, event)
            case Flushed(end_offset=end):
                s.log.flush_ended(end)
                if s.leading is not None:
                    leader.raise_high_watermark(s, now_ms)
                flush(s)
            case Tick():
                self._tick(now_ms)
            case SendFailed(peer=peer, request=request):
                self._failed(now_ms, peer, request)
            case _:
                self._rare(now_ms, event)
        follower.poll(s, now_ms)
        return s.out

    def _rare(self, now: int, event: Event) -> None:
        s = self._state
        match event:
            case Started():
                self._start(now, event)
            case ElectionStored(epoch=epoch):
                if s.role is Role.CANDIDATE and s.leader_is_me and epoch == s.epoch:
                    leader.lead(s, now, (s.me.id,))
            case PeerGone(peer=peer):
                if s.election.leader_id == peer:
                    follower.leader_is_gone(s, now)
            case Dropped(token=token):
                leader.drop(s, token)
            case SnapshotTaken(snapshot_id=snapshot_id, log_start_offset=start):
                s.log.snapshot_taken(snapshot_id, start)
            case SnapshotInstalled():
                follower.snapshot_installed(s, now, event)
            case VoterProbed():
                voter_changes.voter_probed(s, now, event)
            case ReadBarrier(token=token):
                leader.read_barrier(s, token)
            case ResignRequested(epoch=epoch):
                if epoch == s.epoch:
                    leader.resign(s, now)
            case ShutDown():
                s.stopping = True
                leader.resign(s, now)
                s.election_at = None

    def _start(self, now: int, event: Started) -> None:
        s = self._state
        s.log.open(event.log_start_offset, event.log_end_offset, event.epochs, event.snapshot_id)
        s.rules.add(event.rules)
        if event.snapshot_id is not None:
            s.high_watermark = event.snapshot_id.offset
        if s.voters.is_only(s.me.id) and s.is_voter:
            elections.elect_alone(s)
            return
        election = s.election
        s.following.retry_at = now
        if election.leader_id != NOBODY and election.leader_id in s.voters:
            become_follower(s, now, election.epoch, election.leader_id, ())
        else:
            s.election = election._replace(leader_id=NOBODY)  # Where it is has to be found out anyway.
        if s.may_stand:
            first = min(_FIRST_ELECTION_MS, s.timeouts.election_ms)
            s.election_at = now + first + s.random(first)
            if s.role is Role.FOLLOWER:
                s.following.leader_gone = True

    def _received(self, now: int, token: object, message: Request, wall_ms: int) -> None:
        s = self._state
        match message:
            case FetchRequest():
                serving.fetch_requested(s, now, token, message, wall_ms)
            case VoteRequest():
                elections.vote_requested(s, now, token, message)
            case BeginQuorumEpochRequest():
                elections.begin_requested(s, now, token, message)
            case EndQuorumEpochRequest():
                elections.end_requested(s, now, token, message)
            case FetchSnapshotRequest():
                serving.snapshot_requested(s, now, token, message)
            case DescribeQuorumRequest():
                serving.describe(s, token, now, wall_ms)
            case _:
                voter_changes.change_requested(s, now, token, message)

    def _answered(self, now: int, event: Answered) -> None:
        s, peer, request, response = self._state, event.peer, event.request, event.response
        if isinstance(response, FetchResponse) and isinstance(request, FetchRequest):
            follower.fetch_answered(s, now, request, response)
        elif isinstance(response, VoteResponse) and isinstance(request, VoteRequest):
            elections.vote_answered(s, now, peer, request, response)
        elif isinstance(response, FetchSnapshotResponse) and isinstance(request, FetchSnapshotRequest):
            follower.snapshot_answered(s, now, request, response)
        elif isinstance(response, VoterChangeResponse):
            follower.update_answered(s, now, request, response)
        elif isinstance(request, BeginQuorumEpochRequest):
            leader.begin_answered(s, now, peer, request, response)
        elif isinstance(request, EndQuorumEpochRequest):
            leader.end_answered(s, now, peer, request, response)

    def _failed(self, now: int, peer: int, request: Request) -> None:
        s = self._state
        for round_ in (
            s.votes.round if s.votes is not None else None,
            s.ending,
            s.leading.begin if s.leading is not None else None,
        ):
            if round_ is not None and round_.ended(peer, request):
                round_.retry_at[peer] = now + s.timeouts.retry_ms
                if isinstance(request, VoteRequest):
                    elections.vote_failed(s, now, peer)
                return
        follower.fetch_failed(s, now, request)

    def _appended(self, now: int, event: Appended) -> None:
        s = self._state
        grew = event.end_offset > s.log.end
        epochs = event.epochs
        if s.leading is not None and s.log.last_epoch < s.epoch:
            epochs = (leader.own_epoch(s),)
        s.log.append(event.end_offset, epochs)
        changed = bool(event.rules) and s.rules.add(event.rules)
        if changed:
            rules_changed(s, now)
        if s.leading is not None:
            leader.leader_appended(s, now, event.no_op, bool(event.rules))
        else:
            follower.fetched_appended(s, now, grew)
        flush(s)

    def _tick(self, now: int) -> None:
        s = self._state
        if s.leading is not None:
            leader.tick_leader(s, now)
            voter_changes.tick_change(s, now)
            return
        if s.election_at is not None and s.election_at <= now:
            if s.may_stand:
                elections.timed_out(s, now)
            else:
                follower.observer_timed_out(s, now)
        elections.ask_for_votes(s, now)
        leader.repeat_end(s, now)


def _earlier(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
