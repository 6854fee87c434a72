"""DescribeClientQuotas: the quotas that are set, by a filter (KIP-546).

v0 first; v1 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.describe_client_quotas_response import (
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import QuotaEntity
    from kbroker.protocol.generated.describe_client_quotas_request import (
        ComponentData,
        DescribeClientQuotasRequest,
    )

VERSIONS = (0, 1)

_EXACT, _DEFAULT, _ANY = 0, 1, 2
_USER, _CLIENT_ID, _IP = "user", "client-id", "ip"


def handle(
    services: Services, context: RequestContext, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    """What this broker knows."""
    exact, any_name = _filter(request.components)
    wanted = len(exact) + len(any_name)
    if request.strict and not wanted:
        return DescribeClientQuotasResponse(error_message="", entries=[])
    entries = []
    for entity, values in services.metadata.image.quotas.items():
        if (not request.strict or len(entity) == wanted) and _matches(entity, exact, any_name):
            entries.append(
                EntryData(
                    entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
                    values=[ValueData(key=key, value=value) for key, value in values.items()],
                )
            )
    return DescribeClientQuotasResponse(error_message="", entries=entries)


def _matches(entity: QuotaEntity, exact: dict[str, str | None], any_name: set[str]) -> bool:
    parts = dict(entity)
    return all(kind in parts and parts[kind] == name for kind, name in exact.items()) and all(
        kind in parts for kind in any_name
    )


def _filter(components: list[ComponentData]) -> tuple[dict[str, str | None], set[str]]:
    """What has to be there: types with their names (None: the default), and types with any name.

    Raises:
        ApiError: INVALID_REQUEST, or UNSUPPORTED_VERSION for a type that nobody knows.
    """
    exact: dict[str, str | None] = {}
    any_name: set[str] = set()
    for component in components:
        kind = component.entity_type
        if not kind:
            raise _invalid("Invalid empty entity type.")
        if kind in exact or kind in any_name:
            raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in (_USER, _CLIENT_ID, _IP):
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        _check_match(component)
        if component.match_type == _ANY:
            any_name.add(kind)
        else:
            exact[kind] = component.match
    if _IP in (exact.keys() | any_name) and len(exact) + len(any_name) > 1:
        raise _invalid(
            "Invalid entity filter component combination. IP filter component should not be used with "
            "user or clientId filter component."
        )
    return exact, any_name


def _check_match(component: ComponentData) -> None:
    if component.match_type == _EXACT:
        if component.match is None:
            raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
    elif component.match_type == _DEFAULT:
        if component.match is not None:
            raise _invalid("Request specified MATCH_TYPE_DEFAULT, but also specified a match string.")
    elif component.match_type == _ANY:
        if component.match is not None:
            raise _invalid("Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.")
    else:
        raise _invalid(f"Unknown match type {component.match_type}")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def error_response(
    request: DescribeClientQuotasRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeClientQuotasResponse:
    """Nothing but the error."""
    return DescribeClientQuotasResponse(error_code=code, error_message=message, entries=None)
