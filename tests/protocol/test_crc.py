from __future__ import annotations

import subprocess
import sys

import crc32c as package

from kbroker.protocol import crc


def test_it_is_the_packages():
    for size in (0, 1, 7, 100, 5000):
        data = bytes(i * 7 & 255 for i in range(size))
        assert crc.crc32c(data) == package.crc32c(data)
        assert crc.crc32c(memoryview(data)[size // 2 :], 17) == package.crc32c(data[size // 2 :], 17)
    assert crc.crc32c(b"123456789") == 0xE3069283


def test_a_node_does_not_import_what_the_package_needs_for_its_command_line():
    ask = "import sys, kbroker.main; print('crc32c' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_where_the_extension_is_not_found_the_package_serves(monkeypatch):
    monkeypatch.setattr(crc.PathFinder, "find_spec", lambda *_: None)
    assert crc._load() is package
