"""How the metadata log becomes durable: fsyncs, elsewhere, of no more than what changed."""

from __future__ import annotations

from collections.abc import Callable

from kbroker.broker.blocking import RunBlocking
from kbroker.clock import Clock
from kbroker.storage.log import Log


class RaftSync:
    """One fsync at a time; who calls sees to that.

    Args:
        on_failure: the disk failed.
    """

    __slots__ = ("_clock", "_log", "_on_failure", "_run_blocking", "_stopped", "_tail_only", "under_way")

    def __init__(
        self,
        log: Log,
        clock: Clock,
        run_blocking: RunBlocking,
        on_failure: Callable[[BaseException], None],
    ) -> None:
        self._log = log
        self._clock = clock
        self._run_blocking = run_blocking
        self._on_failure = on_failure
        self._tail_only = False
        self._stopped = False
        self.under_way = False

    def stop(self) -> None:
        """The log is not touched any more; an fsync under way is not waited for."""
        self._stopped = True

    def rewritten(self) -> None:
        """The log was cut: the next fsync covers all of its files."""
        self._tail_only = False

    def run(self, then: Callable[[], None]) -> None:
        """Make what is written durable, then call `then`."""
        log = self._log
        if self._tail_only and not (log.wants_sync or log.metadata_dirty or log.epochs.dirty):
            # The batches alone decide: indexes and epochs are built anew from them after a crash.
            work: Callable[[], object] = log.directory.files.get(log.segments.active.path).sync
            synced = None
        else:
            job = log.fsync_job()
            work, synced = job.run, job.offset
            self._tail_only = True

        def done(error: BaseException | None) -> None:
            self.under_way = False
            if error is not None:
                self._on_failure(error)
                return
            if synced is not None and not self._stopped:
                log.fsynced(min(synced, log.log_end_offset), self._clock.now_ms())
            then()

        self.under_way = True
        self._run_blocking(work, done)
