"""Every operation on the disk is a crash point, and at each the unsynced tail is lost, kept, torn or zeroed.

One life of a log manager with two directories: appends, group commits, rolls, checkpoints, retention,
topics deleted and made again, moves, logs sealed at rest, compaction, metadata snapshots and votes, clean
stops. Before each operation the disk is looked at as a machine
would find it after a power cut, four times; what was promised by then must be there.
`KBROKER_CRASH_SEEDS=100` runs more lives, `KBROKER_CRASH_SEED=7` just that one.
"""

from __future__ import annotations

import os
import random
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from kbroker.broker.metadata_files import METADATA_DIRECTORY, MetadataFiles
from kbroker.protocol.record_batch import Record, build_batch, check_crc, iter_batches
from kbroker.raft.election_state import ElectionState
from kbroker.raft.snapshot import snapshot_file_name
from kbroker.storage.checkpoints import parse_epochs, parse_offsets
from kbroker.storage.cleaner_plan import CleanerState
from kbroker.storage.data_sync import DataSync
from kbroker.storage.file_names import (
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_STARTS,
    RECOVERY_POINTS,
    parse_partition_dir,
)
from kbroker.storage.idle_logs import IdleLogs, SealJob
from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_move import LogMove
from kbroker.storage.memory_disk import MemoryDisk, Tail
from kbroker.types import OffsetAndEpoch, TopicPartition
from tests.storage.cleaning import COMPACT, force, records, table
from tests.storage.world import NOW_MS, append, batch, idempotent, manager, marker

DIRS = ("/a", "/b")
CONFIG = {
    "segment_bytes": 600,
    "index_interval_bytes": 100,
    "file_delete_delay_ms": 0,
    "retention_bytes": 3000,
}
STEPS = 30
PARTITIONS = 3
TABLE = TopicPartition("c", 0)
TABLE_CONFIG = {**CONFIG, "cleanup_policy": COMPACT, "delete_retention_ms": 5, "retention_bytes": -1}

_ONE = os.environ.get("KBROKER_CRASH_SEED")
SEEDS = [int(_ONE)] if _ONE else list(range(int(os.environ.get("KBROKER_CRASH_SEEDS", "10"))))


@dataclass
class Promise:
    """One log as its users know it."""

    topic_id: bytes
    batches: list[tuple[int, int, int]] = field(default_factory=list)
    durable_end: int = 0
    #: The start that a synced checkpoint tells, and the one that was asked for.
    durable_start: int = 0
    start: int = 0
    sequence: int = 0
    in_transaction: bool = False
    #: A deletion has begun; from its end on the log must not come back.
    going: bool = False
    gone: bool = False


@dataclass
class TablePromise:
    """The compacted topic: all that was written, and up to where it is durable."""

    written: list[tuple[int, bytes, bytes | None]] = field(default_factory=list)
    durable_end: int = 0

    def below(self, end: int) -> dict[bytes, bytes]:
        """The last value of each key."""
        last = {key: value for offset, key, value in self.written if offset < end}
        return {key: value for key, value in last.items() if value is not None}


@dataclass
class MetadataPromise:
    """Snapshots by path, the newest one that is finished, and the epoch that was voted in."""

    snapshots: dict[str, bytes] = field(default_factory=dict)
    newest: OffsetAndEpoch | None = None
    epoch: int = 0


