"""Moving a live log to another log directory (KIP-113), safe against a stop at any instant.

The copy grows in `<topic>-<partition>.<id>-future` while the log is written and compacted: each round of
`next_copy` takes what is missing or has changed. When little is missing, `LogManager.finish_move` does the
rest where the log is owned, in one step that nobody sees the middle of:
1. the copy is completed and synced, the checkpoints of its directory tell of it;
2. the old directory becomes `<topic>-<partition>.<id>-delete`: from here on the copy counts;
3. the `-future` directory gets the partition's name.
Between 2 and 3 there is no directory of that name: a start that finds `-future` and `-delete` with one id
does step 3 (`settle_moves`). A copy whose log is still there is begun anew.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from kbroker.storage.disk import Disk, DiskFile
from kbroker.storage.file_names import (
    DELETE_DIR,
    ENCRYPTED,
    FUTURE_DIR,
    LEADER_EPOCHS,
    LOG,
    PARTITION_METADATA,
    SNAPSHOT,
    marked_dir_name,
    offset_name,
    parse_marked_dir,
    parse_partition_dir,
)
from kbroker.storage.log import Log
from kbroker.storage.log_dir import LogDir
from kbroker.storage.recovery import LogHistory, open_log
from kbroker.storage.segment import Segment
from kbroker.types import TopicPartition

logger = logging.getLogger(__name__)

_CHUNK_BYTES = 1 << 20
#: How much one round copies at most, and how little must be missing to finish at once.
ROUND_BYTES = 64 << 20
FINISH_BYTES = 256 << 10


class _Piece(NamedTuple):
    """Bytes [start, end) of a file, to be written to the same place of another."""

    source: DiskFile
    target: str
    start: int
    end: int


class CopyJob:
    """One round of copying: `run` it in any thread."""

    __slots__ = ("_disk", "_pieces", "_removals", "copied")

    def __init__(
        self, disk: Disk, removals: list[str], pieces: list[_Piece], copied: list[tuple[Segment, int]]
    ) -> None:
        self._disk = disk
        self._removals = removals
        self._pieces = pieces
        #: Segments, and how many bytes of each are there afterwards.
        self.copied = copied

    def run(self) -> None:
        """Copy and sync. Raises OSError."""
        for path in self._removals:
            self._disk.remove(path)
        for source, target, start, end in self._pieces:
            file = self._disk.open(target, create=True)
            position = start
            while position < end:
                data = source.read(position, min(_CHUNK_BYTES, end - position))
                if not data:
                    break  # cut meanwhile; the next round sees it
                file.write(position, data)
                position += len(data)
            file.sync()


class LogMove:
    """The move of `log` to `target`.

    Args:
        unique_hex: 32 hex digits that name this move.
    """

    def __init__(self, log: Log, target: LogDir, unique_hex: str) -> None:
        self.log = log
        self.target = target
        tp = log.topic_partition
        self.path = f"{target.path}/{marked_dir_name(tp, unique_hex, FUTURE_DIR)}"
        self._old_path = f"{log.directory.path}/{marked_dir_name(tp, unique_hex, DELETE_DIR)}"
        self._copied: dict[int, tuple[Segment, int]] = {}
        self._cuts = log.cuts

    def begin(self) -> None:
        """Make the folder; what an earlier attempt left in it goes. Raises OSError."""
        self.target.disk.remove_tree(self.path)
        self.target.disk.make_dir(self.path)

    def abandon(self) -> None:
        """Leave the log where it is."""
        try:
            self.target.disk.remove_tree(self.path)
        except OSError as error:
            logger.warning("%s is left behind: %s", self.path, error)

    @property
    def copied_bytes(self) -> int:
        """How far the copy has come."""
        return sum(size for _, size in self._copied.values())

    @property
    def lag(self) -> int:
        """Offsets from the first segment that is not copied whole to the log's end."""
        for segment in self.log.segments:
            if self._missing(segment):
                return self.log.log_end_offset - segment.base_offset
        return 0

    def _missing(self, segment: Segment) -> int:
        then, size = self._copied.get(segment.base_offset, (segment, 0))
        return segment.size - size if then is segment else segment.size

    @property
    def is_near(self) -> bool:
        """Whether `finish` has little to copy."""
        return sum(map(self._missing, self.log.segments)) <= FINISH_BYTES and not self._is_cut

    @property
    def _is_cut(self) -> bool:
        return self.log.cuts != self._cuts

    def next_copy(self, most_bytes: int = ROUND_BYTES) -> CopyJob:
        """What to copy next. Raises OSError."""
        removals: list[str] = []
        there = {segment.base_offset: segment for segment in self.log.segments}
        for base, (segment, size) in list(self._copied.items()):
            # Gone, compacted, or cut: what was copied is not what the log has.
            if self._is_cut or there.get(base) is not segment or size > segment.size:
                removals += [self._target(path) for path in segment.paths]
                del self._copied[base]
        self._cuts = self.log.cuts
        pieces: list[_Piece] = []
        copied: list[tuple[Segment, int]] = []
        for segment in self.log.segments:
            _, have = self._copied.get(segment.base_offset, (segment, 0))
            end = min(segment.size, have + most_bytes)
            if end > have:
                pieces.append(_Piece(segment.file(), self._target(segment.path), have, end))
                copied.append((segment, end))
                most_bytes -= end - have
            if most_bytes <= 0:
                break
        return CopyJob(self.target.disk, removals, pieces, copied)

    def note(self, job: CopyJob) -> None:
        """The job is done."""
        for segment, size in job.copied:
            self._copied[segment.base_offset] = (segment, size)

    def _target(self, path: str) -> str:
        return f"{self.path}/{path.rpartition('/')[2]}"

    def complete(self) -> None:
        """Step 1 but for the checkpoints: copy the rest, sync. Raises OSError."""
        log, disk = self.log, self.target.disk
        log.seal()
        job = self.next_copy(1 << 62)
        job.run()
        self.note(job)
        for segment in log.segments:
            self._copy_whole([path for path in segment.paths if not path.endswith(LOG)])
        self._copy_whole([f"{log.path}/{offset_name(offset, SNAPSHOT)}" for offset in log.snapshots])
        log.write_epochs()
        self._copy_whole([f"{log.path}/{name}" for name in (LEADER_EPOCHS, PARTITION_METADATA, ENCRYPTED)])
        disk.sync_dir(self.path)
        disk.sync_dir(self.target.path)

    def _copy_whole(self, paths: Sequence[str]) -> None:
        source, disk = self.log.directory.disk, self.target.disk
        for path in paths:
            if source.exists(path):
                file = disk.open(self._target(path), create=True)
                data = source.read_file(path)
                file.truncate(0)
                file.write(0, data)
                file.sync()

    def switch(self) -> Log:
        """Steps 2 and 3; the log where it is now.

        Raises OSError; a start goes on from wherever it struck.
        """
        log = self.log
        tp, old_dir = log.topic_partition, log.directory
        old_dir.files.forget_dir(log.path)
        old_dir.disk.rename(log.path, self._old_path)
        old_dir.disk.sync_dir(old_dir.path)
        self.target.disk.rename(self.path, f"{self.target.path}/{tp}")
        self.target.disk.sync_dir(self.target.path)
        old_dir.remove_dir_later(self._old_path, log.config.file_delete_delay_ms)
        history = LogHistory(True, log.log_end_offset, log.log_start_offset)
        moved = open_log(self.target, tp, log.config, history, old_dir.now_ms)
        moved.topic_id = log.topic_id
        # With what a snapshot does not tell: the last five batches of each producer.
        moved.producers = log.producers
        moved.high_watermark = log.high_watermark
        return moved


