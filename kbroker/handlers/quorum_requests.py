"""What all requests of the metadata quorum have in common: the raft core answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.primitives import Message

#: Since which version a response may name where nodes are; codecs refuse to leave it out.
_ENDPOINTS_SINCE: Final[dict[int, int]] = {
    ApiKey.FETCH: 16,
    ApiKey.VOTE: 1,
    ApiKey.BEGIN_QUORUM_EPOCH: 1,
    ApiKey.END_QUORUM_EPOCH: 1,
    ApiKey.FETCH_SNAPSHOT: 1,
}


def answer(services: Services, context: RequestContext, request: Message) -> Deferred[Any]:
    """The core's answer, now or later.

    Raises:
        ApiError: NOT_CONTROLLER, this node has no part in a quorum.
    """
    if services.quorum is None:
        raise ApiError(ErrorCode.NOT_CONTROLLER)
    answered = services.quorum.answer(request, context.listener_name)
    if context.version < _ENDPOINTS_SINCE.get(context.api_key, 0):
        return answered.map(_without_endpoints)
    return answered


def _without_endpoints(response: Any) -> Any:
    response.node_endpoints = []
    return response
