"""What all requests of the metadata quorum have in common: the raft core answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.primitives import Message


def answer(services: Services, context: RequestContext, request: Message) -> Deferred[Any]:
    """The core's answer, now or later.

    Raises:
        ApiError: NOT_CONTROLLER, this node has no part in a quorum.
    """
    if services.quorum is None:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    return services.quorum.answer(request, context.listener_name)
