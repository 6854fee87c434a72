"""Syncing files without a thread: Linux does it in a worker of its own, and tells by an eventfd.

A thread that syncs needs the interpreter before and after; while the loop is busy it gets it late, by force,
and both pay for the change. With `io_submit` (IOCB_CMD_FDSYNC, Linux 4.18) the loop says which files, goes
on, and reads an eventfd like any socket when they are durable. Python has no names for these calls, so they
are made by number. Where they do not exist, or are forbidden, `sync` says no, and the caller takes a thread.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import Callable, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kbroker.storage.disk import DiskFile

#: Syncs that may be under way together; who wants more takes a thread.
SYNCS_MAX = 64

#: data, key, flags, opcode, priority, descriptor, buffer, bytes, offset, reserved, flags, eventfd.
_REQUEST = Struct("=QIiHhIQQqQII")
#: data, address of the request, result, a second one.
_EVENT = Struct("=QQqq")
_FDSYNC = 3
_TELL_EVENTFD = 1


class _Numbers(NamedTuple):
    setup: int
    destroy: int
    getevents: int
    submit: int


_NUMBERS = {"x86_64": _Numbers(206, 207, 208, 209), "aarch64": _Numbers(0, 1, 4, 2)}


class KernelSync:
    """Syncs files for one event loop. What it takes is made with the first sync.

    Args:
        loop: on whose thread alone this is called.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: _Calls | None = None
        #: It does not work here, or is closed.
        self._refused = sys.platform != "linux" or platform.machine() not in _NUMBERS
        #: By the number of a file's sync, whose it is, and for which of its files.
        self._open: dict[int, tuple[_Asked, int]] = {}
        self._next = 0

    def sync(self, files: Sequence[DiskFile], done: Callable[[Sequence[OSError | None]], None]) -> bool:
        """Make what is in `files` durable, then tell `done` on the loop what became of each.

        False: it cannot, and nothing has happened.
        """
        if self._refused or not files or len(self._open) + len(files) > SYNCS_MAX:
            return False
        calls = self._calls or self._begin()
        if calls is None:
            return False
        first = self._next
        taken = calls.submit(first, files)
        if not taken:
            self._refused = True
            return False
        asked = _Asked(done, files, taken)
        for position in range(taken):
            self._open[first + position] = (asked, position)
        self._next = first + taken
        for position in range(taken, len(files)):
            # There was no memory to ask for it: now the loop has to wait.
            asked.errors[position] = _sync_here(files[position])
        return True

    def close(self) -> None:
        """Wait for what is under way; nobody is told of it."""
        self._refused = True
        calls, self._calls = self._calls, None
        if calls is not None:
            self._loop.remove_reader(calls.eventfd)
            calls.close()
        self._open.clear()

    def _begin(self) -> _Calls | None:
        try:
            calls = self._calls = _Calls(_NUMBERS[platform.machine()])
        except OSError:
            self._refused = True
            return None
        self._loop.add_reader(calls.eventfd, self._tell)
        return calls

    def _tell(self) -> None:
        calls = self._calls
        for number, result in calls.finished() if calls is not None else ():
            asked, position = self._open.pop(number)
            if result < 0:
                asked.errors[position] = OSError(-result, os.strerror(-result), asked.files[position].path)
            asked.missing -= 1
            if not asked.missing:
                asked.done(asked.errors)


class _Asked:
    """One call of `sync`."""

    __slots__ = ("done", "errors", "files", "missing")

    def __init__(
        self, done: Callable[[Sequence[OSError | None]], None], files: Sequence[DiskFile], missing: int
    ) -> None:
        self.done = done
        self.files = files
        self.missing = missing
        self.errors: list[OSError | None] = [None] * len(files)


class _Calls:
    """The system calls, and the memory that they read and write.

    Raises:
        OSError: there are no such calls.
    """

    def __init__(self, numbers: _Numbers) -> None:
        import ctypes  # only for those who need it: it costs a MB

        self._numbers = numbers
        # Only `close` ever waits, so there is nothing to gain from letting the interpreter go meanwhile.
        call: Any = ctypes.PyDLL(None, use_errno=True).syscall
        call.argtypes = [ctypes.c_long] * 6
        call.restype = ctypes.c_long
        self._call = call
        self._requests = ctypes.create_string_buffer(_REQUEST.size * SYNCS_MAX)
        self._events = ctypes.create_string_buffer(_EVENT.size * SYNCS_MAX)
        first = ctypes.addressof(self._requests)
        self._pointers = (ctypes.c_void_p * SYNCS_MAX)(
            *range(first, first + _REQUEST.size * SYNCS_MAX, _REQUEST.size)
        )
        self._pointers_at = ctypes.addressof(self._pointers)
        self._events_at = ctypes.addressof(self._events)
        context = ctypes.c_ulong(0)
        if call(numbers.setup, SYNCS_MAX, ctypes.addressof(context), 0, 0, 0) < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        self._context: int = context.value
        try:
            self.eventfd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        except OSError:
            call(numbers.destroy, self._context, 0, 0, 0, 0)
            raise

    def submit(self, first: int, files: Sequence[DiskFile]) -> int:
        """Ask for a sync of each, numbered from `first` on; how many of them, the first, are under way."""
        for position, file in enumerate(files):
            _REQUEST.pack_into(
                self._requests,
                position * _REQUEST.size,
                first + position,
                0,
                0,
                _FDSYNC,
                0,
                file.fileno(),
                0,
                0,
                0,
                0,
                _TELL_EVENTFD,
                self.eventfd,
            )
        taken: int = self._call(self._numbers.submit, self._context, len(files), self._pointers_at, 0, 0)
        return max(taken, 0)

    def finished(self) -> list[tuple[int, int]]:
        """The syncs that are over: number, and 0 or what is wrong as a negative number."""
        try:
            os.eventfd_read(self.eventfd)
        except BlockingIOError:
            return []
        count = self._call(self._numbers.getevents, self._context, 0, SYNCS_MAX, self._events_at, 0)
        found = []
        for position in range(max(count, 0)):
            number, _, result, _ = _EVENT.unpack_from(self._events, position * _EVENT.size)
            found.append((number, result))
        return found

    def close(self) -> None:
        """Wait for what is under way."""
        self._call(self._numbers.destroy, self._context, 0, 0, 0, 0)
        os.close(self.eventfd)


def _sync_here(file: DiskFile) -> OSError | None:
    try:
        file.sync()
    except OSError as error:
        return error
    return None
