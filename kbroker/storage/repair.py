"""Mending a log directory by a plan that a person has seen: what `verify_dir` found, step by step.

The law of this file: nothing is deleted. What a step replaces or takes out is kept beside it as `.bak`, a
name that no broker reads. Damaged bytes in the middle of a segment are taken out and the batches behind
them stay, where a start would put everything from there on aside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from kbroker.protocol.record_batch import check_crc
from kbroker.storage.batch_scan import find_batch, scan_batches
from kbroker.storage.checkpoints import format_epochs, format_offsets
from kbroker.storage.disk import Disk
from kbroker.storage.file_names import (
    INDEX,
    LEADER_EPOCHS,
    LOG,
    NO_PRODUCERS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    SNAPSHOT,
    TIME_INDEX,
    TXN_INDEX,
    offset_name,
    parse_offset_name,
)
from kbroker.storage.open_files import OpenFiles
from kbroker.storage.segment import Segment
from kbroker.storage.verify import PartitionCheck
from kbroker.storage.verify_dir import CHECKPOINTS, DirectoryFacts
from kbroker.storage.verify_facts import Cause, Expectations, Finding, Level, PartitionFacts
from kbroker.types import TopicPartition

BACKUP = ".bak"
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Step:
    """One thing to do; `do` does it and may raise OSError. None: nothing can be done by a program."""

    path: str
    text: str
    do: Callable[[], None] | None = None


class Repair:
    """The plan for a directory.

    Args:
        facts: what the check found; nobody may have changed the directory since.
    """

    def __init__(self, disk: Disk, facts: DirectoryFacts) -> None:
        self._disk = disk
        self._facts = facts

    def plan(self) -> list[Step]:
        """What would be done, in this order."""
        steps = []
        for finding in self._facts.findings:
            steps += self._directory_step(finding)
        for tp, facts in self._facts.partitions.items():
            steps += self._partition_steps(tp, facts)
        return steps

    # -- the directory's own files ---------------------------------------------------------------------------

    def _directory_step(self, finding: Finding) -> list[Step]:
        if finding.level is Level.NOTE:
            return []
        path, name = finding.path, finding.path.rpartition("/")[2]
        if name not in CHECKPOINTS:
            return [Step(path, f"{finding.text}: no program can mend this")]
        offsets = self._facts.checkpoints.get(name)
        if offsets is None or name == NO_PRODUCERS:
            return [
                Step(path, "move aside; the next start works without it", partial(self._move_aside, path))
            ]
        lowered = {
            tp: min(offset, self._facts.partitions[tp].end) if tp in self._facts.partitions else offset
            for tp, offset in offsets.items()
        }
        text = format_offsets(lowered).encode()
        return [Step(path, "lower it to where the logs end", partial(self._replace, path, text))]

    # -- a partition -----------------------------------------------------------------------------------------

    def _partition_steps(self, tp: TopicPartition, facts: PartitionFacts) -> list[Step]:
        steps: list[Step] = []
        reindex: dict[int, None] = {}
        moved: set[int] = set()
        for finding in facts.findings:
            name = finding.path.rpartition("/")[2]
            offset, suffix = parse_offset_name(name) or (-1, "")
            if finding.level is Level.NOTE and finding.cause is not Cause.BATCHES:
                continue
            if finding.cause is Cause.OVERLAP:
                moved.add(offset)
                move = partial(self._move_segment, facts.path, offset)
                steps.append(Step(finding.path, "move the segment's files aside", move))
            elif offset in moved:
                continue
            elif finding.cause is Cause.BATCHES:
                reindex[offset] = None
                steps.append(self._batches_step(facts, offset, finding.path))
            elif suffix in (INDEX, TIME_INDEX, TXN_INDEX) and finding.cause is not Cause.ORPHAN:
                reindex[offset] = None
            elif name == LEADER_EPOCHS:
                steps.append(self._epochs_step(facts, finding.path))
            elif finding.cause is Cause.ORPHAN or suffix == SNAPSHOT or name == PARTITION_METADATA:
                aside = partial(self._move_aside, finding.path)
                steps.append(Step(finding.path, "move aside; a start makes what it needs anew", aside))
            else:
                steps.append(Step(finding.path, f"{finding.text}: no program can mend this"))
        for base in sorted(reindex.keys() - moved):
            path = f"{facts.path}/{offset_name(base, INDEX)}"
            what = "build the indexes of the segment anew from its batches"
            steps.append(Step(path, what, partial(self._reindex, facts.path, base)))
        if not self._facts.clean and any(f.cause in (Cause.OVERLAP, Cause.BATCHES) for f in facts.findings):
            path = f"{self._facts.path}/{RECOVERY_POINTS}"
            what = f"note that {tp} is good to its end, so that a start need not give up what follows a gap"
            steps.append(Step(path, what, partial(self._raise_recovery_point, tp, facts.path)))
        return steps

    def _batches_step(self, facts: PartitionFacts, base: int, path: str) -> Step:
        segment = next(each for each in facts.segments if each.base_offset == base)
        file = self._disk.open(path)
        follows = find_batch(file.read, segment.size, segment.good_bytes, segment.end)
        if follows is None:
            what = f"cut off the last {segment.size - segment.good_bytes} bytes"
        else:
            what = f"take out {follows[0] - segment.good_bytes} bytes at byte {segment.good_bytes}"
            if follows[1].base_offset > segment.end:
                what += f"; offsets {segment.end} to {follows[1].base_offset - 1} are lost"
        return Step(path, what, partial(self._take_out, path))

    def _epochs_step(self, facts: PartitionFacts, path: str) -> Step:
        text = format_epochs(facts.epochs.entries()).encode()
        return Step(path, "write it anew from the batches", partial(self._replace, path, text))

    # -- doing it --------------------------------------------------------------------------------------------

    def _move_aside(self, path: str) -> None:
        if self._disk.exists(path):
            self._disk.rename(path, self._backup_name(path))
            self._disk.sync_dir(path.rpartition("/")[0])

    def _backup_name(self, path: str) -> str:
        found, number = path + BACKUP, 1
        while self._disk.exists(found):
            number += 1
            found = f"{path}-{number}{BACKUP}"
        return found

    def _replace(self, path: str, content: bytes) -> None:
        self._move_aside(path)
        self._disk.write_file(path, content)

    def _move_segment(self, directory: str, base: int) -> None:
        for suffix in (LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT):
            self._move_aside(f"{directory}/{offset_name(base, suffix)}")

    def _take_out(self, path: str) -> None:
        """The good batches to a new file; the old one stays as a backup."""
        source = self._disk.open(path)
        size, base = source.size(), int(path.rpartition("/")[2].partition(".")[0])
        part = self._backup_name(path + ".part")
        target = self._disk.open(part, create=True)
        position, written, end = 0, 0, base
        while position < size:
            start = position
            for buf, header in scan_batches(source.read, size, position):
                if not check_crc(buf, header) or header.base_offset < end:
                    break
                position += header.size
                end = header.last_offset + 1
            for at in range(start, position, _COPY_BYTES):
                data = source.read(at, min(_COPY_BYTES, position - at))
                target.write(written, data)
                written += len(data)
            follows = find_batch(source.read, size, position, end) if position < size else None
            if follows is None:
                break
            position = follows[0]
        target.sync()
        self._move_aside(path)
        self._disk.rename(part, path)
        self._disk.sync_dir(path.rpartition("/")[0])

    def _reindex(self, directory: str, base: int) -> None:
        log = f"{directory}/{offset_name(base, LOG)}"
        for suffix in (INDEX, TIME_INDEX, TXN_INDEX):
            self._move_aside(f"{directory}/{offset_name(base, suffix)}")
        segment = Segment(OpenFiles(self._disk), directory, base, {LOG: self._disk.open(log).size()})
        segment.rebuild_indexes()
        for facts in self._checked(directory).segments:
            if facts.base_offset == base:
                for txn in facts.aborted or ():
                    segment.add_aborted(txn)
        segment.sync()

    def _checked(self, directory: str) -> PartitionFacts:
        return PartitionCheck(self._disk, directory, Expectations(clean=False)).run()

    def _raise_recovery_point(self, tp: TopicPartition, directory: str) -> None:
        offsets = dict(self._facts.checkpoints.get(RECOVERY_POINTS) or {})
        offsets[tp] = self._checked(directory).end
        self._facts.checkpoints[RECOVERY_POINTS] = offsets
        self._disk.write_file(f"{self._facts.path}/{RECOVERY_POINTS}", format_offsets(offsets).encode())
