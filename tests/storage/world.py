"""A log manager on a disk in memory, and batches to append."""

from __future__ import annotations

from struct import pack

from kbroker.protocol.record_batch import Record, build_batch, iter_batches
from kbroker.storage.log import Log
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk
from kbroker.types import TopicPartition

NOW_MS = 1_800_000_000_000
TP = TopicPartition("topic", 0)
TOPIC_ID = bytes(range(16))


def manager(disk: MemoryDisk | None = None, *dirs: str, **config: object) -> LogManager:
    """A loaded log manager."""
    made = LogManager(disk or MemoryDisk(), dirs or ("/data",), lambda _topic: LogConfig(**config))
    made.lock()
    made.load(NOW_MS)
    return made


def new_log(disk: MemoryDisk | None = None, **config: object) -> Log:
    """An empty log."""
    return manager(disk, **config).get_or_create(TP, TOPIC_ID, LogConfig(**config), NOW_MS)


def batch(*values: bytes, timestamp: int = NOW_MS, key: bytes | None = b"k", **header: object) -> memoryview:
    """A writable batch of one record a value."""
    records = [Record(-1, timestamp, key, value) for value in values or (b"v",)]
    return memoryview(bytearray(build_batch(records, **header)))


def idempotent(
    sequence: int, count: int = 1, producer_id: int = 7, epoch: int = 0, **header: object
) -> memoryview:
    """A batch of an idempotent producer."""
    return batch(
        *[b"v"] * count, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, **header
    )


def marker(producer_id: int, epoch: int, *, abort: bool, coordinator_epoch: int = 0) -> memoryview:
    """The batch that ends a transaction."""
    record = Record(-1, NOW_MS, pack(">hh", 0, 0 if abort else 1), pack(">hi", 0, coordinator_epoch))
    return memoryview(
        bytearray(
            build_batch(
                [record], producer_id=producer_id, producer_epoch=epoch, transactional=True, control=True
            )
        )
    )


def append(log: Log, records: memoryview, epoch: int = 0, now_ms: int = NOW_MS, **how: object) -> int:
    """Append, flush and commit one batch; its base offset."""
    result = log.append_as_leader(records, epoch, now_ms, **how)
    log.flush_staged()
    log.high_watermark = log.log_end_offset
    return result.base_offset


def offsets(
    log: Log, start: int | None = None, max_bytes: int = 1 << 20, end: int | None = None
) -> list[int]:
    """Base offsets of all batches that reads from `start` on give."""
    found = []
    offset = log.log_start_offset if start is None else start
    end = log.log_end_offset if end is None else end
    while offset < end:
        part = log.read(offset, max_bytes, end)
        if not part.parts:
            break
        found += [header.base_offset for header in iter_batches(part.parts[0].read())]
        offset = part.next_offset
    return found
