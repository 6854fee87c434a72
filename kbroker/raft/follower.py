"""The follower: fetches what the leader has, cuts off what the leader does not have, tells what is durable.

A fetch's offset says: everything before it is on stable storage here. So the next fetch leaves when the
records of the last one are flushed. A node without a leader looks for one by the same requests.
"""

from __future__ import annotations

from kbroker.errors import ErrorCode
from kbroker.raft.election_state import NOBODY
from kbroker.raft.messages import (
    AppendFetched,
    Commit,
    InstallSnapshot,
    SnapshotInstalled,
    Truncate,
    WriteSnapshot,
)
from kbroker.raft.roles import flush, forget_leader, heed_leader, rules_changed, send, warn
from kbroker.raft.rpc import (
    AddVoterRequest,
    FetchRequest,
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    LeaderView,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
    VoterChangeResponse,
)
from kbroker.raft.state import QuorumState, Role, SnapshotFetch
from kbroker.raft.voter_set import QuorumVoter, ReplicaKey
from kbroker.types import OffsetAndEpoch

#: How often a node without a leader asks another node for it.
_SEARCH_MS = 100
_LEADERS_ANSWERS = (ErrorCode.NONE, ErrorCode.SNAPSHOT_NOT_FOUND, ErrorCode.POSITION_OUT_OF_RANGE)
_LEADS_NO_MORE = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.BROKER_NOT_AVAILABLE)
_OF_ANOTHER_EPOCH = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH)
_EXPECTED = (*_LEADERS_ANSWERS, *_LEADS_NO_MORE, *_OF_ANOTHER_EPOCH)


def may_fetch(s: QuorumState) -> bool:
    """Whether a fetch could leave now, but for its time and what is not durable yet."""
    if s.role is not Role.FOLLOWER and s.role is not Role.UNATTACHED:
        return False
    return s.following.fetch is None and not s.writing and not s.stopping


def poll(s: QuorumState, now: int) -> None:
    """Send the next fetch if it is time."""
    following = s.following
    if not may_fetch(s) or now < following.retry_at:
        return
    if s.log.flushed < s.log.end:
        flush(s)
        return
    peer = s.election.leader_id if s.role is Role.FOLLOWER else _somebody(s)
    if peer == NOBODY:
        following.retry_at = now + _SEARCH_MS
        return
    following.peer = peer
    request: Request
    snapshot = following.snapshot
    if snapshot is not None:
        request = FetchSnapshotRequest(s.epoch, s.me, snapshot.id, snapshot.position)
    else:
        # A fetch that waits tells the leader that its last answer came (leader.py, `unrivalled_until`).
        wait_ms = s.timeouts.fetch_wait_ms if following.answered else 0
        request = FetchRequest(s.epoch, s.me, s.log.end, s.log.last_epoch, wait_ms, s.high_watermark)
    following.fetch = request
    send(s, peer if peer >= 0 else peer + 1, request)


def _somebody(s: QuorumState) -> int:
    """A node that may know the leader: a voter, or a bootstrap server (from -2 down: -1 is nobody)."""
    known = s.others()
    choices = len(known) + s.bootstrap_servers
    if not choices:
        return NOBODY
    choice = s.random(choices)
    return known[choice] if choice < len(known) else -2 - (choice - len(known))


def fetch_failed(s: QuorumState, now: int, request: Request) -> None:
    """There is no answer."""
    following = s.following
    if following.update is request:
        following.update = None
    if following.fetch is not request:
        return
    following.fetch = None
    following.answered = False
    following.retry_at = now + (s.timeouts.retry_ms if s.role is Role.FOLLOWER else _SEARCH_MS)


def leader_is_gone(s: QuorumState, now: int) -> None:
    """The leader's process is gone, or it does not lead any more: no use waiting for the time-out."""
    if s.role is not Role.FOLLOWER:
        return
    s.following.fetched = False
    s.following.leader_gone = True
    if s.may_stand and s.election_at is not None:
        s.election_at = min(s.election_at, now + s.random(s.timeouts.gone_jitter_ms + 1))


