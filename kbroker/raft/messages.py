"""What goes into a raft node and what comes out: plain values, nothing that knows its driver.

The driver performs effects one after the other, in the order of the list; each is done, or well under way,
before the next begins. What nodes say to each other is in `rpc.py`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from kbroker.plain import plain
from kbroker.raft.batches import QuorumRules
from kbroker.raft.election_state import ElectionState
from kbroker.raft.rpc import (
    FetchResponse,
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    Request,
    Response,
)
from kbroker.raft.values import Value
from kbroker.raft.voter_set import QuorumVoter
from kbroker.types import OffsetAndEpoch


class EpochStart(NamedTuple):
    """The first offset of an epoch in a log."""

    epoch: int
    start_offset: int


class RulesAt(NamedTuple):
    """Control records of the quorum at this offset of the log: kraft.version and voters from there on.

    A batch with a KRaftVersionRecord only has `voters` None in its rules: those before stay in force.
    """

    offset: int
    rules: QuorumRules


# -- events: what happened ---------------------------------------------------------------------------------


@plain(eq=False)
class Started(Value):
    """The driver has read its files.

    Attributes:
        log_end_offset: the log ends before it. None of it counts as durable yet.
        log_start_offset: where it begins; not 0 only with a snapshot of at least that offset.
        epochs: of the log, oldest first; empty: unknown, the log is empty or this node is a quorum of one.
        snapshot_id: the newest snapshot, None if there is none (the bootstrap snapshot 0-0 is none).
        rules: control records of the quorum in snapshot (at its offset) and log, oldest first; what holds
            before them is the node's `voters` argument.
    """

    log_end_offset: int
    log_start_offset: int = 0
    epochs: tuple[EpochStart, ...] = ()
    snapshot_id: OffsetAndEpoch | None = None
    rules: tuple[RulesAt, ...] = ()


@plain(eq=False)
class ElectionStored(Value):
    """The election state with this epoch is on stable storage."""

    epoch: int


@plain(eq=False)
class Appended(Value):
    """Batches were written to the log, which now ends before `end_offset`; durable is another matter.

    The driver appends as it likes while this node leads (`BecomeLeader`), and tells at once. After
    `AppendFetched` it tells in any case: an end that did not move means nothing usable was in it.

    Attributes:
        epochs: those that began with these batches, after `AppendFetched`; a leader's are of its own epoch.
        rules: control records of the quorum in these batches.
        no_op: this tells of an `AppendNoOp`.
    """

    end_offset: int
    epochs: tuple[EpochStart, ...] = ()
    rules: tuple[RulesAt, ...] = ()
    no_op: bool = False


@plain(eq=False)
class Flushed(Value):
    """Everything before `end_offset` is on stable storage, as the log was when the flush began."""

    end_offset: int


@plain(eq=False)
class SnapshotTaken(Value):
    """The newest snapshot, or the start of the log, is another: the driver wrote one, or deleted records
    that one contains."""

    snapshot_id: OffsetAndEpoch
    log_start_offset: int


@plain(eq=False)
class SnapshotInstalled(Value):
    """After `InstallSnapshot`: the log is empty and begins at the snapshot's end. `rules` as in `Started`.

    `installed` False: the fetched file was no whole snapshot; it is gone, the log is as before.
    """

    snapshot_id: OffsetAndEpoch
    rules: tuple[RulesAt, ...] = ()
    installed: bool = True


@plain(eq=False)
class Received(Value):
    """A peer, or an administrator, asks. Exactly one `Reply`, `ServeFetch` or `ServeSnapshot` with the same
    token follows, now or later. `wall_ms` is for DescribeQuorum."""

    token: object
    message: Request
    wall_ms: int = -1


@plain(eq=False)
class Dropped(Value):
    """Nobody waits for the answer to `token` any more (its connection is gone)."""

    token: object


@plain(eq=False)
class Answered(Value):
    """`response` answers the `request` of a `Send` (that very object). A `Send` has one `Answered` or
    `SendFailed`, never both; the driver gives up after the request time-out."""

    peer: int
    request: Request
    response: Response


@plain(eq=False)
class SendFailed(Value):
    """There is no answer to `request` and will be none: refused, connection lost, timed out, not readable."""

    peer: int
    request: Request


@plain(eq=False)
class PeerGone(Value):
    """The process of `peer` is gone: its connection died and its port refuses. No time-out tells this:
    whoever followed it need not wait for one. A false alarm costs an election at most."""

    peer: int


@plain(eq=False)
class VoterProbed(Value):
    """After `ProbeVoter`: the range of kraft.version that it supports, None: no answer."""

    voter: QuorumVoter
    kraft_versions: tuple[int, int] | None


@plain(eq=False)
class ReadBarrier(Value):
    """Tell, by `BarrierPassed`, when this node certainly still led after this event: a read of everything
    before the high watermark then is linearizable."""

    token: object


@plain(eq=False)
class Tick(Value):
    """The `deadline` has come (or any other time: it does no harm)."""


@plain(eq=False)
class ResignRequested(Value):
    """Lead no more and let others stand for election, for instance because the leader's own application
    failed to follow. The node goes on as a voter."""

    epoch: int


@plain(eq=False)
class ShutDown(Value):
    """The node is about to stop. A leader tells the voters; the driver sends that before it closes."""


Event: TypeAlias = (
    Started
    | ElectionStored
    | Appended
    | Flushed
    | SnapshotTaken
    | SnapshotInstalled
    | Received
    | Dropped
    | Answered
    | SendFailed
    | PeerGone
    | VoterProbed
    | ReadBarrier
    | Tick
    | ResignRequested
    | ShutDown
)

# -- effects: what the driver does, in the order of the list -------------------------------------------------


@plain(eq=False)
class StoreElection(Value):
    """Write the election state durably, then tell by `ElectionStored`. Nothing of its epoch may leave
    before: the effects after this one are performed when it is stored, and if it cannot be, the node ends.
    """

    state: ElectionState


@plain(eq=False)
class AppendLeaderChange(Value):
    """Append the control batch that opens the leader's epoch, then tell by `Appended`. `granting`: the
    voters that elected it."""

    epoch: int
    granting: tuple[int, ...] = ()


@plain(eq=False)
class AppendRules(Value):
    """Append a control batch with these rules of the quorum: the KRaftVersionRecord if `with_version`, and
    the VotersRecord; then tell by `Appended` with them."""

    epoch: int
    rules: QuorumRules
    with_version: bool = False


@plain(eq=False)
class AppendNoOp(Value):
    """Append a record that says nothing, then tell by `Appended` with `no_op`: a read barrier waits for its
    commit."""

    epoch: int


@plain(eq=False)
class AppendFetched(Value):
    """Append the `records` that the leader of `epoch` sent; they belong at the end of the log. Then tell by
    `Appended`. Batches with another base offset, a wrong checksum or an epoch above `epoch` are no good:
    append those before them."""

    epoch: int
    response: FetchResponse


@plain(eq=False)
class FlushLog(Value):
    """Make everything before `end_offset` durable, then tell by `Flushed`. One at a time is under way."""

    end_offset: int


@plain(eq=False)
class Truncate(Value):
    """Cut the log back to end before `end_offset`: what was behind was never committed. No event answers.
    `Flushed` of a flush that began before may still come and is taken for what it is."""

    end_offset: int


@plain(eq=False)
class WriteSnapshot(Value):
    """A piece of a snapshot came from the leader: put `response.data` at `response.position` of the
    snapshot's unfinished file (position 0: begin it anew)."""

    response: FetchSnapshotResponse


