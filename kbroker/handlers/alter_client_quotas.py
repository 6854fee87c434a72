"""AlterClientQuotas: set and remove quotas of users, client ids and addresses (KIP-546).

v0 first; v1 flexible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.client_quotas import QuotaChange, alter_client_quotas
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_client_quotas_response import (
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.errors import ApiError
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import QuotaEntity
    from kbroker.protocol.generated.alter_client_quotas_request import AlterClientQuotasRequest

VERSIONS = (0, 1)


def handle(
    services: Services, context: RequestContext, request: AlterClientQuotasRequest
) -> Deferred[AlterClientQuotasResponse]:
    """Answered when the quotas are committed and hold on this broker."""
    changes = [
        QuotaChange(
            tuple((part.entity_type, part.entity_name) for part in entry.entity),
            [(op.key, None if op.remove else op.value) for op in entry.ops],
        )
        for entry in request.entries
    ]
    decided = services.controller.append_records(
        lambda image: alter_client_quotas(image, changes, validate_only=request.validate_only)
    )
    return decided.map(
        lambda results: AlterClientQuotasResponse(
            entries=[_entry(entity, error) for entity, error in results]
        )
    )


def _entry(entity: QuotaEntity, error: ApiError | None) -> EntryData:
    return EntryData(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else error.message,
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
    )


def error_response(
    request: AlterClientQuotasRequest, version: int, code: ErrorCode, message: str | None
) -> AlterClientQuotasResponse:
    """Every entity refused alike."""
    return AlterClientQuotasResponse(
        entries=[
            EntryData(
                error_code=code,
                error_message=message,
                entity=[
                    EntityData(entity_type=part.entity_type, entity_name=part.entity_name)
                    for part in entry.entity
                ],
            )
            for entry in request.entries
        ]
    )
