"""The one place that opens segment and index files: at most so many are open, the least used are dropped.

Dropping is not closing: whoever still holds a file (a response that is being sent) keeps it open until done.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from errno import EDQUOT, EMFILE, ENFILE, ENOSPC

from kbroker.protocol.sealed_batch import Keys
from kbroker.storage.block_cache import BlockCache
from kbroker.storage.disk import Disk, DiskFile

DEFAULT_LIMIT = 1024
#: Error numbers that tell of a lack of descriptors, not of a bad disk.
NO_DESCRIPTORS = (EMFILE, ENFILE)
#: Those that tell of a full disk or quota.
NO_ROOM = (ENOSPC, EDQUOT)


class OpenFiles:
    """Open files by path, least recently used first.

    Args:
        disk: where they lie.
        limit: how many stay open.
    """

    __slots__ = ("_files", "blocks", "data_keys", "disk", "limit")

    def __init__(self, disk: Disk, limit: int = DEFAULT_LIMIT) -> None:
        self.disk = disk
        self.limit = limit
        #: The keys of encrypted batches, and what makes salts; None: there are none.
        self.data_keys: tuple[Keys, Callable[[], bytes]] | None = None
        #: What was read of index files.
        self.blocks = BlockCache()
        self._files: OrderedDict[str, DiskFile] = OrderedDict()

    def get(self, path: str) -> DiskFile:
        """The open file, created if it does not exist. Raises OSError."""
        files = self._files
        file = files.get(path)
        if file is not None:
            files.move_to_end(path)
            return file
        try:
            file = self.disk.open(path, create=True)
        except OSError as error:
            if error.errno not in NO_DESCRIPTORS:
                raise
            self.keep_fewer()
            file = self.disk.open(path, create=True)
        files[path] = file
        if len(files) > self.limit:
            files.popitem(last=False)
        return file

    def keep_fewer(self) -> None:
        """Descriptors ran out (sockets need them, too): open files more often rather than fail."""
        self.limit = max(min(self.limit, len(self._files)) // 2, 1)
        while len(self._files) > self.limit:
            self._files.popitem(last=False)

    def forget(self, path: str) -> None:
        """The path is about to be renamed, removed or replaced."""
        self._files.pop(path, None)

    def forget_dir(self, path: str) -> None:
        """Forget all files of a directory."""
        prefix = path + "/"
        for name in [name for name in self._files if name.startswith(prefix)]:
            del self._files[name]

    def clear(self) -> None:
        """Drop all."""
        self._files.clear()

    def __len__(self) -> int:
        return len(self._files)
