"""Look-ups in an index file against a list, through the cache of blocks."""

from __future__ import annotations

import random
from bisect import bisect_right

import pytest

from kbroker.storage.block_cache import BlockCache
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.storage.offset_index import OffsetIndex
from kbroker.storage.open_files import OpenFiles
from kbroker.storage.time_index import TimeIndex


def files() -> OpenFiles:
    disk = MemoryDisk()
    disk.make_dir("/d")
    return OpenFiles(disk)


@pytest.mark.parametrize("seed", range(6))
def test_floor_and_entry_as_in_a_list(seed: int) -> None:
    rng = random.Random(seed)
    opened = files()
    opened.blocks = BlockCache(kept=3)
    index = OffsetIndex(opened, "/d/0.index", 0)
    entries: list[tuple[int, int]] = []
    for _ in range(3000):
        first, second = entries[-1] if entries else (-1, -1)
        entries.append((first + rng.randint(1, 9), second + rng.randint(1, 9)))
        index.add(*entries[-1])
        action = rng.random()
        if action < 0.01:
            index.save()
        elif action < 0.012:
            count = rng.randint(0, len(entries))
            index.keep(count)
            del entries[count:]
        elif action < 0.0125:
            index.reset()
            entries.clear()
        if rng.random() < 0.2:
            for field in (0, 1):
                target = rng.randint(-2, 10 * len(entries) + 10)
                assert index.floor(field, target) == bisect_right([e[field] for e in entries], target) - 1
            if entries:
                number = rng.randrange(len(entries))
                assert index.entry(number) == entries[number]
        assert len(opened.blocks) <= 3


def test_a_look_up_reads_the_disk_once() -> None:
    opened = files()
    index = TimeIndex(opened, "/d/0.timeindex", 0)
    for number in range(5000):
        index.add(10 * number, number)
    index.close()
    reads: list[str] = []
    opened.disk.on_step = lambda operation, path: reads.append(operation)
    assert index.offset_before(4321) == 432
    assert reads.count("read") > 0
    reads.clear()
    assert index.offset_before(4325) == 432
    assert "read" not in reads


def test_another_file_of_the_same_name_is_read_anew() -> None:
    opened = files()
    index = OffsetIndex(opened, "/d/0.index", 0)
    index.add(1, 1)
    index.close()
    assert index.entry(0) == (1, 1)
    again = OffsetIndex(opened, "/d/0.index", 0)
    again.add(7, 7)
    again.close()
    assert again.entry(0) == (7, 7)


def test_a_file_that_was_cut_is_told() -> None:
    opened = files()
    index = OffsetIndex(opened, "/d/0.index", 0)
    for number in range(1000):
        index.add(number, number)
    index.close()
    opened.get("/d/0.index").truncate(100)
    with pytest.raises(IndexError):
        index.entry(999)
    with pytest.raises(IndexError):
        index.floor(0, 999)
