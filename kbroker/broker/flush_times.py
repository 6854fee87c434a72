"""How long the disk takes to make logs durable (Kafka's LogFlushRateAndTimeMs), whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

from kbroker.metrics.histogram import Histogram

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking


class FlushTimes:
    """Of a node: those that requests wait for, those of the housekeeping, those of the metadata log."""

    def __init__(self) -> None:
        #: In µs; added to on the event loop alone.
        self.times = Histogram(0.001)

    def around(self, run_blocking: RunBlocking) -> RunBlocking:
        """The same runner, with a watch on what it runs; work that fails does not count."""

        def run(work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
            took_us = 0

            def timed() -> None:
                nonlocal took_us
                began_s = perf_counter()
                work()
                took_us = int((perf_counter() - began_s) * 1e6)

            def finished(error: BaseException | None) -> None:
                if error is None:
                    self.times.record(took_us)
                done(error)

            run_blocking(timed, finished)

        return run
