"""A node of a cluster that is kept in ZooKeeper: the parts that `main.py` puts together, but for the quorum.

Start: settings are checked, ports bound; a session with ZooKeeper, the cluster's id, this broker's; folders
are locked, new ones formatted; everything is read and logs are loaded; listeners are open to the controller;
then this broker registers and stands for election, and serves when the metadata have it. While the cluster
moves to KRaft it is an observer of the quorum, too (broker/quorum_tie.py).
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.log_directories import LogDirectories
from kbroker.broker.quorum_tie import QuorumTie
from kbroker.broker.strays import set_strays_aside
from kbroker.broker.zk_follower import ZkFollower
from kbroker.broker.zk_membership import ZkMembership
from kbroker.broker.zk_node import ZkNode, ZkSetup
from kbroker.config.listeners import inter_broker_listener
from kbroker.config.quorum import migrates, quorum_config
from kbroker.controller.election_rules import election_rules
from kbroker.controller.zookeeper import paths
from kbroker.handlers.context import BROKER
from kbroker.main import Node
from kbroker.metadata.cache import MetadataCache
from kbroker.plain import replace
from kbroker.server.client_metrics_file import open_client_metrics
from kbroker.server.data_keys import open_data_keys
from kbroker.server.dispatch import Dispatcher
from kbroker.server.earlier_life import EarlierLife
from kbroker.server.folders import stored_node_id
from kbroker.server.metrics_start import start_metrics
from kbroker.server.node_folders import NodeFolders, new_uuid
from kbroker.server.node_sockets import NodeSockets, endpoints
from kbroker.server.preload import preload
from kbroker.server.quotas import open_restrictions
from kbroker.server.replication_setup import open_replication
from kbroker.server.runtime import BlockingRunner, LoopTimer, resolved
from kbroker.server.until_serving import UntilServing
from kbroker.server.zk_client import open_links
from kbroker.server.zk_settings import ZkNodeSettings, zk_node_settings
from kbroker.types import TopicPartition, uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.raft_peers import QuorumService
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.services import Services
    from kbroker.broker.zk_requests import Key
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.image import ClusterImage
    from kbroker.server.peer_client import PeerClient
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager

_log = logging.getLogger(__name__)
#: A start that takes longer tells what it waits for.
_SILENT_MS = 3_000


class ZooKeeperNode(Node):
    """A broker, any of which may be the controller."""

    _zk: ZkNode
    _earlier: EarlierLife
    _logs: LogManager
    _timer: LoopTimer
    _tie: QuorumTie | None = None

    async def _start(self) -> None:
        self._quorum = quorum_config(self.config)
        settings = zk_node_settings(self.config.static)
        if self.node_id < 0:
            self._identify(stored_node_id(self._disk, self.log_dirs))
        sockets = self._sockets = NodeSockets(self.config, self._quorum)
        self._undo.append(sockets.close)
        self._client_metrics = open_client_metrics(self.config, self._undo)
        loop = asyncio.get_running_loop()
        timer, blocking = LoopTimer(loop), BlockingRunner(loop)
        self._timer = timer
        self._undo.append(blocking.close)
        zk = self._zk = self._zookeeper(settings, timer)
        self._undo.append(self._end_session)
        silent = timer.call_later(
            _SILENT_MS,
            lambda: _log.info("waiting for ZooKeeper at %s", self.config.static["zookeeper.connect"]),
        )
        try:
            await self._unless_failed(zk.connect())
        finally:
            silent.cancel()
        self.cluster_id = zk.registration.cluster_id
        if self.node_id < 0:
            await self._unless_failed(zk.generate_id(settings.reserved_max).map(self._identify))
        folders = self._folders = NodeFolders(
            self.config, self._disk, self._clock, self._undo, self.cluster_id
        )
        logs = self._logs = folders.open(self._topic_settings.at_start, self._format_plan)
        if migrates(self.config):
            folders.drop_metadata_log()
        earlier = self._earlier = EarlierLife(self._disk, self.log_dirs)
        zk.registration.earlier_epoch = earlier.epoch()
        open_data_keys(self.config, logs)
        self._undo.append(lambda: logs.close(self._broker_epoch, clean=not self._crashed))
        await self._unless_failed(zk.read())
        services = self._wire(logs, timer, blocking)
        self._load(logs, zk.expected_image)
        membership = self._join_brokers(services, timer)
        self.metrics = await start_metrics(services, self._undo, membership=membership, is_broker=True)
        zk.metadata.publish_from_now()
        if not await self._unless_failed(zk.exists(paths.MIGRATION)):
            # Else a quorum may know of topics that ZooKeeper does not: what is not here belongs to them.
            set_strays_aside(logs, zk.expected_image)
        self._start_chores(logs, services)
        self._undo.append(open_restrictions(services, logs, self._disk, membership.ask_broker))
        dispatcher = Dispatcher(services)
        self._answer_inside(dispatcher, membership)
        self._undo.append(self._end_session)
        # The controller has to reach this broker, to tell it of the cluster, before it can serve.
        door = UntilServing(dispatcher, timer)
        await self._listen(dispatcher, BROKER, door)
        if self._tie is not None:
            self._tie.start()
        await self._unless_failed(zk.enter())
        door.serve()
        self._undo.append(partial(self._leave_brokers, membership))
        self._undo.append(preload(timer, guards=services.authorizer is not None, zookeeper=True))

    def _identify(self, node_id: int) -> None:
        """This node had no broker.id, and has one now."""
        if node_id >= 0:
            self.node_id = node_id
            self.config.identify(node_id)

    # -- parts -----------------------------------------------------------------------------------------------

    def _zookeeper(self, settings: ZkNodeSettings, timer: LoopTimer) -> ZkNode:
        config, link = self.config, settings.link
        wanted = config.get_str("kbroker.cluster.id")
        setup = ZkSetup(
            node_id=self.node_id,
            endpoints=endpoints(self._sockets.clients),
            new_cluster_id=wanted or uuid_to_string(new_uuid()),
            servers=link.servers,
            chroot=link.chroot,
            session_ms=link.session_ms,
            connect_ms=settings.connect_ms,
            listener=inter_broker_listener(config),
            rules=election_rules(config),
            rack=config.get_str("broker.rack") or None,
        )
        rootless = open_links(replace(link, chroot=""))
        zk = ZkNode(setup, open_links(link), rootless, self._clock, timer, at_once=settings.at_once)
        zk.on_refused = self._refused
        zk.registration.roots = _roots(config)
        zk.migrates = migrates(config)
        return zk

    def _open_memory(
        self,
        logs: LogManager,
        metadata: MetadataCache,
        peers: PeerClient,
        timer: LoopTimer,
        blocking: BlockingRunner,
    ) -> tuple[ControllerDriver, QuorumService | None]:
        if migrates(self.config):
            # What the quorum says is known here, and not published: this node serves what ZooKeeper has.
            super()._open_memory(logs, MetadataCache(self.cluster_id), peers, timer, blocking)
        return self._zk.open(metadata, peers), None

    def _join_brokers(self, services: Services, timer: LoopTimer) -> ZkMembership:
        zk = self._zk
        assert services.peers is not None
        membership = ZkMembership(
            self.node_id,
            zk,
            services.metadata,
            services.peers,
            self._clock,
            timer,
            listener=inter_broker_listener(self.config),
            request_timeout_ms=self.config.get_int("request.timeout.ms"),
        )
        services.is_heard = zk.is_heard
        follower = services.extras["zookeeper"] = ZkFollower(
            self.node_id, zk.metadata, services.replicas, lambda: zk.broker_epoch, zk.newer_controller
        )
        if migrates(self.config):
            self._tie = services.extras["quorum_tie"] = self._tie_to_quorum(services, timer)
            membership.follow_quorum(self._tie, follower)
            services.is_heard = membership.is_heard
            zk.own_epoch = follower.own_epoch
        notifications = zk.listen_to_changes()
        notifications.topics_are_gone = follower.topics_are_gone
        notifications.is_awaited = follower.awaits
        notifications.is_late = lambda: follower.is_kraft
        follower.topic_configs = notifications.topic_configs
        follower.on_new_controller = notifications.look_for_deleted_topics
        zk.on_vanished = follower.give_up
        self._undo.append(open_replication(services, membership))
        services.to_controller = membership.channel
        services.forward = membership.forward
        services.txns.link.remote = membership.ask_broker
        services.when_applied = zk.when
        services.absent_brokers = membership.absent
        services.replicas.was_there = partial(_had_replica, zk.expected_image, self.node_id)
        zk.offline_here = partial(_in_failed_directories, services.replicas)
        zk.on_registered = partial(self._registered, follower)
        self._undo.append(membership.stop)
        return membership

    def _tie_to_quorum(self, services: Services, timer: LoopTimer) -> QuorumTie:
        assert services.peers is not None
        tie = QuorumTie(
            self.config,
            self._setup,
            self._kraft,
            services.peers,
            self._clock,
            timer,
            controller_listener=self._quorum.controller_listener,
            directories=LogDirectories(self._logs, self.config),
        )
        self._undo.append(lambda: tie.stop(clean=not self._crashed))
        return tie

    def _registered(self, follower: ZkFollower) -> None:
        self._earlier.remember(self._zk.broker_epoch)
        follower.registered()

    def _directory_failed(self, directory: LogDir) -> None:
        if self._tie is not None:
            # As Kafka: a broker that moves to KRaft with a failed directory could not say what lies there.
            self._fail(f"the log directory {directory.path} failed during a migration: {directory.failure}")
        elif all(each.offline for each in self._logs.dirs):
            self._fail()
        else:
            # Not from within the write that fails: who hears of it may change what is written.
            self._timer.call_later(0, self._zk.directory_failed)

    # -- the end ---------------------------------------------------------------------------------------------

    async def crash(self) -> None:
        """See `Node`. The servers end the session in its time, and with it the registration."""
        self._crashed = True
        await self._end_session()
        await super().crash()

    async def _end_session(self) -> None:
        await resolved(self._zk.stop(abrupt=self._crashed))

    async def _leave_brokers(self, membership: ZkMembership) -> None:
        if not self._crashed:
            await resolved(membership.leave())


def _roots(config: BrokerConfig) -> tuple[str, ...]:
    """The folders that Kafka's brokers make: those of lists and tokens where they are in use. A controller of
    Kafka's that migrates the cluster counts on them."""
    with_lists = bool(config.get_str("authorizer.class.name"))
    with_tokens = bool(config.get_str("delegation.token.secret.key"))
    return paths.ROOTS + (paths.ACL_ROOTS if with_lists else ()) + (paths.TOKEN_ROOTS if with_tokens else ())


def _in_failed_directories(replicas: ReplicaManager) -> list[Key]:
    return [
        (each.topic_id, index)
        for (_, index), each in replicas.partitions.items()
        if each.log is None or each.log.directory.offline
    ]


def _had_replica(image: ClusterImage, node_id: int, tp: TopicPartition) -> bool:
    partition = image.topics.partition(*tp)
    return partition is not None and node_id in partition.replicas
