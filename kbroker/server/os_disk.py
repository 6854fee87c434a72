"""The real file system behind `storage/disk.py`; POSIX and Windows differ only in this file."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Sequence

from kbroker.storage.disk import NO_SIZE, Buffer, DirEntry, DiskFile, Lock

_IOV_MAX = 1024
#: FALLOC_FL_KEEP_SIZE
_KEEP_SIZE = 1
_READ_BYTES = 1 << 16
#: fcntl(2) of Linux 4.13: how long what is written to a file will live. Kept in the inode in memory, never on
#: the disk.
_GET_WRITE_HINT, _SET_WRITE_HINT = 1035, 1036
_LONG_LIVED = (5).to_bytes(8, sys.byteorder)
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_HAS_POSITIONED_IO = hasattr(os, "pread") and hasattr(os, "pwrite")
_HAS_PWRITEV = hasattr(os, "pwritev")


class OsFile:
    """A descriptor, closed when the last reference goes."""

    __slots__ = ("_fd", "_writable", "path")

    def __init__(self, path: str, fd: int, writable: bool = True) -> None:
        self.path = path
        self._fd = fd
        self._writable = writable

    def __del__(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def fileno(self) -> int:
        return self._fd

    def read(self, position: int, length: int) -> bytes:
        data = _pread(self._fd, length, position)
        if len(data) == length or not data:
            return data
        parts = [data]
        done = len(data)
        while done < length and (data := _pread(self._fd, length - done, position + done)):
            parts.append(data)
            done += len(data)
        return b"".join(parts)

    def write(self, position: int, data: Buffer) -> None:
        try:
            written = _pwrite(self._fd, data, position)
        except OSError as error:
            raise self._explained(error) from None
        if written == len(data):
            return
        # Released even if it fails: the error's traceback must not keep a bytearray from growing.
        with memoryview(data) as view:
            while written < len(view):
                written += _pwrite(self._fd, view[written:], position + written)

    def write_many(self, position: int, parts: Sequence[Buffer]) -> None:
        if not _HAS_PWRITEV:
            self.write(position, b"".join(parts))
            return
        for start in range(0, len(parts), _IOV_MAX):
            chunk = parts[start : start + _IOV_MAX]
            wanted = sum(map(len, chunk))
            try:
                written = os.pwritev(self._fd, chunk, position)
            except OSError as error:
                raise self._explained(error) from None
            if written < wanted:
                self.write(position + written, memoryview(b"".join(chunk))[written:])
            position += wanted

    def truncate(self, size: int) -> None:
        try:
            os.ftruncate(self._fd, size)
        except OSError as error:
            raise self._explained(error) from None

    def reserve(self, size: int) -> None:
        if not sys.platform.startswith("linux"):
            return
        import ctypes  # Python's posix_fallocate makes the file longer: a crash would leave zeros to be read

        fallocate = ctypes.CDLL(None, use_errno=True).fallocate
        fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        if fallocate(self._fd, _KEEP_SIZE, 0, size) != 0:
            number = ctypes.get_errno()
            if number not in (errno.EOPNOTSUPP, errno.ENOSYS):
                raise OSError(number, os.strerror(number), self.path)

    def _explained(self, error: OSError) -> OSError:
        """The system says "bad descriptor", or nothing of which file."""
        if not self._writable:
            return PermissionError(errno.EACCES, "the file may only be read", self.path)
        return OSError(error.errno, error.strerror, self.path)

    def sync(self) -> None:
        _sync_data(self._fd)


def _discard(path: str) -> None:
    """A small file could not be written whole: what there is of it is of no use, and takes room."""
    with contextlib.suppress(OSError):
        os.unlink(path)


class OsDisk:
    """The operating system's files."""

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        flags = os.O_RDWR | _BINARY | (os.O_CREAT if create else 0)
        try:
            return OsFile(path, os.open(path, flags, 0o644))
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            # Kafka writes its metadata snapshots with mode 0400; tools may look at what is mounted to read.
            return OsFile(path, os.open(path, os.O_RDONLY | _BINARY), writable=False)

    def read_file(self, path: str) -> bytes:
        # A start reads two of them for each partition; a file object would cost as much as the reading.
        fd = os.open(path, os.O_RDONLY | _BINARY)
        try:
            parts = []
            while part := os.read(fd, _READ_BYTES):
                parts.append(part)
                if len(part) < _READ_BYTES:
                    break
        finally:
            os.close(fd)
        return b"".join(parts)

    def write_file(self, path: str, data: bytes, *, durable: bool = True) -> None:
        if not durable and self._create_file(path, data):
            return
        temporary = path + ".tmp"
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _BINARY, 0o644)
        try:
            OsFile.write(file := OsFile(temporary, fd), 0, data)
            if durable:
                file.sync()
        except OSError:
            _discard(temporary)
            raise
        finally:
            del file
        os.replace(temporary, path)
        if durable:
            self.sync_dir(os.path.dirname(path))

    def _create_file(self, path: str, data: bytes) -> bool:
        """A new name needs no rename: whoever may find it empty after a power cut may after a kill, too."""
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o644)
        except FileExistsError:
            return False
        try:
            OsFile(path, fd).write(0, data)
        except OSError:
            _discard(path)
            raise
        return True

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def list_dir(self, path: str) -> list[DirEntry]:
        entries = []
        with os.scandir(path) as found:
            for entry in found:
                is_dir = entry.is_dir()
                try:
                    size = 0 if is_dir else entry.stat().st_size
                except FileNotFoundError:
                    if not entry.is_symlink():
                        continue  # removed meanwhile
                    size = NO_SIZE
                entries.append(DirEntry(entry.name, is_dir, size))
        entries.sort()
        return entries

    def make_dir(self, path: str) -> None:
        try:
            os.mkdir(path, 0o755)
        except FileExistsError:
            if not os.path.isdir(path):
                raise
        except FileNotFoundError:
            os.makedirs(path, 0o755, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def remove_tree(self, path: str) -> None:
        if os.path.islink(path):
            os.unlink(path)  # what it leads to may be somebody else's
            return
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path)

    def sync_dir(self, path: str) -> None:
        if sys.platform == "win32":
            return  # a directory cannot be opened there; NTFS journals its names
        fd = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    @property
    def can_sync_all(self) -> bool:
        # Linux has a call for it. Before 5.8 it did not tell of writes that failed in the background.
        if not sys.platform.startswith("linux"):
            return False
        release = os.uname().release.split(".")
        return (
            release[0].isdecimal() and release[1].isdecimal() and (int(release[0]), int(release[1])) >= (5, 8)
        )

    def sync_all(self, path: str) -> None:
        import ctypes  # Python does not offer the call

        # The system tells of writes that failed since the descriptor was opened. That of the lock is as old
        # as the broker; a new one would miss what another program that synced was told before.
        own = next(
            (fd for lock, fd in _held.items() if os.path.dirname(lock) == os.path.realpath(path)), None
        )
        fd = os.open(path, os.O_RDONLY) if own is None else own
        try:
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), path)
        finally:
            if own is None:
                os.close(fd)

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def free_bytes(self, path: str) -> int:
        return shutil.disk_usage(path).free

    def total_bytes(self, path: str) -> int:
        return shutil.disk_usage(path).total

    def set_memory_mark(self, path: str) -> None:
        if not sys.platform.startswith("linux"):
            return
        import fcntl

        with contextlib.suppress(OSError), open(path, "rb") as file:
            fcntl.fcntl(file, _SET_WRITE_HINT, _LONG_LIVED)

    def has_memory_mark(self, path: str) -> bool:
        if not sys.platform.startswith("linux"):
            return False
        import fcntl

        try:
            with open(path, "rb") as file:
                return fcntl.fcntl(file, _GET_WRITE_HINT, bytes(len(_LONG_LIVED))) == _LONG_LIVED
        except OSError:
            return False

    def lock(self, path: str) -> Lock | None:
        return _take_lock(path)


