"""Changes of the quorum itself (KIP-853): add, remove and update a voter, and the upgrade of kraft.version.

One voter changes at a time, the new set counts from its record on, and the next change waits until it is
committed: so any two majorities that may be in force share a voter. The words of the errors are Kafka's.
"""

from __future__ import annotations

from kbroker.errors import ErrorCode
from kbroker.raft.batches import QuorumRules
from kbroker.raft.messages import AppendRules, ProbeVoter, Reply, VoterProbed
from kbroker.raft.rpc import (
    AddVoterRequest,
    RemoveVoterRequest,
    UpdateVoterRequest,
    UpgradeKraftVersion,
    VoterChange,
    VoterChangeResponse,
)
from kbroker.raft.state import Leading, PendingChange, QuorumState, Replica, directories_agree
from kbroker.raft.voter_set import QuorumVoter, ReplicaKey, VoterSet
from kbroker.types import ZERO_UUID, uuid_to_string

#: A new voter must have had the whole log once in this epoch and fetched within this time, as in Kafka.
_CAUGHT_UP_MS = 3_600_000


def change_requested(s: QuorumState, now: int, token: object, request: VoterChange) -> None:
    """An administrator, or a voter, wants the quorum changed."""
    if isinstance(request, UpdateVoterRequest):
        error = _epoch_error(s, request.epoch)
    else:
        error = ErrorCode.NONE if s.leading is not None else ErrorCode.NOT_LEADER_OR_FOLLOWER
    if error is not ErrorCode.NONE:
        _answer(s, token, error)
        return
    invalid = _invalid(s, request)
    if invalid is not None:
        _answer(s, token, ErrorCode.INVALID_REQUEST, invalid)
        return
    refusal = _not_now(s)
    if refusal is not None:
        _answer(s, token, ErrorCode.REQUEST_TIMED_OUT, refusal)
        return
    match request:
        case AddVoterRequest():
            _add(s, now, token, request)
        case RemoveVoterRequest():
            _remove(s, now, token, request.voter)
        case UpdateVoterRequest():
            _update(s, token, request.voter)
        case UpgradeKraftVersion():
            _upgrade(s, now, token, request)


def _invalid(s: QuorumState, request: VoterChange) -> str | None:
    match request:
        case AddVoterRequest(voter=voter):
            if voter.id < 0 or voter.directory_id == ZERO_UUID:
                return "Add voter request didn't include a valid voter"
            if not voter.endpoints:
                listener = s.endpoints[0].name if s.endpoints else ""
                return (
                    "Add voter request didn't include the endpoint (Endpoints(endpoints={})) for the default "
                    f"listener ListenerName({listener})"
                )
        case RemoveVoterRequest(voter=key):
            if key.id < 0 or key.directory_id == ZERO_UUID:
                return "Remove voter request didn't include a valid voter"
        case UpdateVoterRequest(voter=voter):
            valid = voter.id >= 0 and voter.directory_id != ZERO_UUID and voter.endpoints
            if not valid or not 0 <= voter.min_kraft_version <= voter.max_kraft_version:
                return "Update voter request didn't include a valid voter"
    return None


def _epoch_error(s: QuorumState, epoch: int) -> ErrorCode:
    if epoch < s.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if epoch > s.epoch:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    return ErrorCode.NONE if s.leading is not None else ErrorCode.NOT_LEADER_OR_FOLLOWER


def _answer(s: QuorumState, token: object, error: ErrorCode, message: str | None = None) -> None:
    s.out.append(Reply(token, VoterChangeResponse(error, s.view, message)))


def _not_now(s: QuorumState) -> str | None:
    leading = s.leading
    assert leading is not None
    if leading.change is not None:
        return "Request timed out waiting for leader to handle previous voter change request"
    if not leading.established:
        return "Request timed out waiting for leader to establish HWM and fence previous voter changes"
    if s.rules.offset >= s.high_watermark:
        return (
            "Request timed out waiting for voters to commit the latest voter change at "
            f"{s.rules.offset} with HWM {s.high_watermark}"
        )
    return None


