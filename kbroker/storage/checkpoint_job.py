"""Checkpoints of a log directory, made up where the logs are used and written anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.storage.checkpoints import format_offsets
from kbroker.storage.file_names import HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kbroker.storage.disk import Disk
    from kbroker.storage.log import Log
    from kbroker.storage.log_dir import LogDir
    from kbroker.types import TopicPartition


def checkpoint_texts(
    log_dir: LogDir,
    recovery_points: Mapping[Log, int],
    settled_starts: Mapping[TopicPartition, int],
    names: Sequence[str],
) -> list[tuple[str, str]]:
    """(path, text) of the checkpoints of these names.

    Args:
        recovery_points: of all logs that lie in the directory.
        settled_starts: where logs began with nothing left of what was before.
    """
    found: dict[str, dict[TopicPartition, int]] = {}
    if RECOVERY_POINTS in names:
        found[RECOVERY_POINTS] = {log.topic_partition: point for log, point in recovery_points.items()}
    if LOG_STARTS in names:
        found[LOG_STARTS] = {
            log.topic_partition: log.log_start_offset
            for log in recovery_points
            # Kafka leaves those out that begin with a segment. But the removal of the segments before may
            # not be durable yet.
            if log.log_start_offset > log.segments.first.base_offset
            or log.log_start_offset > settled_starts.get(log.topic_partition, 0)
        }
    if HIGH_WATERMARKS in names:
        found[HIGH_WATERMARKS] = {
            log.topic_partition: min(log.high_watermark, log.cut_at) for log in recovery_points
        }
    return [(f"{log_dir.path}/{name}", format_offsets(offsets)) for name, offsets in found.items()]


class CheckpointJob:
    """Checkpoint files to write. `run` them in any thread, then `finish` where the logs are used."""

    __slots__ = ("_disk", "_errors", "_files", "_on_finish", "_written")

    def __init__(
        self,
        disk: Disk,
        files: list[tuple[LogDir, str, str]],
        written: dict[str, str],
        on_finish: Callable[[bool], None],
    ) -> None:
        self._disk = disk
        self._files = files
        self._written = written
        self._on_finish = on_finish
        self._errors: list[tuple[LogDir, OSError]] = []

    def run(self) -> None:
        """Write them durably; what fails is kept for `finish`."""
        for log_dir, path, text in self._files:
            try:
                self._disk.write_file(path, text.encode())
            except OSError as error:
                self._errors.append((log_dir, error))

    def finish(self) -> None:
        """Take directories offline that failed."""
        for log_dir, error in self._errors:
            log_dir.fail(error)
        failed = [log_dir for log_dir, _ in self._errors]
        self._written.update({path: text for log_dir, path, text in self._files if log_dir not in failed})
        self._on_finish(not failed)
