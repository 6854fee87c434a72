"""Small file systems for tests that break them: tmpfs, ext4 or XFS on a loop device. All of it needs root."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.needs import need_command

#: EXT4_IOC_SHUTDOWN, which XFS has, too; 2: without writing the journal out, as when the power goes.
_SHUTDOWN = 0x8004587D
_NO_LOG_FLUSH = 2
_MAKE = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}
_PACKAGES = {"ext4": "e2fsprogs", "xfs": "xfsprogs"}


def need_root() -> None:
    """Mounting is for root, and not allowed in every container."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to mount a file system of its own")


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{command[0]}: {done.stderr.strip()}")


def _mount(*arguments: str | Path) -> None:
    try:
        _run("mount", *arguments)
    except OSError as error:
        pytest.skip(f"needs a machine that lets root mount: {error}")


def _unmount(folder: Path) -> None:
    """Children of a process that was killed may have files open there for a moment."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with suppress(OSError):
            _run("umount", folder)
            return
        time.sleep(0.05)
    _run("umount", "-l", folder)


@contextmanager
def tmpfs(folder: Path, size: str) -> Iterator[Path]:
    """A tmpfs of `size` ("24m") at `folder`."""
    need_root()
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder)
    try:
        yield folder
    finally:
        _unmount(folder)


class LoopDisk:
    """A file system in an image file, mounted at `folder`."""

    def __init__(self, kind: str, image: Path, folder: Path) -> None:
        self.kind = kind
        self.image = image
        self.folder = folder

    def make(self, megabytes: int) -> None:
        with self.image.open("wb") as file:
            file.truncate(megabytes << 20)
        _run(*_MAKE[self.kind], self.image)

    def mount(self) -> None:
        _mount("-o", "loop", self.image, self.folder)

    def cut_power(self) -> None:
        """From here on every access fails; only what was synced is there after `mount_again`."""
        fd = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(fd)

    def mount_again(self) -> None:
        """As after a boot: the journal is replayed.

        Raises:
            OSError: the file system of before is still alive somewhere, and would be this one.
        """
        _unmount(self.folder)
        deadline = time.monotonic() + 60
        while self._is_mounted():
            if time.monotonic() > deadline:
                raise OSError(f"{self.image} is mounted in another namespace: its power cannot be cut")
            time.sleep(0.05)
        self.mount()

    def _is_mounted(self) -> bool:
        done = subprocess.run(["losetup", "-j", str(self.image)], capture_output=True, check=True)
        return bool(done.stdout)


@contextmanager
def loop_disk(kind: str, image: Path, folder: Path, megabytes: int) -> Iterator[LoopDisk]:
    """A new `kind` of file system; the image lies where the caller says, so it may run out of room itself."""
    need_root()
    need_command(_MAKE[kind][0], _PACKAGES[kind])
    folder.mkdir(parents=True, exist_ok=True)
    disk = LoopDisk(kind, image, folder)
    disk.make(megabytes)
    disk.mount()
    try:
        yield disk
    finally:
        _unmount(folder)
