"""The real file system behind the disk port."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kbroker.server.os_disk import OsDisk
from kbroker.storage.disk import DirEntry


@pytest.fixture
def disk() -> OsDisk:
    return OsDisk()


def test_files(disk: OsDisk, tmp_path) -> None:
    path = f"{tmp_path}/file"
    with pytest.raises(FileNotFoundError):
        disk.open(path)
    file = disk.open(path, create=True)
    file.write(0, b"hello")
    file.write(5, memoryview(bytearray(b" world")))
    file.write_many(11, [b"!" * 10, memoryview(b"?" * 5)] * 700)
    assert file.size() == 11 + 15 * 700
    assert file.read(3, 8) == b"lo world"
    assert file.read(file.size() - 5, 100) == b"?????"
    assert file.read(file.size() + 5, 10) == b""
    file.sync()
    file.truncate(4)
    assert disk.read_file(path) == b"hell"
    assert os.fstat(file.fileno()).st_size == 4


def test_a_short_write_goes_on(disk: OsDisk, tmp_path, monkeypatch) -> None:
    from kbroker.server import os_disk

    real = os.pwrite
    monkeypatch.setattr(os_disk, "_pwrite", lambda fd, data, pos: real(fd, bytes(data)[:3], pos))
    file = disk.open(f"{tmp_path}/file", create=True)
    file.write(0, b"0123456789")
    assert file.read(0, 100) == b"0123456789"


def test_a_file_stays_readable_after_it_is_removed(disk: OsDisk, tmp_path) -> None:
    path = f"{tmp_path}/file"
    file = disk.open(path, create=True)
    file.write(0, b"held")
    fd = file.fileno()
    disk.remove(path)
    disk.remove(path)
    assert file.read(0, 10) == b"held"
    del file
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_a_read_only_file_can_be_read(disk: OsDisk, tmp_path) -> None:
    path = tmp_path / "snapshot"
    path.write_bytes(b"x")
    path.chmod(0o400)
    assert disk.open(str(path)).read(0, 1) == b"x"


def test_directories(disk: OsDisk, tmp_path) -> None:
    root = f"{tmp_path}/a/b"
    disk.make_dir(root)
    disk.make_dir(root)
    disk.write_file(f"{root}/z", b"12")
    disk.write_file(f"{root}/z", b"345", durable=False)
    disk.make_dir(f"{root}/sub")
    assert disk.list_dir(root) == [DirEntry("sub", True, 0), DirEntry("z", False, 3)]
    disk.rename(f"{root}/z", f"{root}/y")
    assert disk.exists(f"{root}/y")
    assert not disk.exists(f"{root}/z")
    assert disk.modified_ms(f"{root}/y") > 1_600_000_000_000
    assert 0 < disk.free_bytes(root) <= disk.total_bytes(root)
    disk.sync_dir(root)
    disk.remove_tree(root)
    disk.remove_tree(root)
    assert not disk.exists(root)
    (tmp_path / "plain").write_bytes(b"")
    with pytest.raises(FileExistsError):
        disk.make_dir(f"{tmp_path}/plain")


def test_a_lock_holds_in_this_process_and_in_others(disk: OsDisk, tmp_path) -> None:
    path = f"{tmp_path}/.lock"
    held = disk.lock(path)
    assert held is not None
    assert disk.lock(path) is None
    code = (
        "import sys; from kbroker.server.os_disk import OsDisk; "
        "sys.exit(0 if OsDisk().lock(sys.argv[1]) is None else 1)"
    )
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 0
    held.release()
    held.release()
    again = disk.lock(path)
    assert again is not None
    again.release()


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux reserves room behind a file's end"
)
def test_room_is_reserved_without_making_the_file_longer(disk: OsDisk, tmp_path) -> None:
    file = disk.open(f"{tmp_path}/file", create=True)
    file.write(0, b"hello")
    used = os.stat(file.path).st_blocks
    file.reserve(1 << 20)
    if os.stat(file.path).st_blocks == used:
        pytest.skip("this file system reserves nothing")
    assert file.size() == 5
    assert os.stat(file.path).st_blocks * 512 >= 1 << 20
    file.truncate(5)
    assert os.stat(file.path).st_blocks * 512 < 1 << 20
    assert file.read(0, 10) == b"hello"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has write hints")
def test_a_mark_in_memory_belongs_to_the_file_and_not_to_its_name(tmp_path) -> None:
    disk, path = OsDisk(), str(tmp_path / "mark")
    disk.write_file(path, b"1", durable=False)
    assert not disk.has_memory_mark(path)
    disk.set_memory_mark(path)
    assert disk.has_memory_mark(path)
    disk.write_file(path, b"2", durable=False)
    assert not disk.has_memory_mark(path)
    disk.set_memory_mark(f"{path}-none")
    assert not disk.has_memory_mark(f"{path}-none")
