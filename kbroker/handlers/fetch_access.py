"""Whether a fetcher may read: consumers each topic, replicas only as part of the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.security.acl import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.access import Access
    from kbroker.handlers.context import RequestContext


class ReadAccess:
    """Asked for each partition, also when a Fetch that has waited is answered.

    Who calls himself a replica must be allowed what brokers do to each other: his offsets would count as
    copies (CVE-2018-1288).
    """

    __slots__ = ("_authorizer", "_context", "_replica_id")

    def __init__(self, authorizer: Access, context: RequestContext, replica_id: int) -> None:
        self._authorizer = authorizer
        self._context = context
        self._replica_id = replica_id

    def __call__(self, topic: str) -> bool:
        """Whether `topic` may be read. Raises Undecided."""
        if self._replica_id >= 0:
            return self._authorizer.allows(
                self._context, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
            )
        return self._authorizer.allows(self._context, Operation.READ, ResourceType.TOPIC, topic)
