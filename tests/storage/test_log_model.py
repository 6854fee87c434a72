"""A log does what a list of batches does: appends, rolls, reads, cuts and restarts in any order."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.protocol.record_batch import iter_batches
from kbroker.storage.memory_disk import Tail
from tests.storage.world import NOW_MS, TOPIC_ID, TP, batch, manager


@dataclass
class Model:
    """(first offset, last offset, size, timestamp, epoch) of every batch, and the log's bounds."""

    batches: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    start: int = 0
    end: int = 0

    def read(self, offset: int, max_bytes: int, max_offset: int, min_one: bool) -> list[tuple[int, int]]:
        """What a read may give if segments were endless."""
        found, size = [], 0
        for first, last, length, _, _ in self.batches:
            if last < offset:
                continue
            if last >= max_offset:
                break
            if size + length > max_bytes and not (min_one and not found):
                break
            found.append((first, last))
            size += length
        return found


class LogMachine(RuleBasedStateMachine):
    """Small segments and dense indexes, so that every path is walked."""

    @initialize(
        segment_bytes=st.sampled_from([400, 1000, 5000]),
        interval=st.sampled_from([0, 100, 4096]),
        segment_ms=st.sampled_from([50, 10**9]),
    )
    def begin(self, segment_bytes: int, interval: int, segment_ms: int) -> None:
        self.config = {
            "segment_bytes": segment_bytes,
            "index_interval_bytes": interval,
            "segment_ms": segment_ms,
            "retention_ms": -1,
        }
        self.manager = manager(**self.config)
        self.log = self.manager.get_or_create(TP, TOPIC_ID, self.manager._config_for(""), NOW_MS)
        self.model = Model()
        self.epoch = 0

    @rule(
        counts=st.lists(
            st.tuples(st.integers(1, 4), st.integers(0, 200), st.integers(-60, 60)), min_size=1, max_size=6
        ),
        codec=st.sampled_from([0, 0, 1]),
    )
    def append(self, counts: list[tuple[int, int, int]], codec: int) -> None:
        for count, length, drift in counts:
            timestamp = NOW_MS + self.model.end + drift
            records = batch(*[b"x" * length] * count, timestamp=timestamp, codec=codec)
            size = len(records)
            if size > self.config["segment_bytes"]:
                continue
            result = self.log.append_as_leader(records, self.epoch, NOW_MS)
            assert result.base_offset == self.model.end
            self.model.end += count
            self.model.batches.append((result.base_offset, result.last_offset, size, timestamp, self.epoch))
        self.log.flush_staged()
        self.log.high_watermark = self.log.log_end_offset

    @rule()
    def new_epoch(self) -> None:
        self.epoch += 1

    @rule()
    def roll(self) -> None:
        self.log.roll(None, NOW_MS)

    @rule(
        where=st.floats(0, 1),
        max_bytes=st.sampled_from([1, 100, 300, 1000, 70_000]),
        bound=st.floats(0, 1),
        min_one=st.booleans(),
    )
    def read(self, where: float, max_bytes: int, bound: float, min_one: bool) -> None:
        model = self.model
        offset = model.start + int(where * (model.end - model.start))
        ends = [model.end] + [last + 1 for _, last, *_ in model.batches]
        max_offset = ends[int(bound * (len(ends) - 1))]
        part = self.log.read(offset, max_bytes, max_offset, min_one)
        expected = model.read(offset, max_bytes, max_offset, min_one)
        found = []
        if part.parts:
            assert part.parts[0].length == part.size > 0
            found = [(h.base_offset, h.last_offset) for h in iter_batches(part.parts[0].read())]
        # A read may end earlier, at its segment's end, but never without a reason.
        assert found == expected[: len(found)]
        assert bool(found) == bool(expected)
        if found:
            assert part.next_offset == found[-1][1] + 1
            if len(found) < len(expected):
                assert part.next_offset in self.log.segments.bases

    @rule(max_bytes=st.sampled_from([1, 500, 70_000]))
    def read_all(self, max_bytes: int) -> None:
        offset, found = self.model.start, []
        while offset < self.model.end:
            part = self.log.read(offset, max_bytes, self.model.end)
            found += [(h.base_offset, h.last_offset, h.size) for h in iter_batches(part.parts[0].read())]
            offset = part.next_offset
        assert found == [b[:3] for b in self.model.batches if b[1] >= self.model.start]

    @rule(where=st.floats(0, 1))
    def truncate(self, where: float) -> None:
        model = self.model
        cut = model.start + int(where * (model.end - model.start))
        changed = self.log.truncate_to(cut)
        assert changed == (cut < model.end)
        if changed:
            model.batches = [b for b in model.batches if b[1] < cut]
            model.end = max(
                [last + 1 for _, last, *_ in model.batches if last >= model.start] + [model.start]
            )

    @rule(where=st.floats(0, 1))
    def delete_records(self, where: float) -> None:
        model = self.model
        start = model.start + int(where * (model.end - model.start))
        assert self.log.delete_records_to(start) == start
        self.log.delete_old_segments(NOW_MS)
        model.start = start

    @rule(keep=st.integers(0, 3000))
    def retain(self, keep: int) -> None:
        config = self.log.config
        config.retention_bytes = keep
        before = self.log.size
        self.log.delete_old_segments(NOW_MS)
        config.retention_bytes = -1
        assert self.log.size >= min(before, keep) or self.log.log_start_offset == self.model.start
        self.model.start = max(self.model.start, self.log.log_start_offset)

    @rule(ago=st.integers(-100, 100))
    def find_time(self, ago: int) -> None:
        target = NOW_MS + self.model.end + ago
        found = self.log.offset_for_timestamp(target)
        expected = next(
            (
                (timestamp, max(first, self.model.start))
                for first, last, _, timestamp, _ in self.model.batches
                if last >= self.model.start and timestamp >= target
            ),
            None,
        )
        assert (found and found[:2]) == expected

    @rule()
    def newest(self) -> None:
        found = self.log.max_timestamp_offset()
        live = [b for b in self.model.batches if b[1] >= self.model.start]
        if not live:
            assert found is None
        else:
            newest = max(timestamp for *_, timestamp, _ in live)
            first = next(b for b in live if b[3] == newest)
            assert (found.timestamp, found.offset) == (newest, max(first[0], self.model.start))

    @rule()
    def stop_and_start(self) -> None:
        self.manager.close(5)
        self._start(self.manager._disk)
        assert self.manager.previous_broker_epoch == 5

    @rule(tail=st.just(Tail.KEPT), checkpoint=st.booleans(), sync=st.booleans())
    def kill(self, tail: Tail, checkpoint: bool, sync: bool) -> None:
        """kill -9: whatever was written is still there."""
        if sync:
            self.log.fsync()
        if checkpoint:
            self.manager.tick_recovery_points()
        else:
            self.manager.checkpoint_log_starts()
        self._start(self.manager._disk.crash(tail))

    def _start(self, disk) -> None:
        self.manager = manager(disk, **self.config)
        self.log = self.manager.get(TP)
        self.log.high_watermark = self.log.log_end_offset

    @precondition(lambda self: hasattr(self, "log"))
    @invariant()
    def same_bounds(self) -> None:
        assert self.log.log_start_offset == self.model.start
        assert self.log.log_end_offset == self.model.end
        assert self.log.segments.first.base_offset <= self.model.start

    @precondition(lambda self: hasattr(self, "log"))
    @invariant()
    def epochs_match(self) -> None:
        for first, _, _, _, epoch in self.model.batches:
            if first >= self.model.start:
                assert self.log.epochs.epoch_at(first) == epoch


LogMachine.TestCase.settings = settings(
    max_examples=100, stateful_step_count=30, deadline=None, derandomize=True
)
TestLog = LogMachine.TestCase
