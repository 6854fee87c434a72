"""Compaction against a list: whatever is written and whenever it is compacted, readers miss nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.cleaner_plan import CleanerState
from kbroker.storage.log import AppendOrigin, Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_move import LogMove
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.storage.cleaning import COMPACT, batches, committed, force, records, table
from tests.storage.world import NOW_MS, TOPIC_ID, TP, manager, marker

RETENTION_MS = 1000
KEYS = st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"])
CONTENT = st.lists(st.tuples(KEYS, st.booleans()), min_size=1, max_size=5)
CODECS = st.sampled_from([0, 0, 1, 2, 3, 4])


def known_producers(log: Log) -> dict[int, tuple]:
    """Without times: a batch may have lost its youngest record."""
    return {
        entry.producer_id: (entry.epoch, entry.last_sequence, entry.current_txn_first_offset)
        for entry in log.producers.entries.values()
    }


DIRS = ("/data", "/other")


class Compaction(RuleBasedStateMachine):
    """The model keeps everything that was ever appended and not deleted by its offset."""

    def __init__(self) -> None:
        super().__init__()
        self.config = {
            "segment_bytes": 600,
            "index_interval_bytes": 100,
            "cleanup_policy": COMPACT,
            "delete_retention_ms": RETENTION_MS,
            "file_delete_delay_ms": 0,
            "producer_id_expiration_ms": 10**15,
        }
        self.logs = manager(MemoryDisk(), *DIRS, **self.config)
        self.log = self.logs.get_or_create(TP, TOPIC_ID, LogConfig(**self.config), NOW_MS)
        self.state = CleanerState()
        self.now = NOW_MS
        self.written: dict[int, Record] = {}
        #: Offset -> producer of its transaction, until that ends.
        self.open: dict[int, int] = {}
        self.aborted: set[int] = set()
        self.sequences: dict[int, int] = {}
        #: Tombstone offset -> when it may go, as its batch says.
        self.horizons: dict[int, int] = {}
        self.cleaned_to = 0
        self.moves = 0

    @initialize(index=st.sampled_from([80, 100, 4096]))
    def sizes(self, index: int) -> None:
        self.config["index_interval_bytes"] = index
        self.log.config = LogConfig(**self.config)

    def append(self, content: list[tuple[bytes, bool]], codec: int, **header: object) -> None:
        start = self.log.log_end_offset
        made = [
            Record(-1, self.now + i, key, None if dead else b"%d" % (start + i))
            for i, (key, dead) in enumerate(content)
        ]
        self.log.append_as_leader(
            memoryview(bytearray(build_batch(made, codec=codec, **header))), 0, self.now
        )
        self.log.flush_staged()
        self.log.high_watermark = self.log.log_end_offset
        for i, record in enumerate(made):
            self.written[start + i] = record._replace(offset=start + i)

    @rule(content=CONTENT, codec=CODECS)
    def write(self, content: list[tuple[bytes, bool]], codec: int) -> None:
        self.append(content, codec)

    @rule(content=CONTENT, codec=CODECS, producer=st.sampled_from([10, 11]))
    def write_idempotent(self, content: list[tuple[bytes, bool]], codec: int, producer: int) -> None:
        sequence = self.sequences.get(producer, 0)
        self.append(content, codec, producer_id=producer, producer_epoch=0, base_sequence=sequence)
        self.sequences[producer] = sequence + len(content)

    @rule(content=CONTENT, codec=CODECS, producer=st.sampled_from([20, 21]))
    def write_in_transaction(self, content: list[tuple[bytes, bool]], codec: int, producer: int) -> None:
        sequence = self.sequences.get(producer, 0)
        start = self.log.log_end_offset
        self.append(
            content, codec, producer_id=producer, producer_epoch=0, base_sequence=sequence, transactional=True
        )
        self.sequences[producer] = sequence + len(content)
        self.open.update(dict.fromkeys(range(start, start + len(content)), producer))

    @rule(producer=st.sampled_from([20, 21]), abort=st.booleans())
    def end_transaction(self, producer: int, abort: bool) -> None:
        if producer in self.open.values():
            self.log.append_as_leader(marker(producer, 0, abort=abort), 0, self.now, AppendOrigin.COORDINATOR)
            self.log.flush_staged()
            self.log.high_watermark = self.log.log_end_offset
            ended = [offset for offset, owner in self.open.items() if owner == producer]
            for offset in ended:
                del self.open[offset]
            if abort:
                self.aborted.update(ended)

    @rule(
        contents=st.lists(CONTENT, min_size=1, max_size=4),
        kept=st.integers(0, 3),
        codec=CODECS,
        rolled=st.booleans(),
        cleaned=st.booleans(),
    )
    def lose_what_was_not_committed(
        self, contents: list, kept: int, codec: int, rolled: bool, cleaned: bool
    ) -> None:
        """A leader that follows now: it is cut at the end of a batch that was not committed yet."""
        committed_to = self.log.high_watermark
        sequences = [self.sequences.get(10, 0)]
        ends = [committed_to]
        for content in contents:
            self.append(content, codec, producer_id=10, producer_epoch=0, base_sequence=sequences[-1])
            self.log.high_watermark = committed_to
            sequences.append(sequences[-1] + len(content))
            ends.append(self.log.log_end_offset)
            if rolled:
                self.log.roll(None, self.now)
        if cleaned:
            self.clean(1 << 16, 1 << 16, False)
            assert self.cleaned_to <= committed_to
        kept = min(kept, len(contents))
        self.log.truncate_to(ends[kept])
        self.state.truncated(self.log, ends[kept])
        assert self.log.log_end_offset == ends[kept]
        self.log.high_watermark = ends[kept]
        self.written = {offset: record for offset, record in self.written.items() if offset < ends[kept]}
        self.sequences[10] = sequences[kept]

    @rule()
    def roll(self) -> None:
        if self.log.segments.active.size:
            self.log.roll(None, self.now)

    @rule(ms=st.sampled_from([1, RETENTION_MS // 2, RETENTION_MS + 1]))
    def wait(self, ms: int) -> None:
        self.now += ms

    @rule(
        map_bytes=st.sampled_from([1, 120, 240, 1 << 16]),
        io_bytes=st.sampled_from([1, 1 << 16]),
        hold=st.booleans(),
    )
    def clean(self, map_bytes: int, io_bytes: int, hold: bool) -> None:
        before = records(self.log)
        removable_to = self.log.log_end_offset // 2 if hold else 2**62
        result = force(
            self.log, self.state, self.now, map_bytes=map_bytes, io_bytes=io_bytes, removable_to=removable_to
        )
        if result is None:
            return
        self.cleaned_to = max(self.cleaned_to, result.end_offset)
        self.check_removed(before, removable_to)

    def check_removed(self, before: dict[int, Record], removable_to: int) -> None:
        after = records(self.log)
        last = {}
        for offset, record in self.written.items():
            if offset < self.cleaned_to and offset not in self.aborted and offset not in self.open:
                last[record.key] = offset
        for offset, record in after.items():
            if offset < self.cleaned_to:
                assert last[record.key] == offset, "an older record of the key is still there"
        for header, content in batches(self.log):
            for record in content:
                if record.value is None and header.delete_horizon_ms is not None:
                    self.horizons.setdefault(record.offset, header.delete_horizon_ms)
                    assert self.horizons[record.offset] == header.delete_horizon_ms
                elif record.value is None and record.offset < self.cleaned_to:
                    raise AssertionError("a tombstone was cleaned and has no horizon")
        for offset, record in before.items():
            if offset in after or offset in self.aborted:
                continue
            assert offset < self.cleaned_to
            if last[record.key] == offset:
                assert record.value is None, "the last value of a key is gone"
                assert self.now >= self.horizons[offset]
                assert offset < removable_to

    @rule(where=st.floats(0, 1), retain=st.booleans())
    def delete_records(self, where: float, retain: bool) -> None:
        log = self.log
        # Consumers skip what lies before in the same batch; the model reads whole ones.
        starts = [each.base_offset for each, _ in batches(log) if each.base_offset <= log.last_stable_offset]
        if not starts:
            return
        start = max(log.log_start_offset, starts[int(where * (len(starts) - 1) / 2)])
        log.delete_records_to(start)
        assert log.log_start_offset == start
        self.logs.checkpoint_log_starts()
        if retain:
            log.delete_old_segments(self.now)
        self.written = {offset: record for offset, record in self.written.items() if offset >= start}

    @rule(rounds=st.integers(0, 2), cleaned=st.booleans())
    def move(self, rounds: int, cleaned: bool) -> None:
        """To the other directory; what is prepared may be compacted away before the last step."""
        producers = known_producers(self.log)
        target = next(each for each in self.logs.dirs if each is not self.log.directory)
        self.moves += 1
        move = LogMove(self.log, target, f"{self.moves:032x}")
        move.begin()
        for _ in range(rounds):
            job = move.prepare()
            job.run()
            move.note(job)
            self.logs.announce(move)
            self.logs.tick_recovery_points()
            move.is_told = True
            if cleaned:
                self.clean(1 << 16, 1 << 16, False)
        self.log = self.logs.finish_move(move)
        self.log.high_watermark = self.log.log_end_offset
        self.state = CleanerState()
        assert known_producers(self.log) == producers

    @rule(tail=st.sampled_from([Tail.KEPT, Tail.TORN, None]))
    def restart(self, tail: Tail | None) -> None:
        if tail is None:
            self.logs.close(1)
            disk = self.logs._disk
        else:
            self.log.fsync()
            disk = self.logs._disk.crash(tail)
        producers = known_producers(self.log)
        end = self.log.log_end_offset
        self.logs = manager(disk, *DIRS, **self.config)
        self.log = self.logs.get(TP)
        self.log.config = LogConfig(**self.config)
        self.log.high_watermark = self.log.log_end_offset
        assert self.log.log_end_offset == end
        assert known_producers(self.log) == producers

    @invariant()
    def nothing_is_missing(self) -> None:
        stable = self.log.last_stable_offset
        expected = [
            record
            for offset, record in self.written.items()
            if offset < stable and offset not in self.aborted
        ]
        assert table(committed(self.log)) == table(expected)
        there = records(self.log)
        assert list(there) == sorted(there)
        for offset, record in there.items():
            assert record == self.written[offset]
        for offset in self.written:
            if offset >= self.cleaned_to and offset not in self.aborted:
                assert offset in there
        for offset in range(self.log.log_start_offset, self.log.log_end_offset, 3):
            part = self.log.read(offset, 1, self.log.log_end_offset)
            later = [header for header, _ in batches(self.log) if header.last_offset >= offset]
            if later:
                assert part.next_offset == later[0].next_offset


Compaction.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestCompaction = Compaction.TestCase
