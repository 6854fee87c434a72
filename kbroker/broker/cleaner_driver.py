"""Log compaction while a broker runs: chooses logs, has workers clean them, swaps the results in.

All of this runs on the broker's thread and takes no time: reading, writing and deciding on records is the
work of another process (`server/cleaner_worker.py`), forced writes that of a thread.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kbroker.errors import ApiError
from kbroker.protocol.sealed_batch import CannotOpen
from kbroker.storage.checkpoints import format_offsets, parse_offsets
from kbroker.storage.cleaner_job import encode_job
from kbroker.storage.cleaner_output import discard_cleaned
from kbroker.storage.cleaner_plan import Candidate, CleanerLimits, CleanerState, make_job
from kbroker.storage.cleaner_swap import swap_in
from kbroker.storage.file_names import CLEANER_OFFSETS
from kbroker.storage.log_config import MAX_LONG

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.storage.log import Log
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager
    from kbroker.storage.segment import Segment
    from kbroker.types import TopicPartition

_log = logging.getLogger(__name__)

#: Changes of these are looked at, at once.
SETTINGS = ("log.cleaner.threads", "log.cleaner.backoff.ms")
#: A log whose cleaning failed for a reason that may pass is left alone for so long.
_PAUSE_MS = 60_000
#: Errors that mean: this disk is broken. Others (full, no descriptors) may pass.
_BROKEN_DISK = {errno.EIO, errno.EROFS}


class Worker(Protocol):
    """A process that cleans; see `server/cleaner_process.py`."""

    def submit(self, job: bytes, bytes_per_s: float, keys: Mapping[str, bytes] = ...) -> None: ...

    def close(self) -> None: ...

    def kill(self) -> None: ...


StartWorker = Callable[[Callable[[dict[str, Any]], None], Callable[[str | None], None]], Worker]


class CleanerStats(NamedTuple):
    """What was done since the start; ratio from 0 to 1 as the last look at the logs found it."""

    rounds: int
    bytes_read: int
    bytes_written: int
    dirtiest_ratio: float
    uncleanable: dict[TopicPartition, str]
    #: Of the newest round: seconds, bytes written for each one read, when it was over (0: there was none).
    last_s: float = 0.0
    last_kept: float = 0.0
    last_ms: int = 0


class _Run:
    """A worker and what it is at."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.candidate: Candidate | None = None
        self.segments: dict[int, Segment] = {}
        self.began_ms = 0
        self.over = False


