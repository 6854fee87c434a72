"""Whether the registration of this broker's earlier life may be taken away."""

from __future__ import annotations

import shutil

import pytest

from kbroker.server.earlier_life import FILE_NAME, EarlierLife
from kbroker.server.os_disk import OsDisk


@pytest.fixture
def boot(tmp_path):
    file = tmp_path / "boot_id"
    file.write_text("this run\n")
    return file


def folder(path):
    path.mkdir()
    (path / ".lock").touch()
    return str(path)


def test_the_life_before_in_the_same_folder(tmp_path, boot):
    first, second = folder(tmp_path / "one"), folder(tmp_path / "two")
    life = EarlierLife(OsDisk(), [first, second], str(boot))
    assert life.epoch() == -1
    life.remember(42)
    assert EarlierLife(OsDisk(), [first, second], str(boot)).epoch() == 42
    life.remember(43)
    assert EarlierLife(OsDisk(), [second, first], str(boot)).epoch() == 43


def test_a_copy_of_the_folder_and_another_run_of_the_machine_prove_nothing(tmp_path, boot):
    first = folder(tmp_path / "one")
    EarlierLife(OsDisk(), [first], str(boot)).remember(42)
    shutil.copytree(first, tmp_path / "copy")
    assert EarlierLife(OsDisk(), [str(tmp_path / "copy")], str(boot)).epoch() == -1
    boot.write_text("the next run\n")
    assert EarlierLife(OsDisk(), [first], str(boot)).epoch() == -1


def test_where_nothing_can_be_known(tmp_path, boot):
    first = folder(tmp_path / "one")
    EarlierLife(OsDisk(), [first], str(tmp_path / "none")).remember(42)
    assert EarlierLife(OsDisk(), [first], str(boot)).epoch() == -1
    for damaged in (b"", b"[]", b'{"brokerEpoch": 1}', b"\xff"):
        (tmp_path / "one" / FILE_NAME).write_bytes(damaged)
        assert EarlierLife(OsDisk(), [first], str(boot)).epoch() == -1
