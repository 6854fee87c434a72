"""UpdateFeatures: new feature levels, all or none (KIP-584).

v0 allowDowngrade; v1 upgrade types and validateOnly (KIP-778); v2 no results for each feature any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.features import FeatureUpdate, update_features
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.update_features_request import UpdateFeaturesRequest

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: UpdateFeaturesRequest
) -> Deferred[UpdateFeaturesResponse]:
    """Answered when the levels are committed."""
    # v0's allowDowngrade does not get through: Kafka takes every update of v0 for an upgrade.
    updates = [
        FeatureUpdate(update.feature, update.max_version_level, update.upgrade_type)
        for update in request.feature_updates
    ]

    def answer(_: None) -> UpdateFeaturesResponse:
        results = []
        if context.version < 2:
            names = dict.fromkeys(update.name for update in updates)
            # "NONE" is what Kafka writes there on success.
            results = [UpdatableFeatureResult(feature=name, error_message="NONE") for name in names]
        return UpdateFeaturesResponse(error_message=None, results=results)

    return services.controller.append_records(
        lambda image: update_features(
            image,
            updates,
            request.validate_only,
            services.broker_id,
            services.config.static_int("min.insync.replicas"),
        ),
        timeout_ms=request.timeout_ms,
    ).map(answer)


def error_response(
    request: UpdateFeaturesRequest, version: int, code: ErrorCode, message: str | None
) -> UpdateFeaturesResponse:
    """Nothing but the error."""
    return UpdateFeaturesResponse(error_code=code, error_message=message)
