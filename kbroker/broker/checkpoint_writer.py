"""Writes the checkpoints of log directories where it holds nobody up, one after the other.

They are synced, which may take long while the disk is busy with data.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.storage.log_manager import LogManager


class CheckpointWriter:
    """The one that asks the log manager for `checkpoint_job`s: only one may be under way."""

    def __init__(self, logs: LogManager, run_blocking: RunBlocking) -> None:
        self._logs = logs
        self._run_blocking = run_blocking
        self._writing = False
        self._due: deque[tuple[tuple[str, ...], Callable[[], object] | None]] = deque()

    def write(self, *names: str, then: Callable[[], object] | None = None) -> None:
        """Write those of these names (all, if none is given) that have changed, then call `then`.

        What is due while others are written waits for them.
        """
        if then is not None or (names, None) not in self._due:
            self._due.append((names, then))
        self._next()

    def _next(self) -> None:
        while self._due and not self._writing:
            names, then = self._due.popleft()
            job = self._logs.checkpoint_job(*names)
            if job is not None:
                self._writing = True
                self._run_blocking(job.run, partial(self._written, job.finish, then))
            elif then is not None:
                then()

    def _written(
        self, finish: Callable[[], None], then: Callable[[], object] | None, error: BaseException | None
    ) -> None:
        self._writing = False
        finish()
        if then is not None:
            then()
        self._next()
        if error is not None:
            raise error
