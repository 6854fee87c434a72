"""What a person is told while logs are opened."""

from __future__ import annotations

import logging

import pytest

from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk, Tail
from kbroker.storage.recovery_progress import RecoveryProgress
from kbroker.types import TopicPartition
from tests.storage.world import NOW_MS, TOPIC_ID, append, batch, manager


class Stopwatch:
    def __init__(self, step_ms: int) -> None:
        self.now = 0
        self.step_ms = step_ms

    def __call__(self) -> int:
        self.now += self.step_ms
        return self.now


def crashed() -> MemoryDisk:
    logs = manager()
    for number in range(4):
        log = logs.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig(), NOW_MS)
        append(log, batch(b"x" * 1000))
    return logs._disk.crash(Tail.KEPT)


def load(disk: MemoryDisk, step_ms: int) -> None:
    logs = LogManager(disk, ["/data"])
    logs.lock()
    logs.load(NOW_MS, Stopwatch(step_ms))


def test_a_quick_start_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    load(crashed(), step_ms=10)
    assert "opening logs" not in caplog.text


def test_a_slow_one_tells_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    load(crashed(), step_ms=500)
    lines = [record.getMessage() for record in caplog.records if "opening logs" in record.getMessage()]
    assert lines[0].startswith("opening logs: 1 of 4 partitions")
    assert lines[-1] == "opening logs: 4 of 4 partitions, 0.0 of 0.0 MB read, about 0 s left"


def test_the_time_left_follows_from_what_is_done(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    progress = RecoveryProgress(Stopwatch(1000))
    progress.expect(0, 8_000_000)
    read = progress.counted(lambda position, length: bytes(length))
    assert read(0, 2_000_000) == bytes(2_000_000)
    assert caplog.records[-1].getMessage() == (
        "opening logs: 0 of 0 partitions, 2.0 of 8.0 MB read, about 3 s left"
    )
