"""A look at the data folders before anything is written: whose they are, and whether they can be used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from kbroker.errors import ConfigError
from kbroker.storage.disk import Disk
from kbroker.storage.meta_properties import MetaProperties, check_same_node, read_meta_properties


@dataclass(slots=True)
class Folders:
    """What lies in the folders. `formatted` has those with a meta.properties."""

    paths: tuple[str, ...]
    formatted: dict[str, MetaProperties]

    @property
    def cluster_id(self) -> str | None:
        """The cluster they belong to; None if all are new."""
        return next((meta.cluster_id for meta in self.formatted.values() if meta.cluster_id), None)


def inspect_folders(disk: Disk, paths: Sequence[str], node_id: int, cluster_id: str | None) -> Folders:
    """Read, never write.

    Args:
        paths: absolute.
        cluster_id: the cluster this node has to belong to; None for any.

    Raises:
        ConfigError: a folder cannot be used, or belongs to another node or cluster.
    """
    if len(set(paths)) < len(paths):
        raise ConfigError(f"log.dirs names a folder twice: {', '.join(paths)}")
    formatted: dict[str, MetaProperties] = {}
    for path in paths:
        _check_usable(path)
        try:
            meta = read_meta_properties(disk, path)
        except OSError as error:
            raise ConfigError(f"cannot read {error.filename or path}: {error.strerror}") from None
        if meta is not None:
            if meta.version == 0:
                raise ConfigError(
                    f"{path} belongs to broker {meta.node_id} of a cluster that keeps its metadata in "
                    "ZooKeeper: this release starts only on folders of KRaft nodes (`kbroker-admin logs` "
                    "can read it)"
                )
            formatted[path] = meta
    check_same_node(list(formatted.items()), node_id, cluster_id)
    return Folders(tuple(paths), formatted)


def _check_usable(path: str) -> None:
    """The folder, or the nearest one above it that is there, must be a folder that we may write to."""
    if os.path.exists(path):
        if not os.path.isdir(path):
            raise ConfigError(f"{path} is no folder")
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise ConfigError(f"the folder {path} is not writable")
        return
    parent = os.path.dirname(path)
    while not os.path.exists(parent) and parent != os.path.dirname(parent):
        parent = os.path.dirname(parent)
    if not os.path.isdir(parent):
        raise ConfigError(f"cannot make the folder {path}: {parent} is no folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ConfigError(f"cannot make the folder {path}: {parent} is not writable")
