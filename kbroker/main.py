"""The composition root: one node, made of all rooms, started and stopped in order.

Start: settings and folders are checked without writing; ports are bound (nobody is accepted yet); folders are
locked; new ones are formatted; logs are loaded; the metadata is folded, the quorum joined; logs, coordinators
and settings hear of the metadata; then clients are let in. Stop is the way back.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kbroker.broker.broker_lifecycle import BrokerLifecycle
from kbroker.broker.controller_chores import ControllerChores
from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
from kbroker.broker.directory_reports import DirectoryReports
from kbroker.broker.fetch_session import FetchSessionCache
from kbroker.broker.flush_times import FlushTimes
from kbroker.broker.kraft_node import KraftNode
from kbroker.broker.log_directories import LogDirectories
from kbroker.broker.membership import Membership
from kbroker.broker.raft_peers import QuorumService, RaftPeers, wire_of
from kbroker.broker.read_replicas import RACK_AWARE
from kbroker.broker.replica_manager import ReplicaManager
from kbroker.broker.running_marker import running_marker
from kbroker.broker.services import Services
from kbroker.broker.strays import set_strays_aside
from kbroker.broker.topic_settings import TopicSettingsSource
from kbroker.broker.transactions import wire_transactions
from kbroker.config.listeners import inter_broker_listener
from kbroker.config.quorum import QuorumConfig, migrates, peer_routes, quorum_config
from kbroker.controller.kraft.migration import MIGRATION_LEVELS
from kbroker.controller.metadata_versions import release_level
from kbroker.errors import ApiError, ConfigError
from kbroker.handlers.context import BROKER, CONTROLLER
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.image import CONFIG_BROKER
from kbroker.plain import replace
from kbroker.raft.voter_set import QuorumEndpoint
from kbroker.server.access import open_access
from kbroker.server.client_metrics_file import follow_clients, open_client_metrics
from kbroker.server.data_keys import open_data_keys
from kbroker.server.dispatch import Dispatcher
from kbroker.server.inner_calls import InnerCalls
from kbroker.server.kernel_sync import KernelSync
from kbroker.server.kraft_settings import kraft_setup
from kbroker.server.limits import follow_limits, server_limits
from kbroker.server.listener import SocketServer
from kbroker.server.look_process import LookProcess
from kbroker.server.metrics_start import Tellers, start_metrics
from kbroker.server.node_chores import start_chores
from kbroker.server.node_folders import NodeFolders, log_directories, new_uuid
from kbroker.server.node_sockets import NodeSockets
from kbroker.server.os_disk import OsDisk
from kbroker.server.peer_client import PeerClient
from kbroker.server.preload import preload
from kbroker.server.quotas import open_quotas, open_restrictions
from kbroker.server.replication_setup import open_replication
from kbroker.server.runtime import NICE, BlockingRunner, LoopTimer, SystemClock, resolved

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.storage_format import StorageFormat
    from kbroker.broker.zk_membership import ZkMembership
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.server.frame_handler import FrameHandler
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Node:
    """A broker, a controller, or both.

    Args:
        config: checked settings.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self.config = config
        self.node_id = config.node_id
        self.cluster_id = ""
        self.log_dirs = log_directories(config)
        #: What tells of its metrics.
        self.metrics = Tellers()
        #: Set when the node cannot go on: its disk failed.
        self.failed = asyncio.Event()
        self._failure = ""
        #: Tells the controller, once it knows this node, that a log directory has failed.
        self._report_failure: Callable[[], object] = lambda: None
        self._clock = SystemClock()
        self._disk = OsDisk()
        self._topic_settings = TopicSettingsSource(config)
        self._broker_epoch = -1
        self._quorum: QuorumConfig
        self._folders: NodeFolders
        self._sockets: NodeSockets
        self._kraft: KraftNode
        self._transport: RaftPeers
        self._peers: PeerClient
        self._incarnation_id = new_uuid()
        self._flushes = FlushTimes()
        #: Whether it ends as a killed process would, see `crash`.
        self._crashed = False
        #: What to undo, newest last; `stop` and a start that fails call it from the end.
        self._undo: list[Callable[[], Awaitable[None] | None]] = []

    @property
    def bootstrap(self) -> str:
        """The host:port that clients start with."""
        return self._sockets.bootstrap

    @property
    def ports(self) -> dict[str, int]:
        """The port of each listener for clients."""
        return self._sockets.ports

    async def start(self) -> None:
        """Start; returns when clients are served.

        Raises:
            ConfigError: it cannot start like this; the disk is as it was.
        """
        try:
            await self._start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop cleanly: answer what is under way, close everything, mark the folders clean."""
        while self._undo:
            try:
                result = self._undo.pop()()
                if result is not None:
                    await result
            except (ApiError, OSError) as error:
                _log.error("stopping: %s", error)

    async def crash(self) -> None:
        """End as if the process were killed, for tests: nothing is handed over, finished or marked clean."""
        self._crashed = True
        await self._peers.close()
        await self.stop()

    async def _start(self) -> None:
        quorum = self._quorum = quorum_config(self.config)
        folders = self._folders = NodeFolders(
            self.config,
            self._disk,
            self._clock,
            self._undo,
            is_controller=quorum.is_controller,
            is_one_of_many=len(quorum.voters) > 1 or not quorum.is_controller,
        )
        sockets = self._sockets = NodeSockets(self.config, quorum)
        self._undo.append(sockets.close)
        self._client_metrics = open_client_metrics(self.config, self._undo)
        loop = asyncio.get_running_loop()
        timer, blocking = LoopTimer(loop), BlockingRunner(loop)
        self._undo.append(blocking.close)
        logs = folders.open(self._topic_settings.at_start, self._format_plan)
        if quorum.is_broker:
            open_data_keys(self.config, logs)
            self._undo.append(lambda: logs.close(self._broker_epoch, clean=not self._crashed))
        assert folders.cluster_id is not None
        self.cluster_id = folders.cluster_id
        # The metadata may turn out to be none that can be served: until then nothing of the logs is touched.
        services = self._wire(logs, timer, blocking)
        kraft = self._kraft
        if quorum.is_broker:
            self._load(logs, kraft.expected_image)
        membership = self._join(services, kraft, logs, timer)
        if self._setup.migrates:
            from kbroker.server.migration_setup import open_migration

            self._undo.append(open_migration(services, kraft, resolved))
        self.metrics = await start_metrics(
            services,
            self._undo,
            kraft=kraft,
            membership=membership,
            is_broker=quorum.is_broker,
            directory_reports=self._directory_reports,
        )
        controllers = Dispatcher(services, CONTROLLER)
        self._answer_inside(controllers, membership)
        await self._listen(controllers, CONTROLLER)
        self._undo.append(lambda: kraft.stop(clean=not self._crashed))
        await self._enter(kraft, membership)
        if not quorum.is_broker:
            return
        set_strays_aside(logs, services.metadata.image)
        self._start_chores(logs, services)
        self._undo.append(open_restrictions(services, logs, self._disk, membership.ask_broker))
        await self._listen(Dispatcher(services), BROKER)
        assert membership.lifecycle is not None
        # Not from within the write that fails: who hears of it may change what is written.
        self._report_failure = partial(timer.call_later, 0, membership.lifecycle.directory_failed)
        await self._unless_failed(membership.lifecycle.serve())
        self._undo.append(partial(self._leave, services, kraft, membership.lifecycle))
        self._undo.append(preload(timer, guards=services.authorizer is not None))

    def _load(self, logs: LogManager, expected: ClusterImage) -> None:
        """Open the logs, with the settings that topics are expected to have."""
        self._topic_settings.found = expected
        logs.load(self._clock.now_ms(), self._clock.monotonic_ms)
        self._topic_settings.found = None

    async def _enter(self, kraft: KraftNode, membership: Membership) -> None:
        """Join the quorum, and the brokers; then what is committed is published."""
        started = kraft.start()
        if kraft.is_lone:
            await self._unless_failed(started)
            await self._unless_failed(membership.start())
        else:
            await self._unless_failed(membership.start())
            kraft.publish_from_now()

    async def _unless_failed(self, deferred: Deferred[T]) -> T:
        """Wait for it, but not on a disk that has failed meanwhile."""
        failed = asyncio.ensure_future(self.failed.wait())
        done = asyncio.ensure_future(resolved(deferred))
        try:
            await asyncio.wait([failed, done], return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                raise ConfigError(self._failure)
            return done.result()
        finally:
            failed.cancel()
            done.cancel()

    def _answer_inside(self, dispatcher: Dispatcher, membership: Membership | ZkMembership) -> None:
        """Let this node ask itself, and answer what comes in Envelopes."""
        inner = InnerCalls(dispatcher, f"kbroker-{self.node_id}")
        membership.ask_here = inner.ask
        dispatcher.services.answer_frame = inner.answer_frame

    async def _listen(self, dispatcher: Dispatcher, role: str, before: FrameHandler | None = None) -> None:
        """Accept on the listeners of that kind; `before` handles what comes before the dispatcher does."""
        handler = dispatcher if before is None else before
        server = SocketServer(handler, server_limits(self.config), dispatcher.services.traffic)
        follow_limits(server, dispatcher.services)
        self._undo.append(lambda: server.close(abort=self._crashed))
        await self._sockets.accept(server, role, dispatcher.services)

    def _start_chores(self, logs: LogManager, services: Services) -> None:
        start_chores(
            services,
            self.config,
            logs,
            self._flushes,
            self._undo,
            on_all_offline=self._fail,
            on_moved=self._directory_reports.report,
        )

    # -- folders ---------------------------------------------------------------------------------------

    def _format_plan(self, plan: StorageFormat) -> StorageFormat:
        """What a new folder is made: of a lone node its own quorum, else a place in the one that is named."""
        quorum = self._quorum
        own = [QuorumEndpoint(e.name, e.host, e.port) for e in self._sockets.controllers]
        if quorum.is_controller and migrates(self.config):
            plan = replace(plan, metadata_version=MIGRATION_LEVELS[-1])
        highest = release_level(self.config.get_str("kbroker.compatibility"))
        return replace(
            plan,
            metadata_version=min(plan.metadata_version, highest),
            controller_endpoints=own,
            static_voters=bool(quorum.voters),
            is_controller=quorum.is_controller,
            voters=[] if quorum.bootstrap else None,
        )

    # -- parts -----------------------------------------------------------------------------------------

    def _wire(self, logs: LogManager, timer: LoopTimer, blocking: BlockingRunner) -> Services:
        config, clock = self.config, self._clock
        converting = BlockingRunner(asyncio.get_running_loop(), threads=1, name="convert", nice=NICE)
        looking = LookProcess()
        self._undo += [converting.close, looking.close]
        # Threads of their own: an acknowledgement must not wait for a checkpoint.
        syncing = BlockingRunner(asyncio.get_running_loop(), threads=min(len(logs.dirs), 8), name="sync")
        without_thread = KernelSync(asyncio.get_running_loop())
        self._undo += [syncing.close, without_thread.close]
        call_soon = asyncio.get_running_loop().call_soon
        metadata = MetadataCache(self.cluster_id)
        peers = self._open_peers(timer)
        controller, quorum = self._open_memory(logs, metadata, peers, timer, blocking)
        replicas = ReplicaManager(
            self.node_id,
            logs,
            clock,
            timer,
            lambda topic, overrides: self._topic_settings.of(overrides, topic),
            syncing.run,
            call_soon=call_soon,
            sync_files=without_thread.sync,
        )
        replicas.syncs.times = self._flushes.times
        replicas.on_directory_failed = self._directory_failed
        groups = GroupCoordinatorDriver(config, clock, timer, new_uuid, metadata, replicas, call_soon)
        replicas.on_leadership(groups.on_leadership)
        transactions = wire_transactions(
            config, clock, timer, metadata, replicas, groups, controller.next_producer_id
        )
        # In this order a change is told: settings, logs and leadership, coordinators.
        metadata.subscribe(self._apply_settings)
        if self._quorum.is_broker:
            metadata.subscribe(replicas.apply_in_slices)
            metadata.subscribe(groups.on_metadata)
        self._directory_reports = DirectoryReports(replicas, timer)
        metadata.subscribe(self._directory_reports.on_metadata)
        services = Services(
            broker_id=self.node_id,
            cluster_id=self.cluster_id,
            config=config,
            clock=clock,
            timer=timer,
            new_uuid=new_uuid,
            metadata=metadata,
            replicas=replicas,
            controller=controller,
            peers=peers,
            quorum=quorum,
            groups=groups,
            transactions=transactions,
            fetch_sessions=FetchSessionCache(
                config.get_int("max.incremental.fetch.session.cache.slots"),
                clock.monotonic_ms,
                lambda: secrets.randbits(31),
            ),
            fetch_bytes_max=config.get_int("fetch.max.bytes"),
            chooses_read_replica=config.get_str("replica.selector.class") == RACK_AWARE,
            compatibility=config.get_str("kbroker.compatibility"),
            run_blocking=converting.run,
            run_look=looking.run,
            chores=ControllerChores(
                controller, config, clock, timer, self._incarnation_id, sessions=quorum is not None
            ),
        )
        follow_clients(services, self._client_metrics)
        self._undo.append(open_access(services, config))
        open_quotas(services)
        self._undo += [groups.close, transactions.close, services.stop_parts]
        return services

    def _open_memory(
        self,
        logs: LogManager,
        metadata: MetadataCache,
        peers: PeerClient,
        timer: LoopTimer,
        blocking: BlockingRunner,
    ) -> tuple[ControllerDriver, QuorumService | None]:
        """Open where the metadata are kept."""
        wire = wire_of(self.cluster_id, self._quorum.controller_listener)
        self._setup = kraft_setup(
            self.config,
            self._quorum,
            self._sockets,
            cluster_id=self.cluster_id,
            incarnation_id=self._incarnation_id,
            directory_id=self._folders.metadata_directory_id(),
            log_dir_ids=[log_dir.directory_id for log_dir in logs.dirs if not log_dir.offline],
            random=secrets.randbelow,
        )
        self._transport = RaftPeers(
            peers, wire, self._quorum.controller_listener, self._setup.bootstrap_controllers
        )
        kraft = self._kraft = KraftNode(
            self._setup,
            self._folders.metadata_log_dir(logs),
            metadata,
            clock=self._clock,
            timer=timer,
            run_blocking=blocking.run,
            run_flush=self._flushes.around(blocking.run),
            on_failure=self._metadata_failed,
            transport=self._transport,
        )
        return kraft.controller, QuorumService(kraft.raft, wire)

    def _open_peers(self, timer: LoopTimer) -> PeerClient:
        config = self.config
        peers = self._peers = PeerClient(
            f"kbroker-{self.node_id}",
            timer,
            peer_routes(config),
            self._sockets.peer_security,
            config.get_int("connections.max.idle.ms"),
        )
        self._undo.append(peers.close)
        return peers

    def _join(self, services: Services, kraft: KraftNode, logs: LogManager, timer: LoopTimer) -> Membership:
        assert services.peers is not None
        assert services.chores is not None
        membership = Membership(
            self.config,
            self._setup,
            kraft,
            services.metadata,
            services.chores,
            services.peers,
            self._clock,
            timer,
            controller_listener=self._quorum.controller_listener,
            broker_listener=inter_broker_listener(self.config),
            previous_broker_epoch=logs.previous_broker_epoch,
            directories=LogDirectories(logs, self.config),
        )
        if membership.lifecycle is not None:
            membership.lifecycle.on_refused = self._refused
            membership.lifecycle.troubles = lambda: sorted(map(str, self._transport.unreached.values()))
            services.is_heard = membership.lifecycle.is_heard
            services.metadata.subscribe(running_marker(logs, self.node_id, self._incarnation_id))
            self._undo.append(open_replication(services, membership))
            self._directory_reports.connect(
                partial(membership.channel.send, channel="directories"), membership.broker_epoch
            )
        self._transport.on_foreign = membership.foreign
        services.to_controller = membership.channel
        services.forward = membership.forward
        services.txns.link.remote = membership.ask_broker
        services.when_applied = kraft.when
        services.absent_brokers = membership.absent
        self._undo.append(membership.stop)
        return membership

    def _apply_settings(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        if self.node_id in new.brokers:
            self._broker_epoch = new.brokers[self.node_id].epoch
        if any(kind == CONFIG_BROKER for kind, _ in delta.configs):
            cluster, own = new.config(CONFIG_BROKER, ""), new.config(CONFIG_BROKER, str(self.node_id))
            for problem in self.config.update_dynamic(cluster, own):
                _log.warning("a dynamic setting is left out: %s", problem)

    # -- the end ---------------------------------------------------------------------------------------

    async def _leave(self, services: Services, kraft: KraftNode, lifecycle: BrokerLifecycle) -> None:
        """Hand over what this broker leads, where there is somebody to hand it to."""
        others = [each for each in services.metadata.image.live_brokers() if each.id != self.node_id]
        if not self._crashed and (others or not kraft.is_lone):
            await resolved(lifecycle.leave())

    def _metadata_failed(self, error: BaseException) -> None:
        _log.error("the metadata log failed, stopping: %s", error)
        self._fail(f"the metadata log failed: {error}")

    def _refused(self, why: str) -> None:
        _log.error("this broker has to stop: %s", why)
        self._fail(why)

    def _directory_failed(self, directory: LogDir) -> None:
        """One log directory of several may fail; not that of the metadata."""
        if directory.path == self._folders.metadata_dir:
            _log.error("the directory of the metadata log failed, stopping: %s", directory.failure)
            self._fail(f"the directory of the metadata log failed: {directory.failure}")
        else:
            self._report_failure()

    def _fail(self, why: str = "every log directory has failed") -> None:
        self._failure = self._failure or why
        self.failed.set()
