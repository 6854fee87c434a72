"""A node's data folders at its start: looked at, locked, formatted if they are new, opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kbroker.broker.metadata_files import METADATA_DIRECTORY
from kbroker.broker.storage_format import StorageFormat, format_storage, format_without_quorum
from kbroker.config.quorum import migrates
from kbroker.errors import ConfigError
from kbroker.plain import replace
from kbroker.server.folders import Folders, inspect_folders
from kbroker.server.os_disk import OsDisk
from kbroker.server.process_limits import open_log_files
from kbroker.storage.file_names import LOCK, META_PROPERTIES
from kbroker.storage.log_dir import LogDir
from kbroker.storage.log_manager import LogManager
from kbroker.storage.meta_properties import read_meta_properties, write_meta_properties
from kbroker.storage.open_files import OpenFiles
from kbroker.types import ZERO_UUID, Uuid, uuid_to_string

if TYPE_CHECKING:
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.storage.disk import Disk
    from kbroker.storage.log_config import LogConfig

#: Of 64 digits that a uuid's text may begin with.
_HYPHEN = 62


class NodeFolders:
    """The folders that the settings name.

    Args:
        config: of the node.
        disk, clock: the machine's.
        undo: where to put what `stop` has to do, in this order.
        zookeeper: the id of the cluster that is kept in ZooKeeper; None: it is a KRaft node.
        is_controller: whether this node may be a controller of a quorum.
        is_one_of_many: other nodes make the quorum, too: none may think of a cluster id by itself.

    Raises:
        ConfigError: a folder is not for this node, or cannot be used; nothing has been written.
    """

    def __init__(
        self,
        config: BrokerConfig,
        disk: Disk,
        clock: Clock,
        undo: list[Callable[[], Any]],
        zookeeper: str | None = None,
        *,
        is_controller: bool = False,
        is_one_of_many: bool = False,
    ) -> None:
        self._config = config
        self._disk = disk
        self._clock = clock
        self._undo = undo
        self.log_dirs = log_directories(config)
        self._zookeeper = zookeeper is not None
        #: Of a cluster that moves from ZooKeeper to KRaft: its folders are used by either kind of node.
        self._migrates = self._zookeeper and migrates(config)
        without = self._zookeeper and not self._migrates
        path = "" if without else config.get_str("metadata.log.dir")
        self.metadata_dir = os.path.abspath(path) if path else self.log_dirs[0]
        self._wanted_cluster = zookeeper or config.get_str("kbroker.cluster.id") or None
        self._found: Folders = inspect_folders(
            disk,
            self.directories,
            config.node_id,
            self._wanted_cluster,
            needed=self.metadata_dir,
            zookeeper=self._zookeeper,
            migrates=self._migrates,
            is_controller=is_controller,
        )
        self.cluster_id = self._found.cluster_id or self._wanted_cluster
        if self.cluster_id is None and is_controller and migrates(config):
            raise ConfigError(
                f"{self.metadata_dir} is not formatted, and the cluster that is to move has an id already: "
                "give it that one, of ZooKeeper's /cluster/id or a broker's meta.properties, with `kbroker "
                "storage format --cluster-id ID --release-version 3.9` or the setting kbroker.cluster.id"
            )
        if self.cluster_id is None and is_one_of_many:
            raise ConfigError(
                f"{self.metadata_dir} is not formatted, and the quorum has other nodes: give all the same "
                "id, with `kbroker storage format --cluster-id ID` or the setting kbroker.cluster.id"
            )

    @property
    def directories(self) -> list[str]:
        """Every folder of this node: those of the logs, and that of the metadata if it lies elsewhere."""
        own = [] if self.metadata_dir in self.log_dirs else [self.metadata_dir]
        return [*self.log_dirs, *own]

    def open(
        self, log_config: Callable[[str], LogConfig], format_plan: Callable[[StorageFormat], StorageFormat]
    ) -> LogManager:
        """Lock the folders and format new ones; the logs are still to be loaded.

        Args:
            log_config: of a topic's logs.
            format_plan: adds to the plan of new folders what they do not know.

        Raises:
            ConfigError: a folder is in use, or cannot be formatted.
        """
        logs = LogManager(self._disk, self.log_dirs, log_config, open_files=open_log_files())
        for log_dir in logs.dirs:
            if log_dir.path in self._found.unusable:
                log_dir.fail_for_good(OSError(self._found.unusable[log_dir.path]))
        logs.lock()
        self._undo.append(logs.unlock)
        if self.metadata_dir not in self.log_dirs:
            self._lock_metadata_dir()
        self.cluster_id = self.cluster_id or uuid_to_string(new_uuid())
        if len(self._found.formatted) + len(self._found.unusable) < len(self._found.paths):
            self._format(format_plan)
        if self._migrates or not self._zookeeper:
            self._name_directories()
        logs.identify()
        return logs

    def drop_metadata_log(self) -> None:
        """Forget what a quorum said: a broker in ZooKeeper's mode learns it anew in each life.

        Raises:
            ConfigError: the disk does not allow it.
        """
        path = f"{self.metadata_dir}/{METADATA_DIRECTORY}"
        try:
            if self._disk.exists(path):
                self._disk.remove_tree(path)
                self._disk.sync_dir(self.metadata_dir)
        except OSError as error:
            raise ConfigError(f"cannot remove {path}: {error.strerror}") from None

    def metadata_log_dir(self, logs: LogManager) -> LogDir:
        """The folder of the metadata log, as one of the log directories if it is one."""
        for log_dir in logs.dirs:
            if log_dir.path == self.metadata_dir:
                return log_dir
        return LogDir(self.metadata_dir, self._disk, OpenFiles(self._disk))

    def metadata_directory_id(self) -> Uuid:
        """The directory.id of the folder of the metadata, once it is formatted; zero if it has none."""
        meta = read_meta_properties(self._disk, self.metadata_dir)
        return ZERO_UUID if meta is None or meta.directory_id is None else meta.directory_id

    def _name_directories(self) -> None:
        """Folders that were formatted for ZooKeeper have no directory.id; what else they say stays, so that
        a broker without a migration can use them again."""
        for path, meta in self._found.formatted.items():
            if meta.directory_id is None and meta.version == 0:
                named = replace(
                    meta,
                    directory_id=new_uuid(),
                    node_id=self._config.node_id,
                    cluster_id=self.cluster_id,
                )
                try:
                    write_meta_properties(self._disk, path, named)
                except OSError as error:
                    raise ConfigError(f"cannot write {path}/{META_PROPERTIES}: {error.strerror}") from None

    def _lock_metadata_dir(self) -> None:
        path = self.metadata_dir
        try:
            self._disk.make_dir(path)
            lock = self._disk.lock(f"{path}/{LOCK}")
        except OSError as error:
            raise ConfigError(f"the metadata folder {path} cannot be used: {error.strerror}") from None
        if lock is None:
            raise ConfigError(f"the metadata folder {path} is in use by another broker")
        self._undo.append(lock.release)

    def _format(self, format_plan: Callable[[StorageFormat], StorageFormat]) -> None:
        assert self.cluster_id is not None
        plan = StorageFormat(
            log_dirs=[path for path in self.log_dirs if path not in self._found.unusable],
            metadata_dir=self.metadata_dir,
            cluster_id=self.cluster_id,
            node_id=self._config.node_id,
            directory_ids=[new_uuid() for _ in self.directories],
        )
        try:
            if self._zookeeper:
                format_without_quorum(self._disk, plan, named=self._migrates)
            else:
                format_storage(self._disk, format_plan(plan), self._clock.now_ms())
        except OSError as error:
            raise ConfigError(
                f"cannot format {error.filename or self.log_dirs[0]}: {error.strerror}"
            ) from None


def known_cluster_id(folders: Iterable[str]) -> str | None:
    """The id of the cluster that the first formatted one of these folders belongs to; None if none is."""
    disk = OsDisk()
    for folder in folders:
        meta = read_meta_properties(disk, folder) if os.path.isdir(folder) else None
        if meta is not None and meta.cluster_id:
            return meta.cluster_id
    return None


def log_directories(config: BrokerConfig) -> tuple[str, ...]:
    """log.dirs, absolute."""
    return tuple(os.path.abspath(path) for path in config.log_dirs)


def new_uuid() -> Uuid:
    """A random uuid (version 4) whose text, as that of all of Kafka's, does not begin with a hyphen: command
    lines would take it for an option.
    """
    while True:
        value = uuid4().bytes
        if value[0] >> 2 != _HYPHEN:
            return value
