"""All parts of transactions on one broker, wired: coordinator, markers, verification of writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.deferred import Deferred
from kbroker.broker.marker_sender import MarkerSender
from kbroker.broker.transaction_driver import TransactionDriver
from kbroker.broker.txn_link import TxnLink
from kbroker.broker.txn_markers import MarkerWriter
from kbroker.broker.txn_partitions import PartitionAdder
from kbroker.broker.txn_verifier import TxnVerifier
from kbroker.protocol.generated.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from kbroker.protocol.generated.write_txn_markers_request import WriteTxnMarkersRequest

if TYPE_CHECKING:
    from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.cache import MetadataCache


class Transactions(NamedTuple):
    """The parts that handlers ask."""

    link: TxnLink
    coordinator: TransactionDriver
    markers: MarkerWriter
    partitions: PartitionAdder
    verifier: TxnVerifier
    sender: MarkerSender

    @property
    def markers_waiting(self) -> int:
        """Partitions whose markers wait for a leader."""
        return self.sender.leaderless

    def close(self) -> None:
        """The broker stops."""
        self.coordinator.close()


def wire_transactions(
    config: BrokerConfig,
    clock: Clock,
    timer: Timer,
    metadata: MetadataCache,
    replicas: ReplicaManager,
    groups: GroupCoordinatorDriver,
    next_producer_id: Callable[[], Deferred[int]],
) -> Transactions:
    """The parts of this broker; `link.remote` has still to be set where there are others."""
    link = TxnLink(replicas.broker_id, timer)
    sender = MarkerSender(link, metadata, timer)
    coordinator = TransactionDriver(config, clock, timer, metadata, replicas, sender, next_producer_id)
    markers = MarkerWriter(replicas, groups, clock)
    partitions = PartitionAdder(coordinator, metadata)
    verifier = TxnVerifier(config, link, metadata, timer)
    link.local = {WriteTxnMarkersRequest: markers.write, AddPartitionsToTxnRequest: partitions.add_all}
    replicas.on_leadership(coordinator.on_leadership)
    return Transactions(link, coordinator, markers, partitions, verifier, sender)
