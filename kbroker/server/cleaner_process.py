"""The broker's end of a cleaner process: started by a thread of its own, which reads what it tells.

A subprocess and a pipe, not multiprocessing or asyncio's subprocesses: it works with every event loop, from
any thread, on every system, and the child imports only what it needs.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

_MODULE = "kbroker.server.cleaner_worker"
_BELOW_NORMAL = getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)

Message = dict[str, Any]
_NO_KEYS: Mapping[str, bytes] = {}


class CleanerProcess:
    """One worker.

    Args:
        call_soon: runs a function on the broker's thread (`loop.call_soon_threadsafe`).
        on_message: told, there, of every line of the worker.
        on_exit: told, there, once, when it has ended: the reason if it was none of ours, else None.
    """

    def __init__(
        self,
        call_soon: Callable[..., object],
        on_message: Callable[[Message], None],
        on_exit: Callable[[str | None], None],
    ) -> None:
        self._call_soon = call_soon
        self._on_message = on_message
        self._on_exit = on_exit
        self._jobs: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="kbroker-cleaner", daemon=True)
        self._thread.start()

    def submit(self, job: bytes, bytes_per_s: float, keys: Mapping[str, bytes] = _NO_KEYS) -> None:
        """Give it a job; its last message has `done` or `failed`.

        Args:
            keys: for encrypted batches.
        """
        order: dict[str, object] = {"bytes_per_s": bytes_per_s, "job": job.decode()}
        if keys:
            order["keys"] = {key_id: key.hex() for key_id, key in keys.items()}
        self._jobs.put(json.dumps(order, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """No more jobs: it ends after what it has."""
        self._jobs.put(None)

    def kill(self) -> None:
        """End it now and wait for that."""
        with self._lock:
            self._killed = True
            if self._process is not None:
                self._process.kill()
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        reason: str | None = None
        try:
            while (line := self._jobs.get()) is not None:
                process = self._start()
                if process is None:
                    break
                assert process.stdin is not None
                process.stdin.write(line)
                process.stdin.flush()
                if not self._follow(process):
                    reason = f"the worker ended with status {process.wait()}"
                    break
        except OSError as error:
            reason = str(error)
        finally:
            if self._process is not None:
                self._end(self._process)
            if self._killed:
                reason = None
            self._tell(self._on_exit, reason)

    def _start(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._killed:
                return None
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", _MODULE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    # Whatever path we were found by.
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                    creationflags=_BELOW_NORMAL | _NO_WINDOW,
                )
            return self._process

    def _follow(self, process: subprocess.Popen[bytes]) -> bool:
        """Pass on what it tells of one job; False if it ended before the job did."""
        assert process.stdout is not None
        for line in process.stdout:
            message = json.loads(line)
            self._tell(self._on_message, message)
            if "done" in message or "failed" in message:
                return True
        return False

    def _tell(self, listener: Callable[[Any], None], value: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody wants to know any more
            self._call_soon(listener, value)

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()
        process.wait()
