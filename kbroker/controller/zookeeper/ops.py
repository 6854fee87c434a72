"""What is written to ZooKeeper: the operations of a multi."""

from __future__ import annotations

from typing import NamedTuple


class Create(NamedTuple):
    """Make a node. `sequence`: ten digits are added to its name; `sensitive`: others may not read it."""

    path: str
    data: bytes
    ephemeral: bool = False
    sequence: bool = False
    sensitive: bool = False


class SetData(NamedTuple):
    """Write a node that has this version; -1: any."""

    path: str
    data: bytes
    version: int


class Delete(NamedTuple):
    """Delete a node that has this version; -1: any."""

    path: str
    version: int


class Check(NamedTuple):
    """The node has this version, or nothing is written; -1: it is there."""

    path: str
    version: int


ZkOp = Create | SetData | Delete | Check
