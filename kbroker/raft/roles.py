"""The few moves between roles that all parts of a node make, and what goes with them.

Every function of the core takes the state, changes it and appends effects to `out`.
"""

from __future__ import annotations

from kbroker.errors import ErrorCode
from kbroker.raft.batches import QuorumRules
from kbroker.raft.election_state import NOBODY, ElectionState
from kbroker.raft.messages import (
    BarrierPassed,
    FlushLog,
    LeaderChanged,
    Reply,
    Resign,
    RulesChanged,
    Send,
    StoreElection,
    Warn,
)
from kbroker.raft.rpc import FetchResponse, Request, VoterChangeResponse
from kbroker.raft.state import Following, QuorumState, Role
from kbroker.raft.voter_set import QuorumEndpoint

#: How far a peer's epoch may be ahead to be believed: years of elections, one a second. The epoch is an int32
#: and stored, so that one liar (or one flipped bit) could leave a quorum no epoch to elect a leader in.
EPOCH_AHEAD_MAX = 1 << 25


def store(s: QuorumState, election: ElectionState) -> None:
    """The node's epoch, vote or leader is another: durable before anything else happens."""
    s.election = election
    s.out.append(StoreElection(election))


def announce(s: QuorumState) -> None:
    """Tell who leads, if that is another node, or nobody, and news."""
    news = (s.election.leader_id, s.epoch)
    if news != s.announced:
        s.announced = news
        if news[0] != s.me.id:
            s.out.append(LeaderChanged(*news))


def warn(s: QuorumState, text: str) -> None:
    """Something is not as it should be; the operator should read it."""
    s.out.append(Warn(text))


def send(s: QuorumState, to: int, request: Request) -> None:
    """Send a request."""
    s.out.append(Send(to, request))


def flush(s: QuorumState) -> None:
    """Make durable what is not, one flush at a time."""
    log = s.log
    if not log.flushing and log.flushed < log.end:
        log.flush_begins()
        s.out.append(FlushLog(log.end))


def election_timeout(s: QuorumState) -> int:
    """A random time so that nodes do not stand for election together."""
    return s.timeouts.election_ms + s.random(max(s.timeouts.election_ms, 1))


def arm_election(s: QuorumState, now: int) -> None:
    """Wait for a leader for a random time, if this node may stand for election at all."""
    s.election_at = now + election_timeout(s) if s.may_stand and not s.stopping else None


def leave_role(s: QuorumState) -> None:
    """Drop what belongs to the role; who waited for a leader is told."""
    leading, s.leading = s.leading, None
    s.votes = s.ending = None
    s.following = Following()
    if leading is None:
        return
    if s.role is Role.LEADER:
        s.role = Role.RESIGNED
    s.out.append(Resign(s.epoch))
    error = ErrorCode.BROKER_NOT_AVAILABLE if s.stopping else ErrorCode.NOT_LEADER_OR_FOLLOWER
    view = s.view
    for parked in leading.parked.values():
        s.out.append(Reply(parked.token, FetchResponse(error, view)))
    if leading.change is not None and leading.change.token is not None:
        failed = VoterChangeResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, view)
        s.out.append(Reply(leading.change.token, failed))
    for token in leading.barriers + leading.next_barriers:
        s.out.append(BarrierPassed(token, None))


def become_unattached(s: QuorumState, now: int, epoch: int) -> None:
    """A newer epoch exists, and its leader is not known."""
    leave_role(s)
    s.role = Role.UNATTACHED
    s.leader_endpoints = ()
    if epoch > s.epoch:
        store(s, ElectionState(epoch))
    arm_election(s, now)
    announce(s)


def forget_leader(s: QuorumState, now: int) -> None:
    """The leader of this epoch does not answer any more: look for another. The vote stays given."""
    leave_role(s)
    s.role = Role.UNATTACHED
    s.leader_endpoints = ()
    s.election = s.election._replace(leader_id=NOBODY)
    arm_election(s, now)
    announce(s)


def become_follower(
    s: QuorumState, now: int, epoch: int, leader_id: int, endpoints: tuple[QuorumEndpoint, ...]
) -> None:
    """`leader_id` leads `epoch`, which is this node's or a newer one."""
    leave_role(s)
    s.role = Role.FOLLOWER
    s.leader_endpoints = endpoints
    s.namesake_leads = False
    s.retries = 0
    if epoch > s.epoch:
        store(s, ElectionState(epoch, leader_id))
    elif s.election.leader_id != leader_id:
        store(s, s.election._replace(leader_id=leader_id))
    s.following.retry_at = now
    s.election_at = now + s.timeouts.fetch_ms
    announce(s)


def incredible(s: QuorumState, epoch: int) -> bool:
    """Whether an epoch is too far ahead to be true; then it is told in the log, and changes nothing."""
    if epoch - s.epoch <= EPOCH_AHEAD_MAX:
        return False
    warn(s, f"a node of the quorum names epoch {epoch}, which is not believed: here it is {s.epoch}")
    return True


def heed_leader(
    s: QuorumState, now: int, leader_id: int, epoch: int, endpoints: tuple[QuorumEndpoint, ...]
) -> None:
    """A peer says who leads `epoch`, -1: it does not know. Believe it where it is news."""
    if incredible(s, epoch):
        return
    if leader_id == s.me.id:
        # This node led it before it was started anew, or gave up leading.
        s.namesake_leads = not s.may_stand
        if epoch > s.epoch:
            become_unattached(s, now, epoch)
    elif epoch > s.epoch:
        if leader_id == NOBODY:
            become_unattached(s, now, epoch)
        else:
            become_follower(s, now, epoch, leader_id, endpoints)
    elif epoch == s.epoch and leader_id != NOBODY:
        if s.election.leader_id == NOBODY and s.role is not Role.LEADER:
            become_follower(s, now, epoch, leader_id, endpoints)
        elif s.election.leader_id != leader_id:
            warn(s, f"two leaders of epoch {epoch} are named: {s.election.leader_id} and {leader_id}")
        elif len(endpoints) > len(s.leader_endpoints):
            s.leader_endpoints = endpoints


def rules_changed(s: QuorumState, now: int) -> None:
    """Other voters are in force: a node may have become one, or be none any more."""
    s.out.append(RulesChanged(QuorumRules(s.rules.current.kraft_version, s.voters)))
    if not s.may_stand:
        if s.role in (Role.PROSPECTIVE, Role.CANDIDATE):
            forget_leader(s, now)
        elif s.role is Role.UNATTACHED:
            s.election_at = None
    elif s.role is Role.UNATTACHED and s.election_at is None:
        arm_election(s, now)
