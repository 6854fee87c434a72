"""The leader: counts who has what durably, answers who waits for it, gives up when no majority listens.

The high watermark is the largest offset that a majority of the voters has on stable storage, once the
epoch's own first record is below it: a record of an older epoch is never committed by counting copies.
"""

from __future__ import annotations

from math import inf

from kbroker.errors import ErrorCode
from kbroker.raft.election_state import NOBODY
from kbroker.raft.log_view import MATCHES, Match
from kbroker.raft.messages import (
    AppendLeaderChange,
    AppendNoOp,
    BarrierPassed,
    BecomeLeader,
    Commit,
    EpochStart,
    Reply,
    ServeFetch,
)
from kbroker.raft.roles import election_timeout, heed_leader, leave_role, send
from kbroker.raft.rpc import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    FetchResponse,
    Request,
    Response,
)
from kbroker.raft.state import Leading, QuorumState, Replica, Role, Round
from kbroker.raft.voter_changes import change_committed, rules_appended
from kbroker.raft.voter_set import ReplicaKey

#: Later than any time.
NEVER = 1 << 62


def lead(s: QuorumState, now: int, granting: tuple[int, ...]) -> None:
    """This node is elected, and that is stored: open the epoch."""
    s.role = Role.LEADER
    s.election_at = None
    s.leader_endpoints = s.endpoints
    replicas = {voter.id: Replica(ReplicaKey(voter.id, voter.directory_id)) for voter in s.voters}
    leading = s.leading = Leading(s.log.end, replicas)
    arm_check(s, now)
    s.out.append(AppendLeaderChange(s.epoch, granting))
    leading.begin = Round(s.others())
    leading.begin_at = now + s.timeouts.fetch_ms // 2
    tell_voters(s)


def resign(s: QuorumState, now: int) -> None:
    """Lead no more, and tell the voters who should stand for election first."""
    leading = s.leading
    if leading is None:
        return
    ahead = sorted(
        (replica for replica in leading.voters.values() if replica.key.id != s.me.id),
        key=lambda replica: (-replica.end, replica.key.id),
    )
    preferred = tuple(replica.key for replica in ahead)
    leave_role(s)
    s.role = Role.RESIGNED
    s.leader_endpoints = ()
    # The vote stays this node's own: it may not help to elect another leader of its epoch.
    s.election = s.election._replace(leader_id=NOBODY, voted_id=s.me.id, voted_directory_id=s.me.directory_id)
    s.announced = (NOBODY, s.epoch)
    s.election_at = None if s.stopping else now + election_timeout(s)
    if preferred:
        s.ending = Round([key.id for key in preferred])
        request = EndQuorumEpochRequest(s.me.id, s.epoch, preferred, s.endpoints)
        for key in preferred:
            s.ending.requests[key.id] = request
            send(s, key.id, request)


def repeat_end(s: QuorumState, now: int) -> None:
    """Tell again those who have not heard that this node leads no more."""
    ending = s.ending
    if ending is None:
        return
    preferred = tuple(ReplicaKey(voter.id, voter.directory_id) for voter in s.voters if voter.id != s.me.id)
    for peer in ending.todo:
        if ending.is_due(peer, now):
            request = EndQuorumEpochRequest(s.me.id, s.epoch, preferred, s.endpoints)
            ending.requests[peer] = request
            send(s, peer, request)


# -- the voters' attention -----------------------------------------------------------------------------------


def tell_voters(s: QuorumState) -> None:
    """Tell those of the election who are not known to know."""
    leading = s.leading
    if leading is None:
        return
    for peer in leading.begin.todo:
        voter = s.voters.get(peer)
        if voter is not None and peer not in leading.begin.requests:
            key = ReplicaKey(voter.id, voter.directory_id)
            request = BeginQuorumEpochRequest(s.me.id, s.epoch, key, s.endpoints)
            leading.begin.requests[peer] = request
            send(s, peer, request)


def end_answered(s: QuorumState, now: int, peer: int, request: Request, response: Response) -> None:
    """A voter heard of the resignation, or knows better."""
    if s.ending is not None and s.ending.ended(peer, request):
        s.ending.done(peer)
        heed_leader(s, now, *response.leader)


def begin_answered(s: QuorumState, now: int, peer: int, request: Request, response: Response) -> None:
    """A voter took note of the election, or knows better."""
    leading = s.leading
    if leading is None or not leading.begin.ended(peer, request):
        return
    if response.error is ErrorCode.NONE:
        leading.begin.done(peer)
    elif response.leader.epoch > s.epoch:
        heed_leader(s, now, *response.leader)


def own_epoch(s: QuorumState) -> EpochStart:
    """Where the leader's epoch begins in its log."""
    leading = s.leading
    assert leading is not None
    return EpochStart(s.epoch, leading.epoch_start)


def drop(s: QuorumState, token: object) -> None:
    """Nobody waits for this answer any more."""
    leading = s.leading
    if leading is None:
        return
    for key, parked in [*leading.parked.items()]:
        if parked.token == token:
            del leading.parked[key]


def arm_check(s: QuorumState, now: int) -> None:
    """Begin anew to wait for a majority to fetch."""
    leading = s.leading
    if leading is not None:
        leading.heard.clear()
        alone = s.voters.majority <= (1 if s.is_voter else 0)
        leading.check_at = None if alone else now + s.timeouts.fetch_ms * 3 // 2


