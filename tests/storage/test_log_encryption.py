"""The mark of a log that may have encrypted batches goes wherever the log goes."""

from __future__ import annotations

from itertools import count

import pytest

from kbroker.protocol.record_batch import iter_batches
from kbroker.protocol.sealed_batch import is_sealed
from kbroker.security.data_keys import KeyRing
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_encryption import opened
from kbroker.storage.log_move import LogMove
from kbroker.storage.memory_disk import MemoryDisk, Tail
from tests.storage.world import NOW_MS, TOPIC_ID, TP, append, batch, manager

pytest.importorskip("cryptography")

HEX = "0123456789abcdef" * 2
CONFIG = LogConfig(encryption_key="k", segment_bytes=700, file_delete_delay_ms=0)


def world(disk):
    logs = manager(disk, "/a", "/b")
    salts = count(1)
    logs.dirs[0].files.data_keys = (KeyRing({"k": b"k" * 32}), lambda: next(salts).to_bytes(16, "big"))
    return logs


def plain(log):
    found, offset = [], log.log_start_offset
    while offset < log.log_end_offset:
        part = log.read(offset, 1 << 20, log.log_end_offset)
        found += [header.base_offset for header in iter_batches(opened(log, part).data)]
        offset = part.next_offset
    return found


def test_a_moved_log_is_marked():
    disk = MemoryDisk()
    logs = world(disk)
    log = logs.get_or_create(TP, TOPIC_ID, CONFIG, NOW_MS)
    for _ in range(10):
        append(log, batch(b"v"))
    move = LogMove(log, logs.dirs[1], HEX)
    move.begin()
    job = move.next_copy(1 << 20)
    job.run()
    move.note(job)
    moved = logs.finish_move(move)
    assert moved.directory.path == "/b"
    assert moved.encrypted
    assert plain(moved) == [*range(10)]


@pytest.mark.parametrize("tail", Tail)
def test_after_a_power_cut_a_log_with_sealed_batches_is_marked(tail):
    disk = MemoryDisk()
    log = world(disk).get_or_create(TP, TOPIC_ID, CONFIG, NOW_MS)
    log.fsync()
    for at in range(6):
        append(log, batch(b"v"))
        if at == 3:
            log.fsync()
    after = disk.crash(tail)
    log = world(after).get(TP)
    assert log.log_end_offset >= 4
    assert log.encrypted
    assert plain(log) == [*range(log.log_end_offset)]
    data = b"".join(after.read_file(segment.path) for segment in log.segments)
    assert all(is_sealed(header) for header in iter_batches(data))
