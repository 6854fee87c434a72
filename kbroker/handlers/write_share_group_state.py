"""WriteShareGroupState (85): the leader of a partition keeps a group's state (KIP-932).

A request to the share coordinator.

v0 first; v1 how many records are done with (KIP-1226).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.shares import shares

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.write_share_group_state_request import WriteShareGroupStateRequest

VERSIONS = (0, 1)


def handle(
    services: Services, context: RequestContext, request: WriteShareGroupStateRequest
) -> Deferred[Any]:
    """Each partition by itself."""
    parts = shares(services)
    parts.settings.check()
    return parts.state.write(request)
