"""Checking the files of a partition against each other, without changing or trusting any of them.

What is told: batches that are damaged, offsets that are missing or twice there, indexes, producer snapshots
and leader epochs that contradict the batches, names that we do not know. Everything from the recovery point
on of a log that was not stopped cleanly is settled by the next start; there only what a start could not
settle is told.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct

from kbroker.errors import ApiError, ConfigError
from kbroker.protocol.record_batch import BatchHeader, check_crc
from kbroker.raft.election_state import FILE_NAME as QUORUM_STATE, decode_election_state
from kbroker.storage import producer_snapshot
from kbroker.storage.batch_scan import scan_batches
from kbroker.storage.checkpoints import parse_epochs, parse_partition_metadata
from kbroker.storage.disk import NO_SIZE, Disk
from kbroker.storage.file_names import (
    CLEANED,
    DELETED,
    ENCRYPTED,
    INDEX,
    LEADER_EPOCHS,
    LOG,
    PARTITION_METADATA,
    SNAPSHOT,
    STRAY,
    SWAP,
    TIME_INDEX,
    TXN_INDEX,
    offset_name,
    parse_offset_name,
)
from kbroker.storage.leader_epochs import LeaderEpochs
from kbroker.storage.producer_replay import count_batch
from kbroker.storage.producer_state import ProducerState
from kbroker.storage.txn_index import AbortedTxn, decode_all
from kbroker.storage.verify_facts import Cause, Expectations, Finding, Level, PartitionFacts, SegmentFacts
from kbroker.storage.verify_indexes import Entries, OffsetEntries, TimeEntries

_OFFSET_ENTRY, _TIME_ENTRY = Struct(">ii"), Struct(">qi")
_NEVER_MS = 1 << 62


class PartitionCheck:
    """Checks one partition's directory. Every call may raise OSError.

    Args:
        progress: called with the number of bytes that were read since the last call.
    """

    def __init__(
        self, disk: Disk, path: str, expected: Expectations, progress: Callable[[int], None] = lambda _: None
    ) -> None:
        self._disk = disk
        self._expected = expected
        self._progress = progress
        self.facts = PartitionFacts(path)
        self._sizes: dict[str, int] = {}
        self._producers: ProducerState | None = ProducerState()

    def run(self) -> PartitionFacts:
        """Check everything."""
        self._list()
        bases = sorted(
            parsed[0] for name in self._sizes if (parsed := parse_offset_name(name)) and parsed[1] == LOG
        )
        end: int | None = None
        broken = False
        for number, base in enumerate(bases):
            self._check_start(base, end, first=number == 0, broken=broken)
            last = number + 1 == len(bases)
            # What lies behind the recovery point will be read and built anew by the next start.
            settled = self._expected.clean or not (
                last or self._expected.metadata or bases[number + 1] > self._expected.recovery_point
            )
            segment = self._check_segment(base, last, not settled)
            self.facts.segments.append(segment)
            end = max(end or 0, segment.end)
            broken = segment.good_bytes < segment.size
        for name in self._sizes:
            parsed = parse_offset_name(name)
            if parsed and parsed[1] not in (LOG, SNAPSHOT) and parsed[0] not in bases:
                self._found(Level.WRONG, name, "its segment does not exist", cause=Cause.ORPHAN)
        self._check_snapshot_files()
        self._check_epochs()
        return self.facts

    def _found(
        self, level: Level, name: str, text: str, position: int = -1, cause: Cause = Cause.OTHER
    ) -> None:
        self.facts.findings.append(Finding(level, f"{self.facts.path}/{name}", text, position, cause))

    def _list(self) -> None:
        removed = 0
        for entry in self._disk.list_dir(self.facts.path):
            name = entry.name
            if entry.size == NO_SIZE:
                self._found(Level.DAMAGE, name, "a link that leads nowhere")
            elif entry.is_dir:
                self._found(Level.NOTE, name, "a directory that is none of Kafka's")
            elif parse_offset_name(name) or name in (LEADER_EPOCHS, PARTITION_METADATA, ENCRYPTED):
                self._sizes[name] = entry.size
            elif name.endswith(".bak"):
                self._found(Level.NOTE, name, "put aside by a repair")
            elif name.endswith(STRAY):
                self._found(Level.NOTE, name, "put aside by a recovery: records that it could not place")
            elif name.endswith(DELETED):
                removed += 1
            elif name.endswith((CLEANED, SWAP)):
                self._found(Level.NOTE, name, "left by a compaction; the next start finishes or undoes it")
            elif self._expected.metadata and name.endswith(".checkpoint"):
                self._check_metadata_snapshot(name, entry.size)
            elif self._expected.metadata and name == QUORUM_STATE:
                self._check_quorum_state()
            else:
                self._found(Level.NOTE, name, "a file that is none of Kafka's; it is left alone")
        if removed:
            text = f"{removed} files are removed already (.deleted); the next start takes them away"
            self.facts.findings.append(Finding(Level.NOTE, self.facts.path, text))
        if PARTITION_METADATA in self._sizes:
            try:
                parse_partition_metadata(self._text(PARTITION_METADATA))
            except ValueError as error:
                self._found(Level.WRONG, PARTITION_METADATA, f"cannot be read: {error}")

    def _check_metadata_snapshot(self, name: str, size: int) -> None:
        file = self._disk.open(f"{self.facts.path}/{name}")
        position = 0
        for buf, header in scan_batches(file.read, size, 0):
            if not check_crc(buf, header):
                break
            position += header.size
        if position < size:
            self._found(Level.DAMAGE, name, f"{size - position} of {size} bytes cannot be read", position)

    def _check_quorum_state(self) -> None:
        try:
            decode_election_state(self._text(QUORUM_STATE).encode())
        except ConfigError as error:
            self._found(Level.DAMAGE, QUORUM_STATE, str(error))

    def _text(self, name: str) -> str:
        return self._disk.read_file(f"{self.facts.path}/{name}").decode("utf-8", "replace")

    # -- segments --------------------------------------------------------------------------------------------

    def _check_start(self, base: int, end: int | None, first: bool, broken: bool) -> None:
        """`broken`: the segment before could not be read to its end, so nobody knows what it told."""
        name = offset_name(base, LOG)
        if end is not None and base < end:
            text = f"overlaps the segment before it, which ends with offset {end - 1}"
            self._found(Level.DAMAGE, name, text, 0, Cause.OVERLAP)
        elif end is not None and base > end and not self._expected.compacted and not broken:
            text = f"offsets {end} to {base - 1} before it are missing"
            self._found(Level.DAMAGE, name, text, 0, Cause.GAP)
        snapshot = offset_name(base, SNAPSHOT)
        if (first and base > 0) or broken:
            self._producers = self._read_snapshot(snapshot) if snapshot in self._sizes else None
        elif snapshot in self._sizes and self._producers is not None and not self._expected.compacted:
            self._compare_snapshot(snapshot, self._producers)

    def _check_segment(self, base: int, last: bool, unsettled: bool) -> SegmentFacts:
        name = offset_name(base, LOG)
        size = self._sizes[name]
        offsets = OffsetEntries(
            self._entries(base, INDEX, _OFFSET_ENTRY, unsettled),
            base,
            partial(self._tell_index, base, INDEX),
        )
        times = TimeEntries(
            self._entries(base, TIME_INDEX, _TIME_ENTRY, unsettled),
            base,
            partial(self._tell_index, base, TIME_INDEX),
        )
        aborted: list[AbortedTxn] = []
        position, end = 0, base
        gaps: list[tuple[int, int, int]] = []
        file = self._disk.open(f"{self.facts.path}/{name}")
        for buf, header in scan_batches(file.read, size, 0):
            problem = _problem(buf, header, base, end)
            if problem:
                break
            if header.base_offset > end and not self._expected.compacted and header.magic == 2:
                gaps.append((position, end, header.base_offset - 1))
            offsets.next_batch(position, header)
            times.next_batch(header)
            self._note_epoch(header)
            if header.producer_id >= 0 and self._producers is not None:
                txn = count_batch(self._producers, buf, header, header.base_offset)
                if txn is not None:
                    aborted.append(txn)
            self._progress(header.size)
            position += header.size
            end = header.last_offset + 1
        else:
            problem = "no batch begins there" if position < size else ""
        if gaps:
            at, first, last_missing = gaps[0]
            more = f", and there are {len(gaps) - 1} more gaps" if len(gaps) > 1 else ""
            text = f"offsets {first} to {last_missing} are missing{more}"
            self._found(Level.DAMAGE, name, text, at, Cause.GAP)
        if problem:
            self._tell_damage(name, problem, position, size, last)
            self._progress(size - position)
        elif size:
            offsets.finish(size)
            times.finish()
            self._compare_aborted(base, aborted, unsettled)
        return SegmentFacts(base, position, size, end, None if self._producers is None else aborted)

    def _tell_damage(self, name: str, problem: str, position: int, size: int, last: bool) -> None:
        rest = f"{problem}: {size - position} of {size} bytes cannot be read"
        if last and not self._expected.clean:
            text = f"{rest}; the next start cuts them off"
            self._found(Level.NOTE, name, text, position, Cause.BATCHES)
        else:
            self._found(Level.DAMAGE, name, rest, position, Cause.BATCHES)

    def _note_epoch(self, header: BatchHeader) -> None:
        if header.leader_epoch > self.facts.epochs.latest:
            self.facts.epochs.assign(header.leader_epoch, header.base_offset)

    # -- files that follow from the batches ------------------------------------------------------------------

    def _entries(self, base: int, suffix: str, layout: Struct, unsettled: bool) -> Entries:
        name = offset_name(base, suffix)
        if unsettled:
            return None
        if name not in self._sizes:
            if self._sizes[offset_name(base, LOG)]:
                self._found(Level.WRONG, name, "is missing")
            return []
        data = self._disk.read_file(f"{self.facts.path}/{name}")
        if len(data) % layout.size:
            self._found(Level.WRONG, name, f"{len(data)} bytes are no multiple of {layout.size}")
            data = data[: len(data) // layout.size * layout.size]
        return list(layout.iter_unpack(data))

    def _tell_index(self, base: int, suffix: str, text: str) -> None:
        """An index does not agree with its segment; only the first reason is worth a line."""
        name = offset_name(base, suffix)
        path = f"{self.facts.path}/{name}"
        if not any(finding.path == path for finding in self.facts.findings):
            self._found(Level.WRONG, name, text)

    def _compare_aborted(self, base: int, aborted: list[AbortedTxn], unsettled: bool) -> None:
        name = offset_name(base, TXN_INDEX)
        if unsettled or self._producers is None:
            return
        try:
            data = self._disk.read_file(f"{self.facts.path}/{name}") if name in self._sizes else b""
            told = decode_all(data, base)
        except ValueError as error:
            self._found(Level.WRONG, name, f"cannot be read: {error}")
            return
        untold = {(txn.producer_id, txn.last_offset) for txn in aborted} ^ {
            (txn.producer_id, txn.last_offset) for txn in told
        }
        # Compaction takes the records of an abort away before its marker, and the entry stays.
        if untold and not (self._expected.compacted and len(told) >= len(aborted)):
            self._found(
                Level.WRONG, name, f"tells {len(told)} aborted transactions, there are {len(aborted)}"
            )

    def _read_snapshot(self, name: str) -> ProducerState | None:
        offset = int(name.partition(".")[0])
        try:
            data = self._disk.read_file(f"{self.facts.path}/{name}")
            return producer_snapshot.decode(data, offset, 0, _NEVER_MS)
        except ValueError as error:
            self._found(Level.WRONG, name, f"cannot be read: {error}")
            return None

    def _compare_snapshot(self, name: str, known: ProducerState) -> None:
        told = self._read_snapshot(name)
        if told is None:
            return
        for producer_id, entry in told.entries.items():
            ours = known.entries.get(producer_id)
            # Producers whose batches are gone, and those that have expired, are in only one of the two.
            if ours is not None and (ours.epoch, ours.last_sequence, ours.current_txn_first_offset) != (
                entry.epoch,
                entry.last_sequence,
                entry.current_txn_first_offset,
            ):
                self._found(Level.WRONG, name, f"producer {producer_id} is not what the batches say")
                return

    def _check_snapshot_files(self) -> None:
        told = {finding.path for finding in self.facts.findings}
        bases = {segment.base_offset for segment in self.facts.segments}
        for name in self._sizes:
            parsed = parse_offset_name(name)
            if (
                parsed
                and parsed[1] == SNAPSHOT
                and f"{self.facts.path}/{name}" not in told
                and parsed[0] not in bases
            ):
                self._read_snapshot(name)

    def _check_epochs(self) -> None:
        if LEADER_EPOCHS not in self._sizes:
            if self.facts.epochs.latest >= 0 and self._expected.clean:
                self._found(Level.WRONG, LEADER_EPOCHS, "is missing")
            return
        try:
            told = LeaderEpochs(parse_epochs(self._text(LEADER_EPOCHS)))
        except ValueError as error:
            self._found(Level.WRONG, LEADER_EPOCHS, f"cannot be read: {error}")
            return
        if not self._expected.clean:
            return
        for epoch, start in self.facts.epochs.entries():
            if told.epoch_at(start) != epoch and told.entries() and start >= told.entries()[0][1]:
                self._found(
                    Level.WRONG,
                    LEADER_EPOCHS,
                    f"the batch at {start} is of epoch {epoch}, not {told.epoch_at(start)}",
                )
                return


def _problem(buf: memoryview, header: BatchHeader, base: int, end: int) -> str:
    """Why a batch cannot be one of this segment; empty if it can."""
    try:
        good = check_crc(buf, header)
    except ApiError:
        good = False
    if not good:
        return "the checksum is wrong"
    last = header.last_offset
    if (header.base_offset < end and header.magic == 2) or last < end:
        return f"offset {header.base_offset} comes again"
    if last - base > 0x7FFF_FFFF:
        return f"offset {last} is too far from the segment's first"
    return ""
