"""Which registration in ZooKeeper this broker's earlier life had, if that life is certainly over.

It is over if it held the same lock in the same run of the machine, as this life holds that lock now: the
system gives it away when a process ends, however it ends. After a restart of the machine, or in a copy of the
folder, nothing is known, and the servers end the session in their time.
"""

from __future__ import annotations

import json
import logging
import os
from typing import TYPE_CHECKING

from kbroker.storage.file_names import LOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbroker.storage.disk import Disk

_log = logging.getLogger(__name__)

FILE_NAME = "zookeeper-registration"
#: Another one each time the machine is started.
_RUN_OF_MACHINE = "/proc/sys/kernel/random/boot_id"


class EarlierLife:
    """See the module.

    Args:
        folders: the log directories, locked by this process; the first that can be written remembers.
        boot_file: tells one run of the machine from another.
    """

    def __init__(self, disk: Disk, folders: Sequence[str], boot_file: str = _RUN_OF_MACHINE) -> None:
        self._disk = disk
        self._folders = folders
        self._boot_file = boot_file

    def epoch(self) -> int:
        """Of the registration that it had; -1: not known, or it may live."""
        for folder in self._folders:
            try:
                known = json.loads(self._disk.read_file(f"{folder}/{FILE_NAME}"))
                if known["held"] == self._held(folder):
                    return int(known["brokerEpoch"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
        return -1

    def remember(self, epoch: int) -> None:
        """This life has that registration."""
        for folder in self._folders:
            try:
                known = {"version": 0, "brokerEpoch": epoch, "held": self._held(folder)}
                # Need not outlive the machine: it holds for one run of it.
                self._disk.write_file(f"{folder}/{FILE_NAME}", json.dumps(known).encode(), durable=False)
            except OSError as error:
                _log.debug("the registration is not remembered in %s: %s", folder, error)
            else:
                return

    def _held(self, folder: str) -> list[str | int]:
        with open(self._boot_file, encoding="ascii") as file:
            run = file.read().strip()
        lock = os.stat(f"{folder}/{LOCK}")
        return [run, lock.st_dev, lock.st_ino]
