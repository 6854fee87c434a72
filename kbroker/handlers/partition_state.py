"""How a partition looks to a client on one listener; shared by Metadata and DescribeTopicPartitions."""

from __future__ import annotations

from typing import NamedTuple

from kbroker.errors import ErrorCode
from kbroker.metadata.image import NO_LEADER, ClusterImage, PartitionImage


class Reachable:
    """Which brokers of an image a client of `listener_name` can reach."""

    __slots__ = ("_live",)

    def __init__(self, image: ClusterImage, listener_name: str) -> None:
        self._live = {
            broker.id: broker.endpoint(listener_name) is not None for broker in image.live_brokers()
        }

    def leader(self, partition: PartitionImage) -> Leader:
        """The leader to name, and the error that goes with it (KIP-392 leaves the replicas as they are)."""
        if partition.leader == NO_LEADER or partition.leader not in self._live:
            return Leader(NO_LEADER, ErrorCode.LEADER_NOT_AVAILABLE)
        if not self._live[partition.leader]:
            return Leader(NO_LEADER, ErrorCode.LISTENER_NOT_FOUND)
        return Leader(partition.leader, ErrorCode.NONE)

    def offline(self, partition: PartitionImage) -> list[int]:
        """Replicas on brokers that are not alive."""
        return [replica for replica in partition.replicas if replica not in self._live]


class Leader(NamedTuple):
    """A leader's id, -1 with the reason if there is none for this client."""

    id: int
    error: ErrorCode
