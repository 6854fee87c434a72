"""The broker's end of the process that looks into long batches (`look_worker.py`).

Records are checked one by one, and whoever does that in a thread holds the interpreter meanwhile: the event
loop would get it back 5 ms later, for every single request. A process of its own has an interpreter of its
own, and so nobody waits for it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.server.look_worker import READY, STARVED, receive, send

if TYPE_CHECKING:
    from kbroker.storage.looks import Look

_MODULE = "kbroker.server.look_worker"
_BELOW_NORMAL = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)
#: It may have ended as nobody needed it, just when it was needed.
_ATTEMPTS = 3
#: What the system gives without privileges.
_PIPE_BYTES = 1 << 20
#: For so long one is in a hurry after another did not get on, in seconds.
_HURRY_S = 60

_log = logging.getLogger(__name__)


class LookProcess:
    """Runs looks, one after the other, each time for one thread that waits.

    The process is started by the first, which does not wait for it: until it is there, and where there can be
    none, looks are run in the thread itself.
    """

    def __init__(self, command: tuple[str, ...] = (sys.executable, "-m", _MODULE)) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        self._is_usable = True
        self._is_closed = False
        #: Until then those that are started are in a hurry, and after that ended (`time.monotonic`).
        self._hurry_until: float | None = None
        self._lock = threading.Lock()

    def run(self, look: Look) -> None:
        """Run it.

        Raises:
            ApiError: the process ended meanwhile, again and again. Whatever the batch has done to it, it
                shall not do to the broker.
        """
        for attempt in range(_ATTEMPTS):
            # What has ended a process is not run here.
            process = self._running(patient=attempt > 0)
            if process is None:
                look.run()
                return
            try:
                self._ask(process, look)
                return
            except (OSError, EOFError):
                self._forget()
        _log.warning("the process that looks into batches has ended at work")
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)

    def close(self) -> None:
        """End it now; who waits for it gets an error."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()

    def _running(self, *, patient: bool) -> subprocess.Popen[bytes] | None:
        if self._hurry_until is not None and time.monotonic() > self._hurry_until:
            self._forget()
            self._hurry_until = None
        with self._lock:
            if self._is_closed:
                raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE)
            if self._process is None and self._is_usable:
                self._start()
            process = self._process
        if process is None or self._is_ready:
            return process
        assert process.stdout is not None
        if not patient and not _can_be_read(process.stdout):
            return None
        self._is_ready = process.stdout.read(1) == READY
        if not self._is_ready:
            self._forget()
            self._give_up("it does not start")
        return self._process

    def _start(self) -> None:
        try:
            self._process = subprocess.Popen(
                self._command + (("hurry",) if self._hurry_until is not None else ()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Whatever path we were found by.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                creationflags=_BELOW_NORMAL | _NO_WINDOW,
            )
        except OSError as error:
            self._give_up(error)
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        _widen(self._process.stdin, self._process.stdout)

    def _give_up(self, reason: object) -> None:
        if not self._is_closed:
            self._is_usable = False
            _log.warning("no process to look into batches, others wait for it now: %s", reason)

    @staticmethod
    def _ask(process: subprocess.Popen[bytes], look: Look) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        values, records = look.order
        send(process.stdin, [type(look).__name__, values], records)  # type: ignore[arg-type]
        (problem, found), data = receive(process.stdout)  # type: ignore[arg-type]
        if problem is not None:
            raise RuntimeError(problem)
        look.outcome = found, data

    def _forget(self) -> None:
        with self._lock:
            process, self._process = self._process, None
            self._is_ready = False
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        if process.wait() == STARVED:
            self._hurry_until = time.monotonic() + _HURRY_S


def _can_be_read(pipe: IO[bytes]) -> bool:
    """Whether there is something, or its end; also where that cannot be known."""
    try:
        return bool(select.select([pipe], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def _widen(*pipes: IO[bytes]) -> None:
    """Whoever waits for a pipe of 64 KiB to be emptied is woken again and again."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        for pipe in pipes:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