class Life:
    """Everything that writes, in an order drawn from the seed."""

    def __init__(self, disk: MemoryDisk, seed: int) -> None:
        self.disk = disk
        self.rng = random.Random(seed)
        self.promises: dict[TopicPartition, list[Promise]] = {}
        self.table = TablePromise()
        self.metadata = MetadataPromise()
        self.cleaner = CleanerState()
        self.ids = 0
        self.logs = manager(disk, *DIRS, **CONFIG)

    def run(self) -> None:
        for _ in range(STEPS):
            if self.rng.random() < 0.35:
                self.rng.choice([self.put, self.put, self.put, self.clean, self.snapshot, self.elect])()
                continue
            tp = TopicPartition("t", self.rng.randrange(PARTITIONS))
            log = self.logs.get(tp)
            if log is None:
                self.create(tp)
                continue
            promise = self.promises[tp][-1]
            action = self.rng.choices(
                [
                    self.append,
                    self.sync,
                    self.commit,
                    self.checkpoint,
                    self.trim,
                    self.delete,
                    self.move,
                    self.rest,
                ],
                [30, 8, 8, 6, 6, 2, 3, 4],
            )[0]
            action(tp, log, promise)
            if self.rng.random() < 0.03:
                self.restart()

    def create(self, tp) -> None:
        self.ids += 1
        topic_id = self.ids.to_bytes(16, "big")
        self.promises.setdefault(tp, []).append(Promise(topic_id))
        self.logs.get_or_create(tp, topic_id, LogConfig(**CONFIG), NOW_MS)

    def append(self, tp, log, promise) -> None:
        rng, how = self.rng, {}
        if promise.in_transaction and rng.random() < 0.4:
            records, how = marker(7, 0, abort=rng.random() < 0.5), {"origin": AppendOrigin.COORDINATOR}
            promise.in_transaction = False
        elif rng.random() < 0.4:
            records = idempotent(promise.sequence, rng.randint(1, 3), transactional=True)
            promise.in_transaction = True
        else:
            records = batch(
                *[bytes(rng.randrange(150))] * rng.randint(1, 3), timestamp=NOW_MS + rng.randrange(9)
            )
        header = next(iter_batches(records))
        if header.producer_id >= 0 and not how:
            promise.sequence += header.record_count
        base = log.log_end_offset
        promise.batches.append((base, base + header.last_offset_delta, header.crc))
        assert append(log, records, len(promise.batches) // 5, **how) == base

    def sync(self, tp, log, promise) -> None:
        promise.durable_end = max(promise.durable_end, log.fsync())

    def commit(self, tp, log, promise) -> None:
        job = DataSync(log)
        job.run()
        job.finish()
        promise.durable_end = max(promise.durable_end, log.durable_end)

    def checkpoint(self, tp, log, promise) -> None:
        self.rng.choice([self.logs.tick_recovery_points, self.logs.tick_high_watermarks])()

    def trim(self, tp, log, promise) -> None:
        if self.rng.random() < 0.5 and log.log_end_offset > log.log_start_offset:
            promise.start = max(
                promise.start, self.rng.randrange(log.log_start_offset, log.log_end_offset + 1)
            )
            log.delete_records_to(promise.start)
            self.logs.checkpoint_log_starts()
            promise.durable_start = max(promise.durable_start, promise.start)
        # Retention may go further than was asked.
        promise.start = max(promise.start, log.log_end_offset)
        log.delete_old_segments(NOW_MS)
        promise.start = log.log_start_offset
        if self.rng.random() < 0.5:
            self.logs.tick_removals(NOW_MS + 1000)

    def delete(self, tp, log, promise) -> None:
        promise.going = True
        self.logs.delete(tp)
        promise.gone = True
        if self.rng.random() < 0.5:
            self.logs.tick_removals(NOW_MS + 1000)

    def move(self, tp, log, promise) -> None:
        target = next(log_dir for log_dir in self.logs.dirs if log_dir is not log.directory)
        self.ids += 1
        move = LogMove(log, target, f"{self.ids:032x}")
        move.begin()
        for _ in range(self.rng.randrange(3)):
            job = move.next_copy(self.rng.randrange(100, 900))
            job.run()
            move.note(job)
        for _ in range(self.rng.randrange(3)):
            job = move.prepare()
            job.run()
            move.note(job)
            self.logs.announce(move)
            self.logs.tick_recovery_points()
            move.is_told = True
        self.logs.finish_move(move)
        promise.durable_end = log.log_end_offset
        promise.durable_start = max(promise.durable_start, log.log_start_offset)

    def rest(self, tp, log, promise) -> None:
        """What housekeeping does with logs to which nothing comes."""
        idle = IdleLogs(self.logs)
        idle.look()
        idle.look()
        while sealed := idle.seal_some(self.rng.choice([1, 100]), None):
            ends = [each.log_end_offset for each in sealed]
            job = SealJob(sealed[0].directory, sealed)
            job.run()
            job.finish(NOW_MS, lambda log: True)
            for each, end in zip(sealed, ends):
                if each.topic_partition == TABLE:
                    self.table.durable_end = end
                else:
                    self.promises[each.topic_partition][-1].durable_end = end

    # -- a compacted topic, and what lies beside the metadata log --

    def put(self) -> None:
        """Keys, some of them deleted, in batches; every other one durable."""
        log, rng = self.logs.get(TABLE), self.rng
        if log is None:
            log = self.logs.get_or_create(TABLE, b"table".rjust(16), LogConfig(**TABLE_CONFIG), NOW_MS)
        for _ in range(rng.randint(2, 5)):
            base = log.log_end_offset
            made = [
                Record(-1, NOW_MS, b"%d" % rng.randrange(6), rng.choice([None, b"%d" % base * 9, b"x" * 90]))
                for _ in range(rng.randint(1, 3))
            ]
            self.table.written += [(base + i, each.key, each.value) for i, each in enumerate(made)]
            append(log, memoryview(bytearray(build_batch(made, codec=rng.choice([0, 1])))))
        if rng.random() < 0.5:
            self.table.durable_end = max(self.table.durable_end, log.fsync())

    def clean(self) -> None:
        log = self.logs.get(TABLE)
        if log is not None:
            force(log, self.cleaner, NOW_MS + 10, synced=False)
            log.directory.tick(NOW_MS + 20)

    def snapshot(self) -> None:
        """A snapshot of the metadata; the one before goes when it is there."""
        files, promise = MetadataFiles(self.disk, DIRS[0]), self.metadata
        self.ids += 1
        content = [bytes(self.rng.randrange(200)) + b"%d" % self.ids for _ in range(self.rng.randint(1, 3))]
        snapshot_id = OffsetAndEpoch(self.ids, 1)
        promise.snapshots[f"{files.path}/{snapshot_file_name(snapshot_id)}"] = b"".join(content)
        files.write_snapshot(snapshot_id, content)
        before, promise.newest = promise.newest, snapshot_id
        if before is not None:
            files.delete_snapshot(before)

    def elect(self) -> None:
        promise = self.metadata
        state = ElectionState(epoch=promise.epoch + 1, leader_id=1)
        self.disk.make_dir(f"{DIRS[0]}/{METADATA_DIRECTORY}")
        MetadataFiles(self.disk, DIRS[0]).write_election(state, None)
        promise.epoch += 1

    def restart(self) -> None:
        table = self.logs.get(TABLE)
        ends = {tp: log.log_end_offset for tp, log in self.logs.logs.items()}
        starts = {tp: log.log_start_offset for tp, log in self.logs.logs.items()}
        self.logs.close(5)
        if table is not None:
            self.table.durable_end = ends.pop(TABLE)
        for tp, end in ends.items():
            self.promises[tp][-1].durable_end = end
            self.promises[tp][-1].durable_start = max(self.promises[tp][-1].durable_start, starts[tp])
        self.logs = manager(self.disk, *DIRS, **CONFIG)
        found = {tp: log.log_end_offset for tp, log in self.logs.logs.items()}
        if table is not None:
            assert found.pop(TABLE) == self.table.durable_end
            self.logs.get(TABLE).config = LogConfig(**TABLE_CONFIG)
        assert found == ends
        for log in self.logs.logs.values():
            log.high_watermark = log.log_end_offset


def check(disk: MemoryDisk, life: Life) -> None:
    """The next start works, and all that was promised is there."""
    check_small_files(disk)
    check_metadata(disk, life.metadata)
    logs = manager(disk, *DIRS, **CONFIG)
    check_table(logs.get(TABLE), life.table)
    for tp, lives in life.promises.items():
        log = logs.get(tp)
        promise = lives[-1]
        if log is None:
            assert promise.durable_end == 0 or promise.going, f"{tp} is not there"
            continue
        if log.topic_id != promise.topic_id and log.topic_id in [each.topic_id for each in lives[:-1]]:
            raise AssertionError(f"{tp} came back from the dead")
        assert not promise.gone, f"{tp} is there although it was deleted"
        log.high_watermark = log.log_end_offset
        check_log(log, promise)
        end = log.log_end_offset
        assert append(log, batch(b"after"), 9) == end


def check_table(log, promise: TablePromise) -> None:
    """Whatever cleaning has come to: the last value of each key is there, and no deleted one is back."""
    if log is None:
        assert promise.durable_end == 0, "the compacted topic is not there"
        return
    log.high_watermark = log.log_end_offset
    assert log.log_end_offset >= promise.durable_end
    found = records(log)
    written = {offset: (key, value) for offset, key, value in promise.written}
    assert all(written[offset] == (each.key, each.value) for offset, each in found.items())
    assert table(found.values()) == promise.below(log.log_end_offset)


def check_metadata(disk: MemoryDisk, promise: MetadataPromise) -> None:
    """Snapshots are whole or not there, the finished one is, and no vote is forgotten."""
    files = MetadataFiles(disk, DIRS[0])
    there = files.snapshot_ids()
    for each in there:
        name = f"{files.path}/{snapshot_file_name(each)}"
        assert disk.read_file(name) == promise.snapshots[name], f"{name} is not whole"
    assert promise.newest is None or there[-1] >= promise.newest, f"{promise.newest} is gone"
    epoch = files.read_election().epoch if promise.epoch or disk.exists(files.path) else 0
    assert epoch in (promise.epoch, promise.epoch + 1), f"epoch {epoch} after {promise.epoch}"


def check_log(log, promise: Promise) -> None:
    found, offset, newest = [], log.log_start_offset, -1
    while offset < log.log_end_offset:
        part = log.read(offset, 1 << 20, log.log_end_offset)
        assert part.parts, f"nothing at {offset}"
        data = part.parts[0].read()
        for header in iter_batches(data):
            assert check_crc(data, header)
            if header.base_offset >= promise.start:
                check_epoch(log, header, newest)
            newest = max(newest, header.leader_epoch)
            found.append((header.base_offset, header.last_offset, header.crc))
        offset = part.next_offset
    start, end = log.log_start_offset, log.log_end_offset
    assert end >= promise.durable_end, f"ends at {end}, {promise.durable_end} was durable"
    assert start >= promise.durable_start or end == promise.durable_end == 0, f"starts at {start}"
    assert start <= max(promise.start, promise.durable_start), f"starts at {start}"
    assert found == [each for each in promise.batches if each[1] >= start and each[1] < end]


def check_epoch(log, header, newest: int) -> None:
    """The epochs are those of the batches, whatever has become of their file."""
    told = max((epoch for epoch, begin in log.epochs.entries() if begin <= header.base_offset), default=-1)
    assert told >= header.leader_epoch, f"at {header.base_offset}: {log.epochs.entries()}"
    if header.leader_epoch > newest > -1:
        assert told == header.leader_epoch, f"at {header.base_offset}: {log.epochs.entries()}"


def check_small_files(disk: MemoryDisk) -> None:
    """Checkpoints are as before or as after, never empty or in part.

    Only the leader epochs are written without waiting for the disk: an empty file of that name says nothing,
    and what batches say counts (`check_epoch`).
    """
    for path in DIRS:
        for name in (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS):
            if disk.exists(f"{path}/{name}"):
                parse_offsets(_text(disk, f"{path}/{name}"))
        for entry in disk.list_dir(path):
            name = f"{path}/{entry.name}/{LEADER_EPOCHS}"
            if parse_partition_dir(entry.name) and disk.exists(name) and disk.read_file(name):
                with suppress(ValueError):  # in part: no start takes it for true
                    parse_epochs(_text(disk, name))


def _text(disk: MemoryDisk, path: str) -> str:
    text = disk.read_file(path).decode()
    assert text, f"{path} is empty"
    return text


@pytest.mark.parametrize("seed", SEEDS)
def test_a_crash_at_every_operation(seed: int, record_property) -> None:
    disk = MemoryDisk()
    torn = random.Random(seed)
    last, crashes = "", 0
    life = Life(disk, seed)

    def look(operation: str, path: str) -> None:
        nonlocal last, crashes
        if operation in ("read", "open", "list"):
            return  # nothing has changed since the operation before
        for tail in Tail:
            where = (
                f"seed {seed}, operation {disk.steps} ({operation} {path}) after {last}, tail {tail.value}"
            )
            crashes += 1
            try:
                check(disk.crash(tail, torn.randrange), life)
            except Exception as error:
                raise AssertionError(f"{where}: {error!r}") from error
        last = f"{operation} {path}"

    disk.on_step = look
    life.run()
    life.restart()
    record_property("crashes", crashes)
    assert crashes > 100
