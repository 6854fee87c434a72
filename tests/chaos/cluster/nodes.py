"""Clusters to be broken: nodes in network namespaces and on disks of their own (root), or on the loopback."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

from kbroker.config.local_cluster import node_settings, plan_nodes
from kbroker.testing import Cluster
from kbroker.testing.cluster_node import ClusterNode
from kbroker.testing.links import both_ways
from tests.chaos.cluster.network import CLIENTS, Network
from tests.chaos.disks import LoopDisk, loop_disk, tmpfs
from tests.server.zookeeper import ZooKeeperServer

_FAKETIME = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)
_CLUSTER_ID = "Y2hhb3MtY2x1c3Rlci0xMQ"


def faketime_library() -> str | None:
    """libfaketime, where Debian's package puts it."""
    return next((path for path in _FAKETIME if os.path.exists(path)), None)


class LoopbackCluster(Cluster):
    """What anybody may run: processes killed and paused, links cut."""

    can_flap = can_lose_power = can_fill = can_jump = False
    in_zookeeper = False

    def ended(self) -> list[int]:
        """The nodes whose processes ended by themselves; they count as stopped from now on."""
        gone = [node for node in self.nodes.values() if node.running and node.has_ended()]
        for node in gone:
            node.kill()
        return [node.id for node in gone]

    def stop_processes(self) -> None:
        """As at the end, but disks and network stay."""
        for node in self.nodes.values():
            if node.running:
                os.kill(node.pid, signal.SIGTERM)
        for node in self.nodes.values():
            node.stop()

    def cut_clients(self, node: int) -> None:
        """Not possible here."""
        raise NotImplementedError


class ZooKeeperCluster(LoopbackCluster):
    """The same with the metadata in a ZooKeeper of its own."""

    in_zookeeper = True

    def __init__(self, size: int, *, config: dict[str, object], data: str, profile: str) -> None:
        self._server = ZooKeeperServer(Path(data) / "zookeeper")
        super().__init__(size, config=config, data=data, profile=profile, zookeeper=self._server.address)

    def start(self) -> Cluster:
        """The server, too."""
        if not self._server.running:
            self._server.start()
        return super().start()

    def stop(self) -> None:
        """The server, too."""
        super().stop()
        self._server.stop()

    def stop_zookeeper(self) -> None:
        """All at once; what it has is kept."""
        self._server.stop()

    def start_zookeeper(self) -> None:
        """It goes on with what it had."""
        self._server.start()


class NetworkCluster(LoopbackCluster):
    """Nodes at addresses of their own.

    Args:
        disk: "plain", "tmpfs" (can run full), "ext4" or "xfs" (can lose power).
        clocks: whether clocks can jump.
    """

    can_flap = True

    def __init__(
        self,
        size: int,
        *,
        data: Path,
        config: dict[str, object],
        profile: str,
        disk: str = "plain",
        clocks: bool = False,
    ) -> None:
        super().__init__(size, config=config, data=str(data), links=False, profile=profile)
        self.network = Network(range(1, size + 1))
        self.disks: dict[int, LoopDisk] = {}
        self.can_fill = disk == "tmpfs"
        self.can_lose_power = disk in ("ext4", "xfs")
        self.can_jump = clocks
        self._kind = disk
        self._folder = data
        self._stack = ExitStack()

    def start(self) -> NetworkCluster:
        super().start()
        return self

    def stop(self) -> None:
        try:
            super().stop()
        finally:
            self._stack.close()

    def _plan(self) -> None:
        self._stack.callback(self.network.remove)
        self.network.make()
        plans = plan_nodes(self.data, "", [(9092, 9093)] * self.size)
        plans = [plan._replace(host=self.network.host(plan.id)) for plan in plans]
        for plan in plans:
            self._mount(plan.id, Path(plan.folder))
            settings = node_settings(plan, plans, _CLUSTER_ID, self.config)
            node = ClusterNode(plan, settings, self.profile)
            node.prefix = [*self.network.inside(plan.id), "nice", *self._clock(plan.id)]
            self.nodes[plan.id] = node

    def _mount(self, node: int, folder: Path) -> None:
        """The data folder leads to a disk of its own; what the node logs stays outside."""
        disk = self.disk_folder(node)
        if self._kind == "tmpfs":
            self._stack.enter_context(tmpfs(disk, "96m"))
        elif self.can_lose_power:
            image = self._folder / f"image-{node}"
            self.disks[node] = self._stack.enter_context(loop_disk(self._kind, image, disk, 400))
        else:
            return
        (disk / "data").mkdir()
        os.sync()
        folder.symlink_to(disk / "data")

    def _clock(self, node: int) -> list[str]:
        if not self.can_jump:
            return []
        self.set_clock(node, 0)
        return [
            "env",
            f"LD_PRELOAD={faketime_library()}",
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            f"FAKETIME_TIMESTAMP_FILE={self._folder}/clock-{node}",
        ]

    # -- faults ----------------------------------------------------------------------------------------------

    def set_clock(self, node: int, seconds: int) -> None:
        """Its wall clock is so many seconds ahead from now on."""
        path = self._folder / f"clock-{node}"
        new = path.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        os.replace(new, path)

    def cut(self, *ways: tuple[int, int]) -> None:
        self.network.cut(ways)

    def cut_clients(self, node: int) -> None:
        self.network.cut(both_ways([node], [CLIENTS]))

    def heal(self) -> None:
        self.network.heal()
        if self.can_jump:
            for node in self.nodes:
                self.set_clock(node, 0)
        for running in self.nodes.values():
            running.resume()

    def cut_power(self, *node_ids: int) -> None:
        """What was not synced is gone. The processes end; `spawn` them.

        Of several all stand still first, so that none goes on while others are dark already.
        """
        running = [self.nodes[each] for each in node_ids if self.nodes[each].running]
        for node in running:
            node.pause()
        for each in node_ids:
            self.disks[each].cut_power()
        for node in running:
            node.kill()
        for each in node_ids:
            self.disks[each].mount_again()

    def disk_folder(self, node: int) -> Path:
        """The root of its file system."""
        return self._folder / f"disk-{node}"

    def _is_cut(self, node_id: int) -> bool:
        return any(node_id in way for way in self.network.cuts)
