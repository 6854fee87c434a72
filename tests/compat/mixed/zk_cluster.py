"""Clusters that are kept in ZooKeeper, with brokers of kbroker and of Apache Kafka 3.9."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.compat.mixed.mixed_cluster import MixedCluster, Node
from tests.doubles import wait_until
from tests.server.zookeeper import ZooKeeperServer


class ZkNode(Node):
    """One broker."""

    def configure(self, settings: Mapping[str, object]) -> None:
        """See `Node`."""
        values = {
            "broker.id": self.id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "log.dirs": self.data,
            **settings,
        }
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))


class ZkMixedCluster(MixedCluster):
    """As `MixedCluster`; node 1 is the first controller, the others start when it serves.

    Args:
        session_ms: zookeeper.session.timeout.ms.
    """

    def __init__(
        self,
        folder: Path,
        releases: Sequence[str],
        settings: Mapping[str, object] | None = None,
        session_ms: int = 3000,
    ) -> None:
        self.server = ZooKeeperServer(folder / "zookeeper")
        self.nodes = {
            node_id: ZkNode(folder, node_id, release, "broker")
            for node_id, release in enumerate(releases, start=1)
        }
        #: Nodes whose processes are stopped: clients do not ask them.
        self.asleep: set[int] = set()
        self.settings = {
            "zookeeper.session.timeout.ms": session_ms,
            "zookeeper.connection.timeout.ms": 30_000,
            "offsets.topic.num.partitions": 3,
            "offsets.topic.replication.factor": 2,
            "transaction.state.log.num.partitions": 3,
            "transaction.state.log.replication.factor": 2,
            "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "replica.lag.time.max.ms": 4000,
            "auto.leader.rebalance.enable": "false",
            **(settings or {}),
        }

    def __enter__(self) -> ZkMixedCluster:
        self.server.__enter__()
        try:
            for node in self.nodes.values():
                self.configure(node, {"zookeeper.connect": f"{self.server.address}/mixed", **self.settings})
            self.nodes[1].start()
            self.wait_for_brokers()
            for node_id in sorted(self.nodes)[1:]:
                self.nodes[node_id].start()
            self.wait_for_brokers()
        except BaseException:
            self._end()
            raise
        return self

    def configure(self, node: Node, settings: Mapping[str, object]) -> None:
        """Write its properties."""
        node.configure(settings)

    @property
    def bootstrap(self) -> str:
        """All brokers that are awake."""
        awake = [node for node in self.nodes.values() if node.id not in self.asleep]
        return ",".join(f"127.0.0.1:{node.port}" for node in awake)

    def _end(self) -> None:
        super()._end()
        self.server.__exit__(None, None, None)

    def restart(self, node_id: int) -> None:
        """See `MixedCluster`. Kafka does not start while the session of its killed life lasts."""
        path = f"/brokers/ids/{node_id}"
        if not self.nodes[node_id].is_kbroker:
            wait_until(lambda: self.znode(path) is None, f"the end of {path}")
        super().restart(node_id)

    def controller(self) -> int:
        """By /controller, when there is one."""
        wait_until(lambda: self.znode("/controller") is not None, "a controller")
        data = self.znode("/controller")
        return -1 if data is None else int(json.loads(data)["brokerid"])

    def znode(self, path: str) -> bytes | None:
        """What ZooKeeper has there."""
        from kazoo.client import KazooClient
        from kazoo.exceptions import NoNodeError

        client = KazooClient(f"{self.server.address}/mixed")
        client.start()
        try:
            data: bytes = client.get(path)[0]
        except NoNodeError:
            return None
        finally:
            client.stop()
            client.close()
        return data
