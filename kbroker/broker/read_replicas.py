"""Which replica a consumer should read from (KIP-392): one in its own rack that has what it asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.metadata.image import ClusterImage

#: The value of `replica.selector.class` that lets followers be read. Kafka's other one, LeaderSelector, does
#: not; other classes would be Java.
RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class ReadReplicas:
    """Chooses for one request, by Kafka's rack-aware rule.

    Args:
        image: who is where.
        rack: the consumer's.
    """

    __slots__ = ("_image", "_rack")

    def __init__(self, image: ClusterImage, rack: str) -> None:
        self._image = image
        self._rack = rack

    def preferred(self, partition: Partition, offset: int) -> int:
        """The in-sync follower to read from at `offset`, -1 for the leader, which is here."""
        state = partition.leader_state
        if state is None or self._rack_of(state.local_id) == self._rack:
            return -1
        best = None
        for replica, progress in state.followers.items():
            if (
                replica in state.isr
                and progress.log_start_offset <= offset <= progress.log_end_offset
                and self._rack_of(replica) == self._rack
            ):
                rank = progress.log_end_offset, progress.last_caught_up_ms, replica
                best = rank if best is None else max(best, rank)
        return -1 if best is None else best[2]

    def _rack_of(self, broker_id: int) -> str | None:
        broker = self._image.brokers.get(broker_id)
        return broker.rack if broker is not None and not broker.fenced else None
