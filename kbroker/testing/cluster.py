"""`Cluster`: several nodes, processes or threads, to be killed, paused, cut off and brought back."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kbroker.client.errors import ClientError
from kbroker.config.local_cluster import LocalNode, node_settings, plan_nodes, zookeeper_node_settings
from kbroker.errors import ApiError, ErrorCode
from kbroker.testing.broker import setting_text
from kbroker.testing.cluster_node import ClusterNode
from kbroker.testing.links import Links, Way, both_ways
from kbroker.testing.ports import free_ports

if TYPE_CHECKING:
    from types import TracebackType

    from kbroker.protocol.generated.metadata_response import MetadataResponse, MetadataResponsePartition
    from kbroker.testing.zookeeper import ZooKeeper

T = TypeVar("T")

_PAUSE_S = 0.02
_WAIT_S = 60.0
#: What a link to ZooKeeper leads to, where others lead to a node.
ZOOKEEPER = 0


class Cluster:
    """Nodes 1 to n, each a broker and a controller of one quorum; or brokers of a cluster in ZooKeeper,
    one of which is the controller. Use as a context manager.

    Args:
        size: how many nodes.
        config: settings of all of them; topics have three replicas, two of which must be in sync, by default.
        data: folder of the data; a temporary one, removed at the end, if None.
        links: whether links can be cut. What nodes say to each other then passes through this process.
        profile: `dev` or `production`.
        in_process: nodes are threads of this process, which start faster and can be looked into by a
            debugger. `kill` then drops a node with all that it has open, and writes nothing; what the page
            cache has survives, as with `kill -9`. They share one interpreter lock: not for measuring.
        client: settings of clients (`security.protocol` …), for what this object itself asks.
        controller: "kraft", or "zookeeper" to keep the cluster's metadata there.
        zookeeper: "host:port/chroot" of a ZooKeeper that runs, and of nobody else's cluster; None: one is
            started, with the Java and the jars that `testing.zookeeper.find_server` finds. In `cut`,
            ZooKeeper is node 0, and in `partition` it is with those that are in no group.
    """

    def __init__(
        self,
        size: int = 3,
        *,
        config: Mapping[str, object] | None = None,
        data: str | None = None,
        links: bool = True,
        profile: str = "dev",
        in_process: bool = False,
        client: Mapping[str, str] | None = None,
        controller: str = "kraft",
        zookeeper: str | None = None,
    ) -> None:
        assert controller in ("kraft", "zookeeper"), f"controller: kraft or zookeeper, not {controller}"
        self.size = size
        self.client = dict(client or {})
        self.in_process = in_process
        self.config = {name: setting_text(value) for name, value in (config or {}).items()}
        self.profile = profile
        self.data = data or ""
        self.nodes: dict[int, ClusterNode] = {}
        self._own_data = data is None
        self._links = Links() if links else None
        #: "host:port/chroot" of the ZooKeeper, "" in KRaft; and the server, if it is this object's own.
        self.zookeeper = zookeeper or ""
        self.zookeeper_server: ZooKeeper | None = None
        self._in_zookeeper = controller == "zookeeper" or bool(zookeeper)

    # -- life ------------------------------------------------------------------------------------------------

    def start(self) -> Cluster:
        """Start all nodes; returns when all serve, and each that can be reached knows the others.

        Raises:
            ConfigError: one cannot start; the text says why.
            AssertionError: they do not find each other.
        """
        first = not self.nodes
        try:
            if first:
                self._plan()
            if self.zookeeper_server is not None and not self.zookeeper_server.running:
                self.zookeeper_server.start()
            started = [node for node in self.nodes.values() if not node.running]
            for node in started:
                node.spawn()
            for node in started:
                node.wait_ready()
            if started:
                self._wait_acquainted()
        except BaseException:
            if first:
                self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop all nodes, and remove a temporary data folder."""
        for node in self.nodes.values():
            if node.running:
                node.begin_stop()
        for node in self.nodes.values():
            node.stop()
        if self.zookeeper_server is not None:
            self.zookeeper_server.stop()
        if self._links is not None:
            self._links.close()
        if self._own_data and self.data:
            shutil.rmtree(self.data, ignore_errors=True)
            self.data = ""

    def __enter__(self) -> Cluster:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def bootstrap(self) -> str:
        """ "host:port" of all nodes, with commas between."""
        return ",".join(node.bootstrap for node in self.nodes.values())

    # -- faults ----------------------------------------------------------------------------------------------

    def kill(self, node_id: int) -> None:
        """End a node as `kill -9` does; `restart` brings it back with its data."""
        self.nodes[node_id].kill()

    def stop_node(self, node_id: int) -> None:
        """Stop a node cleanly."""
        self.nodes[node_id].stop()

    def pause(self, node_id: int) -> None:
        """Stop a node's process where it is (SIGSTOP); `resume` lets it go on."""
        self.nodes[node_id].pause()

    def resume(self, node_id: int) -> None:
        """Let a paused node go on."""
        self.nodes[node_id].resume()

    def restart(self, node_id: int) -> None:
        """Stop the node cleanly if it runs, and start it; returns when it serves."""
        node = self.nodes[node_id]
        node.stop()
        node.spawn()
        node.wait_ready()

    def rolling_restart(self, timeout_s: float = _WAIT_S) -> None:
        """Restart one node after the other, each when all replicas are in sync."""
        for node_id in self.nodes:
            self.restart(node_id)
            self.wait_for(self.all_in_sync, timeout_s)

    def partition(self, *groups: Iterable[int]) -> None:
        """Cut the links between nodes of different groups; nodes that are in no group are one more.

        `partition([1])` cuts node 1 off from all others.
        """
        sides = [set(group) for group in groups]
        everybody = {*self.nodes, ZOOKEEPER} if self._in_zookeeper else set(self.nodes)
        rest = everybody.difference(*sides)
        sides = [side for side in (*sides, rest) if side]
        for index, side in enumerate(sides):
            for other in sides[index + 1 :]:
                self.cut(*both_ways(side, other))

    def cut(self, *ways: Way) -> None:
        """Nothing arrives from a node at another any more: `cut((1, 2))` is one way only."""
        assert self._links is not None, "made with links=False"
        self._links.cut(ways)

    def heal(self) -> None:
        """Mend all links, and let paused nodes go on."""
        if self._links is not None:
            self._links.heal()
        for node in self.nodes.values():
            node.resume()

    def mend(self, timeout_s: float = _WAIT_S) -> None:
        """Heal, start what does not run, and wait until all replicas are in sync."""
        self.heal()
        self.start()
        self.wait_for(self.all_in_sync, timeout_s)

    # -- looking ---------------------------------------------------------------------------------------------

    def wait_for(self, condition: Callable[[], T], timeout_s: float = _WAIT_S) -> T:
        """Wait until `condition()` is true; its value. What it raises while nodes fail counts as not yet.

        Raises:
            AssertionError: it did not come to that; the text has what was raised last.
        """
        deadline = time.monotonic() + timeout_s
        last: Exception | None = None
        while True:
            try:
                value = condition()
                if value:
                    return value
                last = None
            except (ApiError, ClientError, OSError, AssertionError, KeyError) as error:
                last = error
            if time.monotonic() > deadline:
                name = getattr(condition, "__name__", "the condition")
                raise AssertionError(f"{name}: not within {timeout_s:.0f} s ({last!r})")
            time.sleep(_PAUSE_S)

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        *,
        replication_factor: int = -1,
        config: Mapping[str, object] | None = None,
    ) -> str:
        """Create a topic and wait until it can be used; returns its name.

        Raises:
            ApiError: it exists, or a setting is refused.
        """
        from kbroker.client.cluster import Cluster as Client
        from kbroker.client.topics import create_topic

        settings = {key: setting_text(value) for key, value in (config or {}).items()}
        with Client(self._reachable, settings=self.client) as client:
            new = any(topic.error_code for topic in client.metadata([name]).topics)
            try:
                create_topic(
                    client,
                    name,
                    partitions=partitions,
                    replication_factor=replication_factor,
                    configs=settings,
                )
            except ApiError as error:
                # A controller that is replaced meanwhile says no, and the next one may find the topic made.
                if not new or error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
        for node in self.nodes.values():
            if node.running and not node.paused and not self._is_cut(node.id):
                self.wait_for(partial(self._knows, node.id, name))
        return name

    def metadata(self, node_id: int | None = None, topics: Iterable[str] | None = None) -> MetadataResponse:
        """What a node (or any that runs) says of the cluster."""
        from kbroker.client.cluster import Cluster as Client

        where = self._reachable if node_id is None else self.nodes[node_id].bootstrap
        with Client(where, timeout_s=5, settings=self.client) as client:
            return client.metadata(topics)

    def describe(
        self, topic: str, partition: int = 0, node_id: int | None = None
    ) -> MetadataResponsePartition:
        """A partition: `.leader_id`, `.isr_nodes`, `.replica_nodes`. KeyError if there is none."""
        for found in self.metadata(node_id, [topic]).topics:
            for each in found.partitions:
                if each.partition_index == partition:
                    return each
        raise KeyError(f"{topic}-{partition}")

    def leader(self, topic: str, partition: int = 0) -> int:
        """The id of a partition's leader; -1: nobody leads it."""
        return self.describe(topic, partition).leader_id

    def controller(self) -> int:
        """The id of the active controller.

        Raises:
            ApiError: there is none now.
        """
        from kbroker.client.cluster import Cluster as Client
        from kbroker.client.describe import describe_quorum

        if self._in_zookeeper:
            return self.metadata(topics=[]).controller_id
        with Client(self._reachable, timeout_s=5, settings=self.client) as client:
            quorum = describe_quorum(client)
        return -1 if quorum is None else quorum.leader

    def all_in_sync(self) -> bool:
        """Whether every node is there and every replica of every topic in sync, as all say that run.

        One alone may not have heard yet: a node that was cut off tells of the time before.
        """
        asked = [each.id for each in self.nodes.values() if each.running and not each.paused]
        return bool(asked) and all(self._says_in_sync(each) for each in asked)

    def _says_in_sync(self, node_id: int) -> bool:
        answer = self.metadata(node_id)
        if {broker.node_id for broker in answer.brokers} != set(self.nodes):
            return False
        return all(
            len(partition.isr_nodes) == len(partition.replica_nodes) and partition.leader_id >= 0
            for topic in answer.topics
            for partition in topic.partitions
        )

    def _knows(self, node_id: int, topic: str) -> bool:
        found = self.metadata(node_id, [topic]).topics
        return all(topic.partitions and not topic.error_code for topic in found)

    def _wait_acquainted(self) -> None:
        """A node serves as soon as it may lead; of those that came with it, it hears a moment later."""
        there = {
            node.id
            for node in self.nodes.values()
            if node.running and not (node.paused or node.has_ended() or self._is_cut(node.id))
        }
        for node_id in there:
            self.wait_for(partial(self._names, node_id, there))

    def _names(self, node_id: int, brokers: set[int]) -> bool:
        return brokers <= {broker.node_id for broker in self.metadata(node_id, []).brokers}

    def _is_cut(self, node_id: int) -> bool:
        return self._links is not None and any(node_id in way for way in self._links.cuts)

    # -- inside ----------------------------------------------------------------------------------------------

    @property
    def _reachable(self) -> str:
        found = [node.bootstrap for node in self.nodes.values() if node.running and not node.paused]
        assert found, "no node runs"
        return ",".join(found)

    def _plan(self) -> None:
        if not self.data:
            import tempfile

            self.data = tempfile.mkdtemp(prefix="kbroker-cluster-")
        ports = free_ports(2 * self.size)
        plans = plan_nodes(self.data, "127.0.0.1", list(zip(ports[::2], ports[1::2])))
        all_settings = self._zookeeper_settings(plans) if self._in_zookeeper else self._kraft_settings(plans)
        for plan, settings in zip(plans, all_settings):
            routes = [] if self._links is None else self._routes(self._links, plan, plans)
            if routes:
                settings["kbroker.peer.routes"] = ",".join(routes)
            self.nodes[plan.id] = ClusterNode(plan, settings, self.profile, self.in_process)

    def _kraft_settings(self, plans: list[LocalNode]) -> list[dict[str, str]]:
        from kbroker.server.node_folders import known_cluster_id, new_uuid
        from kbroker.types import uuid_to_string

        cluster_id = known_cluster_id([plan.folder for plan in plans]) or uuid_to_string(new_uuid())
        return [node_settings(plan, plans, cluster_id, self.config) for plan in plans]

    def _zookeeper_settings(self, plans: list[LocalNode]) -> list[dict[str, str]]:
        from kbroker.testing.zookeeper import ZOOKEEPER_SETTINGS, ZooKeeper, connect_pieces

        if not self.zookeeper:
            self.zookeeper_server = ZooKeeper(os.path.join(self.data, "zookeeper"))
            self.zookeeper = self.zookeeper_server.address
        servers, chroot = connect_pieces(self.zookeeper)
        config = {**ZOOKEEPER_SETTINGS, **self.config}
        found = []
        for plan in plans:
            connect = self.zookeeper
            if self._links is not None:
                ways = [self._links.add((plan.id, ZOOKEEPER), host, port) for host, port in servers]
                connect = ",".join(f"127.0.0.1:{port}" for port in ways) + chroot
            found.append(zookeeper_node_settings(plan, plans, connect, config))
        return found

    def _routes(self, links: Links, node: LocalNode, nodes: list[LocalNode]) -> list[str]:
        routes = []
        for other in nodes:
            ports = (other.client_port,) if self._in_zookeeper else (other.client_port, other.controller_port)
            for port in ports:
                if other is not node:
                    detour = links.add((node.id, other.id), other.host, port)
                    routes.append(f"{other.host}:{port}>127.0.0.1:{detour}")
        return routes
