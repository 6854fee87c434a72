"""The disk port: everything that storage asks of a file system.

`server/os_disk.py` talks to the real one, `memory_disk.py` is its twin that can crash. Every call may raise
`OSError`; a log turns it into `StorageError` and takes its directory offline, because what a failed write or
fsync left on the disk is unknown and asking again would hide the loss.

A file is closed when nobody refers to it any more. So a slice of a segment that a connection is still sending
stays readable after retention has removed the segment, and its descriptor cannot come to mean another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from kbroker.errors import ApiError, ErrorCode

Buffer: TypeAlias = bytes | bytearray | memoryview


class StorageError(ApiError):
    """The log directory has failed and is offline (KAFKA_STORAGE_ERROR)."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, message)


#: Size of a link that leads nowhere.
NO_SIZE = -1


class DirEntry(NamedTuple):
    """One name in a directory. `size` is 0 for directories, `NO_SIZE` for a link that leads nowhere."""

    name: str
    is_dir: bool
    size: int


class DiskFile(Protocol):
    """An open file. Positions are absolute; there is no cursor."""

    path: str

    def size(self) -> int:
        """Bytes in the file now."""
        ...

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes; fewer only at the end of the file."""
        ...

    def write(self, position: int, data: Buffer) -> None:
        """All of `data`, or an error."""
        ...

    def write_many(self, position: int, parts: Sequence[Buffer]) -> None:
        """All parts back to back, with as few system calls as it takes."""
        ...

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes; what was reserved behind them is given back."""
        ...

    def reserve(self, size: int) -> None:
        """Have room for `size` bytes, if the system can do that; the file is no longer for it."""
        ...

    def sync(self) -> None:
        """Return once the content is on stable storage. May be called from another thread."""
        ...

    def fileno(self) -> int:
        """The descriptor, for sendfile."""
        ...


class Lock(Protocol):
    """An exclusive lock that was taken."""

    def release(self) -> None:
        """Give it back."""
        ...


class Disk(Protocol):
    """A file system."""

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        """Open for reading and writing (for reading where writing is not permitted)."""
        ...

    def read_file(self, path: str) -> bytes:
        """The whole content of a small file."""
        ...

    def write_file(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Replace a small file as one step: temporary file, rename; if `durable` with an fsync of the file
        before and of the directory after the rename. If not, a new one may be found empty after a crash."""
        ...

    def exists(self, path: str) -> bool: ...

    def list_dir(self, path: str) -> list[DirEntry]:
        """Entries in the order of their names."""
        ...

    def make_dir(self, path: str) -> None:
        """Create it, parents included; no error if it is there."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Atomic; replaces a file of that name."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file; no error if it is not there."""
        ...

    def remove_tree(self, path: str) -> None:
        """Remove a directory and all in it; no error if it is not there."""
        ...

    def sync_dir(self, path: str) -> None:
        """Make creations, renames and removals in the directory durable."""
        ...

    @property
    def can_sync_all(self) -> bool:
        """Whether the system has `sync_all`, and tells if it failed."""
        ...

    def sync_all(self, path: str) -> None:
        """Make everything on the file system of `path` durable: one call in place of one for each file."""
        ...

    def modified_ms(self, path: str) -> int:
        """Last modification, milliseconds since 1970."""
        ...

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        """Pretend that the last modification was then."""
        ...

    def free_bytes(self, path: str) -> int: ...

    def total_bytes(self, path: str) -> int: ...

    def set_memory_mark(self, path: str) -> None:
        """Mark a file in the memory of the system, and nowhere else, if the system can do that. The mark is
        gone when the file system was mounted anew, or the machine started; it may go earlier."""
        ...

    def has_memory_mark(self, path: str) -> bool:
        """Whether the mark is there: all that was written since, synced or not, is there too."""
        ...

    def lock(self, path: str) -> Lock | None:
        """An exclusive lock on a file, created if need be; None while somebody else has it."""
        ...
