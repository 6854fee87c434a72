"""A ZooKeeper server for tests: `kbroker.testing`'s, with jars that Maven fetched."""

from __future__ import annotations

from pathlib import Path

from kbroker.testing.zookeeper import ZooKeeper
from tests.doubles import wait_until
from tests.needs import cache_folder
from tools.kafka_jars import zookeeper_path


class ZooKeeperServer(ZooKeeper):
    """`with ZooKeeperServer(folder) as server:` connect to server.address."""

    def __init__(self, folder, config="", jvm=()):
        super().__init__(
            str(folder), class_path=zookeeper_path(cache_folder()), settings=config, jvm=tuple(jvm)
        )

    def pause(self):
        super().pause()
        tasks = list(Path(f"/proc/{self.pid}/task").iterdir())
        wait_until(lambda: all(" T " in (task / "stat").read_text() for task in tasks), "a stopped server")
