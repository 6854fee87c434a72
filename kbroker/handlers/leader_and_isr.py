"""LeaderAndIsr: the controller of a cluster in ZooKeeper says what this broker leads and follows.

Versions: 1 is_new · 2 broker epoch, by topics (KIP-380) · 3 replicas that come and go (KIP-455) · 4 flexible
· 5 topic ids, type (KIP-516) · 6 leader recovery state (KIP-704) · 7 KRaft controllers (KIP-866). Until
Kafka 3.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.broker.zk_follower import ZkFollower
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.leader_and_isr_request import LeaderAndIsrRequest
    from kbroker.protocol.generated.leader_and_isr_response import LeaderAndIsrResponse

VERSIONS = (0, 7)


def handle(
    services: Services, context: RequestContext, request: LeaderAndIsrRequest
) -> Deferred[LeaderAndIsrResponse]:
    """Served only where ZooKeeper keeps the cluster."""
    follower: ZkFollower = services.extras["zookeeper"]
    return follower.leader_and_isr(request, context.version)
