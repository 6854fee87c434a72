"""What raft nodes say to each other: plain values. `wire.py` translates them to and from Kafka's requests.

An epoch, an offset or an id of -1 means: unknown. Cluster ids, topic names and partition numbers are
checked in `wire.py` and do not come this far.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from kbroker.errors import ErrorCode
from kbroker.plain import plain
from kbroker.raft.values import Value
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey
from kbroker.types import OffsetAndEpoch

#: A fetch of a version below 18 does not say which high watermark its sender knows: news of it can wait.
HIGH_WATERMARK_UNTOLD = (1 << 63) - 1


class LeaderView(NamedTuple):
    """Whom the sender takes for the leader of the epoch it is in; `leader_id` -1: it knows none."""

    leader_id: int = -1
    epoch: int = 0
    #: Where that leader is, if the sender knows and the version can say.
    endpoints: tuple[QuorumEndpoint, ...] = ()


# -- elections -----------------------------------------------------------------------------------------------


@plain(eq=False)
class VoteRequest(Value):
    """Ask `voter` for its vote in `epoch`; with `pre_vote` only whether it would give it (KIP-996), the
    epoch being the one the asker is in.
    """

    epoch: int
    replica: ReplicaKey
    voter: ReplicaKey
    last_epoch: int
    last_offset: int
    pre_vote: bool = False


@plain(eq=False)
class VoteResponse(Value):
    """Whether the vote is granted."""

    error: ErrorCode
    leader: LeaderView
    granted: bool = False


@plain(eq=False)
class BeginQuorumEpochRequest(Value):
    """The leader of `epoch` tells `voter` of its election."""

    leader_id: int
    epoch: int
    voter: ReplicaKey
    endpoints: tuple[QuorumEndpoint, ...] = ()


@plain(eq=False)
class BeginQuorumEpochResponse(Value):
    """Taken note, or why not."""

    error: ErrorCode
    leader: LeaderView


@plain(eq=False)
class EndQuorumEpochRequest(Value):
    """The leader of `epoch` stops; the first of `preferred` should stand for election at once."""

    leader_id: int
    epoch: int
    preferred: tuple[ReplicaKey, ...] = ()
    endpoints: tuple[QuorumEndpoint, ...] = ()


@plain(eq=False)
class EndQuorumEpochResponse(Value):
    """Taken note, or why not."""

    error: ErrorCode
    leader: LeaderView


# -- the log -------------------------------------------------------------------------------------------------


@plain(eq=False)
class FetchRequest(Value):
    """`replica` has everything before `offset` on stable storage, its last record being of `last_epoch`."""

    epoch: int
    replica: ReplicaKey
    offset: int
    last_epoch: int
    max_wait_ms: int = 0
    high_watermark: int = HIGH_WATERMARK_UNTOLD


@plain(eq=False)
class FetchResponse(Value):
    """Records from the asked offset on, or where the logs part, or which snapshot to fetch first.

    `records` is what the driver of the leader read (`ServeFetch`) and the driver of the follower writes
    (`AppendFetched`): whole batches; the cores do not look into it.
    """

    error: ErrorCode
    leader: LeaderView
    high_watermark: int = -1
    log_start_offset: int = -1
    #: The last epoch that both may share, and where it ends in the leader's log.
    diverging: OffsetAndEpoch | None = None
    snapshot_id: OffsetAndEpoch | None = None
    records: object = b""


@plain(eq=False)
class FetchSnapshotRequest(Value):
    """Bytes of a snapshot from `position` on."""

    epoch: int
    replica: ReplicaKey
    snapshot_id: OffsetAndEpoch
    position: int
    max_bytes: int = (1 << 31) - 1


@plain(eq=False)
class FetchSnapshotResponse(Value):
    """A piece of the snapshot, which is `size` bytes in all. `data` is opaque as `FetchResponse.records`,
    except that it has a length."""

    error: ErrorCode
    leader: LeaderView
    snapshot_id: OffsetAndEpoch
    size: int = 0
    position: int = 0
    data: bytes | bytearray | memoryview = b""


# -- the quorum itself ---------------------------------------------------------------------------------------


@plain(eq=False)
class DescribeQuorumRequest(Value):
    """Ask the leader for the state of the quorum."""


class ReplicaState(NamedTuple):
    """What the leader knows of a replica. Times are of the leader's wall clock as `Received` gave it."""

    replica: ReplicaKey
    log_end_offset: int = -1
    last_fetch_ms: int = -1
    last_caught_up_ms: int = -1


@plain(eq=False)
class DescribeQuorumResponse(Value):
    """The state of the quorum; from the leader only. `nodes`: where the voters are."""

    error: ErrorCode
    leader: LeaderView
    high_watermark: int = -1
    voters: tuple[ReplicaState, ...] = ()
    observers: tuple[ReplicaState, ...] = ()
    nodes: tuple[QuorumVoter, ...] = ()


@plain(eq=False)
class AddVoterRequest(Value):
    """Make an observer a voter (KIP-853). The range of kraft.version in `voter` is found out by asking it."""

    voter: QuorumVoter
    timeout_ms: int
    ack_when_committed: bool = True


@plain(eq=False)
class RemoveVoterRequest(Value):
    """Make a voter an observer (KIP-853)."""

    voter: ReplicaKey


@plain(eq=False)
class UpdateVoterRequest(Value):
    """A voter's endpoints or its range of kraft.version are others now (KIP-853)."""

    epoch: int
    voter: QuorumVoter


@plain(eq=False)
class UpgradeKraftVersion(Value):
    """Finalize this kraft.version (from UpdateFeatures, so never from a peer): 0 -> 1 puts the voters with
    their directories into the log. `validate_only` changes nothing.
    """

    version: int
    validate_only: bool = False


@plain(eq=False)
class VoterChangeResponse(Value):
    """The answer to all changes of the quorum, UpgradeKraftVersion included."""

    error: ErrorCode
    leader: LeaderView
    #: Kafka's words for the error, None: those of the code.
    message: str | None = None


VoterChange: TypeAlias = AddVoterRequest | RemoveVoterRequest | UpdateVoterRequest | UpgradeKraftVersion
Request: TypeAlias = (
    VoteRequest
    | BeginQuorumEpochRequest
    | EndQuorumEpochRequest
    | FetchRequest
    | FetchSnapshotRequest
    | DescribeQuorumRequest
    | VoterChange
)
Response: TypeAlias = (
    VoteResponse
    | BeginQuorumEpochResponse
    | EndQuorumEpochResponse
    | FetchResponse
    | FetchSnapshotResponse
    | DescribeQuorumResponse
    | VoterChangeResponse
)
