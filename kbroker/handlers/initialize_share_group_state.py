"""InitializeShareGroupState (83): a group coordinator lets a group begin in a partition (KIP-932).

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
    from kbroker.protocol.generated.initialize_share_group_state_request import (
        InitializeShareGroupStateRequest,
    )

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: InitializeShareGroupStateRequest
) -> Deferred[Any]:
    """Each partition by itself."""
    parts = shares(services)
    parts.settings.check()
    return parts.state.initialize(request)
