"""Moving a live log to another log directory (KIP-113), safe against a stop at any instant.

The copy grows in `<topic>-<partition>.<id>-future` while the log is written and compacted: each round of
`next_copy` takes what is missing or has changed. When little is missing, `prepare` makes all durable that is
there, small files too, and the checkpoints of the new directory tell of it: all this beside the traffic. What
came since, `LogManager.finish_move` does where the log is owned, in one step that nobody sees the middle of:
1. the last records are copied and synced (and all of the above is done, if something is not as it was);
2. the old directory becomes `<topic>-<partition>.<id>-delete`: from here on the copy counts;
3. the `-future` directory gets the partition's name.
Between 2 and 3 there is no directory of that name: a start that finds `-future` and `-delete` with one id
does step 3 (`settle_moves`). A copy whose log is still there is begun anew.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from kbroker.storage.checkpoints import format_epochs
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


class _AsItWas(NamedTuple):
    """The log when a copy of all of it was begun."""

    segments: tuple[Segment, ...]
    epochs: list[tuple[int, int]]
    cuts: int


class CopyJob:
    """One round of copying: `run` it in any thread."""

    __slots__ = (
        "_disk",
        "_pieces",
        "_removals",
        "beside",
        "copied",
        "end_offset",
        "epochs",
        "folder",
        "state",
    )

    def __init__(
        self, disk: Disk, removals: list[str], pieces: list[_Piece], copied: list[tuple[Segment, int]]
    ) -> None:
        self._disk = disk
        self._removals = removals
        self._pieces = pieces
        #: Segments, and how many bytes of each are there afterwards.
        self.copied = copied
        #: Of one that copies everything: the log as it is, where it ends, other files (from, to), the text of
        #: its leader-epoch-checkpoint, and the folder of the copy.
        self.state: _AsItWas | None = None
        self.end_offset = 0
        self.beside: list[tuple[str, str]] = []
        self.epochs = b""
        self.folder = ""

    @property
    def size(self) -> int:
        """Bytes of records to copy."""
        return sum(end - start for _, _, start, end in self._pieces)

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
        if self.state is not None:
            self._copy_beside()

    def _copy_beside(self) -> None:
        disk = self._disk
        for path, target in self.beside:
            # What goes away meanwhile is missed, or not, when it is looked whether all is as it was.
            with suppress(FileNotFoundError):
                _copy_whole(disk, path, target)
        if self.epochs:
            disk.write_file(f"{self.folder}/{LEADER_EPOCHS}", self.epochs)
        disk.sync_dir(self.folder)
        disk.sync_dir(self.folder.rpartition("/")[0])


def _copy_whole(disk: Disk, path: str, target: str, *, durable: bool = True) -> None:
    if not disk.exists(path):
        return
    data, file = disk.read_file(path), disk.open(target, create=True)
    # In place: what is there of a file that only grows stays whole.
    file.write(0, data)
    if file.size() > len(data):
        file.truncate(len(data))
    if durable:
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
        self._state: _AsItWas | None = None
        #: Up to here the copy is durable, with all that belongs to it.
        self.durable_end = 0
        #: The checkpoints of the new directory tell of it.
        self.is_told = False

    def begin(self) -> None:
        """Make the folder; what an earlier attempt left in it goes. Raises OSError."""
        self.target.disk.remove_tree(self.path)
        self.target.disk.make_dir(self.path)

    def abandon(self) -> None:
        """Leave the log where it is; the copy is removed with the next tick, for it may be large."""
        trash = f"{self.path.removesuffix(FUTURE_DIR)}{DELETE_DIR}"
        try:
            if self.target.disk.exists(self.path):
                self.target.disk.rename(self.path, trash)
                self.target.remove_dir_later(trash, 0)
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

    @property
    def missing_bytes(self) -> int:
        """How much there is to copy."""
        return sum(map(self._missing, self.log.segments))

    def _missing(self, segment: Segment) -> int:
        then, size = self._copied.get(segment.base_offset, (segment, 0))
        return segment.size - size if then is segment else segment.size

    @property
    def is_near(self) -> bool:
        """Whether `finish` has little to copy."""
        return self.missing_bytes <= FINISH_BYTES and not self._is_cut

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

    def prepare(self) -> CopyJob:
        """Copy the rest, and whatever lies beside the records. Raises OSError."""
        log = self.log
        log.seal()
        job = self.next_copy(1 << 62)
        job.state, job.end_offset = self._as_it_is(), log.log_end_offset
        job.folder = self.path
        job.epochs = format_epochs(log.epochs.entries()).encode() if log.epochs.entries() else b""
        paths = [path for segment in log.segments for path in segment.paths if not path.endswith(LOG)]
        paths += [f"{log.path}/{offset_name(offset, SNAPSHOT)}" for offset in log.snapshots]
        paths += [f"{log.path}/{name}" for name in (PARTITION_METADATA, ENCRYPTED)]
        job.beside = [(path, self._target(path)) for path in paths]
        return job

    def _as_it_is(self) -> _AsItWas:
        log = self.log
        return _AsItWas(tuple(log.segments), log.epochs.entries(), log.cuts)

    @property
    def is_ready(self) -> bool:
        """Whether all is prepared but for a few records that came since."""
        return self._state is not None and self._state == self._as_it_is() and self.is_near

    def note(self, job: CopyJob) -> None:
        """The job is done."""
        for segment, size in job.copied:
            self._copied[segment.base_offset] = (segment, size)
        if job.state is not None:
            self._state, self.durable_end = job.state, job.end_offset

    def _target(self, path: str) -> str:
        return f"{self.path}/{path.rpartition('/')[2]}"

    def complete(self) -> bool:
        """Step 1: copy the rest, sync; False: the checkpoints do not tell of it. Raises OSError."""
        log, disk = self.log, self.target.disk
        if not (self.is_told and self.is_ready):
            job = self.prepare()
            job.run()
            self.note(job)
            return False
        log.seal()
        job = self.next_copy(1 << 62)
        job.run()
        self.note(job)
        # A crash reads again from where all is durable; what is not, the next sync makes it, as with any log.
        paths = [path for path in log.segments.active.paths if not path.endswith(LOG)]
        for path in [*paths, f"{log.path}/{offset_name(log.log_end_offset, SNAPSHOT)}"]:
            _copy_whole(disk, path, self._target(path), durable=False)
        return True

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
        moved.recovery_point = self.durable_end
        moved.wants_sync = self.durable_end < moved.log_end_offset
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