def _unsupported(s: QuorumState, token: object, doing: str) -> bool:
    level = s.rules.current.kraft_version
    if level >= 1:
        return False
    text = f"Cluster doesn't support {doing} voter because the kraft.version feature is {level}"
    _answer(s, token, ErrorCode.UNSUPPORTED_VERSION, text)
    return True


# -- add -----------------------------------------------------------------------------------------------------


def _add(s: QuorumState, now: int, token: object, request: AddVoterRequest) -> None:
    leading, voter = s.leading, request.voter
    assert leading is not None
    if _unsupported(s, token, "adding"):
        return
    if voter.id in s.voters:
        text = f"The voter id for {_name(voter)} is already part of the set of voters {_names(s.voters)}."
        _answer(s, token, ErrorCode.DUPLICATE_VOTER, text)
    else:
        wait = max(0, min(request.timeout_ms, s.timeouts.request_ms * 5))
        leading.change = PendingChange(token, voter, now + wait)
        leading.change.ack_when_committed = request.ack_when_committed
        s.out.append(ProbeVoter(voter))


def voter_probed(s: QuorumState, now: int, event: VoterProbed) -> None:
    """The node that is to become a voter said which kraft.versions it supports."""
    change = s.leading.change if s.leading is not None else None
    if change is None or change.voter is not event.voter or change.end >= 0:
        return
    name = _name(event.voter)
    level, versions = s.rules.current.kraft_version, event.kraft_versions
    if versions is None:
        text = "Aborted add voter operation for since API_VERSIONS returned an error BROKER_NOT_AVAILABLE"
        _end(s, ErrorCode.REQUEST_TIMED_OUT, text)
    elif not versions[0] <= level <= versions[1]:
        text = (
            f"Aborted add voter operation for {name} since the kraft.version range (min: {versions[0]}, "
            f"max: {versions[1]}) doesn't support the finalized version {level}"
        )
        _end(s, ErrorCode.INVALID_REQUEST, text)
    elif not _is_caught_up(s, now, event.voter):
        text = f"Aborted add voter operation for {name} since it is lagging behind"
        _end(s, ErrorCode.REQUEST_TIMED_OUT, text)
    else:
        voter = event.voter._replace(min_kraft_version=versions[0], max_kraft_version=versions[1])
        _append(s, VoterSet([*s.voters, voter]))


def _is_caught_up(s: QuorumState, now: int, voter: QuorumVoter) -> bool:
    leading = s.leading
    assert leading is not None
    replica = leading.observers.get(ReplicaKey(voter.id, voter.directory_id))
    if replica is None or replica.fetched_at is None or not replica.caught_up:
        return False
    return replica.fetched_at > now - _CAUGHT_UP_MS


# -- remove, update, upgrade ---------------------------------------------------------------------------------


def _remove(s: QuorumState, now: int, token: object, key: ReplicaKey) -> None:
    leading = s.leading
    assert leading is not None
    if _unsupported(s, token, "removing"):
        return
    voter = s.voters.get(key.id)
    if voter is None or voter.directory_id != key.directory_id or len(s.voters) == 1:
        text = f"Cannot remove voter {_key_name(key)} from the set of voters {_names(s.voters)}"
        _answer(s, token, ErrorCode.VOTER_NOT_FOUND, text)
        return
    leading.change = PendingChange(token, None, now + s.timeouts.request_ms)
    _append(s, VoterSet(other for other in s.voters if other.id != key.id))


def _update(s: QuorumState, token: object, voter: QuorumVoter) -> None:
    leading, level = s.leading, s.rules.current.kraft_version
    assert leading is not None
    known = s.voters.get(voter.id)
    if not voter.min_kraft_version <= level <= voter.max_kraft_version:
        _answer(s, token, ErrorCode.INVALID_REQUEST)
    elif known is None or not directories_agree(known.directory_id, voter.directory_id):
        _answer(s, token, ErrorCode.VOTER_NOT_FOUND)
    elif level == 0:
        # Nothing to write it to yet: kept for the upgrade of kraft.version.
        leading.reported[voter.id] = voter
        _answer(s, token, ErrorCode.NONE)
    else:
        if voter != known:
            leading.change = PendingChange(None, None, 1 << 62)
            _append(s, VoterSet(voter if other.id == voter.id else other for other in s.voters))
        _answer(s, token, ErrorCode.NONE)


