"""What guards have in common: sorting out items, and answering what the handler did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from kbroker.broker.deferred import Deferred
from kbroker.errors import ErrorCode
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

T = TypeVar("T")

#: What a denied operation on a kind of resource is answered with.
DENIED = {
    ResourceType.TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
#: Kafka's words for groups whose members have topics that the asker may not see.
HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


def allowed_names(
    services: Services,
    context: RequestContext,
    operation: Operation,
    kind: ResourceType,
    names: Iterable[str],
    *,
    quietly: bool = False,
) -> frozenset[str]:
    """Those of `names` that the asker may do this to."""
    assert services.authorizer is not None
    return services.authorizer.allowed(context, operation, kind, names, quietly=quietly)


def split(
    services: Services,
    context: RequestContext,
    operation: Operation,
    kind: ResourceType,
    items: Sequence[T],
    name_of: Callable[[T], str],
) -> tuple[list[T], list[T]]:
    """The items that are allowed, and the others."""
    allowed = allowed_names(services, context, operation, kind, map(name_of, items))
    return (
        [each for each in items if name_of(each) in allowed],
        [each for each in items if name_of(each) not in allowed],
    )


def after(result: Any, change: Callable[[Any], Any]) -> Any:
    """What `change` makes of a handler's answer, now or later."""
    if isinstance(result, Deferred):
        return result.map(change)
    return result if result is None else change(result)


def with_changes(request: Any, **changes: Any) -> Any:
    """The request with other fields. The one that came stays as it is: it may have to be begun anew."""
    changed = copy(request)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def hide_operations(
    services: Services, context: RequestContext, kind: ResourceType, items: Iterable[tuple[Any, str]]
) -> None:
    """Leave in the answer's `authorized_operations` what the asker may do; `items` are entries and names.

    Raises:
        Undecided: nothing was changed.
    """
    authorizer = services.authorizer
    assert authorizer is not None
    found = [(entry, authorizer.operations(context, kind, name)) for entry, name in items]
    for entry, bits in found:
        entry.authorized_operations = bits
