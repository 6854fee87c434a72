"""The log directories that Apache Kafka wrote (tests/data/disk), unpacked into a disk in memory."""

from __future__ import annotations

import gzip
import json
import tarfile
from functools import cache
from pathlib import Path

from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_manager import LogManager
from kbroker.storage.memory_disk import MemoryDisk

DATA = Path(__file__).parent.parent / "data" / "disk"
#: Shortly after those brokers stopped.
NOW_MS = 1_795_973_400_000
FOR_EVER = 2**62


def kafka_disk(name: str, variant: str = "base") -> MemoryDisk:
    """The archive under /data, with the variant's damage done."""
    disk = MemoryDisk()
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        for member in archive:
            directory = "/" + member.name.rpartition("/")[0]
            disk.make_dir(directory)
            file = disk.open("/" + member.name, create=True)
            file.write(0, archive.extractfile(member).read())
            file.sync()
            disk._files["/" + member.name].modified_ms = int(member.mtime * 1000)
            disk.sync_dir(directory)
    if variant != "base":
        for change in changes(name):
            if change["variant"] == variant:
                damage(disk, "/data/" + change["file"], change)
    return disk


def changes(name: str) -> list[dict]:
    """The damage of all variants."""
    return json.loads((DATA / f"{name}.changes.json").read_text())


def damage(disk: MemoryDisk, path: str, change: dict) -> None:
    """One entry of changes.json."""
    what = change["change"]
    if what.startswith("removed"):
        disk.remove(path)
        return
    file = disk.open(path)
    if what.startswith("every byte made zero"):
        file.write(0, bytes(file.size()))
    elif what.startswith("one byte flipped"):
        position = change["position"]
        file.write(position, bytes([file.read(position, 1)[0] ^ 0xFF]))
    elif change["new_size"] < change["old_size"]:
        file.truncate(change["new_size"])
    else:
        file.write(change["old_size"], bytes(change["new_size"] - change["old_size"]))


@cache
def kafka_says(name: str) -> dict:
    """What Kafka answered, by moment and partition."""
    with gzip.open(DATA / f"{name}.expected.json.gz") as file:
        return json.load(file)


def load(disk: MemoryDisk, **config: object) -> LogManager:
    """Start on /data."""

    def config_for(topic: str) -> LogConfig:
        interval = 4096 if topic.startswith("__") else 256
        return LogConfig(producer_id_expiration_ms=FOR_EVER, index_interval_bytes=interval, **config)

    manager = LogManager(disk, ["/data"], config_for)
    manager.lock()
    manager.load(NOW_MS)
    return manager