def observer_timed_out(s: QuorumState, now: int) -> None:
    """An observer hears nothing of its leader, or led itself before: ask others who leads."""
    s.election_at = None
    if s.role is not Role.UNATTACHED:
        forget_leader(s, now)


def _is_current(s: QuorumState, now: int, request: Request, error: ErrorCode, view: LeaderView) -> bool:
    """Whether this is the leader's answer to the fetch under way. What it says of the leader is obeyed in any
    case, and an observer may get its first records from a node that it finds to be the leader by them."""
    following = s.following
    if following.fetch is not request:
        return False
    following.fetch = None
    peer, epoch, followed = following.peer, s.epoch, s.role is Role.FOLLOWER
    heed_leader(s, now, *view)
    is_leaders = s.role is Role.FOLLOWER and s.epoch == view.epoch == epoch and view.leader_id == peer
    if is_leaders and error in _LEADERS_ANSWERS:
        return True
    following.answered = False
    if s.following is following:
        following.retry_at = now + (s.timeouts.retry_ms if followed else _SEARCH_MS)
        if followed and view.epoch == epoch and error in _LEADS_NO_MORE:
            leader_is_gone(s, now)
    if error not in _EXPECTED:
        following.retry_at = now + _SEARCH_MS
        who = f"node {peer}" if peer >= 0 else "a bootstrap server"
        warn(s, f"{who} answers a fetch of epoch {epoch} at offset {s.log.end} with {error.name}")
    return False


def _leader_answered(s: QuorumState, now: int) -> None:
    s.election_at = now + s.timeouts.fetch_ms
    s.following.fetched = s.following.answered = True
    s.following.leader_gone = False
    s.following.retry_at = now


def fetch_answered(s: QuorumState, now: int, request: FetchRequest, response: FetchResponse) -> None:
    """The leader sends records, or says where the logs part, or which snapshot to fetch."""
    if not _is_current(s, now, request, response.error, response.leader):
        return
    _leader_answered(s, now)
    following = s.following
    if response.diverging is not None:
        _truncate(s, now, response.diverging)
    elif response.snapshot_id is not None:
        _begin_snapshot(s, now, response.snapshot_id)
    else:
        following.leader_high_watermark = response.high_watermark
        if response.records:
            s.writing = True
            s.out.append(AppendFetched(s.epoch, response))
        else:
            commit_known(s)
            consider_update(s, now)


def _truncate(s: QuorumState, now: int, diverging: OffsetAndEpoch) -> None:
    end = s.log.cut_for(diverging)
    if end < max(s.high_watermark, s.log.start) or end >= s.log.end:
        s.following.retry_at = now + s.timeouts.request_ms
        warn(
            s,
            f"node {s.election.leader_id} wants the log, which ends at {s.log.end}, cut back to {end} "
            f"(end of epoch {diverging.epoch} at {diverging.offset}), but {s.high_watermark} is committed",
        )
        return
    s.log.truncate(end)
    s.out.append(Truncate(end))
    if s.rules.truncate(end):
        rules_changed(s, now)


def fetched_appended(s: QuorumState, now: int, grew: bool) -> None:
    """What the last fetch brought is in the log."""
    s.writing = False
    if s.role is Role.FOLLOWER:
        if not grew:
            s.following.retry_at = now + s.timeouts.retry_ms
        commit_known(s)


def commit_known(s: QuorumState) -> None:
    """What the leader called committed, as far as this log has it. The last answer matched this log."""
    known = min(s.following.leader_high_watermark, s.log.end)
    if known > s.high_watermark:
        s.high_watermark = known
        s.rules.compact(known)
        s.out.append(Commit(known))


# -- snapshots -----------------------------------------------------------------------------------------------


