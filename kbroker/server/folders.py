"""A look at the data folders before anything is written: whose they are, and whether they can be used."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kbroker.broker.metadata_files import METADATA_DIRECTORY
from kbroker.errors import ConfigError
from kbroker.plain import made, plain
from kbroker.storage.disk import Disk
from kbroker.storage.file_names import META_PROPERTIES
from kbroker.storage.meta_properties import MetaProperties, check_same_node, read_meta_properties


@plain()
class Folders:
    """What lies in the folders. `formatted` has those with a meta.properties, `unusable` why others are not
    for use.
    """

    paths: tuple[str, ...]
    formatted: dict[str, MetaProperties]
    unusable: dict[str, str] = made(default_factory=dict)

    @property
    def cluster_id(self) -> str | None:
        """The cluster they belong to; None if all are new."""
        return next((meta.cluster_id for meta in self.formatted.values() if meta.cluster_id), None)


def inspect_folders(
    disk: Disk,
    paths: Sequence[str],
    node_id: int,
    cluster_id: str | None,
    needed: str | None = None,
    *,
    zookeeper: bool = False,
    migrates: bool = False,
    is_controller: bool = False,
) -> Folders:
    """Read, never write.

    Args:
        paths: absolute.
        cluster_id: the cluster this node has to belong to; None for any.
        needed: the folder without which there is no node, that of the metadata; None: it needs all.
        zookeeper: whether the node's cluster is kept in ZooKeeper.
        migrates: whether it is, but on its way to KRaft (or back).
        is_controller: whether the node may be one of a quorum's controllers.

    Raises:
        ConfigError: the needed folder cannot be used, or one belongs to another node or cluster, or to a
            cluster that nobody knows the id of.
    """
    if len(set(paths)) < len(paths):
        raise ConfigError(f"log.dirs names a folder twice: {', '.join(paths)}")
    formatted: dict[str, MetaProperties] = {}
    unusable: dict[str, str] = {}
    for path in paths:
        try:
            _check_usable(path)
            meta = _read(disk, path)
        except _Unusable as error:
            if needed in (None, path):
                raise ConfigError(str(error)) from None
            unusable[path] = str(error)
            continue
        if meta is not None:
            if meta.version == 0 and not zookeeper and (is_controller or meta.cluster_id is None):
                raise ConfigError(
                    f"{path} belongs to broker {meta.node_id} of a cluster that keeps its metadata in "
                    "ZooKeeper: set zookeeper.connect (`kbroker-admin logs` can read it, too); or, once the "
                    "cluster has moved to KRaft, process.roles=broker and where its controllers are"
                )
            if meta.version == 1 and zookeeper and not migrates:
                raise ConfigError(
                    f"Found unexpected version in {path}/{META_PROPERTIES}. ZK-based brokers that are not "
                    "migrating only support version 0 (which is implicit when the `version` field is "
                    "missing)."
                )
            formatted[path] = meta
    check_same_node(list(formatted.items()), node_id, cluster_id, zookeeper=zookeeper)
    if unusable and needed not in formatted:
        # A new node has no reason to begin with less than it was told.
        raise ConfigError(next(iter(unusable.values())))
    for path in paths:
        if path not in formatted and path not in unusable:
            _check_holds_no_nodes(disk, path)
    if not formatted and cluster_id is None:
        for path in paths:
            _check_new(disk, path)
    return Folders(tuple(paths), formatted, unusable)


def stored_node_id(disk: Disk, paths: Sequence[str]) -> int:
    """The id of the node that the first formatted folder belongs to; -1: none is formatted, or can be read.

    Raises:
        ConfigError: a meta.properties cannot be understood.
    """
    for path in paths:
        try:
            meta = _read(disk, path)
        except _Unusable:
            continue
        if meta is not None and meta.node_id is not None:
            return meta.node_id
    return -1


class _Unusable(Exception):
    """A folder cannot be read or written."""


def _read(disk: Disk, path: str) -> MetaProperties | None:
    try:
        return read_meta_properties(disk, path)
    except OSError as error:
        raise _Unusable(f"cannot read {error.filename or path}: {error.strerror}") from None


def _check_new(disk: Disk, path: str) -> None:
    """A cluster's metadata without its meta.properties must not become another cluster's.

    A first snapshot alone is what a format leaves behind that was cut short.
    """
    metadata = f"{path}/{METADATA_DIRECTORY}"
    if not disk.exists(metadata):
        return
    for entry in disk.list_dir(metadata):
        if entry.name.endswith(".log") and entry.size > 0:
            raise ConfigError(
                f"{path} has the metadata of a cluster, but no meta.properties: bring that file back, or "
                "give the cluster's id with --set kbroker.cluster.id=ID, or empty the folder to begin anew"
            )


def _check_holds_no_nodes(disk: Disk, path: str) -> None:
    """The folder of `kbroker start --cluster N` is no node's: it has one of each node in it."""
    if disk.exists(f"{path}/node-1/{META_PROPERTIES}"):
        raise ConfigError(
            f"{path} has the data of a cluster of nodes: go on with it by `kbroker start --cluster N`, or "
            "give another folder"
        )


def _check_usable(path: str) -> None:
    """The folder, or the nearest one above it that is there, must be a folder that we may write to."""
    if os.path.exists(path):
        if not os.path.isdir(path):
            raise _Unusable(f"{path} is no folder")
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise _Unusable(f"the folder {path} is not writable")
        return
    parent = os.path.dirname(path)
    while not os.path.exists(parent) and parent != os.path.dirname(parent):
        parent = os.path.dirname(parent)
    if not os.path.isdir(parent):
        raise _Unusable(f"cannot make the folder {path}: {parent} is no folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise _Unusable(f"cannot make the folder {path}: {parent} is not writable")
