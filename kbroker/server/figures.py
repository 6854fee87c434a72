"""How this process is doing: what `kbroker.protect.…` thresholds are compared with."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kbroker.broker.restrictions import LOOK_MS

if TYPE_CHECKING:
    from kbroker.storage.disk import Disk

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Figures:
    """Looked at once in a while by the thread of the event loop.

    Args:
        disk: tells what is free.
        paths: the log directories that work.
    """

    def __init__(self, disk: Disk, paths: Callable[[], Iterable[str]]) -> None:
        self._disk = disk
        self._paths = paths
        self._cpu_s, self._at_s = time.thread_time(), time.monotonic()

    def __call__(self) -> dict[str, float]:
        """cpu: per cent of the time since the last look; loop: how late this look is."""
        cpu_s, at_s = time.thread_time(), time.monotonic()
        passed_s = max(at_s - self._at_s, 0.001)
        found = {
            "cpu": round((cpu_s - self._cpu_s) / passed_s * 100, 1),
            "loop": round(max(passed_s * 1000 - LOOK_MS, 0), 1),
        }
        self._cpu_s, self._at_s = cpu_s, at_s
        memory = _memory_bytes()
        if memory is not None:
            found["memory"] = memory
        free = [self._free(path) for path in self._paths()]
        if free:
            found["disk"] = min(free)
        return found

    def _free(self, path: str) -> float:
        try:
            return self._disk.free_bytes(path)
        except OSError:
            return float("inf")  # whoever writes there will notice


def _memory_bytes() -> float | None:
    """Resident memory; None where the system does not tell."""
    if sys.platform != "linux":
        return None
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * _PAGE_BYTES
