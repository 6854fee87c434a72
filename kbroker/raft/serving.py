"""What a leader answers to replicas: records, where the logs part, snapshots; and what it learns by it."""

from __future__ import annotations

from kbroker.errors import ErrorCode
from kbroker.raft.leader import answer_empty, arm_check, fetch_response, raise_high_watermark
from kbroker.raft.messages import Reply, ServeFetch, ServeSnapshot
from kbroker.raft.rpc import (
    DescribeQuorumResponse,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    ReplicaState,
)
from kbroker.raft.state import Parked, QuorumState, Replica, Role, directories_agree
from kbroker.raft.voter_set import ReplicaKey

#: An observer that did not fetch for so long is no longer told of (as in Kafka), nor are more than so many.
_OBSERVER_SESSION_MS = 300_000
_OBSERVERS_MAX = 10_000


def _heard_of(s: QuorumState, now: int, key: ReplicaKey) -> None:
    leading = s.leading
    assert leading is not None
    voter = s.voters.get(key.id)
    if voter is None or key.id == s.me.id or not directories_agree(voter.directory_id, key.directory_id):
        return
    leading.begin.done(key.id)
    leading.heard.add(key.id)
    if len(leading.heard) + (1 if s.is_voter else 0) >= s.voters.majority:
        arm_check(s, now)


def leader_only_error(s: QuorumState, epoch: int) -> ErrorCode:
    """Whether this node may answer a request of this epoch that only a leader answers."""
    if epoch < s.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > s.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    if s.leading is None:
        stopped = s.stopping and s.role is Role.RESIGNED
        return ErrorCode.BROKER_NOT_AVAILABLE if stopped else ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE


def fetch_requested(s: QuorumState, now: int, token: object, request: FetchRequest, wall_ms: int) -> None:
    """A replica asks for records, and tells by it what it has durably."""
    if request.offset < 0 or not 0 <= request.last_epoch <= request.epoch or request.max_wait_ms < 0:
        error = ErrorCode.INVALID_REQUEST
    else:
        error = leader_only_error(s, request.epoch)
    if error is not ErrorCode.NONE:
        s.out.append(Reply(token, FetchResponse(error, s.view, -1, s.log.start)))
        return
    leading = s.leading
    assert leading is not None
    key = request.replica
    _heard_of(s, now, key)
    match = s.log.match(request.offset, request.last_epoch)
    if match.diverging is not None or match.snapshot_id is not None:
        s.out.append(Reply(token, fetch_response(s, match)))
        return
    _note_fetch(s, now, request, wall_ms)
    if s.leading is not leading:  # It committed this node's own removal.
        s.out.append(Reply(token, FetchResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, s.view)))
        return
    earlier = leading.parked.pop(key, None)
    if earlier is not None:
        answer_empty(s, earlier.token)
    if request.offset < s.log.end:
        s.out.append(ServeFetch(token, fetch_response(s), request.offset, s.log.end))
    elif request.max_wait_ms == 0 or (leading.established and request.high_watermark < s.high_watermark):
        answer_empty(s, token)
    else:
        wait = min(request.max_wait_ms, s.timeouts.fetch_ms // 4)
        leading.parked[key] = Parked(token, request, now + wait)


def _note_fetch(s: QuorumState, now: int, request: FetchRequest, wall_ms: int) -> None:
    leading = s.leading
    assert leading is not None
    replica = _replica(s, now, request.replica)
    if replica is None:
        return
    if request.offset >= s.log.end:
        replica.caught_up, replica.caught_up_wall = True, wall_ms
    elif replica.leader_end > 0 and request.offset >= replica.leader_end:
        replica.caught_up = True
        replica.caught_up_wall = max(replica.fetched_wall, replica.caught_up_wall)
    if request.max_wait_ms > 0:
        replica.answered_at = replica.fetched_at
    replica.fetched_at, replica.fetched_wall, replica.leader_end = now, wall_ms, s.log.end
    grew = request.offset > replica.end
    replica.end = request.offset
    if grew and leading.voters.get(replica.key.id) is replica:
        raise_high_watermark(s, now)


def _replica(s: QuorumState, now: int, key: ReplicaKey) -> Replica | None:
    leading = s.leading
    assert leading is not None
    if key.id < 0 or key.id == s.me.id:
        return None
    voter = leading.voters.get(key.id)
    if voter is not None and directories_agree(voter.key.directory_id, key.directory_id):
        return voter
    observer = leading.observers.get(key)
    if observer is None:
        observers = leading.observers
        if len(observers) >= _OBSERVERS_MAX:
            _forget_observers(s, now)
        if len(observers) >= _OBSERVERS_MAX:
            return None
        observer = observers[key] = Replica(key)
    return observer


def _forget_observers(s: QuorumState, now: int) -> None:
    leading = s.leading
    assert leading is not None
    for key, replica in [*leading.observers.items()]:
        if replica.fetched_at is None or replica.fetched_at + _OBSERVER_SESSION_MS < now:
            del leading.observers[key]


def snapshot_requested(s: QuorumState, now: int, token: object, request: FetchSnapshotRequest) -> None:
    """A replica fetches a snapshot; that it does so counts as listening."""
    error = leader_only_error(s, request.epoch)
    if error is ErrorCode.NONE and request.snapshot_id == (0, 0):
        error = ErrorCode.SNAPSHOT_NOT_FOUND  # The bootstrap snapshot is repeated in the log.
    response = FetchSnapshotResponse(error, s.view, request.snapshot_id)
    if error is not ErrorCode.NONE:
        s.out.append(Reply(token, response))
        return
    _heard_of(s, now, request.replica)
    s.out.append(ServeSnapshot(token, request, response))


def describe(s: QuorumState, token: object, now: int, wall_ms: int) -> None:
    """The state of the quorum, for DescribeQuorum."""
    leading = s.leading
    if leading is None:
        response = DescribeQuorumResponse(ErrorCode.NOT_LEADER_OR_FOLLOWER, s.view)
        s.out.append(Reply(token, response))
        return
    _forget_observers(s, now)
    voters = [
        # Of itself a static quorum does not know the directory either.
        ReplicaState(replica.key, s.log.end, wall_ms, wall_ms) if id == s.me.id else _shown(replica)
        for id, replica in leading.voters.items()
    ]
    observers = [_shown(replica) for replica in leading.observers.values()]
    known = s.high_watermark if leading.established else -1
    s.out.append(
        Reply(
            token,
            DescribeQuorumResponse(
                ErrorCode.NONE, s.view, known, tuple(voters), tuple(observers), tuple(s.voters)
            ),
        )
    )


def _shown(replica: Replica) -> ReplicaState:
    return ReplicaState(replica.key, replica.end, replica.fetched_wall, replica.caught_up_wall)
