"""Votes: whom this node gives its own, and how it wins those of others.

A node that misses its leader first asks whether it would be elected (pre-vote, KIP-996) and only then
begins an epoch, so that one that was cut off does not depose a leader when it comes back. A vote is stored
before it is given, and given once an epoch.
"""

from __future__ import annotations

from kbroker.errors import ErrorCode
from kbroker.raft.election_state import NOBODY, ElectionState
from kbroker.raft.leader import lead
from kbroker.raft.messages import Reply
from kbroker.raft.roles import (
    announce,
    arm_election,
    become_follower,
    become_unattached,
    heed_leader,
    incredible,
    leave_role,
    send,
    store,
    warn,
)
from kbroker.raft.rpc import (
    BeginQuorumEpochRequest,
    BeginQuorumEpochResponse,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    VoteRequest,
    VoteResponse,
)
from kbroker.raft.state import QuorumState, Role, Round, Votes, directories_agree
from kbroker.raft.voter_set import ReplicaKey

_BACKOFF_MS = 50


# -- standing for election -----------------------------------------------------------------------------------


def timed_out(s: QuorumState, now: int) -> None:
    """`election_at` has come for a voter."""
    if s.writing:
        # The log is not what this node knows of it; that is a matter of moments.
        s.election_at = now + s.timeouts.retry_ms
    elif s.role is Role.FOLLOWER and s.following.fetched and s.log.flushed < s.log.end:
        # It is this node's disk that keeps it from asking, not the leader from answering.
        s.election_at = now + s.timeouts.fetch_ms // 4
    elif s.voters.is_only(s.me.id) and s.is_voter:
        elect_alone(s)
    elif s.role is Role.PROSPECTIVE:
        _give_up(s, now)
    else:
        become_prospective(s, now)


def elect_alone(s: QuorumState) -> None:
    """A quorum of one needs no candidate state of its own: its vote is the majority."""
    leave_role(s)
    s.role = Role.CANDIDATE
    s.election_at = None
    store(s, ElectionState(s.epoch + 1, s.me.id))


def become_prospective(s: QuorumState, now: int) -> None:
    """Ask the others whether they would vote for this node; nothing changes by it."""
    leader, endpoints, gone = s.election.leader_id, s.leader_endpoints, s.following.leader_gone
    leave_role(s)
    s.role = Role.PROSPECTIVE
    s.leader_endpoints = endpoints if leader != NOBODY else ()
    s.following.leader_gone = gone
    _begin_round(s, now)


def become_candidate(s: QuorumState, now: int) -> None:
    """Begin an epoch, with this node's own vote."""
    leave_role(s)
    s.role = Role.CANDIDATE
    s.leader_endpoints = ()
    s.retries += 1
    store(s, ElectionState(s.epoch + 1, NOBODY, s.me.id, s.me.directory_id))
    announce(s)
    _begin_round(s, now)


def _begin_round(s: QuorumState, now: int) -> None:
    s.votes = Votes(Round(s.others()), {s.me.id} if s.is_voter else set())
    arm_election(s, now)
    ask_for_votes(s, now)


def ask_for_votes(s: QuorumState, now: int) -> None:
    """Ask everybody who has not answered and is not being asked."""
    votes = s.votes
    if votes is None:
        return
    last_epoch, end = s.log.last_epoch, s.log.end
    for peer in votes.round.todo:
        if votes.round.is_due(peer, now):
            voter = s.voters.get(peer)
            assert voter is not None
            request = VoteRequest(
                s.epoch,
                s.me,
                ReplicaKey(voter.id, voter.directory_id),
                last_epoch,
                end,
                s.role is Role.PROSPECTIVE,
            )
            votes.round.requests[peer] = request
            send(s, peer, request)


def vote_answered(s: QuorumState, now: int, peer: int, request: VoteRequest, response: VoteResponse) -> None:
    """A vote came in."""
    votes = s.votes
    if votes is None or not votes.round.ended(peer, request):
        return
    granted = response.granted
    if response.error is ErrorCode.UNSUPPORTED_VERSION and request.pre_vote:
        granted = True  # A node from before KIP-996 has no opinion of it.
    elif response.error is not ErrorCode.NONE and response.error is not ErrorCode.INVALID_VOTER_KEY:
        _vote_refused_by_error(s, now, peer, response)
        return
    else:
        heed_leader(s, now, *response.leader)
        if s.votes is not votes:
            return
        granted = granted and response.leader.epoch == s.epoch
    votes.round.done(peer)
    votes.missing.discard(peer)
    (votes.granted if granted else votes.rejected).add(peer)
    count_votes(s, now)


def vote_failed(s: QuorumState, now: int, peer: int) -> None:
    """No answer came; it is asked again."""
    votes = s.votes
    if votes is not None:
        votes.missing.add(peer)
        count_votes(s, now)


def _vote_refused_by_error(s: QuorumState, now: int, peer: int, response: VoteResponse) -> None:
    votes = s.votes
    if response.leader.epoch > s.epoch:
        heed_leader(s, now, *response.leader)
    elif votes is not None:
        if response.error is not ErrorCode.BROKER_NOT_AVAILABLE:
            warn(s, f"node {peer} answers {response.error.name} when asked for its vote in epoch {s.epoch}")
        votes.round.retry_at[peer] = now + s.timeouts.election_ms // 2