def _upgrade(s: QuorumState, now: int, token: object, request: UpgradeKraftVersion) -> None:
    leading, level = s.leading, s.rules.current.kraft_version
    assert leading is not None
    if request.version == level:
        _answer(s, token, ErrorCode.NONE)
        return
    if not level < request.version <= 1:
        why = "is a downgrade" if request.version < level else "is not known"
        text = f"Invalid upgrade of kraft.version from version {level} to {request.version} because the new"
        text += f" version {why}"
        _answer(s, token, ErrorCode.INVALID_UPDATE_VERSION, text)
        return
    own = QuorumVoter(s.me.id, s.me.directory_id, s.endpoints, *s.kraft_versions)
    known = {**leading.reported, s.me.id: own}
    if not all(voter.id in known and _supports(known[voter.id]) for voter in s.voters):
        text = (
            f"Invalid upgrade of kraft.version to {request.version} because not all of the voters support it"
        )
        _answer(s, token, ErrorCode.INVALID_UPDATE_VERSION, text)
    elif request.validate_only:
        _answer(s, token, ErrorCode.NONE)
    else:
        leading.change = PendingChange(token, None, now + s.timeouts.request_ms * 5)
        voters = VoterSet(known[voter.id] for voter in s.voters)
        s.out.append(AppendRules(s.epoch, QuorumRules(request.version, voters), True))


def _supports(voter: QuorumVoter) -> bool:
    return voter.min_kraft_version <= 1 <= voter.max_kraft_version


# -- its way through the log ---------------------------------------------------------------------------------


def _append(s: QuorumState, voters: VoterSet) -> None:
    s.out.append(AppendRules(s.epoch, QuorumRules(s.rules.current.kraft_version, voters)))


def rules_appended(s: QuorumState, now: int) -> None:
    """The new voters are in the log, and in force: keep what is known of each."""
    leading = s.leading
    assert leading is not None
    observers, voters = leading.observers, leading.voters
    before = dict(voters)
    voters.clear()
    for voter in s.voters:
        key = ReplicaKey(voter.id, voter.directory_id)
        replica = before.get(voter.id)
        if replica is None or not directories_agree(replica.key.directory_id, key.directory_id):
            replica = observers.pop(key, None) or Replica(key)
        replica.key = key
        voters[voter.id] = replica
    for gone in before.values():
        if gone.key.id not in voters and gone.key.id != s.me.id:
            observers[gone.key] = gone
    change = leading.change
    if change is not None and change.end < 0:
        change.end = s.log.end
        if not change.ack_when_committed:
            _answer_change(s, leading, ErrorCode.NONE)


def change_committed(s: QuorumState, now: int) -> None:
    """The high watermark rose: a change may be complete."""
    leading = s.leading
    if leading is not None and leading.change is not None and 0 <= leading.change.end <= s.high_watermark:
        _end(s, ErrorCode.NONE)


def tick_change(s: QuorumState, now: int) -> None:
    """A change that takes too long is answered; once in the log it may still be committed."""
    leading = s.leading
    if leading is not None and leading.change is not None and leading.change.deadline <= now:
        _end(s, ErrorCode.REQUEST_TIMED_OUT)


def _end(s: QuorumState, error: ErrorCode, message: str | None = None) -> None:
    leading = s.leading
    assert leading is not None
    _answer_change(s, leading, error, message)
    leading.change = None


def _answer_change(s: QuorumState, leading: Leading, error: ErrorCode, message: str | None = None) -> None:
    change = leading.change
    assert change is not None
    if change.token is not None:
        _answer(s, change.token, error, message)
        change.token = None


def _name(voter: QuorumVoter) -> str:
    return _key_name(ReplicaKey(voter.id, voter.directory_id))


def _key_name(key: ReplicaKey) -> str:
    directory = "<undefined>" if key.directory_id == ZERO_UUID else uuid_to_string(key.directory_id)
    return f"ReplicaKey(id={key.id}, directoryId={directory})"


def _names(voters: VoterSet) -> str:
    return "[" + ", ".join(_name(voter) for voter in voters) + "]"
