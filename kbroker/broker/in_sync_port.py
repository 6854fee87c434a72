"""What a partition needs of the cluster, to know and to change who is in sync."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from kbroker.replication.isr import NOBODY_JOINS_OR_LEAVES, Proposal

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.types import Uuid


class InSyncPort(Protocol):
    """What a partition that is led here needs of the cluster, to know and to change who is in sync."""

    #: A follower that has not been at our end for longer leaves the in-sync set.
    lag_time_max_ms: float

    def may_join(self, replica: int, broker_epoch: int) -> bool:
        """Whether the metadata lets that broker, in that registration, into an in-sync set."""
        ...

    def has_disk(self, topic_id: Uuid, index: int, replica: int) -> bool:
        """Whether the log directory that the replica lies in is online, as far as the metadata knows."""
        ...

    def is_outdated(self, replica: int, broker_epoch: int) -> bool:
        """Whether that broker has a later registration than the one it fetches under (KIP-903)."""
        ...

    def alive(self) -> Collection[int]:
        """The brokers that are not fenced."""
        ...

    def may_lead(self) -> bool:
        """Whether the metadata has the registration of this very process.

        Before that it may say that we lead, but means the process before: what that one had not synced may be
        lost, and to go on in its epoch would give offsets away twice.
        """
        ...

    def propose(self, partition: Partition, proposal: Proposal) -> None:
        """Ask the controller; `Partition.isr_accepted` or `isr_refused` tells what came of it."""
        ...


class _Alone:
    """For a broker that knows no others: nobody joins or leaves."""

    lag_time_max_ms: float = 30_000

    def may_join(self, replica: int, broker_epoch: int) -> bool:
        return False

    def has_disk(self, topic_id: Uuid, index: int, replica: int) -> bool:
        return True

    def is_outdated(self, replica: int, broker_epoch: int) -> bool:
        return False

    def alive(self) -> Collection[int]:
        return ()

    def may_lead(self) -> bool:
        return True

    def propose(self, partition: Partition, proposal: Proposal) -> None:
        assert proposal.joins == NOBODY_JOINS_OR_LEAVES, "nobody may join or leave"


ALONE: InSyncPort = _Alone()