class UnfinishedMove(NamedTuple):
    """A copy that was under way when the broker stopped."""

    topic_partition: TopicPartition
    directory: LogDir
    unique_hex: str


def settle_moves(dirs: Sequence[LogDir]) -> list[UnfinishedMove]:
    """Before logs are loaded: do step 3 where it is missing; the copies that were not complete.

    Raises OSError.
    """
    live: set[str] = set()
    old: set[str] = set()
    copies: list[tuple[LogDir, str, str]] = []
    for log_dir in dirs:
        for entry in log_dir.disk.list_dir(log_dir.path):
            marked = parse_marked_dir(entry.name) if entry.is_dir else None
            if marked is None:
                live.add(entry.name)
            elif marked[1] == DELETE_DIR:
                old.add(entry.name.removesuffix(DELETE_DIR))
            elif marked[1] == FUTURE_DIR:
                copies.append((log_dir, marked[0], entry.name.removesuffix(FUTURE_DIR)))
    unfinished = []
    for log_dir, name, unique in copies:
        tp = parse_partition_dir(name)
        if tp is None:
            continue
        if name in live:
            unfinished.append(UnfinishedMove(tp, log_dir, unique[len(name) + 1 :]))
        elif unique in old:
            logger.warning("completing the move of %s to %s", tp, log_dir.path)
            log_dir.disk.rename(f"{log_dir.path}/{unique}{FUTURE_DIR}", f"{log_dir.path}/{name}")
            log_dir.disk.sync_dir(log_dir.path)
            live.add(name)
    return unfinished
