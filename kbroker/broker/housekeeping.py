"""What a broker does by the clock: retention, checkpoints, removal of files, fsync of closed segments.

Each chore is one call into the log manager; none of them waits. Forced writes run where blocking is allowed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.checkpoint_writer import CheckpointWriter
from kbroker.errors import ApiError
from kbroker.storage.disk import StorageError
from kbroker.storage.file_names import HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS
from kbroker.storage.idle_logs import IdleLogs, SealJob

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.storage.log import FsyncJob, Log
    from kbroker.storage.log_dir import RemovalJob
    from kbroker.storage.log_manager import LogManager

_log = logging.getLogger(__name__)

#: How often closed segments and flush.ms are looked at, and files whose time has come are removed.
_SYNC_INTERVAL_MS = 1000
_REMOVAL_INTERVAL_MS = 1000
#: How often free bytes are looked at, if somebody asked for a minimum or a directory is full.
_ROOM_INTERVAL_MS = 500
#: A log to which nothing came from one look to the next is at rest.
_REST_INTERVAL_MS = 15_000
#: Logs that are sealed together (some 0.1 ms each), the pause until the next, and how many share a sync.
_SEALED_AT_ONCE = 10
_SEAL_PAUSE_MS = 20
_SYNCED_AT_ONCE = 500


class Housekeeping:
    """Runs the chores from `start` to `stop`.

    Args:
        config: the intervals, as Kafka names them.
        run_blocking: runs the writing of checkpoints where it does not hold up others.
        run_flush: the same for the sync of logs; None: as `run_blocking`.
        on_all_offline: no log directory works any more: the node has no reason to live.
    """

    def __init__(
        self,
        logs: LogManager,
        config: BrokerConfig,
        *,
        clock: Clock,
        timer: Timer,
        run_blocking: RunBlocking,
        on_all_offline: Callable[[], None],
        run_flush: RunBlocking | None = None,
    ) -> None:
        self._logs = logs
        self._config = config
        self._clock = clock
        self._timer = timer
        self._run_blocking = run_blocking
        self._run_flush = run_flush or run_blocking
        self._on_all_offline = on_all_offline
        self._idle = IdleLogs(logs)
        self._sealing = False
        self._stopped = False
        self._syncing: set[int] = set()
        #: For whoever else wants checkpoints written.
        self.checkpoints = CheckpointWriter(logs, run_blocking)
        self._handles: dict[Callable[[], None], TimerHandle] = {}
        self._first_delay_ms = config.get_int("log.initial.task.delay.ms")
        self._chores: list[tuple[int, Callable[[], None]]] = [
            (config.get_int("log.retention.check.interval.ms"), self._retention),
            (config.get_int("producer.id.expiration.check.interval.ms"), self._producers),
            (config.get_int("log.flush.offset.checkpoint.interval.ms"), self._recovery_points),
            (config.get_int("log.flush.start.offset.checkpoint.interval.ms"), self._log_starts),
            (config.get_int("replica.high.watermark.checkpoint.interval.ms"), self._high_watermarks),
            (min(_SYNC_INTERVAL_MS, config.get_int("log.flush.scheduler.interval.ms")), self._sync),
            (_ROOM_INTERVAL_MS, self._room),
            (_REMOVAL_INTERVAL_MS, self._removals),
            (_REST_INTERVAL_MS, self._seal_idle),
        ]

    def start(self) -> None:
        """Begin; the first round comes after log.initial.task.delay.ms or a chore's own, shorter interval.

        Producers are looked after only when the interval is over, as in Kafka: their time is that of records.
        """
        for interval_ms, chore in self._chores:
            wait = chore == self._producers
            self._arm(interval_ms if wait else min(interval_ms, self._first_delay_ms), interval_ms, chore)

    def stop(self) -> None:
        """Do nothing more."""
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()
        self._stopped = True

    def _arm(self, delay_ms: int, interval_ms: int, chore: Callable[[], None]) -> None:
        def run() -> None:
            self._arm(interval_ms, interval_ms, chore)
            try:
                chore()
            except (ApiError, OSError) as error:
                _log.error("housekeeping: %s", error)
            if all(log_dir.offline for log_dir in self._logs.dirs):
                self.stop()
                self._on_all_offline()

        self._handles[chore] = self._timer.call_later(max(delay_ms, 1), run)

    def _retention(self) -> None:
        self._logs.tick_retention(self._clock.now_ms())

    def _producers(self) -> None:
        self._logs.tick_producers(self._clock.now_ms())

    def _recovery_points(self) -> None:
        self.checkpoints.write(RECOVERY_POINTS)

    def _log_starts(self) -> None:
        self.checkpoints.write(LOG_STARTS)

    def _high_watermarks(self) -> None:
        self.checkpoints.write(HIGH_WATERMARKS)

    def _removals(self) -> None:
        for job in self._logs.removal_jobs(self._clock.now_ms()):
            self._run_blocking(job.run, partial(self._removed, job))

    def _removed(self, job: RemovalJob, error: BaseException | None) -> None:
        job.finish()
        if error is not None:
            raise error

    def _room(self) -> None:
        self._logs.tick_room(self._config.get_int("kbroker.log.dir.min.free.bytes"))

    def _seal_idle(self) -> None:
        """Logs at rest are made ready for a stop."""
        if not self._sealing and self._idle.look():
            self._sealing = True
            self._seal_some([])

    def _seal_some(self, sealed: list[Log]) -> None:
        """Seal a few; once there are enough, or no more, sync them, and go on."""
        if self._stopped:
            return
        directory = sealed[0].directory if sealed else None
        some = self._idle.seal_some(_SEALED_AT_ONCE, directory)
        sealed += some
        if len(some) == _SEALED_AT_ONCE and len(sealed) < _SYNCED_AT_ONCE:
            self._timer.call_later(_SEAL_PAUSE_MS, lambda: self._seal_some(sealed))
        elif sealed:
            self._sync_sealed(sealed)
        else:
            self._sealing = False

    def _sync_sealed(self, sealed: list[Log]) -> None:
        try:
            job = SealJob(sealed[0].directory, sealed)
        except (OSError, StorageError):
            self._sealing = False
            return

        def done(error: BaseException | None) -> None:
            if error is not None:
                raise error
            job.finish(self._clock.now_ms(), lambda log: self._logs.get(log.topic_partition) is log)
            self._timer.call_later(_SEAL_PAUSE_MS, lambda: self._seal_some([]))

        self._run_flush(job.run, done)

    def _sync(self) -> None:
        for log, job in self._logs.sync_jobs(self._clock.now_ms()):
            if id(log) not in self._syncing:
                self._syncing.add(id(log))
                self._run_sync(log, job)

    def _run_sync(self, log: Log, job: FsyncJob) -> None:
        def done(error: BaseException | None) -> None:
            self._syncing.discard(id(log))
            if error is None:
                log.fsynced(job.durable_offset(log), self._clock.now_ms())
            elif not isinstance(error, OSError):
                raise error
            elif self._logs.get(log.topic_partition) is log:
                log.directory.fail_for_good(error)
            # Else the topic was deleted meanwhile, and what there was to sync with it.

        self._run_flush(job.run, done)
