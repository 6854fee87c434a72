"""A broker that was killed on a machine that ran on has lost nothing: how the next start knows that.

What was written is in the system's memory, synced or not. So a broker writes down the epoch that it is
registered in, and marks that file in memory only (`Disk.set_memory_mark`). Where the mark is there still, the
file system was mounted all the time, and the logs are as whole as after a clean stop (KIP-966);
docs/decisions/0012.
"""

from __future__ import annotations

import contextlib

from kbroker.storage.checkpoints import format_clean_shutdown, parse_clean_shutdown
from kbroker.storage.disk import Disk
from kbroker.storage.file_names import RUNNING


def mark_running(disk: Disk, log_dir: str, broker_epoch: int) -> None:
    """Note the epoch of the process that writes to `log_dir` from now on; where that fails, a kill is an
    unclean end.
    """
    path = f"{log_dir}/{RUNNING}"
    with contextlib.suppress(OSError):
        disk.write_file(path, format_clean_shutdown(broker_epoch).encode(), durable=False)
        disk.set_memory_mark(path)


def killed_in(disk: Disk, log_dir: str) -> int:
    """The epoch of a process that ended, if all that it wrote to `log_dir` is there; -1: nobody knows.

    Raises OSError.
    """
    path = f"{log_dir}/{RUNNING}"
    if not disk.exists(path) or not disk.has_memory_mark(path):
        return -1
    return parse_clean_shutdown(disk.read_file(path).decode("utf-8", "replace"))


def unmark(disk: Disk, log_dir: str) -> None:
    """Something is missing in `log_dir`, or may be."""
    with contextlib.suppress(OSError):
        disk.remove(f"{log_dir}/{RUNNING}")