def unrivalled_until(s: QuorumState) -> float:
    """Before this time nobody else can have been elected; minus infinity where this node does not lead.

    Who was answered refuses its (pre-)vote for `fetch_ms` (KIP-996), and any majority has one of those that
    were answered since. That a fetch arrived proves it of the answer before, which it followed; Kafka's
    followers say the same of a fetch that had none, so of them it holds but for lost connections.
    A voter that was killed has forgotten whom it heard.
    """
    leading = s.leading
    if leading is None or not s.is_voter:
        return -inf
    needed = s.voters.majority - 1
    if not needed:
        return inf
    times = [
        -inf if id == s.me.id or replica.answered_at is None else replica.answered_at
        for id, replica in leading.voters.items()
    ]
    times.sort(reverse=True)
    return times[needed - 1] + s.timeouts.fetch_ms


def tick_leader(s: QuorumState, now: int) -> None:
    """What is due for a leader."""
    leading = s.leading
    if leading is None:
        return
    if leading.check_at is not None and leading.check_at <= now:
        resign(s, now)
        return
    if leading.begin_at <= now:
        silent = now - s.timeouts.fetch_ms // 2
        leading.begin.todo = [
            peer for peer in s.others() if (at := leading.voters[peer].fetched_at) is None or at <= silent
        ]
        leading.begin_at = now + s.timeouts.fetch_ms // 2
        tell_voters(s)
    for key, parked in [*leading.parked.items()]:
        if parked.deadline <= now:
            del leading.parked[key]
            answer_empty(s, parked.token)


def leader_deadline(s: QuorumState) -> int:
    """When something is due for a leader."""
    leading = s.leading
    assert leading is not None
    due = leading.begin_at if leading.check_at is None else min(leading.begin_at, leading.check_at)
    if s.voters.is_only(s.me.id):
        due = NEVER
    for parked in leading.parked.values():
        due = min(due, parked.deadline)
    if leading.change is not None:
        due = min(due, leading.change.deadline)
    return due


# -- waiting fetches -----------------------------------------------------------------------------------------


def fetch_response(s: QuorumState, match: Match = MATCHES) -> FetchResponse:
    """The answer to a fetch, but for the records."""
    leading = s.leading
    # Until the epoch is established nobody knows the true one, and followers of Kafka refuse a lower one
    # than they had.
    known = leading is not None and leading.established
    high_watermark = s.high_watermark if known else -1
    return FetchResponse(
        ErrorCode.NONE, s.view, high_watermark, s.log.start, match.diverging, match.snapshot_id
    )


def answer_empty(s: QuorumState, token: object) -> None:
    """There are no new records."""
    s.out.append(Reply(token, fetch_response(s)))


def release(s: QuorumState) -> None:
    """Answer the waiting fetches for which there is news."""
    leading = s.leading
    if leading is None or not leading.parked:
        return
    end, known = s.log.end, leading.established
    for key, parked in [*leading.parked.items()]:
        request = parked.request
        if request.offset < end:
            del leading.parked[key]
            s.out.append(ServeFetch(parked.token, fetch_response(s), request.offset, end))
        elif known and request.high_watermark < s.high_watermark:
            del leading.parked[key]
            answer_empty(s, parked.token)


# -- what is committed ---------------------------------------------------------------------------------------


def raise_high_watermark(s: QuorumState, now: int) -> None:
    """Count anew what a majority has."""
    leading = s.leading
    if leading is None:
        return
    own, me = s.log.flushed, s.me.id
    ends = [own if id == me else replica.end for id, replica in leading.voters.items()]
    ends.sort(reverse=True)
    high_watermark = ends[len(ends) // 2]
    if high_watermark <= leading.epoch_start or high_watermark > s.log.end:
        return
    if leading.established and high_watermark <= s.high_watermark:
        return
    first, leading.established = not leading.established, True
    s.high_watermark = max(s.high_watermark, high_watermark)
    s.rules.compact(s.high_watermark)
    s.out.append(Commit(s.high_watermark))
    if first:
        s.out.append(BecomeLeader(s.epoch))
    _pass_barriers(s)
    change_committed(s, now)
    if s.high_watermark > s.rules.offset >= 0 and not s.is_voter:
        resign(s, now)  # KIP-853: a leader that is no voter leads until that is committed.
        return
    release(s)


def leader_appended(s: QuorumState, now: int, no_op: bool, rules: bool) -> None:
    """The leader's log grew."""
    leading = s.leading
    assert leading is not None
    if rules:
        rules_appended(s, now)
        arm_check(s, now)
    if no_op:
        leading.barrier_end = s.log.end
    release(s)


# -- linearizable reads --------------------------------------------------------------------------------------


def read_barrier(s: QuorumState, token: object) -> None:
    """A record of this epoch that is appended after the question and committed proves that nobody else led
    in between. A quorum of one need not prove it."""
    leading = s.leading
    if leading is None:
        s.out.append(BarrierPassed(token, None))
    elif leading.established and s.voters.is_only(s.me.id) and s.high_watermark > s.rules.offset:
        s.out.append(BarrierPassed(token, s.high_watermark))
    elif leading.barriers:
        leading.next_barriers.append(token)
    else:
        leading.barriers.append(token)
        s.out.append(AppendNoOp(s.epoch))


def _pass_barriers(s: QuorumState) -> None:
    leading = s.leading
    assert leading is not None
    if not leading.barriers or not 0 <= leading.barrier_end <= s.high_watermark:
        return
    for token in leading.barriers:
        s.out.append(BarrierPassed(token, s.high_watermark))
    leading.barriers, leading.next_barriers = leading.next_barriers, []
    leading.barrier_end = -1
    if leading.barriers:
        s.out.append(AppendNoOp(s.epoch))
