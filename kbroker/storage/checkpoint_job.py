"""Checkpoints of a log directory, made up where the logs are used and written anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.storage.disk import Disk
    from kbroker.storage.log_dir import LogDir


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
