"""Clusters that move from ZooKeeper to a KRaft quorum (KIP-866), brokers and controllers of either kind."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.compat.mixed.mixed_cluster import Node
from tests.compat.mixed.zk_cluster import ZkMixedCluster
from tests.doubles import wait_until
from tools.bench.brokers import free_port

#: The first controller's id; brokers and controllers share the numbers.
FIRST_CONTROLLER = 3001
AUTHORIZER = "authorizer.class.name"
ZOOKEEPER, MIGRATING, KRAFT = "zookeeper", "migrating", "kraft"
_AUTHORIZERS = {
    ZOOKEEPER: "kafka.security.authorizer.AclAuthorizer",
    MIGRATING: "kafka.security.authorizer.AclAuthorizer",
    KRAFT: "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}


class MovingCluster(ZkMixedCluster):
    """Brokers 1, 2, ... in ZooKeeper's mode, and controllers 3001, ... that `start_quorum` starts.

    Args:
        brokers, controllers: the releases.
        settings: of all brokers.
    """

    def __init__(
        self,
        folder: Path,
        brokers: Sequence[str],
        controllers: Sequence[str],
        settings: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(folder, brokers, {"super.users": "User:ANONYMOUS", **(settings or {})})
        self.modes = dict.fromkeys(self.nodes, ZOOKEEPER)
        self.quorum = {
            node_id: Node(folder, node_id, release, "controller")
            for node_id, release in enumerate(controllers, start=FIRST_CONTROLLER)
        }
        for node in self.quorum.values():
            node.controller_port = free_port()
        voters = [f"{node.id}@127.0.0.1:{node.controller_port}" for node in self.quorum.values()]
        self._places = {
            "controller.quorum.voters": ",".join(voters),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        }
        self._zookeeper = {"zookeeper.connect": f"{self.server.address}/mixed"}

    def configure(self, node: Node, settings: Mapping[str, object]) -> None:
        """See `ZkMixedCluster`: as the mode of the broker has it."""
        mode = self.modes[node.id]
        values = {**self.settings, AUTHORIZER: _AUTHORIZERS[mode]}
        if mode != ZOOKEEPER:
            values |= self._places
        if mode == MIGRATING:
            values["zookeeper.metadata.migration.enable"] = "true"
        if mode == KRAFT:
            values = {name: value for name, value in values.items() if not name.startswith("zookeeper.")}
            values |= {"broker.session.timeout.ms": 6000, "log.dirs": node.data}
            Node.configure(node, values)
        else:
            node.configure({**values, **self._zookeeper})

    def _end(self) -> None:
        for node in self.quorum.values():
            node.end(signal.SIGKILL)
        super()._end()

    # -- the migration ---------------------------------------------------------------------------------------

    def start_quorum(self) -> None:
        """Format the controllers, with the features of 3.9, and start them, the migration on."""
        found = self.znode("/cluster/id")
        assert found is not None
        cluster_id = json.loads(found)["id"]
        for node in self.quorum.values():
            self._configure_controller(node, migrates=True)
            # What our tool formats (as Kafka's own since 4.0) is a cluster that began in KRaft to Kafka 3.9.
            node.format("--release-version", "3.9", cluster_id=cluster_id, as_kafka=True)
            node.start()

    def _configure_controller(self, node: Node, *, migrates: bool) -> None:
        values: dict[str, object] = {
            **self._places,
            AUTHORIZER: _AUTHORIZERS[KRAFT],
            "super.users": "User:ANONYMOUS",
        }
        if migrates:
            values |= {**self._zookeeper, "zookeeper.metadata.migration.enable": "true"}
        node.configure(values)

    def roll(self, node_id: int, mode: str, release: str = "") -> None:
        """Stop a broker and start it in that mode, on its folder; as another release, if one is named."""
        node = self.nodes[node_id]
        node.end()
        node.release = release or node.release
        self.modes[node_id] = mode
        self.configure(node, {})
        self.restart(node_id)

    def finalise(self) -> None:
        """The controllers one after the other without the migration: there is no way back."""
        for node in self.quorum.values():
            node.end()
            self._configure_controller(node, migrates=False)
            node.start()

    def kill_controller(self) -> None:
        """kill -9 of the active one; it is started again when another one has followed."""
        active = self.controller()
        self.quorum[active].end(signal.SIGKILL)
        wait_until(lambda: self.controller() not in (active, -1), "another controller", 60)
        self.quorum[active].start()

    def end_quorum(self) -> None:
        """Stop the controllers for good."""
        for node in self.quorum.values():
            node.end()

    def delete(self, path: str) -> None:
        """Take a znode away."""
        from kazoo.client import KazooClient

        client = KazooClient(f"{self.server.address}/mixed")
        client.start()
        try:
            client.delete(path, recursive=True)
        finally:
            client.stop()
            client.close()

    def wait_for_migration(self) -> None:
        """Everything was copied, and the quorum's controller writes to both."""

        def copied() -> bool:
            found = self.znode("/migration")
            return found is not None and json.loads(found)["kraft_metadata_offset"] >= 0

        try:
            wait_until(copied, "the end of the migration", 90)
        except AssertionError as error:
            told = "\n".join(node.told() for node in (*self.quorum.values(), *self.nodes.values()))
            raise AssertionError(f"{error}\n{told}") from None
        assert self.controller() in self.quorum

    def wait_for_znode(self, path: str, test=lambda data: True) -> None:
        """Until ZooKeeper has it, with data that pass."""

        def there() -> bool:
            data = self.znode(path)
            return data is not None and bool(test(data))

        wait_until(there, f"{path} in ZooKeeper; it has {self.znode(path)!r}", 60)
