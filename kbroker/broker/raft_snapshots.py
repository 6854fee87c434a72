"""Snapshots on their way between nodes: pieces served to a follower, pieces put together from a leader's."""

from __future__ import annotations

from kbroker.broker.metadata_files import MetadataFiles
from kbroker.errors import ErrorCode
from kbroker.metadata.delta import MetadataCorruption
from kbroker.plain import replace
from kbroker.raft.batches import QuorumRules, RaftLogCorruption, check_snapshot
from kbroker.raft.messages import RulesAt
from kbroker.raft.rpc import FetchSnapshotRequest, FetchSnapshotResponse
from kbroker.types import OffsetAndEpoch

#: A piece is at most this long.
_PIECE_BYTES = 1 << 20


class SnapshotTransfer:
    """Every call may raise OSError."""

    __slots__ = ("_files",)

    def __init__(self, files: MetadataFiles) -> None:
        self._files = files

    def serve(self, request: FetchSnapshotRequest, response: FetchSnapshotResponse) -> FetchSnapshotResponse:
        """`response` with the piece that is asked for."""
        size = self._files.snapshot_size(request.snapshot_id)
        if size is None:
            return replace(response, error=ErrorCode.SNAPSHOT_NOT_FOUND)
        if not 0 <= request.position < size:
            return replace(response, error=ErrorCode.POSITION_OUT_OF_RANGE)
        wanted = max(min(request.max_bytes, _PIECE_BYTES), 1)
        data = self._files.read_piece(request.snapshot_id, request.position, wanted)
        return replace(response, size=size, position=request.position, data=data)

    def write(self, piece: FetchSnapshotResponse) -> None:
        """Put a piece where it belongs in the unfinished file; position 0 begins it anew."""
        self._files.write_piece(piece.snapshot_id, piece.position, piece.data)

    def install(self, snapshot_id: OffsetAndEpoch) -> tuple[RulesAt, ...] | None:
        """Give the finished file its name, durably; what it says of the quorum. None: it was no snapshot, and
        is gone.
        """
        try:
            items = self._files.read_unfinished(snapshot_id)
            check_snapshot(items, snapshot_id)
        except (RaftLogCorruption, MetadataCorruption):
            self._files.remove_leftovers()
            return None
        self._files.finish_snapshot(snapshot_id)
        return snapshot_rules([item.rules for item in items if item.rules is not None], snapshot_id)


def snapshot_rules(rules: list[QuorumRules], snapshot_id: OffsetAndEpoch) -> tuple[RulesAt, ...]:
    """What a snapshot says of the quorum, as of its offset."""
    return tuple(RulesAt(snapshot_id.offset - 1, rule) for rule in rules)