def _begin_snapshot(s: QuorumState, now: int, snapshot_id: OffsetAndEpoch) -> None:
    if snapshot_id.offset <= s.high_watermark or snapshot_id.epoch < 0:
        s.following.retry_at = now + s.timeouts.request_ms
        warn(
            s,
            f"node {s.election.leader_id} offers the snapshot at {snapshot_id.offset} of epoch "
            f"{snapshot_id.epoch}, but this node has everything before {s.high_watermark}",
        )
        return
    s.following.snapshot = SnapshotFetch(snapshot_id)


def snapshot_answered(
    s: QuorumState, now: int, request: FetchSnapshotRequest, response: FetchSnapshotResponse
) -> None:
    """A piece of the snapshot; or there is none any more: begin again with a fetch."""
    following, snapshot = s.following, s.following.snapshot
    if not _is_current(s, now, request, response.error, response.leader):
        if s.following is following and response.error is not ErrorCode.NONE:
            # Kafka's leader fails to say that a snapshot is gone: UNKNOWN_SERVER_ERROR. Begin anew.
            following.snapshot = None
        return
    _leader_answered(s, now)
    if (
        response.error is not ErrorCode.NONE
        or snapshot is None
        or s.following.snapshot is not snapshot
        or response.snapshot_id != snapshot.id
        or response.position != snapshot.position
        or response.size < snapshot.position + len(response.data)
        or not response.data
        or snapshot.size not in (-1, response.size)
    ):
        s.following.snapshot = None
        s.following.retry_at = now + s.timeouts.retry_ms
        return
    s.out.append(WriteSnapshot(response))
    snapshot.position += len(response.data)
    snapshot.size = response.size
    if snapshot.position == snapshot.size:
        s.following.snapshot = None
        s.writing = True
        s.out.append(InstallSnapshot(snapshot.id))


def snapshot_installed(s: QuorumState, now: int, event: SnapshotInstalled) -> None:
    """The log begins anew at the snapshot's end."""
    s.writing = False
    if not event.installed:
        s.following.retry_at = now + s.timeouts.retry_ms
        return
    s.log.start_at(event.snapshot_id)
    if s.rules.start_at(event.snapshot_id.offset, event.rules):
        rules_changed(s, now)
    if event.snapshot_id.offset > s.high_watermark:
        s.high_watermark = event.snapshot_id.offset
        s.out.append(Commit(s.high_watermark))


# -- this node's own place in the voter set ------------------------------------------------------------------


def consider_update(s: QuorumState, now: int) -> None:
    """Tell the leader what the voter set says wrongly of this node (KIP-853), or join the voters if that is
    configured; only once it has everything, and now and then."""
    following = s.following
    if following.update is not None or not s.endpoints or s.log.end > max(s.high_watermark, 0):
        return
    if following.update_at is None:
        following.update_at = now + s.timeouts.fetch_ms
    if now < following.update_at:
        return
    following.update_at = now + s.timeouts.fetch_ms
    request = _wanted_change(s)
    if request is not None:
        following.update = request
        send(s, s.election.leader_id, request)


def _wanted_change(s: QuorumState) -> Request | None:
    own = QuorumVoter(s.me.id, s.me.directory_id, s.endpoints, *s.kraft_versions)
    known = s.voters.get(s.me.id)
    if s.rules.current.kraft_version == 0:
        return UpdateVoterRequest(s.epoch, own) if s.is_voter else None
    if s.is_voter:
        return UpdateVoterRequest(s.epoch, own) if known != own else None
    if not s.auto_join:
        return None
    if known is not None:
        return RemoveVoterRequest(ReplicaKey(known.id, known.directory_id))
    return AddVoterRequest(own, s.timeouts.request_ms, False)


def update_answered(s: QuorumState, now: int, request: Request, response: VoterChangeResponse) -> None:
    """The leader took note of it; with kraft.version 0 once an epoch is enough."""
    following = s.following
    if following.update is not request:
        return
    following.update = None
    if response.error is ErrorCode.NONE and s.rules.current.kraft_version == 0:
        following.update_at = 1 << 62
