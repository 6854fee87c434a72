"""Each file of a log directory lost, emptied, cut, zeroed, garbled, or with a bit flipped: the start goes on.

Where only derived files are hurt, every record, aborted transaction and sequence is as before. Where a
segment is hurt, what is served is true or an error, and the other partitions do not notice.
"""

from __future__ import annotations

import pytest

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import CorruptBatch, check_crc, iter_batches
from kbroker.storage import producer_snapshot
from kbroker.storage.log import AppendOrigin
from kbroker.storage.log_config import LogConfig
from kbroker.storage.memory_disk import MemoryDisk, Tail
from kbroker.types import TopicPartition
from tests.storage.world import NOW_MS, TOPIC_ID, append, batch, idempotent, manager, marker

CONFIG = {"segment_bytes": 900, "index_interval_bytes": 100}
HURT, OTHER = TopicPartition("hurt", 0), TopicPartition("other", 0)


def written(*, clean: bool) -> MemoryDisk:
    """Two partitions with transactions over some segments, stopped cleanly or not."""
    disk = MemoryDisk()
    logs = manager(disk, **CONFIG)
    for tp in (HURT, OTHER):
        log = logs.get_or_create(tp, TOPIC_ID, LogConfig(**CONFIG), NOW_MS)
        for number in range(12):
            append(log, idempotent(number, transactional=True), number // 3)
            append(log, batch(b"%d" % number * 20, timestamp=NOW_MS + number), number // 3)
            append(log, marker(7, 0, abort=number % 2 == 0), number // 3, origin=AppendOrigin.COORDINATOR)
        log.fsync()
        log.delete_records_to(1)
    logs.tick_recovery_points()
    for tp in (HURT, OTHER):
        for number in range(12, 16):
            append(logs.get(tp), batch(b"%d" % number * 20), 5)
        logs.get(tp).fsync()
    if clean:
        logs.close(3)
    return disk.crash(Tail.KEPT)


def facts(log, *, tolerant: bool = False):
    """What users see of a log; with `tolerant`, as far as it answers."""
    log.high_watermark = log.log_end_offset
    batches, offset = [], log.log_start_offset
    while offset < log.log_end_offset:
        try:
            part = log.read(offset, 1 << 20, log.log_end_offset)
            data = part.parts[0].read() if part.parts else b""
            for header in iter_batches(data):
                batches.append((header.base_offset, header.crc, check_crc(data, header)))
            offset = part.next_offset if data else log.log_end_offset
        except (ApiError, CorruptBatch):
            assert tolerant
            break
    return batches


def state(log):
    return (
        facts(log),
        log.log_start_offset,
        log.log_end_offset,
        # The stable offset beside them only shortens a search.
        [txn[:3] for txn in log.aborted_txns(0, log.log_end_offset)],
        producer_snapshot.encode(log.producers),
        log.epochs.entries(),
        [log.offset_for_timestamp(NOW_MS + number) for number in range(12)],
        log.topic_id,
    )


def damages(data: bytes):
    yield "lost", None
    yield "empty", b""
    yield "cut", data[: len(data) // 2]
    yield "one byte cut", data[:-1]
    yield "zeroed", bytes(len(data))
    yield "zeroed tail", data[: len(data) // 2] + bytes(len(data) - len(data) // 2)
    yield "garbage", b"\xff\xfegarbage" * 9
    for where in (0, len(data) // 2, len(data) - 1):
        if data:
            flipped = bytearray(data)
            flipped[where] ^= 0x10
            yield f"bit flipped at {where}", bytes(flipped)


def hurt(disk: MemoryDisk, path: str, data: bytes | None) -> None:
    if data is None:
        disk.remove(path)
    else:
        file = disk.open(path)
        file.truncate(0)
        file.write(0, data)


def all_files(clean: bool) -> list[str]:
    return sorted(path for path in written(clean=clean)._files if not path.endswith(".lock"))


#: A flipped bit in these says something else that is as good as what was there; nobody can know.
_NO_CHECKSUM = ("checkpoint", "partition.metadata")


@pytest.mark.parametrize("clean", [True, False])
def test_any_file_hurt_in_any_way(clean: bool) -> None:
    healthy = manager(written(clean=clean), **CONFIG)
    good = {tp: state(healthy.get(tp)) for tp in (HURT, OTHER)}
    tried = 0
    for path in all_files(clean):
        if path.startswith(f"/data/{OTHER}/"):
            continue
        content = written(clean=clean).read_file(path)
        for name, data in damages(content):
            tried += 1
            where = f"{path}: {name}"
            disk = written(clean=clean)
            hurt(disk, path, data)
            try:
                logs = manager(disk, **CONFIG)
                log, other = logs.get(HURT), logs.get(OTHER)
                assert not logs.dirs[0].offline
                if path.startswith(f"/data/{HURT}/"):
                    assert state(other) == good[OTHER]
                check(log, path, name, good[HURT])
                logs.close(4)
                again = manager(disk, **CONFIG).get(HURT)
                assert again.log_end_offset == log.log_end_offset
            except Exception as error:
                raise AssertionError(f"{where}: {error!r}") from error
    assert tried > 200


def check(log, path: str, name: str, good) -> None:
    if path.endswith(".log"):
        crcs = {base: crc for base, crc, _ in good[0]}
        for base, crc, is_whole in facts(log, tolerant=True):
            # A flipped bit is for the client's CRC check to find; whatever passes it is what was written.
            assert not is_whole or crcs[base] == crc
        return
    if path.endswith("log-start-offset-checkpoint"):
        found, wanted = facts(log), good[0]
        assert [each for each in found if each in wanted] == wanted or "flipped" in name
        return
    if "flipped" in name and path.endswith(_NO_CHECKSUM):
        facts(log, tolerant=True)
        return
    if path.endswith("partition.metadata"):
        assert state(log)[:-1] == good[:-1]
        return
    assert state(log)[:2] == good[:2]
    assert state(log)[3] == good[3], "aborted transactions"
    assert state(log)[2:6] == good[2:6]
    if not path.endswith(".timeindex"):
        # A time index that ends early looks whole where records do not come in the order of their times.
        assert state(log)[6] == good[6]