def count_votes(s: QuorumState, now: int) -> None:
    """Go on if a majority said yes, or cannot any more."""
    votes = s.votes
    if votes is None:
        return
    if len(votes.granted) >= s.voters.majority:
        if s.role is Role.PROSPECTIVE:
            become_candidate(s, now)
        else:
            granted = tuple(sorted(votes.granted))
            leave_role(s)
            s.retries = 0
            store(s, s.election._replace(leader_id=s.me.id))
            lead(s, now, granted)
    elif votes.rejected and len(votes.rejected | votes.missing) > len(s.voters) - s.voters.majority:
        # All who can be reached have answered.
        if s.role is Role.PROSPECTIVE:
            _give_up(s, now)
        elif votes.round.todo:
            votes.round.todo = []
            s.election_at = now + _backoff(s)


def _give_up(s: QuorumState, now: int) -> None:
    """A majority would not elect this node, or does not answer: go back to the leader, or wait for one."""
    leader, gone = s.election.leader_id, s.following.leader_gone
    if leader not in (NOBODY, s.me.id):
        become_follower(s, now, s.epoch, leader, s.leader_endpoints)
        s.following.leader_gone = gone
        if gone:
            s.election_at = now + _backoff(s)
        return
    leave_role(s)
    s.role = Role.UNATTACHED
    s.retries += 1
    s.election_at = now + _backoff(s)


def _backoff(s: QuorumState) -> int:
    """Random and longer each time, so that one of several gets ahead."""
    return _BACKOFF_MS + s.random(max(1, min(_BACKOFF_MS << min(s.retries, 10), s.timeouts.backoff_max_ms)))


# -- requests ------------------------------------------------------------------------------------------------


def vote_requested(s: QuorumState, now: int, token: object, request: VoteRequest) -> None:
    """Somebody wants this node's vote, or to know whether it would get it."""
    error, granted = _judge(s, now, request), False
    if error is ErrorCode.NONE:
        granted = _would_vote(s, request)
        if granted and not request.pre_vote and s.election.voted_id == NOBODY:
            leave_role(s)
            s.role = Role.UNATTACHED
            replica = request.replica
            store(s, ElectionState(s.epoch, NOBODY, replica.id, replica.directory_id))
            arm_election(s, now)
    s.out.append(Reply(token, VoteResponse(error, s.view, granted)))


def _judge(s: QuorumState, now: int, request: VoteRequest) -> ErrorCode:
    epoch, last = request.epoch, request.last_epoch
    if request.last_offset < 0 or last < 0 or last > epoch or (last == epoch and not request.pre_vote):
        return ErrorCode.INVALID_REQUEST
    if epoch < s.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if request.replica.id < 0 or incredible(s, epoch):
        return ErrorCode.INVALID_REQUEST
    if epoch > s.epoch:
        become_unattached(s, now, epoch)
    return ErrorCode.NONE if _is_me(s, request.voter) else ErrorCode.INVALID_VOTER_KEY


def _is_me(s: QuorumState, key: ReplicaKey) -> bool:
    return key.id in (NOBODY, s.me.id) and directories_agree(key.directory_id, s.me.directory_id)


def _would_vote(s: QuorumState, request: VoteRequest) -> bool:
    if s.role is Role.LEADER or (request.last_epoch, request.last_offset) < (s.log.last_epoch, s.log.end):
        return False
    election = s.election
    if request.pre_vote:
        return not (s.role is Role.FOLLOWER and s.following.fetched)
    if election.voted_id != NOBODY:
        replica = request.replica
        return election.voted_id == replica.id and directories_agree(
            election.voted_directory_id, replica.directory_id
        )
    return election.leader_id == NOBODY


def begin_requested(s: QuorumState, now: int, token: object, request: BeginQuorumEpochRequest) -> None:
    """A leader tells of its election."""
    error = _check_leader(s, request.leader_id, request.epoch)
    if error is ErrorCode.NONE and not s.rules.current.kraft_version and request.leader_id not in s.voters:
        # Nobody votes here but those of the configuration, so that nobody else can have been elected.
        warn(s, f"node {request.leader_id}, which is no voter, says that it leads epoch {request.epoch}")
        error = ErrorCode.INVALID_REQUEST
    if error is ErrorCode.NONE:
        heed_leader(s, now, request.leader_id, request.epoch, request.endpoints)
        if not _is_me(s, request.voter):
            error = ErrorCode.INVALID_VOTER_KEY
    s.out.append(Reply(token, BeginQuorumEpochResponse(error, s.view)))


def end_requested(s: QuorumState, now: int, token: object, request: EndQuorumEpochRequest) -> None:
    """The leader stops. The first of its preferred successors stands for election without asking whether it
    should: the leader itself said so; the others wait their turn."""
    error = _check_leader(s, request.leader_id, request.epoch)
    if error is ErrorCode.NONE:
        heed_leader(s, now, request.leader_id, request.epoch, request.endpoints)
    s.out.append(Reply(token, EndQuorumEpochResponse(error, s.view)))
    if error is not ErrorCode.NONE or s.role is not Role.FOLLOWER:
        return
    if s.election.leader_id != request.leader_id or not s.may_stand or s.stopping:
        return
    turn = next(
        (index for index, candidate in enumerate(request.preferred) if _is_me(s, candidate)),
        len(request.preferred),
    )
    s.following.fetched = False
    s.following.leader_gone = True
    if turn == 0 and not s.writing:
        become_candidate(s, now)
    else:
        s.election_at = now + _turn_ms(s, turn, len(request.preferred))


def _turn_ms(s: QuorumState, turn: int, candidates: int) -> int:
    """How long the successor at this place waits: double for each place."""
    longest = s.timeouts.backoff_max_ms
    if turn >= candidates:
        return longest
    return min(longest, (longest >> (candidates - 1)) << max(turn - 1, 0))


def _check_leader(s: QuorumState, leader_id: int, epoch: int) -> ErrorCode:
    if epoch < s.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.INVALID_REQUEST if leader_id < 0 or incredible(s, epoch) else ErrorCode.NONE
