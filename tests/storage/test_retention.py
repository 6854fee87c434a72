"""Old segments go by time, size and log start; never above the high watermark."""

from __future__ import annotations

import pytest

from kbroker.errors import ApiError, ErrorCode
from kbroker.storage.log_config import LogConfig
from tests.storage.world import NOW_MS, append, batch, new_log, offsets

DAY_MS = 24 * 3600 * 1000


def five_segments(**config: object):
    """Ten batches of one record, two in each segment; batch n is of day n."""
    size = len(batch(b"v" * 100))
    log = new_log(segment_bytes=size * 2, segment_ms=10**15, **config)
    for day in range(10):
        append(log, batch(b"v" * 100, timestamp=NOW_MS + day * DAY_MS), now_ms=NOW_MS + day * DAY_MS)
    assert log.segments.bases == [0, 2, 4, 6, 8]
    return log, size


def test_by_time() -> None:
    log, _ = five_segments(retention_ms=3 * DAY_MS)
    assert log.delete_old_segments(NOW_MS + 6 * DAY_MS + 1) == 1 + 1
    assert (log.log_start_offset, log.segments.bases) == (4, [4, 6, 8])
    with pytest.raises(ApiError) as caught:
        log.read(3, 100, 10)
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_all_of_it_by_time() -> None:
    log, _ = five_segments(retention_ms=DAY_MS)
    assert log.delete_old_segments(NOW_MS + 100 * DAY_MS) == 5
    assert (log.log_start_offset, log.log_end_offset, log.segments.bases) == (10, 10, [10])
    append(log, batch(b"next", timestamp=NOW_MS + 100 * DAY_MS), now_ms=NOW_MS + 100 * DAY_MS)
    assert offsets(log) == [10]
    assert log.delete_old_segments(NOW_MS + 100 * DAY_MS) == 0


def test_a_segment_of_the_future_stays_and_holds_the_later_ones() -> None:
    log, _ = five_segments(retention_ms=1)
    log.segments[1].max_timestamp = NOW_MS + 10_000 * DAY_MS
    assert log.delete_old_segments(NOW_MS + 100 * DAY_MS) == 1


def test_by_size() -> None:
    log, size = five_segments(retention_ms=-1, retention_bytes=0)
    log.config = LogConfig(segment_bytes=size * 2, retention_ms=-1, retention_bytes=5 * size)
    assert log.delete_old_segments(NOW_MS) == 2
    assert log.size == 6 * size
    assert log.delete_old_segments(NOW_MS) == 0


def test_not_above_the_high_watermark() -> None:
    log, _ = five_segments(retention_ms=1)
    log.high_watermark = 5
    assert log.delete_old_segments(NOW_MS + 100 * DAY_MS) == 2
    assert log.log_start_offset == 4


def test_compaction_only_topics_keep_all_but_what_delete_records_gave_up() -> None:
    log, _ = five_segments(retention_ms=1, retention_bytes=1)
    log.config = LogConfig(cleanup_policy=frozenset({"compact"}), retention_ms=1, retention_bytes=1)
    assert log.delete_old_segments(NOW_MS + 100 * DAY_MS) == 0
    assert log.delete_records_to(5) == 5
    assert log.delete_old_segments(NOW_MS) == 2
    assert (log.segments.bases, log.log_start_offset) == ([4, 6, 8], 5)


def test_delete_records() -> None:
    """As recorded from Kafka: nothing below the start, -1 is the high watermark, beyond it an error."""
    log, _ = five_segments(retention_ms=-1)
    assert log.delete_records_to(4) == 4
    assert log.epochs.entries() == [(0, 4)]
    assert log.delete_records_to(2) == 4
    for offset in (11, -2):
        with pytest.raises(ApiError) as caught:
            log.delete_records_to(offset)
        assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.delete_records_to(-1) == 10


def test_removed_files_are_renamed_first() -> None:
    log, _ = five_segments(retention_ms=DAY_MS, file_delete_delay_ms=60_000)
    disk, directory = log.directory.disk, log.directory
    directory.tick(NOW_MS)
    held = log.read(0, 1 << 20, 10)
    log.delete_old_segments(NOW_MS + 100 * DAY_MS)
    assert disk.exists(f"{log.path}/00000000000000000000.log.deleted")
    assert not disk.exists(f"{log.path}/00000000000000000000.log")
    directory.tick(NOW_MS + 60_000)
    assert not [e.name for e in disk.list_dir(log.path) if e.name.endswith(".deleted")]
    # Who still sends it can go on.
    assert len(held.parts[0].read()) == held.size


def test_removals_can_be_done_in_a_thread_one_job_at_a_time() -> None:
    log, _ = five_segments(retention_ms=DAY_MS, file_delete_delay_ms=1000)
    disk, directory = log.directory.disk, log.directory
    directory.tick(NOW_MS)
    log.delete_old_segments(NOW_MS + 100 * DAY_MS)
    assert directory.removal_job(NOW_MS + 999) is None
    job = directory.removal_job(NOW_MS + 1000)
    assert job is not None
    assert directory.removal_job(NOW_MS + 2000) is None
    assert directory.now_ms == NOW_MS + 2000

    def fail(operation, path):
        if operation == "remove" and path.endswith(".index.deleted"):
            raise OSError(5, "Input/output error")

    disk.on_step = fail
    job.run()
    assert not directory.offline
    job.finish()
    assert directory.offline
    assert [e.name for e in disk.list_dir(log.path) if e.name.endswith(".deleted")]
