"""The machine behind the ports: its clock, the event loop's timer, threads for what blocks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from kbroker.broker.timer import WheelTimer


class SystemClock:
    """The machine's time."""

    def now_ms(self) -> int:
        """Wall clock."""
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        """Never runs backwards."""
        return time.monotonic_ns() // 1_000_000


class LoopTimer(WheelTimer):
    """The event loop's timer, through a wheel: waits that are cancelled again cost the loop nothing."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(
            lambda: loop.time() * 1000, lambda delay_ms, callback: loop.call_later(delay_ms / 1000, callback)
        )


class BlockingRunner:
    """Runs what may block (fsync, snapshots) in threads, and tells the loop when it is done."""

    def __init__(self, loop: asyncio.AbstractEventLoop, threads: int = 2, name: str = "disk") -> None:
        self._loop = loop
        # Threads are started when there is work, not before.
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix=f"kbroker-{name}")
        self._open: set[Future[object]] = set()

    def run(self, work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
        """See `RunBlocking`."""
        future = self._pool.submit(work)
        self._open.add(future)
        future.add_done_callback(lambda future: self._finished(future, done))

    def _finished(self, future: Future[object], done: Callable[[BaseException | None], None]) -> None:
        if not future.cancelled():
            self._loop.call_soon_threadsafe(self._tell, future, done)

    def _tell(self, future: Future[object], done: Callable[[BaseException | None], None]) -> None:
        self._open.discard(future)
        done(future.exception())

    async def idle(self) -> None:
        """Returns when nothing is under way any more, and all have been told."""
        while self._open:
            await asyncio.wait([asyncio.wrap_future(future) for future in self._open])
            await asyncio.sleep(0)

    def close(self) -> None:
        """Wait for what runs, forget what does not."""
        self._pool.shutdown(wait=True, cancel_futures=True)
