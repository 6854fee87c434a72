"""What a producer must be allowed to do: write to the topics, and act for its transactional id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.produce_batch import is_transactional
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbroker.broker.access import Access
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.produce_answer import Item
    from kbroker.protocol.generated.produce_request import ProduceRequest

_ADMIN_CLIENT = "__admin_client"


def refuse(
    services: Services, request: ProduceRequest, items: Sequence[Item], context: RequestContext
) -> None:
    """Fail what the client may not write, and what is not taken for the time being.

    Raises:
        Undecided: nothing has failed.
    """
    if services.authorizer is not None:
        transactional = any(is_transactional(item.records) for item in items)
        refuse_denied(
            services.authorizer, context, request.transactional_id, items, transactional=transactional
        )
    restrictions = services.restrictions
    if restrictions is None or not restrictions.slows_produce:
        return
    refusal = restrictions.refusal(context, request)
    for item in items:
        error = refusal or restrictions.produce_error(item.name, context)
        if error is not None and item.error is None:
            item.fail(error)


def check_internal(context: RequestContext) -> None:
    """For an internal topic. Raises ApiError: only Kafka's own tools write to those."""
    if context.client_id != _ADMIN_CLIENT:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)


def refuse_denied(
    authorizer: Access,
    context: RequestContext,
    transactional_id: str | None,
    items: Sequence[Item],
    *,
    transactional: bool,
) -> None:
    """Fail what may not be written.

    The batches tell whether the request is transactional, not what it says of itself (CVE-2018-17196).

    Args:
        transactional: whether a batch is.

    Raises:
        Undecided: nothing has failed.
    """
    names = [item.name for item in items if item.error is not ErrorCode.UNKNOWN_TOPIC_ID]
    writable = authorizer.allowed(context, Operation.WRITE, ResourceType.TOPIC, names)
    acts = (
        not transactional
        or transactional_id is None  # refused anyway
        or authorizer.allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id)
    )
    for item in items:
        if not acts:
            item.fail(ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        elif item.error is not ErrorCode.UNKNOWN_TOPIC_ID and item.name not in writable:
            # Also where the topic does not exist: the answer must not tell.
            item.fail(ApiError(ErrorCode.TOPIC_AUTHORIZATION_FAILED))
