"""The files beside the metadata log: snapshots and the quorum-state file, over the `Disk` port."""

from __future__ import annotations

from collections.abc import Iterable

from kbroker.raft.batches import LogItem, RaftLogCorruption, read_items
from kbroker.raft.election_state import (
    FILE_NAME,
    ElectionState,
    decode_election_state,
    decode_static_voters,
    encode_election_state,
)
from kbroker.raft.snapshot import (
    DELETED_SUFFIX,
    PART_SUFFIX,
    SnapshotFile,
    parse_snapshot_file_name,
    snapshot_file_name,
)
from kbroker.storage.disk import Buffer, Disk
from kbroker.types import OffsetAndEpoch

#: The directory of the metadata partition in the metadata log dir.
METADATA_DIRECTORY = "__cluster_metadata-0"
#: What the format tool of Kafka 3.x left in the metadata log dir.
OLD_BOOTSTRAP_FILE = "bootstrap.checkpoint"


class MetadataFiles:
    """Snapshots and election state in one metadata partition directory. Every call may raise OSError."""

    __slots__ = ("_disk", "_log_dir", "path")

    def __init__(self, disk: Disk, log_dir: str) -> None:
        self._disk = disk
        self._log_dir = log_dir
        self.path = f"{log_dir}/{METADATA_DIRECTORY}"

    # -- quorum-state ----------------------------------------------------------------------------------------

    def read_election(self) -> ElectionState:
        """The stored state; that of a node that never saw an election if there is none."""
        path = f"{self.path}/{FILE_NAME}"
        return (
            decode_election_state(self._disk.read_file(path)) if self._disk.exists(path) else ElectionState()
        )

    def read_static_voters(self) -> list[int]:
        """The voters that the stored state names, as it does while they are fixed by configuration."""
        path = f"{self.path}/{FILE_NAME}"
        return decode_static_voters(self._disk.read_file(path)) if self._disk.exists(path) else []

    def write_election(self, state: ElectionState, static_voters: list[int] | None) -> None:
        """Store it durably: the file of before or this one survives a crash, never a mixture."""
        self._disk.write_file(f"{self.path}/{FILE_NAME}", encode_election_state(state, static_voters))

    # -- snapshots -------------------------------------------------------------------------------------------

    def snapshot_ids(self) -> list[OffsetAndEpoch]:
        """The finished snapshots, oldest first."""
        return [snapshot.id for snapshot in self.snapshots()]

    def snapshots(self) -> list[SnapshotFile]:
        """The finished snapshots with size and time, oldest first."""
        if not self._disk.exists(self.path):
            return []
        found = []
        for entry in self._disk.list_dir(self.path):
            snapshot_id = parse_snapshot_file_name(entry.name)
            if snapshot_id is not None:
                written_ms = self._disk.modified_ms(f"{self.path}/{entry.name}")
                found.append(SnapshotFile(snapshot_id, entry.size, written_ms))
        return sorted(found)

    def read_snapshot(self, snapshot_id: OffsetAndEpoch) -> list[LogItem]:
        """Its batches. Raises RaftLogCorruption."""
        return self._read(self._snapshot_path(snapshot_id))

    def read_old_bootstrap(self) -> list[LogItem]:
        """The batches of Kafka 3.x's bootstrap.checkpoint, none if there is none."""
        path = f"{self._log_dir}/{OLD_BOOTSTRAP_FILE}"
        return self._read(path) if self._disk.exists(path) else []

    def _read(self, path: str) -> list[LogItem]:
        try:
            return list(read_items(self._disk.read_file(path)))
        except RaftLogCorruption as error:
            raise RaftLogCorruption(f"{path}: {error}") from None

    def write_snapshot(self, snapshot_id: OffsetAndEpoch, batches: Iterable[bytes]) -> int:
        """Write a snapshot durably under its final name; its size. May run in a thread of its own.

        A crash leaves either all of it or a `.part` file that nobody reads.
        """
        self._disk.make_dir(self.path)
        part = self._part_path(snapshot_id)
        self._disk.remove(part)
        file = self._disk.open(part, create=True)
        size = 0
        for batch in batches:
            file.write(size, batch)
            size += len(batch)
        file.sync()
        self._disk.rename(part, self._snapshot_path(snapshot_id))
        self._disk.sync_dir(self.path)
        return size

    # -- a leader's snapshot, piece by piece ---------------------------------------------------------------

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        """How many bytes a finished snapshot has, None if there is none."""
        return next((each.size for each in self.snapshots() if each.id == snapshot_id), None)

    def read_piece(self, snapshot_id: OffsetAndEpoch, position: int, size: int) -> bytes:
        """Up to `size` bytes of a finished snapshot from `position` on."""
        return self._disk.open(self._snapshot_path(snapshot_id)).read(position, size)

    def write_piece(self, snapshot_id: OffsetAndEpoch, position: int, data: Buffer) -> None:
        """Write to an unfinished snapshot; at position 0 it is begun anew."""
        self._disk.make_dir(self.path)
        path = self._part_path(snapshot_id)
        if position == 0:
            self._disk.remove(path)
        self._disk.open(path, create=True).write(position, data)

    def read_unfinished(self, snapshot_id: OffsetAndEpoch) -> list[LogItem]:
        """The batches of an unfinished snapshot. Raises RaftLogCorruption."""
        return self._read(self._part_path(snapshot_id))

    def finish_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Make an unfinished snapshot durable under its final name."""
        part = self._part_path(snapshot_id)
        self._disk.open(part).sync()
        self._disk.rename(part, self._snapshot_path(snapshot_id))
        self._disk.sync_dir(self.path)

    # -- the end of snapshots ------------------------------------------------------------------------------

    def delete_snapshot(self, snapshot_id: OffsetAndEpoch) -> None:
        """Remove a snapshot."""
        doomed = f"{self.path}/{snapshot_file_name(snapshot_id, DELETED_SUFFIX)}"
        self._disk.rename(self._snapshot_path(snapshot_id), doomed)
        self._disk.remove(doomed)

    def remove_leftovers(self) -> None:
        """Remove what a crash left: unfinished snapshots, and deleted ones."""
        for entry in self._disk.list_dir(self.path):
            if entry.name.endswith((PART_SUFFIX, DELETED_SUFFIX)):
                self._disk.remove(f"{self.path}/{entry.name}")

    def _snapshot_path(self, snapshot_id: OffsetAndEpoch) -> str:
        return f"{self.path}/{snapshot_file_name(snapshot_id)}"

    def _part_path(self, snapshot_id: OffsetAndEpoch) -> str:
        return f"{self.path}/{snapshot_file_name(snapshot_id, PART_SUFFIX)}"
