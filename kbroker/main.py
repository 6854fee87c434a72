"""The composition root: one node, made of all rooms, started and stopped in order.

Start: settings and folders are checked without writing; ports are bound (nobody is accepted yet); folders are
locked; new ones are formatted; logs are loaded; the metadata is folded, the quorum joined; logs, coordinators
and settings hear of the metadata; then clients are let in. Stop is the way back.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from kbroker.broker.cleaner_driver import CleanerDriver
from kbroker.broker.client_metrics import ClientMetrics
from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
from kbroker.broker.directory_reports import DirectoryReports
from kbroker.broker.fetch_session import FetchSessionCache
from kbroker.broker.housekeeping import Housekeeping
from kbroker.broker.kraft_node import KraftNode, KraftSetup
from kbroker.broker.log_mover import LogMover
from kbroker.broker.replica_manager import ReplicaManager, TopicSettings
from kbroker.broker.services import Services
from kbroker.broker.storage_format import StorageFormat, format_storage
from kbroker.config.broker_config import BrokerConfig
from kbroker.config.listeners import ListenerAddress, advertised_listeners, bound_listeners
from kbroker.config.topic_config import log_config_values, topic_value
from kbroker.errors import ApiError, ConfigError
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_TOPIC, Endpoint
from kbroker.raft.snapshot import SnapshotPolicy
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter
from kbroker.server.binding import bind_sockets
from kbroker.server.cleaner_process import CleanerProcess
from kbroker.server.client_metrics_file import open_metrics_file
from kbroker.server.dispatch import Dispatcher
from kbroker.server.folders import Folders, inspect_folders
from kbroker.server.limits import LIMIT_SETTINGS, server_limits
from kbroker.server.listener import SocketServer
from kbroker.server.os_disk import OsDisk
from kbroker.server.process_limits import open_log_files
from kbroker.server.runtime import BlockingRunner, LoopTimer, SystemClock
from kbroker.storage.file_names import LOCK
from kbroker.storage.log_config import LogConfig
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_manager import LogManager
from kbroker.storage.open_files import OpenFiles
from kbroker.types import ZERO_UUID, Uuid, uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

_log = logging.getLogger(__name__)

_SETTINGS_KEPT = 1000


class Node:
    """A broker and controller in one.

    Args:
        config: checked settings.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self.config = config
        self.node_id = config.node_id
        self.cluster_id = ""
        self.log_dirs = tuple(os.path.abspath(path) for path in config.log_dirs)
        #: Set when the node cannot go on: its disk failed.
        self.failed = asyncio.Event()
        self._clock = SystemClock()
        self._disk = OsDisk()
        self._advertised: tuple[ListenerAddress, ...] = ()
        self._broker_epoch = -1
        #: What topics' overrides come to, until the broker's own settings change.
        self._settings_known: dict[frozenset[tuple[str, str]], TopicSettings] = {}
        config.subscribe(lambda _: self._settings_known.clear())
        #: The metadata as it lies on disk, while logs are loaded.
        self._found_metadata: ClusterImage | None = None
        #: What to undo, newest last; `stop` and a start that fails call it from the end.
        self._undo: list[Callable[[], Awaitable[None] | None]] = []

    @property
    def bootstrap(self) -> str:
        """The host:port that clients start with."""
        first = self._advertised[0]
        host = f"[{first.host}]" if ":" in first.host else first.host
        return f"{host}:{first.port}"

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

    async def _start(self) -> None:
        listeners = self._check_settings()
        wanted_cluster = self.config.get_str("kbroker.cluster.id") or None
        folders = inspect_folders(
            self._disk, self._directories, self.node_id, wanted_cluster, needed=self._metadata_dir
        )
        sockets = self._bind(listeners)
        loop = asyncio.get_running_loop()
        timer, blocking = LoopTimer(loop), BlockingRunner(loop)
        self._undo.append(blocking.close)
        logs = self._open_logs(folders, wanted_cluster)
        # The metadata may turn out to be none that can be served: until then nothing of the logs is touched.
        services, kraft = self._wire(logs, timer, blocking)
        self._found_metadata = kraft.controller.committed_image
        logs.load(self._clock.now_ms(), self._clock.monotonic_ms)
        self._found_metadata = None
        await _resolved(kraft.start())
        self._set_strays_aside(logs, services.metadata.image)
        housekeeping = Housekeeping(
            logs,
            self.config,
            clock=self._clock,
            timer=timer,
            run_blocking=blocking.run,
            on_all_offline=self._fail,
        )
        housekeeping.start()
        # A checkpoint that is being written must not come after those of the stop.
        self._undo.append(blocking.idle)
        self._undo.append(housekeeping.stop)
        mover = services.log_mover = LogMover(services.replicas, blocking.run, new_uuid)
        mover.on_moved = self._directory_reports.report
        mover.resume()
        self._undo.append(mover.stop)
        cleaner = CleanerDriver(
            logs,
            self.config,
            clock=self._clock,
            timer=timer,
            run_blocking=blocking.run,
            start_worker=partial(CleanerProcess, loop.call_soon_threadsafe),
        )
        cleaner.start()
        self._undo.append(cleaner.stop)
        server = SocketServer(Dispatcher(services), server_limits(self.config))
        self.config.subscribe(lambda _: setattr(server, "limits", server_limits(self.config)), LIMIT_SETTINGS)
        self._undo.append(server.close)
        for listener, listening in zip(listeners, sockets):
            await server.listen_on(listener.name, listening, listener.security_protocol)

    # -- before anything is written --------------------------------------------------------------------

    def _check_settings(self) -> tuple[ListenerAddress, ...]:
        if set(self.config.get_list("process.roles")) != {"broker", "controller"}:
            raise ConfigError("process.roles must be broker,controller: other roles are not supported yet")
        if [voter.id for voter in _static_voters(self.config)] not in ([], [self.node_id]):
            raise ConfigError(
                "controller.quorum.voters must name this node alone: more are not supported yet"
            )
        listeners = bound_listeners(self.config)
        if not listeners:
            raise ConfigError("listeners has no listener for clients")
        for listener in listeners:
            if listener.security_protocol != "PLAINTEXT":
                raise ConfigError(f"{listener}: {listener.security_protocol} is not supported yet")
        return listeners

    def _bind(self, listeners: Sequence[ListenerAddress]) -> list[list[socket.socket]]:
        sockets: list[list[socket.socket]] = []
        self._undo.append(lambda: _close_all(sockets))
        bound = []
        for listener in listeners:
            sockets.append(bind_sockets(listener.name, listener.host, listener.port))
            bound.append(listener._replace(port=sockets[-1][0].getsockname()[1]))
        name = self.config.get_str("kbroker.advertised.host") or socket.gethostname()
        self._advertised = advertised_listeners(self.config, bound, name)
        return sockets

    # -- folders ---------------------------------------------------------------------------------------

    @property
    def _metadata_dir(self) -> str:
        path = self.config.get_str("metadata.log.dir")
        return os.path.abspath(path) if path else self.log_dirs[0]

    @property
    def _directories(self) -> list[str]:
        """Every folder of this node: those of the logs, and that of the metadata if it lies elsewhere."""
        own = [] if self._metadata_dir in self.log_dirs else [self._metadata_dir]
        return [*self.log_dirs, *own]

    def _open_logs(self, folders: Folders, wanted_cluster: str | None) -> LogManager:
        """Lock the folders and format new ones; the logs are still to be loaded."""
        logs = LogManager(self._disk, self.log_dirs, self._log_config_at_start, open_files=open_log_files())
        for log_dir in logs.dirs:
            if log_dir.path in folders.unusable:
                log_dir.fail_for_good(OSError(folders.unusable[log_dir.path]))
        logs.lock()
        self._undo.append(logs.unlock)
        if self._metadata_dir not in self.log_dirs:
            self._lock_metadata_dir()
        self.cluster_id = folders.cluster_id or wanted_cluster or uuid_to_string(_new_cluster_id())
        if len(folders.formatted) + len(folders.unusable) < len(folders.paths):
            self._format(folders)
        logs.identify()
        self._undo.append(lambda: logs.close(self._broker_epoch))
        return logs

    def _lock_metadata_dir(self) -> None:
        path = self._metadata_dir
        try:
            self._disk.make_dir(path)
            lock = self._disk.lock(f"{path}/{LOCK}")
        except OSError as error:
            raise ConfigError(f"the metadata folder {path} cannot be used: {error.strerror}") from None
        if lock is None:
            raise ConfigError(f"the metadata folder {path} is in use by another broker")
        self._undo.append(lock.release)

    def _format(self, folders: Folders) -> None:
        usable = [path for path in self.log_dirs if path not in folders.unusable]
        plan = StorageFormat(
            log_dirs=usable,
            metadata_dir=self._metadata_dir,
            cluster_id=self.cluster_id,
            node_id=self.node_id,
            directory_ids=[new_uuid() for _ in self._directories],
            static_voters=bool(self.config.get_list("controller.quorum.voters")),
        )
        try:
            format_storage(self._disk, plan, self._clock.now_ms())
        except OSError as error:
            raise ConfigError(
                f"cannot format {error.filename or self.log_dirs[0]}: {error.strerror}"
            ) from None

    def _set_strays_aside(self, logs: LogManager, image: ClusterImage) -> None:
        """Logs of topics that the cluster does not have (any more) are kept, out of the way."""
        for tp, log in list(logs.logs.items()):
            if log.topic_id == ZERO_UUID:
                # Its partition.metadata is lost or damaged: the name has to do.
                topic = image.topics.get(tp.topic)
            else:
                topic = image.topics.by_id(log.topic_id)
            if topic is None or topic.name != tp.topic or tp.partition >= len(topic.partitions):
                logs.set_aside(tp)

    # -- parts -----------------------------------------------------------------------------------------

    def _wire(
        self, logs: LogManager, timer: LoopTimer, blocking: BlockingRunner
    ) -> tuple[Services, KraftNode]:
        config, clock = self.config, self._clock
        converting = BlockingRunner(asyncio.get_running_loop(), threads=1, name="convert")
        self._undo.append(converting.close)
        # Threads of their own: an acknowledgement must not wait for a checkpoint.
        syncing = BlockingRunner(asyncio.get_running_loop(), threads=min(len(logs.dirs), 8), name="sync")
        self._undo.append(syncing.close)
        metadata = MetadataCache(self.cluster_id)
        kraft = KraftNode(
            self._kraft_setup(logs),
            self._metadata_log_dir(logs),
            metadata,
            clock=clock,
            timer=timer,
            run_blocking=blocking.run,
            on_failure=self._metadata_failed,
        )
        replicas = ReplicaManager(
            self.node_id,
            logs,
            clock,
            timer,
            lambda _, overrides: self._topic_settings(overrides),
            syncing.run,
        )
        replicas.on_directory_failed = self._directory_failed
        groups = GroupCoordinatorDriver(config, clock, timer, new_uuid, metadata, replicas)
        replicas.on_leadership(groups.on_leadership)
        # In this order a change is told: settings, logs and leadership, coordinators.
        metadata.subscribe(self._apply_settings)
        metadata.subscribe(replicas.apply_metadata)
        metadata.subscribe(groups.on_metadata)
        self._directory_reports = DirectoryReports(replicas, kraft.controller, timer)
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
            controller=kraft.controller,
            groups=groups,
            fetch_sessions=FetchSessionCache(
                config.get_int("max.incremental.fetch.session.cache.slots"),
                clock.monotonic_ms,
                lambda: secrets.randbits(31),
            ),
            fetch_bytes_max=config.get_int("fetch.max.bytes"),
            compatibility=config.get_str("kbroker.compatibility"),
            # One thread, not those of the disk: it holds the interpreter while it works.
            run_blocking=converting.run,
            client_metrics=self._client_metrics(),
        )
        metadata.subscribe(services.client_metrics.on_metadata)
        services.clients.on_closed(services.client_metrics.on_closed)
        self._undo.append(kraft.stop)
        self._undo.append(groups.close)
        return services, kraft

    def _client_metrics(self) -> ClientMetrics:
        keeps = self.config.get_bool("kbroker.client.metrics")
        client_metrics = ClientMetrics(self.config.get_int("telemetry.max.bytes"), keeps=keeps)
        file = open_metrics_file(self.config.get_str("kbroker.client.metrics.file") or None, keeps=keeps)
        if file is not None:
            client_metrics.export = file.write
            self._undo.append(file.close)
        return client_metrics

    def _kraft_setup(self, logs: LogManager) -> KraftSetup:
        config = self.config
        return KraftSetup(
            node_id=self.node_id,
            cluster_id=self.cluster_id,
            incarnation_id=new_uuid(),
            broker_endpoints=[Endpoint(a.name, a.host, a.port) for a in self._advertised],
            rack=config.get_str("broker.rack") or None,
            log_dir_ids=[log_dir.directory_id for log_dir in logs.dirs if not log_dir.offline],
            static_voters=_static_voters(config),
            snapshots=SnapshotPolicy(
                config.get_int("metadata.log.max.record.bytes.between.snapshots"),
                config.get_int("metadata.log.max.snapshot.interval.ms"),
                config.get_int("metadata.max.retention.bytes"),
                config.get_int("metadata.max.retention.ms"),
            ),
            min_insync_replicas=config.static_int("min.insync.replicas"),
            wait_for_disk=config.get_bool("kbroker.metadata.fsync"),
            segment_bytes=config.get_int("metadata.log.segment.bytes"),
            segment_ms=config.get_int("metadata.log.segment.ms"),
        )

    def _metadata_log_dir(self, logs: LogManager) -> LogDir:
        for log_dir in logs.dirs:
            if log_dir.path == self._metadata_dir:
                return log_dir
        return LogDir(self._metadata_dir, self._disk, OpenFiles(self._disk))

    def _log_config_at_start(self, topic: str) -> LogConfig:
        """For logs opened before metadata is published: recovery must know which ones are compacted."""
        found = self._found_metadata
        return self._topic_settings(found.config(CONFIG_TOPIC, topic) if found is not None else {}).log

    def _topic_settings(self, overrides: Mapping[str, str]) -> TopicSettings:
        """Worked out once for all topics with the same settings, and shared by their logs."""
        key = frozenset(overrides.items())
        settings = self._settings_known.get(key)
        if settings is None:
            min_isr = topic_value(self.config, overrides, "min.insync.replicas")
            assert isinstance(min_isr, int)
            log = LogConfig(**log_config_values(self.config, overrides))
            if len(self._settings_known) >= _SETTINGS_KEPT:
                self._settings_known.clear()
            settings = self._settings_known[key] = TopicSettings(log, min_isr)
        return settings

    def _apply_settings(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        if self.node_id in new.brokers:
            self._broker_epoch = new.brokers[self.node_id].epoch
        if any(kind == CONFIG_BROKER for kind, _ in delta.configs):
            cluster, own = new.config(CONFIG_BROKER, ""), new.config(CONFIG_BROKER, str(self.node_id))
            for problem in self.config.update_dynamic(cluster, own):
                _log.warning("a dynamic setting is left out: %s", problem)

    # -- the end ---------------------------------------------------------------------------------------

    def _metadata_failed(self, error: BaseException) -> None:
        _log.error("the metadata log failed, stopping: %s", error)
        self._fail()

    def _directory_failed(self, directory: LogDir) -> None:
        """One log directory of several may fail; not that of the metadata."""
        if directory.path == self._metadata_dir:
            _log.error("the directory of the metadata log failed, stopping: %s", directory.failure)
            self._fail()

    def _fail(self) -> None:
        self.failed.set()


def new_uuid() -> Uuid:
    """A random Kafka uuid (version 4)."""
    return uuid4().bytes


def _new_cluster_id() -> Uuid:
    """A random uuid whose text does not begin with a hyphen: command lines would take it for an option."""
    while True:
        value = new_uuid()
        if not uuid_to_string(value).startswith("-"):
            return value


def _static_voters(config: BrokerConfig) -> list[QuorumVoter]:
    """The fixed quorum; its members talk over the first controller listener."""
    listener = next(iter(config.get_list("controller.listener.names")), "CONTROLLER")
    voters = []
    for text in config.get_list("controller.quorum.voters"):
        node, _, address = text.partition("@")
        host, _, port = address.rpartition(":")
        if not (node.isdecimal() and host and port.isdecimal()):
            raise ConfigError("controller.quorum.voters must be a list of id@host:port")
        voters.append(
            QuorumVoter(int(node), endpoints=(QuorumEndpoint(listener, host.strip("[]"), int(port)),))
        )
    return voters


def _close_all(sockets: Sequence[Sequence[socket.socket]]) -> None:
    for group in sockets:
        for sock in group:
            sock.close()


async def _resolved(deferred: Deferred[None]) -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    deferred.then(lambda _: None if future.done() else future.set_result(None))
    await future
    deferred.result()
