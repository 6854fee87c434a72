"""Group commit: one sync for all that wait for it.

Each log directory is a lane with at most one sync under way. Logs and waiters that come meanwhile make up the
next one, so the more producers there are, the more answers one sync lets go. If none is under way, the next
begins when the loop has handled what it has read by then; beyond that nobody waits for company. The event
loop itself never waits.

A sync that fails takes its directory offline for good: what it should have made durable may be gone from
the page cache, and another sync would say nothing about it. Waiters look at the log's directory to see how it
went.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from kbroker.metrics.histogram import Histogram
from kbroker.storage.data_sync import DataSync
from kbroker.storage.disk import StorageError

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.storage.disk import DiskFile
    from kbroker.storage.log import Log
    from kbroker.storage.log_dir import LogDir


#: `sync_files(files, done)`: make them durable without a thread, then tell `done` on the loop what became of
#: each; False: that cannot be done.
SyncFiles: TypeAlias = Callable[["Sequence[DiskFile]", "Callable[[Sequence[OSError | None]], None]"], bool]
#: Called when a sync is over, with the logs that it could not write or sync, and why.
Waiter: TypeAlias = Callable[[Mapping["Log", "OSError | StorageError"]], None]
_NOTHING_LOST: Mapping[Log, OSError | StorageError] = {}


class _Round:
    """One sync: what it covers, and who waits for it."""

    __slots__ = ("logs", "waiters")

    def __init__(self) -> None:
        self.logs: dict[Log, None] = {}
        self.waiters: list[Waiter] = []


class _Lane:
    """The syncs of one directory."""

    __slots__ = ("begins", "current", "following")

    def __init__(self) -> None:
        #: `current` is none, but will be one with the loop's next turn.
        self.begins = False
        self.current: _Round | None = None
        self.following = _Round()


class GroupSync:
    """Syncs logs on demand.

    Args:
        run_blocking: runs a sync where it does not hold up others.
        on_synced: told of every log of which more is durable.
        on_failed: told of a log that could not be synced, and why.
        is_current: whether a log is still the partition's. One that was deleted needs no sync, one that was
            moved was synced by the move; neither has its files where it had them.
        call_soon: runs a function in the loop's next turn; None: a sync begins as soon as it is asked for.
        sync_files: what needs no thread; None: there is no such thing.
    """

    def __init__(
        self,
        run_blocking: RunBlocking,
        on_synced: Callable[[Log], object],
        on_failed: Callable[[Log, OSError | StorageError], object],
        is_current: Callable[[Log], bool],
        call_soon: Callable[[Callable[[], object]], object] | None = None,
        sync_files: SyncFiles | None = None,
    ) -> None:
        self._run_blocking = run_blocking
        self._call_soon = call_soon
        self._sync_files = sync_files
        self._is_current = is_current
        self._on_synced = on_synced
        self._on_failed = on_failed
        self._lanes: dict[LogDir, _Lane] = {}
        #: How long the disk took, in µs.
        self.times = Histogram(0.001)

    def ask(self, log: Log) -> None:
        """Make everything that is written to `log` now durable, soon."""
        lane = self._lanes.get(log.directory)
        if lane is None:
            lane = self._lanes[log.directory] = _Lane()
        lane.following.logs[log] = None
        if lane.current is None and not lane.begins:
            self._begin_soon(lane)

    def is_asked(self, log: Log) -> bool:
        """Whether a sync of it is to come, or under way."""
        return self._round_of(log) is not None

    def take_over(self, log: Log) -> list[Waiter] | None:
        """Leave what is staged in `log` to the next sync, which begins with writing it; who is told after it.

        So one write does for all connections that append before that. None if there is too much, or if no
        sync is to come: then flush, and `ask`.
        """
        lane = self._lanes.get(log.directory)
        if lane is None or not (lane.current or self._call_soon) or not log.leave_staged():
            return None
        following = lane.following
        following.logs[log] = None
        if lane.current is None and not lane.begins:
            self._begin_soon(lane)
        return following.waiters

    def when_synced(self, logs: Sequence[Log], done: Waiter) -> None:
        """Call `done` when all that was asked for `logs` is durable, or could not be made so."""
        if len(logs) == 1:
            only = self._round_of(logs[0])
            if only is not None:
                only.waiters.append(done)
            else:
                done(_NOTHING_LOST)
            return
        rounds = {found: None for log in logs if (found := self._round_of(log)) is not None}
        if len(rounds) == 1:
            next(iter(rounds)).waiters.append(done)
            return
        missing = len(rounds)
        if not missing:
            done(_NOTHING_LOST)
            return
        all_lost: dict[Log, OSError | StorageError] = {}

        def one_done(lost: Mapping[Log, OSError | StorageError]) -> None:
            nonlocal missing
            missing -= 1
            all_lost.update(lost)
            if not missing:
                done(all_lost)

        for found in rounds:
            found.waiters.append(one_done)

    def _round_of(self, log: Log) -> _Round | None:
        """The last sync that `log` was asked for, unless it is over."""
        lane = self._lanes.get(log.directory)
        if lane is None:
            return None
        if log in lane.following.logs:
            return lane.following
        current = lane.current
        return current if current is not None and log in current.logs else None

    def _begin_soon(self, lane: _Lane) -> None:
        if self._call_soon is None:
            self._start(lane)
        else:
            lane.begins = True
            self._call_soon(partial(self._start, lane))

    def _start(self, lane: _Lane) -> None:
        """Write what was left to this sync, then sync what has gathered."""
        lane.begins = False
        current = lane.current = lane.following
        lane.following = _Round()
        jobs: list[DataSync] = []
        failed: list[tuple[Log, OSError | StorageError]] = []
        for log in current.logs:
            if not self._is_current(log):
                continue
            try:
                lost = _write_left(log)
                if lost is not None:
                    failed.append((log, lost))
                jobs.append(DataSync(log))
            except StorageError as error:
                failed.append((log, error))

        if not jobs:
            lane.current = None
            self._finish(lane, current, jobs, failed)
        elif not self._sync_without_thread(lane, current, jobs, failed):
            self._sync_in_thread(lane, current, jobs, failed)

    def _sync_without_thread(
        self,
        lane: _Lane,
        current: _Round,
        jobs: list[DataSync],
        failed: list[tuple[Log, OSError | StorageError]],
    ) -> bool:
        """False: it needs one, and nothing has happened."""
        sync_files = self._sync_files
        if sync_files is None:
            return False
        files: list[DiskFile] = []
        ends: list[int] = []
        for job in jobs:
            if job.directories:
                return False
            files += job.files
            ends.append(len(files))
        began_s = perf_counter()

        def done(errors: Sequence[OSError | None]) -> None:
            took_us = int((perf_counter() - began_s) * 1e6)
            lane.current = None
            synced: list[DataSync] = []
            first = 0
            for job, end in zip(jobs, ends):
                error = next((each for each in errors[first:end] if each is not None), None)
                first = end
                if error is None:
                    synced.append(job)
                    self.times.record(took_us)
                else:
                    failed.append((job.log, error))
            self._finish(lane, current, synced, failed)

        return sync_files(files, done)

    def _sync_in_thread(
        self,
        lane: _Lane,
        current: _Round,
        jobs: list[DataSync],
        failed: list[tuple[Log, OSError | StorageError]],
    ) -> None:
        took_us: list[int] = []
        unsynced: list[DataSync] = []

        def work() -> None:
            for job in jobs:
                began_s = perf_counter()
                try:
                    job.run()
                    took_us.append(int((perf_counter() - began_s) * 1e6))
                except OSError as error:
                    failed.append((job.log, error))
                    unsynced.append(job)

        def done(error: BaseException | None) -> None:
            lane.current = None
            for each in took_us:
                self.times.record(each)
            if error is not None:
                raise error
            self._finish(lane, current, [job for job in jobs if job not in unsynced], failed)

        self._run_blocking(work, done)

    def _finish(
        self,
        lane: _Lane,
        finished: _Round,
        synced: list[DataSync],
        failed: list[tuple[Log, OSError | StorageError]],
    ) -> None:
        for log, error in failed:
            self._on_failed(log, error)
        lost = dict(failed) if failed else _NOTHING_LOST
        for job in synced:
            job.finish()
        if lane.following.logs:
            self._start(lane)
        for job in synced:
            self._on_synced(job.log)
        for waiter in finished.waiters:
            waiter(lost)


def _write_left(log: Log) -> StorageError | None:
    """Why some of what was left to the sync is not in the log; None if all of it is."""
    try:
        log.flush_staged()
    except StorageError as error:
        log.lost = None
        return error
    lost, log.lost = log.lost, None
    return lost