if _HAS_POSITIONED_IO:
    _pread = os.pread
    _pwrite = os.pwrite
else:  # Windows: one thread does all reading and writing of a file, so the cursor is ours

    def _pread(fd: int, length: int, position: int, /) -> bytes:
        os.lseek(fd, position, os.SEEK_SET)
        return os.read(fd, length)

    def _pwrite(fd: int, data: Buffer, position: int, /) -> int:  # type: ignore[misc]
        os.lseek(fd, position, os.SEEK_SET)
        return os.write(fd, data)


if sys.platform == "darwin":
    import fcntl

    def _sync_data(fd: int) -> None:
        # fsync() on macOS stops at the drive's cache.
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
else:
    _sync_data = getattr(os, "fdatasync", os.fsync)


#: Locks of this process. POSIX record locks belong to the process: they would let a second broker in the
#: same process in, and closing any descriptor of the file would drop the first one's.
_held: dict[str, int] = {}


class _FileLock:
    def __init__(self, path: str, fd: int) -> None:
        self._path = path
        self._fd = fd

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            _held.pop(self._path, None)


def _take_lock(path: str) -> Lock | None:
    path = os.path.realpath(path)
    if path in _held:
        return None
    fd = os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o644)
    try:
        if not _lock_fd(fd):
            os.close(fd)
            return None
    except BaseException:
        os.close(fd)
        raise
    _held[path] = fd
    return _FileLock(path, fd)


if sys.platform == "win32":
    import msvcrt

    def _lock_fd(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _lock_fd(fd: int) -> bool:
        # A record lock, because that is what Java takes: Kafka and kbroker exclude each other.
        try:
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        return True
