"""UpdateMetadata: the controller of a cluster in ZooKeeper says which brokers and partitions there are.

Versions: 1 listeners · 2 racks · 3 names of listeners · 4 offline replicas (KIP-112) · 5 broker epoch, by
topics (KIP-380) · 6 flexible · 7 topic ids (KIP-516) · 8 KRaft controllers, type (KIP-866). Until Kafka 3.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.broker.zk_follower import ZkFollower
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.update_metadata_request import UpdateMetadataRequest
    from kbroker.protocol.generated.update_metadata_response import UpdateMetadataResponse

VERSIONS = (0, 8)


def handle(
    services: Services, context: RequestContext, request: UpdateMetadataRequest
) -> Deferred[UpdateMetadataResponse]:
    """Served only where ZooKeeper keeps the cluster."""
    follower: ZkFollower = services.extras["zookeeper"]
    return follower.update_metadata(request)