@plain(eq=False)
class InstallSnapshot(Value):
    """The snapshot is complete: check it, make it durable under its name, drop the whole log and let it
    begin at the snapshot's end, then tell by `SnapshotInstalled`. The `Commit` of its offset follows that."""

    snapshot_id: OffsetAndEpoch


@plain(eq=False)
class BecomeLeader(Value):
    """This node leads `epoch`, and everything before its epoch is committed: it may take records."""

    epoch: int


@plain(eq=False)
class Commit(Value):
    """Everything before `high_watermark` is committed, whoever leads."""

    high_watermark: int


@plain(eq=False)
class Resign(Value):
    """This node does not lead `epoch` any more: what was not committed may never be. Comes also if it was
    elected but never came to `BecomeLeader`."""

    epoch: int


@plain(eq=False)
class LeaderChanged(Value):
    """Another node leads `epoch`; -1: nobody that this node knows of."""

    leader_id: int
    epoch: int


@plain(eq=False)
class RulesChanged(Value):
    """kraft.version and voters in force are others now (committed or not: the newest in the log count)."""

    rules: QuorumRules


@plain(eq=False)
class Send(Value):
    """Send to the node `to`: at the endpoints `RaftNode.endpoints_of(to)`; an id below 0 is the bootstrap
    server -1 - to. The driver answers by one `Answered` or `SendFailed` with this very request."""

    to: int
    request: Request


@plain(eq=False)
class Reply(Value):
    """Answer the `Received` with this token."""

    token: object
    response: Response


@plain(eq=False)
class ServeFetch(Value):
    """Answer with `response`, its `records` being what the log has from `offset` on, before `end_offset`:
    whole batches, at least one, as many as fit the limits of driver and asker; nothing, if the log begins
    later by now."""

    token: object
    response: FetchResponse
    offset: int
    end_offset: int


@plain(eq=False)
class ServeSnapshot(Value):
    """Answer with `response`, completed by the size and the piece of the snapshot that `request` asks for;
    error SNAPSHOT_NOT_FOUND or POSITION_OUT_OF_RANGE if there is none."""

    token: object
    request: FetchSnapshotRequest
    response: FetchSnapshotResponse


@plain(eq=False)
class ProbeVoter(Value):
    """Ask the node at these endpoints (ApiVersions) for its range of kraft.version; tell by `VoterProbed`."""

    voter: QuorumVoter


@plain(eq=False)
class BarrierPassed(Value):
    """The answer to `ReadBarrier`: read everything before this offset. None: this node does not lead."""

    token: object
    high_watermark: int | None


@plain(eq=False)
class Warn(Value):
    """Something a peer said cannot be, and was not obeyed: for the log, as it may come again and again."""

    text: str


Effect: TypeAlias = (
    StoreElection
    | AppendLeaderChange
    | AppendRules
    | AppendNoOp
    | AppendFetched
    | FlushLog
    | Truncate
    | WriteSnapshot
    | InstallSnapshot
    | BecomeLeader
    | Commit
    | Resign
    | LeaderChanged
    | RulesChanged
    | Send
    | Reply
    | ServeFetch
    | ServeSnapshot
    | ProbeVoter
    | BarrierPassed
    | Warn
)
