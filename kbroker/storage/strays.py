"""Keeping aside what a recovery leaves out, in the partition's directory, under a name that nobody reads.

The law: recovery never deletes records that it could not place. A broker, ours or Apache Kafka's, ignores
`.stray` files; they go with their partition, or when somebody removes them.
"""

from __future__ import annotations

from kbroker.storage.batch_scan import find_batch
from kbroker.storage.disk import Disk, DiskFile
from kbroker.storage.file_names import STRAY

_COPY_BYTES = 1 << 20


def keep_aside(disk: Disk, path: str) -> str | None:
    """Rename a file so that it is no part of the log any more; its new name, None if it does not exist."""
    if not disk.exists(path):
        return None
    target = _free_name(disk, path + STRAY)
    disk.rename(path, target)
    return target


def keep_rest_aside(disk: Disk, file: DiskFile, size: int, position: int, end_offset: int) -> str | None:
    """Copy what follows damage at `position` if there is a whole batch in it; the copy's name.

    A torn or zeroed end is what a crash leaves and holds nothing; None for it.
    """
    if find_batch(file.read, size, position, end_offset) is None:
        return None
    target = _free_name(disk, f"{file.path}.from-{position}{STRAY}")
    copy = disk.open(target, create=True)
    for start in range(position, size, _COPY_BYTES):
        copy.write(start - position, file.read(start, min(_COPY_BYTES, size - start)))
    copy.sync()
    return target


def _free_name(disk: Disk, name: str) -> str:
    found, number = name, 1
    while disk.exists(found):
        number += 1
        found = name.removesuffix(STRAY) + f"-{number}{STRAY}"
    return found
