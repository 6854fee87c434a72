"""The state of one raft node."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from kbroker.plain import made, plain
from kbroker.raft.election_state import NOBODY, ElectionState
from kbroker.raft.log_view import LogView
from kbroker.raft.messages import (
    Effect,
)
from kbroker.raft.rpc import FetchRequest, LeaderView, Request
from kbroker.raft.rules_history import RulesHistory
from kbroker.raft.timeouts import RaftTimeouts
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey, VoterSet
from kbroker.types import ZERO_UUID, OffsetAndEpoch


class Role(Enum):
    """What a node is in its epoch. A node that is no voter is UNATTACHED or FOLLOWER: an observer."""

    UNATTACHED = "unattached"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"
    FOLLOWER = "follower"
    RESIGNED = "resigned"


class Round:
    """One request to each of some peers, repeated to whoever did not answer."""

    __slots__ = ("requests", "retry_at", "todo")

    def __init__(self, peers: list[int]) -> None:
        self.todo = peers
        self.requests: dict[int, Request] = {}
        self.retry_at: dict[int, int] = {}

    def is_due(self, peer: int, now: int) -> bool:
        """Whether to send to this peer now."""
        return peer not in self.requests and self.retry_at.get(peer, now) <= now

    def ended(self, peer: int, request: Request) -> bool:
        """A request ended one way or the other; whether it was of this round."""
        if self.requests.get(peer) is not request:
            return False
        del self.requests[peer]
        return True

    def done(self, peer: int) -> None:
        """Nothing more is wanted of this peer."""
        if peer in self.todo:
            self.todo.remove(peer)

    def deadline(self) -> int | None:
        """When the next repetition is due."""
        waits = [at for peer, at in self.retry_at.items() if peer in self.todo and peer not in self.requests]
        return min(waits, default=None)


@plain(eq=False)
class Votes:
    """An election that this node stands for, or asks whether it should."""

    round: Round
    granted: set[int]
    rejected: set[int] = made(default_factory=set)
    #: Who could not be reached at the last attempt.
    missing: set[int] = made(default_factory=set)


@plain(eq=False)
class Replica:
    """A follower or observer, as its fetches show it to the leader. Times: of the core's clock, and of the
    wall for those who ask."""

    key: ReplicaKey
    end: int = -1
    fetched_at: int | None = None
    #: It had an answer after this: the fetch before its last one came then.
    answered_at: int | None = None
    #: It had everything at some time in this epoch.
    caught_up: bool = False
    fetched_wall: int = -1
    caught_up_wall: int = -1
    #: Where the leader's log ended at the fetch before.
    leader_end: int = -1


@plain(eq=False)
class Parked:
    """A fetch that waits for news."""

    token: object
    request: FetchRequest
    deadline: int


@plain(eq=False)
class PendingChange:
    """The change of the voters that is under way: one at a time."""

    token: object | None
    voter: QuorumVoter | None
    deadline: int
    #: Behind the VotersRecord once it is in the log; -1: not yet.
    end: int = -1
    ack_when_committed: bool = True


@plain(eq=False)
class Leading:
    """What a leader keeps."""

    epoch_start: int
    voters: dict[int, Replica]
    observers: dict[ReplicaKey, Replica] = made(default_factory=dict)
    #: The epoch's own first record is committed.
    established: bool = False
    parked: dict[ReplicaKey, Parked] = made(default_factory=dict)
    begin: Round = made(default_factory=lambda: Round([]))
    begin_at: int = 0
    #: By then a majority must have fetched anew; None: the leader alone is the majority.
    check_at: int | None = None
    heard: set[int] = made(default_factory=set)
    change: PendingChange | None = None
    #: What voters said of themselves while kraft.version is 0.
    reported: dict[int, QuorumVoter] = made(default_factory=dict)
    barriers: list[object] = made(default_factory=list)
    next_barriers: list[object] = made(default_factory=list)
    #: Behind the record that the barriers wait for; -1: not appended yet, or no barrier waits.
    barrier_end: int = -1


@plain(eq=False)
class SnapshotFetch:
    """A snapshot on its way from the leader."""

    id: OffsetAndEpoch
    position: int = 0
    size: int = -1


@plain(eq=False)
class Following:
    """What a follower keeps; a node that looks for a leader keeps it too."""

    fetch: Request | None = None
    peer: int = NOBODY
    retry_at: int = 0
    #: The last fetch had an answer of this leader; the next one says so (`FetchRequest.max_wait_ms`).
    answered: bool = False
    #: The leader answered in its epoch: there is no reason to think of another one.
    fetched: bool = False
    #: Why not, although it once did: its process is gone, or it said that it does not lead any more.
    leader_gone: bool = False
    leader_high_watermark: int = -1
    snapshot: SnapshotFetch | None = None
    update: Request | None = None
    update_at: int | None = None


@plain(eq=False)
class QuorumState:
    """Everything a node knows. `election_at`: when a voter that hears of no leader acts."""

    me: ReplicaKey
    election: ElectionState
    rules: RulesHistory
    timeouts: RaftTimeouts
    random: Callable[[int], int]
    bootstrap_servers: int
    endpoints: tuple[QuorumEndpoint, ...]
    kraft_versions: tuple[int, int]
    auto_join: bool
    log: LogView = made(default_factory=LogView)
    role: Role = Role.UNATTACHED
    high_watermark: int = -1
    leader_endpoints: tuple[QuorumEndpoint, ...] = ()
    election_at: int | None = None
    retries: int = 0
    votes: Votes | None = None
    leading: Leading | None = None
    following: Following = made(default_factory=Following)
    ending: Round | None = None
    #: `AppendFetched` or `InstallSnapshot` is under way: the log is not what the core knows.
    writing: bool = False
    stopping: bool = False
    #: This node, which cannot lead, is named as the leader: another one has its id.
    namesake_leads: bool = False
    out: list[Effect] = made(default_factory=list)
    announced: tuple[int, int] = (NOBODY, 0)

    @property
    def epoch(self) -> int:
        """The newest epoch this node knows."""
        return self.election.epoch

    @property
    def voters(self) -> VoterSet:
        """The voters in force."""
        return self.rules.voters

    @property
    def is_voter(self) -> bool:
        """Whether this node votes."""
        return is_same(self.voters, self.me)

    @property
    def may_stand(self) -> bool:
        """Whether this node may be elected. That it was removed counts when it is committed: until then it
        may be the only one that can get it committed (Ongaro's dissertation, 4.2.2)."""
        if self.is_voter:
            return True
        before = self.rules.uncommitted_from(self.high_watermark)
        return before is not None and is_same(before, self.me)

    @property
    def leader_is_me(self) -> bool:
        """Whether the election state names this node: it leads, or does so once that is stored."""
        return self.election.leader_id == self.me.id

    @property
    def view(self) -> LeaderView:
        """Whom this node tells others to be the leader."""
        leader = self.election.leader_id
        if leader == self.me.id:
            leading = self.role is Role.LEADER
            return LeaderView(leader if leading else NOBODY, self.epoch, self.endpoints if leading else ())
        return LeaderView(leader, self.epoch, self.endpoints_of(leader))

    def endpoints_of(self, node_id: int) -> tuple[QuorumEndpoint, ...]:
        """Where a node's controller listeners are, as far as known."""
        voter = self.voters.get(node_id)
        if voter is not None and voter.endpoints:
            return voter.endpoints
        return self.leader_endpoints if node_id == self.election.leader_id else ()

    def others(self) -> list[int]:
        """The voters but this node."""
        return [voter.id for voter in self.voters if voter.id != self.me.id]


def is_same(voters: VoterSet, key: ReplicaKey) -> bool:
    """Whether `key` is one of the voters; directories count where both are known (KIP-853)."""
    voter = voters.get(key.id)
    return voter is not None and directories_agree(voter.directory_id, key.directory_id)


def directories_agree(one: bytes, other: bytes) -> bool:
    """Whether both may be the same directory."""
    return one == other or ZERO_UUID in (one, other)