class CleanerDriver:
    """Compacts from `start` to `stop`.

    Args:
        config: log.cleaner.….
        start_worker: (on message, on exit) -> a worker, which calls them on this thread.
        run_blocking: runs a forced write where it does not hold up others.
        removable_to: tombstones and markers of a log may be dropped below this offset, once their time has
            come (docs/decisions/0005). With one replica: all.
    """

    def __init__(
        self,
        logs: LogManager,
        config: BrokerConfig,
        *,
        clock: Clock,
        timer: Timer,
        run_blocking: RunBlocking,
        start_worker: StartWorker,
        removable_to: Callable[[Log], int] = lambda _: MAX_LONG,
    ) -> None:
        self.state = CleanerState()
        self._logs = logs
        self._config = config
        self._clock = clock
        self._timer = timer
        self._run_blocking = run_blocking
        self._start_worker = start_worker
        self._removable_to = removable_to
        #: Told of a log that was compacted.
        self.on_cleaned: Callable[[Log], object] | None = None
        self._alarm: TimerHandle | None = None
        self._runs: list[_Run] = []
        self._paused_until: dict[TopicPartition, int] = {}
        self._unsynced: dict[str, list[str]] = {}
        self._writing = False
        self._rounds = self._bytes_read = self._bytes_written = 0
        self._last_s = self._last_kept = 0.0
        self._last_ms = 0
        self._stopped = False

    # -- life --

    def start(self) -> None:
        """Begin: read how far logs are compacted, look for work soon.

        No file tells which tombstones wait for their time: at worst all were met just before the last stop.
        """
        for log_dir in self._logs.dirs:
            if not log_dir.offline:
                try:
                    self._read_checkpoint(log_dir)
                except OSError as error:
                    log_dir.fail(error)
        self._config.subscribe(lambda _: self._arm(0), SETTINGS)
        self._arm(0)

    def stop(self) -> None:
        """End the workers; what they had not finished is done again another time."""
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()
        for run in list(self._runs):
            self._abandon(run)
        for log_dir in self._logs.dirs:
            # A write that is under way in a thread must not meet another one; what it lacks is done again.
            if log_dir.path in self._unsynced and not log_dir.offline and not self._writing:
                try:
                    self._checkpoint_work(log_dir)()
                except OSError as error:
                    log_dir.fail(error)

    def stats(self) -> CleanerStats:
        """For metrics and for people."""
        return CleanerStats(
            self._rounds,
            self._bytes_read,
            self._bytes_written,
            self.state.dirtiest_ratio,
            dict(self.state.uncleanable),
            self._last_s,
            self._last_kept,
            self._last_ms,
        )

    def cleaned_offset(self, log: Log) -> int:
        """Everything below was compacted once."""
        return self.state.checkpoint(log) or 0

    def truncated(self, log: Log, offset: int) -> None:
        """A follower cut its log: what comes in its place was never compacted."""
        self.state.truncated(log, offset)

    # -- rounds --

    def _arm(self, delay_ms: float) -> None:
        if self._stopped:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._timer.call_later(delay_ms, self._round)

    def _round(self) -> None:
        """Give work to as many workers as there may be; come again after the pause."""
        self._alarm = None
        limit = self._config.get_int("log.cleaner.threads")
        if self._config.get_bool("log.cleaner.enable"):
            while len(self._runs) < limit and self._next_job(_Run()):
                pass
        self._arm(max(self._config.get_int("log.cleaner.backoff.ms"), 1))

    def _next_job(self, run: _Run) -> bool:
        """Have `run` clean the log that needs it most; False if none does."""
        now = self._clock.now_ms()
        busy = {other.candidate.log.topic_partition for other in self._runs if other.candidate is not None}
        self._paused_until = {tp: until for tp, until in self._paused_until.items() if until > now}
        logs = [log for tp, log in self._logs.logs.items() if tp not in busy and tp not in self._paused_until]
        try:
            candidate = self.state.choose(logs, now)
            if candidate is None:
                return False
            limits = CleanerLimits(
                self._config.get_int("log.cleaner.dedupe.buffer.size")
                // max(self._config.get_int("log.cleaner.threads"), 1),
                self._config.get_float("log.cleaner.io.buffer.load.factor"),
                self._config.get_int("log.cleaner.io.buffer.size"),
            )
            job, segments = make_job(candidate, limits, now, self._removable_to(candidate.log))
        except (ApiError, OSError) as error:
            _log.error("looking for logs to compact: %s", error)
            return False
        run.candidate, run.began_ms = candidate, now
        run.segments = {segment.base_offset: segment for segment in segments}
        if run.worker is None:
            self._runs.append(run)
            run.worker = self._start_worker(
                lambda message: self._on_message(run, message), lambda reason: self._on_exit(run, reason)
            )
        data_keys = candidate.log.directory.files.data_keys if candidate.log.encrypted else None
        if data_keys is None:
            run.worker.submit(encode_job(job), self._rate())
        else:
            run.worker.submit(encode_job(job), self._rate(), data_keys[0].known())
        return True

    def _rate(self) -> float:
        """Bytes a second for one worker, 0 for no limit."""
        rate = self._config.get_float("log.cleaner.io.max.bytes.per.second")
        if rate >= sys.float_info.max:
            return 0.0
        return rate / max(self._config.get_int("log.cleaner.threads"), 1)

    # -- what workers tell --

    def _on_message(self, run: _Run, message: dict[str, Any]) -> None:
        if run.over or run.candidate is None:
            return
        if "group" in message:
            self._swap(run, message["group"], message["sizes"])
        elif "done" in message:
            self._finish(run, message)
        elif "failed" in message:
            self._fail(run, run.candidate.log, message)

    def _swap(self, run: _Run, bases: list[int], sizes: dict[str, int]) -> None:
        assert run.candidate is not None
        log = run.candidate.log
        swapped = False
        try:
            if self._logs.get(log.topic_partition) is log and not self._stopped:
                sources = [run.segments[base] for base in bases]
                swapped = not sizes or swap_in(log, sources, sizes, self._clock.now_ms())
        except ApiError as error:
            _log.error("compacting %s: %s", log.topic_partition, error)
        if not swapped:
            _log.info("%s changed while it was compacted; leaving it for later", log.topic_partition)
            self._abandon(run)
            self._arm(0)

    def _finish(self, run: _Run, message: dict[str, Any]) -> None:
        assert run.candidate is not None
        log = run.candidate.log
        end = max(int(message["done"]), run.candidate.first_dirty)
        self.state.set_checkpoint(log, end)
        self.state.set_horizon(log, int(message["horizon"]))
        if self.on_cleaned is not None:
            self.on_cleaned(log)
        self._rounds += 1
        self._last_ms = self._clock.now_ms()
        self._last_s = (self._last_ms - run.began_ms) / 1000
        self._last_kept = int(message["written"]) / max(int(message["read"]), 1)
        self._bytes_read += int(message["read"])
        self._bytes_written += int(message["written"])
        _log.info(
            "compacted %s up to offset %d: %d bytes read, %d written",
            log.topic_partition,
            end,
            message["read"],
            message["written"],
        )
        self._unsynced.setdefault(log.directory.path, []).append(log.path)
        self._write_checkpoints()
        self._go_on(run)

    def _fail(self, run: _Run, log: Log, message: dict[str, Any]) -> None:
        tp, text = log.topic_partition, message["text"]
        if message["failed"] == "damaged":
            self.state.uncleanable[tp] = text
            _log.error("%s cannot be compacted and is left alone until the next start: %s", tp, text)
        elif self._logs.get(tp) is log:
            if message.get("errno") in _BROKEN_DISK:
                log.directory.fail(OSError(message["errno"], text))
            self._paused_until[tp] = self._clock.now_ms() + _PAUSE_MS
            if message.get("errno") != errno.ENOENT:
                _log.warning("compacting %s failed, trying again later: %s", tp, text)
            data_keys = log.directory.files.data_keys
            if message["failed"] == "key" and data_keys is not None:
                with contextlib.suppress(CannotOpen):
                    # Who keeps keys is told that this one is wanted.
                    data_keys[0].check(message["key"].encode())
        self._discard(log)
        self._go_on(run)

    def _go_on(self, run: _Run) -> None:
        run.candidate = None
        assert run.worker is not None
        wanted = self._config.get_bool("log.cleaner.enable") and not self._stopped
        too_many = len(self._runs) > self._config.get_int("log.cleaner.threads")
        if not wanted or too_many or not self._next_job(run):
            run.worker.close()

    def _on_exit(self, run: _Run, reason: str | None) -> None:
        if run.over:
            return
        run.over = True
        if run in self._runs:
            self._runs.remove(run)
        if run.candidate is not None:
            log = run.candidate.log
            _log.warning("compacting %s ended early (%s), trying again later", log.topic_partition, reason)
            self._paused_until[log.topic_partition] = self._clock.now_ms() + _PAUSE_MS
            self._discard(log)

    def _abandon(self, run: _Run) -> None:
        """Kill the worker; its output so far is of no use."""
        run.over = True
        if run in self._runs:
            self._runs.remove(run)
        if run.worker is not None:
            run.worker.kill()
        if run.candidate is not None:
            self._discard(run.candidate.log)

    def _discard(self, log: Log) -> None:
        if self._logs.get(log.topic_partition) is log and not log.directory.offline:
            try:
                discard_cleaned(log.directory.disk, log.path)
            except OSError as error:
                log.directory.fail(error)

    # -- cleaner-offset-checkpoint --

    def _read_checkpoint(self, log_dir: LogDir) -> None:
        path = f"{log_dir.path}/{CLEANER_OFFSETS}"
        if not log_dir.disk.exists(path):
            return
        text = log_dir.disk.read_file(path).decode("utf-8", "replace")
        try:
            offsets = parse_offsets(text)
        except ValueError as error:
            _log.warning("%s is damaged, compacting all logs from their start: %s", path, error)
            return
        for tp, offset in offsets.items():
            log = self._logs.get(tp)
            if log is not None and log.directory is log_dir:
                self.state.set_checkpoint(log, offset)
                self.state.set_horizon(log, self._clock.now_ms() + log.config.delete_retention_ms)

    def _write_checkpoints(self) -> None:
        """Write those of directories where something was compacted, one at a time."""
        if self._writing or self._stopped:
            return
        for log_dir in self._logs.dirs:
            if log_dir.path in self._unsynced and not log_dir.offline:
                self._writing = True
                self._run_blocking(self._checkpoint_work(log_dir), partial(self._written, log_dir))
                return

    def _checkpoint_work(self, log_dir: LogDir) -> Callable[[], None]:
        paths = list(dict.fromkeys(self._unsynced.pop(log_dir.path)))
        offsets = {
            log.topic_partition: offset
            for log in self._logs.logs.values()
            if log.directory is log_dir and (offset := self.state.checkpoint(log)) is not None
        }
        disk, target = log_dir.disk, f"{log_dir.path}/{CLEANER_OFFSETS}"

        def work() -> None:
            # The swapped names first: the checkpoint must not tell of what a power cut could undo.
            for path in paths:
                if disk.exists(path):
                    disk.sync_dir(path)
            disk.write_file(target, format_offsets(offsets).encode())

        return work

    def _written(self, log_dir: LogDir, error: BaseException | None) -> None:
        self._writing = False
        if isinstance(error, OSError):
            log_dir.fail(error)
        elif error is not None:
            raise error
        self._write_checkpoints()
