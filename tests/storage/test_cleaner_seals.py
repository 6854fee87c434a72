"""Encrypted logs are compacted as plain ones, and nothing of them is ever plain on the disk."""

from __future__ import annotations

from itertools import count
from random import Random

import pytest

from kbroker.plain import replace
from kbroker.protocol.record_batch import Record, build_batch, check_crc, decode_records, iter_batches
from kbroker.protocol.sealed_batch import CannotOpen, is_sealed, key_id_of, open_all
from kbroker.security.data_keys import KeyRing
from kbroker.storage.cleaner_plan import CleanerState
from kbroker.storage.cleaner_records import CleanError
from kbroker.storage.log import AppendOrigin, Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk
from tests.storage.cleaning import COMPACT, force
from tests.storage.world import NOW_MS, TOPIC_ID, TP, append, manager, marker

pytest.importorskip("cryptography")

KEYS = {"k": b"k" * 32, "new": b"n" * 32}
RETENTION_MS = 1000


def new_log(key: str = "") -> Log:
    logs = manager(MemoryDisk())
    if key:
        salts = count(1)
        logs.dirs[0].files.data_keys = (KeyRing(KEYS), lambda: next(salts).to_bytes(16, "big"))
    config = LogConfig(
        encryption_key=key,
        cleanup_policy=COMPACT,
        delete_retention_ms=RETENTION_MS,
        min_cleanable_dirty_ratio=0.0,
        file_delete_delay_ms=0,
    )
    return logs.get_or_create(TP, TOPIC_ID, config, NOW_MS)


def stored(log: Log) -> bytes:
    return b"".join(log.directory.disk.read_file(segment.path) for segment in log.segments)


def seen(log: Log) -> list[tuple]:
    """Batches and their records, as whoever has the keys sees them."""
    keys = log.directory.files.data_keys
    data = open_all(None if keys is None else keys[0], stored(log))
    found = []
    for header in iter_batches(data):
        assert check_crc(data, header)
        found.append((header._replace(position=0), decode_records(data, header)))
    return found


def put(log: Log, records: list[Record], **header: object) -> None:
    append(log, memoryview(bytearray(build_batch(records, **header))))


def test_what_stays_is_what_stays_of_a_plain_log():
    """Random batches of all codecs, tombstones and transactions; several rounds, the last ones much later."""
    for seed in range(6):
        random = Random(seed)
        logs, states = [new_log(), new_log("k")], [CleanerState(), CleanerState()]
        sequences: dict[int, int] = {}
        for turn in range(40):
            records = [
                Record(
                    -1,
                    NOW_MS + turn,
                    b"key-%d" % random.randrange(9),
                    None if random.random() < 0.2 else b"value-%d" % turn * random.randrange(1, 9),
                )
                for _ in range(random.randrange(1, 7))
            ]
            header: dict[str, object] = {"codec": random.randrange(5)}
            producer = random.randrange(4)
            if producer:
                header |= {
                    "producer_id": producer,
                    "producer_epoch": 0,
                    "base_sequence": sequences.get(producer, 0),
                    "transactional": producer > 1,
                }
                sequences[producer] = sequences.get(producer, 0) + len(records)
            abort, rolls = random.random() < 0.4, random.random() < 0.3
            now_ms = NOW_MS + turn * RETENTION_MS // 4
            for log, state in zip(logs, states):
                put(log, records, **header)
                if producer > 1:
                    append(log, marker(producer, 0, abort=abort), origin=AppendOrigin.COORDINATOR)
                if rolls:
                    log.roll(None, now_ms)
                    force(log, state, now_ms)
        plain, sealed = logs
        assert seen(sealed) == seen(plain)
        assert len(seen(plain)) < 60
        data = stored(sealed)
        assert b"value-" not in data
        assert all(
            is_sealed(header) == (header.record_count > 0 and not header.is_control)
            for header in iter_batches(data)
        )


def overwritten(log: Log) -> None:
    """Two batches, the first of which loses one of its two records."""
    put(log, [Record(-1, NOW_MS, b"a", b"old"), Record(-1, NOW_MS, b"b", b"stays")])
    put(log, [Record(-1, NOW_MS, b"a", b"new")])
    log.roll(None, NOW_MS)


def test_what_is_written_anew_has_the_key_of_now():
    log = new_log("k")
    overwritten(log)
    log.config = replace(log.config, encryption_key="new")
    force(log, CleanerState(), NOW_MS)
    data = stored(log)
    keys = [key_id_of(data, header) for header in iter_batches(data)]
    assert keys == ["new", "k"]
    assert [record.value for _, found in seen(log) for record in found] == [b"stays", b"new"]


def test_without_the_key_nothing_is_touched():
    log = new_log("k")
    overwritten(log)
    before = stored(log)
    _, new_salt = log.directory.files.data_keys
    for keys in (KeyRing({}), KeyRing({"k": b"x" * 32})):
        log.directory.files.data_keys = keys, new_salt
        with pytest.raises(CannotOpen):
            force(log, CleanerState(), NOW_MS)
        assert stored(log) == before


def test_damage_is_damage():
    log = new_log("k")
    overwritten(log)
    disk, path = log.directory.disk, log.segments[0].path
    data = bytearray(disk.read_file(path))
    header = next(iter_batches(bytes(data)))
    data[header.end - 20] ^= 1
    data[17:21] = _crc(data[21 : header.end])
    disk.write_file(path, bytes(data))
    with pytest.raises(CleanError, match="not the one that was sealed"):
        force(log, CleanerState(), NOW_MS)


def _crc(data: bytes) -> bytes:
    from crc32c import crc32c

    return crc32c(bytes(data)).to_bytes(4, "big")
