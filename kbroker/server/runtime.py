"""The machine behind the ports: its clock, the event loop's timer, threads for what blocks."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.broker.timer import WheelTimer

T = TypeVar("T")


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


#: Of threads that compute: they get a tenth of what the loop gets on the same core, and it mostly goes first
#: when it wakes up. Not the least there is, as the loop sometimes waits for what they hold.
NICE = 10

_Job: TypeAlias = "tuple[Callable[[], object], Callable[[BaseException | None], None]]"


class BlockingRunner:
    """Runs what may block (fsync, snapshots) in threads, and tells the loop when it is done.

    A sync comes every millisecond if many wait for the disk, and all that a thread does beside it keeps the
    loop from running: hence no futures.

    Args:
        nice: of the threads: they compute, and the loop should not have to share its core with them.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        threads: int = 2,
        name: str = "disk",
        *,
        nice: int = 0,
    ) -> None:
        self._loop = loop
        self._threads_max = threads
        self._name = f"kbroker-{name}"
        self._nice = nice
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        # Started when there is work, not before.
        self._threads: list[threading.Thread] = []
        #: Jobs whose `done` was not called yet.
        self._open = 0
        self._idle = asyncio.Event()

    def run(self, work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
        """See `RunBlocking`."""
        self._open += 1
        if self._open > len(self._threads) < self._threads_max:
            name = f"{self._name}_{len(self._threads)}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._threads.append(thread)
            thread.start()
        self._jobs.put((work, done))

    def _work(self) -> None:
        if self._nice and sys.platform == "linux":  # elsewhere this is for whole processes
            with suppress(OSError):
                own = threading.get_native_id()
                os.setpriority(os.PRIO_PROCESS, own, max(os.getpriority(os.PRIO_PROCESS, own), self._nice))
        while (job := self._jobs.get()) is not None:
            work, done = job
            error: BaseException | None = None
            try:
                work()
            except BaseException as problem:
                error = problem
            with suppress(RuntimeError):  # nobody listens any more: the loop is closed
                self._loop.call_soon_threadsafe(self._tell, done, error)
            del job, work, done, error

    def _tell(self, done: Callable[[BaseException | None], None], error: BaseException | None) -> None:
        self._open -= 1
        if not self._open:
            self._idle.set()
        done(error)

    async def idle(self) -> None:
        """Returns when nothing is under way any more, and all have been told."""
        while self._open:
            self._idle.clear()
            await self._idle.wait()
            await asyncio.sleep(0)

    def close(self, *, wait: bool = True) -> None:
        """Forget what does not run yet, and wait for what does (unless others have to answer first)."""
        with suppress(Empty):
            while True:
                self._jobs.get_nowait()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads if wait else ():
            thread.join()


async def resolved(deferred: Deferred[T]) -> T:
    """Wait for it; raises what it failed with."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    deferred.then(lambda _: None if future.done() else future.set_result(None))
    await future
    return deferred.result()
