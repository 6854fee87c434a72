from __future__ import annotations

import asyncio
import os
import sys
import threading

import pytest

from kbroker.server.runtime import NICE, BlockingRunner


def test_idle_waits_for_all_that_was_begun_and_for_what_that_begins():
    async def run():
        runner, told, may_end = BlockingRunner(asyncio.get_running_loop()), [], threading.Event()

        def first_done(error):
            told.append((1, error))
            runner.run(lambda: None, lambda error: told.append((2, error)))

        runner.run(lambda: may_end.wait(10), first_done)
        waiting = asyncio.ensure_future(runner.idle())
        await asyncio.sleep(0)
        assert not waiting.done()
        may_end.set()
        await waiting
        assert told == [(1, None), (2, None)]
        await runner.idle()
        runner.close()

    asyncio.run(run())


@pytest.mark.skipif(sys.platform != "linux", reason="priorities of threads are Linux's")
def test_threads_that_compute_give_way():
    async def run():
        nice = []
        for asked in (NICE, 0):
            runner = BlockingRunner(asyncio.get_running_loop(), nice=asked)
            runner.run(lambda: nice.append(os.getpriority(os.PRIO_PROCESS, 0)), lambda error: None)
            await runner.idle()
            runner.close()
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert nice == [max(own, NICE), own]

    asyncio.run(run())


def test_an_error_is_told():
    async def run():
        runner, told = BlockingRunner(asyncio.get_running_loop()), []
        runner.run(lambda: 1 / 0, told.append)
        await runner.idle()
        assert isinstance(told[0], ZeroDivisionError)
        runner.close()

    asyncio.run(run())
