"""The cleaner's process: it does its job, ends when it should, and does not outlive its broker."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from collections.abc import Callable

import pytest

from kbroker.protocol.record_batch import Record, build_batch
from kbroker.server.cleaner_process import CleanerProcess
from kbroker.server.os_disk import OsDisk
from kbroker.storage.cleaner_job import encode_job
from kbroker.storage.cleaner_plan import CleanerLimits, CleanerState, make_job
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.types import TopicPartition

NOW_MS = 1_800_000_000_000
PATIENCE_S = 20


@pytest.fixture
def job(tmp_path) -> bytes:
    """Three segments of one key."""
    logs = LogManager(OsDisk(), [str(tmp_path)])
    logs.load(NOW_MS)
    config = LogConfig(cleanup_policy=frozenset({"compact"}))
    log = logs.get_or_create(TopicPartition("t", 0), bytes(16), config, NOW_MS)
    for i in range(3):
        made = build_batch([Record(-1, NOW_MS, b"key", b"%d" % i * 1000)])
        log.append_as_leader(memoryview(bytearray(made)), 0, NOW_MS)
        log.roll(None, NOW_MS)
    log.high_watermark = log.log_end_offset
    log.fsync()
    candidate = CleanerState().choose([log], NOW_MS)
    assert candidate is not None
    return encode_job(make_job(candidate, CleanerLimits(1 << 20), NOW_MS)[0])


class Loop:
    """Collects what is called on the broker's thread."""

    def __init__(self) -> None:
        self.calls: queue.Queue[tuple[str, object]] = queue.Queue()
        self.process = CleanerProcess(
            self.call_soon,
            lambda message: self.calls.put(("message", message)),
            lambda reason: self.calls.put(("exit", reason)),
        )

    def call_soon(self, function: Callable[..., object], *args: object) -> None:
        function(*args)

    def next(self) -> tuple[str, object]:
        return self.calls.get(timeout=PATIENCE_S)

    def last_of_job(self) -> dict:
        while True:
            _, message = self.next()
            if "done" in message or "failed" in message:
                return message


def test_jobs_one_after_the_other(job, tmp_path):
    loop = Loop()
    loop.process.submit(job, 0.0)
    kind, message = loop.next()
    assert (kind, message["group"]) == ("message", [0, 1, 2])
    assert message["sizes"][".log"] > 1000
    assert loop.last_of_job()["done"] == 3
    cleaned = tmp_path / "t-0" / f"{0:020d}.log.cleaned"
    assert cleaned.stat().st_size == message["sizes"][".log"]
    loop.process.submit(job, 0.0)
    assert loop.last_of_job()["done"] == 3
    loop.process.close()
    assert loop.next() == ("exit", None)


def test_errors_are_told(job, tmp_path):
    loop = Loop()
    segment = tmp_path / "t-0" / f"{1:020d}.log"
    content = bytearray(segment.read_bytes())
    content[100] ^= 1
    segment.write_bytes(content)
    loop.process.submit(job, 0.0)
    message = loop.last_of_job()
    assert message["failed"] == "damaged"
    assert "CRC" in message["text"]
    segment.unlink()
    loop.process.submit(job, 0.0)
    message = loop.last_of_job()
    assert (message["failed"], message["errno"]) == ("disk", 2)
    loop.process.close()
    assert loop.next() == ("exit", None)


def test_kill_ends_it_at_once(job):
    loop = Loop()
    loop.process.submit(job, 1.0)
    assert "at" in loop.next()[1]
    loop.process.kill()
    kinds = []
    while not loop.calls.empty():
        kinds.append(loop.calls.get())
    assert kinds[-1] == ("exit", None)


def test_a_kill_before_the_first_job():
    loop = Loop()
    loop.process.kill()
    assert loop.next() == ("exit", None)


@pytest.mark.parametrize("moment", ["idle", "working"])
def test_it_does_not_outlive_its_broker(job, moment):
    process = subprocess.Popen(
        [sys.executable, "-m", "kbroker.server.cleaner_worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    if moment == "working":
        order = {"bytes_per_s": 1.0, "job": job.decode()}
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        assert b'"at"' in process.stdout.readline()
    # What the system does when a process ends, however it ends.
    process.stdin.close()
    process.stdout.close()
    assert process.wait(PATIENCE_S) == (0 if moment == "idle" else 1)
