"""Syncs that the kernel does by itself, on real files; where it cannot, the caller hears of it first."""

from __future__ import annotations

import asyncio
import errno
import sys

import pytest

from kbroker.server import kernel_sync
from kbroker.server.kernel_sync import SYNCS_MAX, KernelSync
from kbroker.server.os_disk import OsDisk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="io_submit is Linux's")


def files(folder, count):
    made = [OsDisk().open(str(folder / f"{number}.log"), create=True) for number in range(count)]
    for file in made:
        file.write(0, b"x" * 5000)
    return made


async def told(syncs, made):
    over = asyncio.get_running_loop().create_future()
    assert syncs.sync(made, over.set_result)
    return await asyncio.wait_for(over, 30)


def run(work):
    async def whole():
        syncs = KernelSync(asyncio.get_running_loop())
        try:
            return await work(syncs)
        finally:
            syncs.close()

    return asyncio.run(whole())


def test_all_files_are_synced_and_told_of_together(tmp_path):
    async def work(syncs):
        some, others = files(tmp_path, 3), files(tmp_path, 2)
        found = await asyncio.gather(told(syncs, some), told(syncs, others))
        return [*found, await told(syncs, some)]

    assert run(work) == [[None] * 3, [None] * 2, [None] * 3]


def test_more_than_its_room_is_left_to_the_caller_and_there_is_room_again(tmp_path):
    async def work(syncs):
        made = files(tmp_path, SYNCS_MAX)
        first = asyncio.ensure_future(told(syncs, made))
        await asyncio.sleep(0)
        refused = [syncs.sync(made[:1], print), syncs.sync([], print)]
        assert await first == [None] * SYNCS_MAX
        return refused + await told(syncs, made[:1])

    assert run(work) == [False, False, None]


def test_a_file_that_may_be_closed_meanwhile(tmp_path):
    async def work(syncs):
        made = files(tmp_path, 1)
        over = asyncio.get_running_loop().create_future()
        assert syncs.sync(made, over.set_result)
        del made[:]
        return await asyncio.wait_for(over, 30)

    assert run(work) == [None]


def test_an_error_names_the_file(tmp_path, monkeypatch):
    real = kernel_sync._Calls.finished

    def finished(calls):
        return [(number, -errno.EIO if number == 1 else result) for number, result in real(calls)]

    monkeypatch.setattr(kernel_sync._Calls, "finished", finished)
    errors = run(lambda syncs: told(syncs, files(tmp_path, 3)))
    assert [error and (error.errno, error.filename) for error in errors] == [
        None,
        (errno.EIO, str(tmp_path / "1.log")),
        None,
    ]


@pytest.mark.parametrize("missing", ["setup", "submit", "machine"])
def test_without_such_calls_the_caller_is_told_at_once_and_always(tmp_path, monkeypatch, missing):
    numbers = dict.fromkeys(kernel_sync._NUMBERS)
    for machine, known in kernel_sync._NUMBERS.items():
        numbers[machine] = known._replace(**{missing: 100_000}) if missing != "machine" else known
    monkeypatch.setattr(kernel_sync, "_NUMBERS", {} if missing == "machine" else numbers)

    async def work(syncs):
        made = files(tmp_path, 2)
        return [syncs.sync(made, print), syncs.sync(made, print)]

    assert run(work) == [False, False]


def test_what_there_is_no_memory_for_is_synced_here(tmp_path, monkeypatch):
    real, synced = kernel_sync._Calls.submit, []
    monkeypatch.setattr(kernel_sync._Calls, "submit", lambda calls, first, made: real(calls, first, made[:1]))
    monkeypatch.setattr("kbroker.server.os_disk.OsFile.sync", lambda file: synced.append(file.path))
    assert run(lambda syncs: told(syncs, files(tmp_path, 2))) == [None, None]
    assert synced == [str(tmp_path / "1.log")]


def test_after_close_nobody_is_told(tmp_path):
    async def work(syncs):
        heard, made = [], files(tmp_path, 2)
        assert syncs.sync(made, heard.append)
        syncs.close()
        await asyncio.sleep(0)
        return heard, syncs.sync(made, heard.append)

    assert run(work) == ([], False)
