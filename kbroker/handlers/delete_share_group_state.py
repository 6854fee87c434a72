"""DeleteShareGroupState (86): a group coordinator forgets a group's state (KIP-932).

A request to the share coordinator.

v0 only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.shares import shares

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.delete_share_group_state_request import DeleteShareGroupStateRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: DeleteShareGroupStateRequest
) -> Deferred[Any]:
    """Each partition by itself."""
    parts = shares(services)
    parts.settings.check()
    return parts.state.delete(request)
