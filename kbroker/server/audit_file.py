"""Writes the audit log in a thread of its own: whoever is decided about never waits for the disk.

Lines that come faster than the disk takes them are dropped from a bound on, and counted; the file tells how
many, as soon as it is written again.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections import deque
from contextlib import suppress

from kbroker.errors import ConfigError

#: Lines that wait.
QUEUE_LINES_MAX = 10_000
#: The newest lines, kept for who asks for them.
RECENT_LINES = 1_000

_log = logging.getLogger(__name__)


class AuditFile:
    """Takes lines at once, writes them soon.

    Args:
        path: the file; older ones are `path.1`, `path.2`, ….
        bytes_max: its size, from which on a new one is begun.
        files_max: how many there are altogether.

    Raises:
        ConfigError: it cannot be written.
    """

    def __init__(self, path: str, *, bytes_max: int, files_max: int) -> None:
        self._path = path
        self._bytes_max = bytes_max
        self._files_max = files_max
        self._queue: deque[str] = deque()
        #: How many lines there were since the start, and the newest of them.
        self.count = 0
        self.recent: deque[str] = deque(maxlen=RECENT_LINES)
        self._wake = threading.Event()
        self._closing = False
        self._has_failed = False
        #: Lines that were not written, ever.
        self.dropped = 0
        self._told_dropped = 0
        try:
            self._file = open(path, "ab")  # noqa: SIM115 - it stays open
        except OSError as error:
            raise ConfigError(f"kbroker.audit.log: cannot write {path}: {error.strerror}") from None
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Have a line written."""
        self.count += 1
        self.recent.append(line)
        if len(self._queue) >= QUEUE_LINES_MAX:
            self.dropped += 1
            return
        self._queue.append(line)
        self._wake.set()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self._closing = True
        self._wake.set()
        self._thread.join(5)
        with suppress(OSError):
            self._file.close()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._drain()
            if self._closing and not self._queue:
                return

    def _drain(self) -> None:
        while self._queue:
            lines = [self._queue.popleft() for _ in range(min(len(self._queue), 1000))]
            if self.dropped > self._told_dropped:
                lines.append(json.dumps({"dropped": self.dropped - self._told_dropped}))
                self._told_dropped = self.dropped
            try:
                if self._file.tell() >= self._bytes_max:
                    self._begin_anew()
                self._file.write("\n".join(lines).encode() + b"\n")
                self._file.flush()
            except (OSError, ValueError) as error:
                self.dropped += len(lines)
                if not self._has_failed:
                    _log.error("the audit log %s cannot be written: %s", self._path, error)
                self._has_failed = True
            else:
                self._has_failed = False

    def _begin_anew(self) -> None:
        self._file.close()
        for number in range(self._files_max - 1, 0, -1):
            older = f"{self._path}.{number - 1}" if number > 1 else self._path
            with suppress(FileNotFoundError):
                os.replace(older, f"{self._path}.{number}")
        self._file = open(self._path, "ab" if self._files_max > 1 else "wb")  # noqa: SIM115 - it stays open
