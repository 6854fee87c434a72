"""How a partition looks to a client on one listener; shared by Metadata and DescribeTopicPartitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ErrorCode
from kbroker.metadata.image import NO_LEADER, ClusterImage, PartitionImage

if TYPE_CHECKING:
    from kbroker.types import Uuid


class Leader(NamedTuple):
    """A leader's id, -1 with the reason if there is none for this client."""

    id: int
    error: ErrorCode


_NOBODY = Leader(NO_LEADER, ErrorCode.LEADER_NOT_AVAILABLE)


class Replicas(NamedTuple):
    """A partition's replicas as an answer lists them; shared by partitions with the same, so read only."""

    nodes: list[int]
    offline: list[int]


class Reachable:
    """Which brokers of an image a client of `listener_name` can reach.

    Args:
        missing: brokers that are gone, though the image does not know it yet: nobody is told that they lead.
    """

    __slots__ = ("_brokers", "_leaders", "_lists", "_replicas")

    def __init__(
        self, image: ClusterImage, listener_name: str, missing: frozenset[int] = frozenset()
    ) -> None:
        self._leaders: dict[int, Leader] = {}
        for broker in image.live_brokers():
            if broker.id in missing:
                self._leaders[broker.id] = _NOBODY
            elif broker.endpoint(listener_name) is not None:
                self._leaders[broker.id] = Leader(broker.id, ErrorCode.NONE)
            else:
                self._leaders[broker.id] = Leader(NO_LEADER, ErrorCode.LISTENER_NOT_FOUND)
        self._brokers = image.brokers
        # Thousands of partitions have few different replica lists.
        self._replicas: dict[tuple[tuple[int, ...], tuple[Uuid, ...]], Replicas] = {}
        self._lists: dict[tuple[int, ...], list[int]] = {}

    def leader(self, partition: PartitionImage) -> Leader:
        """The leader to name, and the error that goes with it."""
        return self._leaders.get(partition.leader, _NOBODY)

    def replicas(self, partition: PartitionImage) -> Replicas:
        """All replicas, and those of them on brokers that are not alive, or on disks that have failed."""
        key = partition.replicas, partition.directories
        found = self._replicas.get(key)
        if found is None:
            offline = [replica for replica in partition.replicas if replica not in self._leaders]
            offline += [
                replica
                for replica, directory in zip(*key)
                if replica in self._leaders and not self._brokers[replica].has_online(directory)
            ]
            found = self._replicas[key] = Replicas(list(partition.replicas), offline)
        return found

    def nodes(self, ids: tuple[int, ...]) -> list[int]:
        """`ids` as a list, the same for equal ones."""
        found = self._lists.get(ids)
        if found is None:
            found = self._lists[ids] = list(ids)
        return found
