"""StopReplica: the controller of a cluster in ZooKeeper takes replicas out of use, or away.

Versions: 1 broker epoch, by topics (KIP-380) · 2 flexible · 3 leader epochs, delete each (KIP-570) · 4 KRaft
controllers (KIP-866). Until Kafka 3.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.broker.zk_follower import ZkFollower
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.stop_replica_request import StopReplicaRequest
    from kbroker.protocol.generated.stop_replica_response import StopReplicaResponse

VERSIONS = (0, 4)


def handle(
    services: Services, context: RequestContext, request: StopReplicaRequest
) -> Deferred[StopReplicaResponse]:
    """Served only where ZooKeeper keeps the cluster."""
    follower: ZkFollower = services.extras["zookeeper"]
    return follower.stop_replica(request)
