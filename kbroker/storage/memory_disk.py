"""A disk in memory that can lose power: the twin of `server/os_disk.py` for tests and the simulator.

It keeps two images: what was written, and what was synced. `crash` makes a new disk of them, as a machine
might find it after a power cut; what fsync promised is always there, the rest depends on `Tail`. A rename is
atomic; a name that was made, moved or removed since the last `sync_dir` may or may not have arrived.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from enum import Enum

from kbroker.storage.disk import Buffer, DirEntry, DiskFile, Lock

_AMPLE_BYTES = 1 << 40


class Tail(Enum):
    """What becomes of bytes and names that were written but not synced."""

    LOST = "lost"
    KEPT = "kept"
    TORN = "torn"
    ZEROED = "zeroed"


class _Inode:
    __slots__ = ("data", "marked", "modified_ms", "synced")

    def __init__(self, data: bytes = b"", synced: bytes = b"") -> None:
        self.data = bytearray(data)
        self.synced = synced
        self.modified_ms = 0
        self.marked = False


class MemoryFile:
    """An open file of a `MemoryDisk`."""

    def __init__(self, disk: MemoryDisk, path: str, inode: _Inode) -> None:
        self.path = path
        self._disk = disk
        self._inode = inode

    def size(self) -> int:
        return len(self._inode.data)

    def read(self, position: int, length: int) -> bytes:
        self._disk.step("read", self.path)
        return bytes(self._inode.data[position : position + length])

    def write(self, position: int, data: Buffer) -> None:
        self._disk.step("write", self.path)
        content = self._inode.data
        lacking = self._disk.lacks(position + len(data) - len(content))
        if lacking:
            data = bytes(data)[: max(len(data) - lacking, 0)]
        if data and position > len(content):
            content.extend(bytes(position - len(content)))
        content[position : position + len(data)] = data
        self._inode.modified_ms = self._disk.now_ms
        if lacking:
            raise OSError(errno.ENOSPC, "No space left on device", self.path)

    def write_many(self, position: int, parts: Sequence[Buffer]) -> None:
        self.write(position, b"".join(parts))

    def truncate(self, size: int) -> None:
        self._disk.step("truncate", self.path)
        content = self._inode.data
        if size < len(content):
            del content[size:]
        else:
            content.extend(bytes(size - len(content)))

    def reserve(self, size: int) -> None:
        self._disk.step("reserve", self.path)

    def sync(self) -> None:
        self._disk.step("sync", self.path)
        self._inode.synced = bytes(self._inode.data)

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "a file in memory has no descriptor")


class _MemoryLock:
    def __init__(self, held: set[str], path: str) -> None:
        self._held = held
        self._path = path

    def release(self) -> None:
        self._held.discard(self._path)


class MemoryDisk:
    """Files by path. `on_step(operation, path)` is called before every operation and may raise."""

    def __init__(self) -> None:
        self._files: dict[str, _Inode] = {}
        self._synced_files: dict[str, _Inode] = {}
        self._dirs: set[str] = {"/"}
        self._locks: set[str] = set()
        self.now_ms = 0
        self.capacity_bytes = _AMPLE_BYTES
        self.can_sync_all = True
        self.steps = 0
        self.on_step: Callable[[str, str], None] | None = None

    def step(self, operation: str, path: str) -> None:
        """Count an operation; a test's hook may make it fail."""
        self.steps += 1
        if self.on_step is not None:
            self.on_step(operation, path)

    def lacks(self, growth: int) -> int:
        """How many bytes too few are free for so many more."""
        return max(growth - self.free_bytes("/"), 0) if self.capacity_bytes < _AMPLE_BYTES else 0

    # -- the port --------------------------------------------------------------------------------------------

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        self.step("open", path)
        inode = self._files.get(path)
        if inode is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            self._parent(path)
            inode = self._files[path] = _Inode()
            inode.modified_ms = self.now_ms
        return MemoryFile(self, path, inode)

    def _parent(self, path: str) -> str:
        parent = path.rpartition("/")[0] or "/"
        if parent not in self._dirs:
            raise FileNotFoundError(errno.ENOENT, "no such directory", parent)
        return parent

    def read_file(self, path: str) -> bytes:
        file = self.open(path)
        return file.read(0, file.size())

    def write_file(self, path: str, data: bytes, *, durable: bool = True) -> None:
        if not durable and path not in self._files:
            self.open(path, create=True).write(0, data)
            return
        file = self.open(path + ".tmp", create=True)
        file.truncate(0)
        file.write(0, data)
        if durable:
            file.sync()
        self.rename(path + ".tmp", path)
        if durable:
            self.sync_dir(self._parent(path))

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._dirs

    def list_dir(self, path: str) -> list[DirEntry]:
        self.step("list", path)
        prefix = path.rstrip("/") + "/"
        found = {
            name[len(prefix) :]: DirEntry(name[len(prefix) :], False, len(inode.data))
            for name, inode in self._files.items()
            if name.startswith(prefix) and "/" not in name[len(prefix) :]
        }
        for name in self._dirs:
            rest = name[len(prefix) :]
            if name.startswith(prefix) and rest and "/" not in rest:
                found[rest] = DirEntry(rest, True, 0)
        return [found[name] for name in sorted(found)]

    def make_dir(self, path: str) -> None:
        self.step("make_dir", path)
        parts = path.split("/")
        for end in range(2, len(parts) + 1):
            self._dirs.add("/".join(parts[:end]))

    def rename(self, source: str, target: str) -> None:
        self.step("rename", source)
        if source in self._files:
            self._files[target] = self._files.pop(source)
        elif source in self._dirs:
            self._rename_dir(source, target)
        else:
            raise FileNotFoundError(errno.ENOENT, "no such file", source)

    def _rename_dir(self, source: str, target: str) -> None:
        # Directories move at once in both images: only their files' names can be lost.
        prefix = source + "/"
        for files in (self._files, self._synced_files):
            for name in [name for name in files if name.startswith(prefix)]:
                files[target + name[len(source) :]] = files.pop(name)
        moved = {name for name in self._dirs if name == source or name.startswith(prefix)}
        self._dirs -= moved
        self._dirs |= {target + name[len(source) :] for name in moved}

    def remove(self, path: str) -> None:
        self.step("remove", path)
        self._files.pop(path, None)

    def remove_tree(self, path: str) -> None:
        self.step("remove", path)
        prefix = path + "/"
        for files in (self._files, self._synced_files):
            for name in [name for name in files if name.startswith(prefix)]:
                del files[name]
        self._dirs = {name for name in self._dirs if name != path and not name.startswith(prefix)}

    def sync_dir(self, path: str) -> None:
        self.step("sync_dir", path)
        prefix = path.rstrip("/") + "/"

        def inside(name: str) -> bool:
            return name.startswith(prefix) and "/" not in name[len(prefix) :]

        for name in [name for name in self._synced_files if inside(name)]:
            if name not in self._files:
                del self._synced_files[name]
        for name, inode in self._files.items():
            if inside(name):
                self._synced_files[name] = inode

    def sync_all(self, path: str) -> None:
        self.step("sync_all", path)
        for inode in self._files.values():
            inode.synced = bytes(inode.data)
        self._synced_files = dict(self._files)

    def modified_ms(self, path: str) -> int:
        inode = self._files.get(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return inode.modified_ms

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        self.step("utime", path)
        self._files[path].modified_ms = modified_ms

    def free_bytes(self, path: str) -> int:
        return self.capacity_bytes - sum(len(inode.data) for inode in self._files.values())

    def total_bytes(self, path: str) -> int:
        return self.capacity_bytes

    def set_memory_mark(self, path: str) -> None:
        self._files[path].marked = True

    def has_memory_mark(self, path: str) -> bool:
        return self._files[path].marked

    def lock(self, path: str) -> Lock | None:
        if path in self._locks:
            return None
        self._files.setdefault(path, _Inode())
        self._locks.add(path)
        return _MemoryLock(self._locks, path)

    # -- power cut -------------------------------------------------------------------------------------------

    def crash(self, tail: Tail, choose: Callable[[int], int] = lambda count: count // 2) -> MemoryDisk:
        """The disk as the next process finds it; this one stays as it is.

        Args:
            tail: what happens to what was not synced; KEPT is the end of a process, any other a power cut.
            choose: a number below its argument; where a tail is torn.
        """
        after = MemoryDisk()
        after._dirs = set(self._dirs)
        after.now_ms = self.now_ms
        names = self._synced_files if tail is Tail.LOST else self._files
        for path, inode in names.items():
            data = _after_crash(inode, tail, choose)
            copy = _Inode(data, data)
            copy.modified_ms = inode.modified_ms
            copy.marked = inode.marked and tail is Tail.KEPT
            after._files[path] = copy
        after._synced_files = dict(after._files)
        return after


def _after_crash(inode: _Inode, tail: Tail, choose: Callable[[int], int]) -> bytes:
    written, synced = bytes(inode.data), inode.synced
    if tail is Tail.LOST:
        return synced
    if tail is Tail.KEPT or written == synced:
        return written
    # What changed since the sync may have arrived in part, or as blocks that were allocated and never filled.
    same = 0
    limit = min(len(written), len(synced))
    while same < limit and written[same] == synced[same]:
        same += 1
    kept = same + choose(len(written) - same + 1)
    if tail is Tail.TORN:
        return written[:kept]
    return written[:kept] + bytes(len(written) - kept)
