"""Room on a full disk for changes of metadata: to delete a topic, which gives room back, is one.

A file that means nothing takes the room while there is some, and is removed when the metadata log finds none;
records then stay refused until much more is free, so that nobody else takes it. It is written anew, for the
next time, as soon as that succeeds.
"""

from __future__ import annotations

import contextlib
import logging
import random
from typing import TYPE_CHECKING

from kbroker.storage.file_names import ROOM

if TYPE_CHECKING:
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.storage.disk import Disk

_log = logging.getLogger(__name__)

#: Thousands of changes.
ROOM_BYTES = 256 << 10
#: Not while the node starts; and so often while the file is missing.
_KEEP_MS = 3000.0


class MetadataRoom:
    """The file of one metadata directory.

    Args:
        log_dir: where the metadata log's folder lies.
        run_blocking: writes the file.
    """

    def __init__(self, disk: Disk, log_dir: str, timer: Timer, run_blocking: RunBlocking) -> None:
        self._disk = disk
        self._path = f"{log_dir}/{ROOM}"
        self._timer = timer
        self._run_blocking = run_blocking
        self._alarm: TimerHandle | None = None
        self._stopped = False

    def start(self) -> None:
        """Keep room from soon on."""
        self._alarm = self._timer.call_later(_KEEP_MS, self._keep)

    def stop(self) -> None:
        """The file stays for the next life."""
        self._stopped = True
        if self._alarm is not None:
            self._alarm.cancel()

    def give(self) -> bool:
        """Whether there is room now that was not there."""
        try:
            if not self._disk.exists(self._path):
                return False
            self._disk.remove(self._path)
        except OSError:
            return False
        _log.warning("the disk is full: the metadata log takes the room that was kept for it")
        if self._alarm is None and not self._stopped:
            self.start()
        return True

    def _keep(self) -> None:
        self._alarm = None
        if not self._disk.exists(self._path):
            self._run_blocking(self._write, lambda error: self._look_again())

    def _look_again(self) -> None:
        if not self._stopped and self._alarm is None and not self._disk.exists(self._path):
            self.start()

    def _write(self) -> None:
        # No zeros: a file system that compresses would keep no room for them.
        with contextlib.suppress(OSError):
            self._disk.write_file(self._path, random.Random(0).randbytes(ROOM_BYTES), durable=False)
