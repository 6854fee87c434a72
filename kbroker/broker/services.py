"""What every handler gets: the parts of this node, by name.

Handlers are functions of `(services, context, request)`; this is the only place that knows all parts. It
holds references only, decides nothing, and `main.py` fills it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kbroker.broker.absent_brokers import Absent
from kbroker.broker.client_metrics import ClientMetrics
from kbroker.broker.client_quotas import Mutations
from kbroker.broker.clients import ClientRegistry
from kbroker.errors import ApiError, ErrorCode
from kbroker.metrics.registry import Registry
from kbroker.metrics.requests import RequestBook
from kbroker.metrics.traffic import ListenerStats
from kbroker.plain import made, plain
from kbroker.storage.looks import run_here

if TYPE_CHECKING:
    from kbroker.broker.absent_brokers import AbsentBrokers
    from kbroker.broker.access import Access, Asking
    from kbroker.broker.blocking import RunBlocking
    from kbroker.broker.client_quotas import Asker, QuotaKeeper
    from kbroker.broker.controller_channel import ControllerChannel
    from kbroker.broker.controller_chores import ControllerChores
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.fetch_session import FetchSessionCache
    from kbroker.broker.forwarding import Forwarder
    from kbroker.broker.log_mover import LogMover
    from kbroker.broker.partition import Partition
    from kbroker.broker.peer import Peers
    from kbroker.broker.raft_peers import QuorumService
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.replication import Replication
    from kbroker.broker.request_log import RequestLog
    from kbroker.broker.restrictions import Asking as RequestHeader, Restrictions
    from kbroker.broker.timer import Timer
    from kbroker.broker.transactions import Transactions
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.image import ClusterImage
    from kbroker.storage.looks import RunLook

NONE_ABSENT = Absent()


def _always() -> bool:
    return True


@plain(kw_only=True)
class Services:
    """The parts of one node. All of them are touched on the event loop's thread only."""

    broker_id: int
    cluster_id: str
    config: BrokerConfig
    clock: Clock
    timer: Timer
    #: Kafka uuids: 16 random bytes a call (seeded in the simulator).
    new_uuid: Callable[[], bytes]
    metadata: MetadataCache
    replicas: ReplicaManager
    controller: ControllerDriver
    groups: GroupCoordinatorDriver
    fetch_sessions: FetchSessionCache
    #: None where there are none (tests); handlers ask `txns`.
    transactions: Transactions | None = None
    #: `fetch.max.bytes`, kept here as Fetch needs it each time.
    fetch_bytes_max: int = 57_671_680
    #: Whether consumers are sent to a replica in their rack (KIP-392, `replica.selector.class`).
    chooses_read_replica: bool = False
    #: `kbroker.compatibility`: the release of Kafka to be, or `all`.
    compatibility: str = "all"
    #: Runs what costs much time in a thread, then tells the loop; None: there are no threads (tests).
    run_blocking: RunBlocking | None = None
    #: Looks into a batch, in that thread or wherever that can wait for it.
    run_look: RunLook = run_here
    #: Moves logs between directories; None until the node has started.
    log_mover: LogMover | None = None
    #: Copies partitions from other brokers, asks for changes of in-sync sets; None: alone (tests).
    replication: Replication | None = None
    #: Who is connected.
    clients: ClientRegistry = made(default_factory=ClientRegistry)
    #: What clients tell of themselves (KIP-714).
    client_metrics: ClientMetrics = made(default_factory=ClientMetrics)
    #: To the other nodes, to the active controller, and what passes clients' requests on to it; None: there
    #: are no others (tests).
    peers: Peers | None = None
    to_controller: ControllerChannel | None = None
    forward: Forwarder | None = None
    #: This node's part in the metadata quorum, as others see it.
    quorum: QuorumService | None = None
    #: False while others may do what this broker believes to be its own, see `BrokerLifecycle.is_heard`.
    is_heard: Callable[[], bool] = _always
    #: The first committed image that passes a test; None: there is only what is published (tests).
    when_applied: Callable[[Callable[[ClusterImage], bool]], Deferred[ClusterImage]] | None = None
    #: What the active controller does besides answering; handlers ask `active_chores`.
    chores: ControllerChores | None = None
    #: Brokers that have just died; None: there are no others (tests).
    absent_brokers: AbsentBrokers | None = None
    #: Answers the frame of a request that came inside another one, as from the client that is given.
    answer_frame: Callable[[bytes, Any], Deferred[bytes]] | None = None
    #: What this node counts, and what becomes of requests.
    metrics: Registry = made(default_factory=Registry)
    requests: RequestBook = made(default_factory=lambda: RequestBook(perf_counter))
    #: Connections, by listener.
    traffic: dict[str, ListenerStats] = made(default_factory=dict)
    #: What this broker does not do for the time being; None: there is nobody to say so (tests).
    restrictions: Restrictions | None = None
    #: Why a request is not answered as usual, while there may be such a reason: (header, request) -> error.
    refusal: Callable[[RequestHeader, Any], ApiError | None] | None = None
    #: How much clients may do; None: as much as they like (tests, controllers).
    quotas: QuotaKeeper | None = None
    #: Who may do what; None: everybody everything, and nobody asks.
    authorizer: Access | None = None
    #: Writes some requests to the log; None: none.
    request_log: RequestLog | None = None
    #: Parts that later issues add and that only few handlers ask for, by name.
    extras: dict[str, Any] = made(default_factory=dict)
    #: What parts that were made on first use have to do when the broker stops.
    at_stop: list[Callable[[], object]] = made(default_factory=list)

    def stop_parts(self) -> None:
        """The broker stops: the newest part first."""
        while self.at_stop:
            self.at_stop.pop()()

    def allows(self, context: Asking, operation: int, resource_type: int, name: str) -> bool:
        """Whether the asker may do that to a resource (numbers as in `security/acl.py`).

        Raises:
            Undecided: somebody outside has to be asked first; whoever calls handlers begins anew then.
        """
        authorizer = self.authorizer
        return authorizer is None or authorizer.allows(context, operation, resource_type, name)

    def mutations(self, context: Asker, *, strict: bool) -> Mutations:
        """What a request takes of its client's quota of changes of topics and partitions."""
        if self.quotas is None:
            return Mutations(None, self.clock.monotonic_ms, strict=strict)
        return self.quotas.mutations(context, strict=strict)

    @property
    def txns(self) -> Transactions:
        """All about transactions; ApiError(COORDINATOR_NOT_AVAILABLE) where there are none."""
        if self.transactions is None:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return self.transactions

    @property
    def absent(self) -> Absent:
        """Which brokers are not what the metadata says of them."""
        return NONE_ABSENT if self.absent_brokers is None else self.absent_brokers.now

    @property
    def active_chores(self) -> ControllerChores:
        """The sessions and rules of the active controller; ApiError(NOT_CONTROLLER) where it is elsewhere."""
        if self.chores is None or not self.controller.active:
            raise ApiError(ErrorCode.NOT_CONTROLLER)
        return self.chores

    @property
    def controller_for_clients(self) -> int:
        """The broker to which clients send what the controller decides: the active controller if it is a
        broker, else this one, which passes it on; -1 if there is no broker at all.
        """
        image = self.metadata.image
        for node_id in (image.controller_id, self.broker_id):
            broker = image.brokers.get(node_id)
            if broker is not None and not broker.fenced:
                return node_id
        return next((broker.id for broker in image.live_brokers()), -1)

    def topic_name_of(self, topic_id: bytes) -> str | None:
        """The name of a topic id; None if nobody knows it."""
        topic = self.metadata.image.topics.by_id(topic_id)
        return None if topic is None else topic.name

    def led_partition(self, topic: str, index: int) -> Partition:
        """A partition that exists and that this broker leads.

        Raises:
            ApiError: UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER or KAFKA_STORAGE_ERROR.
        """
        if self.metadata.image.topics.partition(topic, index) is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return self.replicas.led(topic, index)
