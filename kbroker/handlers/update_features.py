"""UpdateFeatures: new feature levels, all or none (KIP-584).

v0 allowDowngrade; v1 upgrade types and validateOnly (KIP-778); v2 no results for each feature any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.decision import Decision
from kbroker.controller.features import (
    FAILED_FOR_ALL,
    FeatureUpdate,
    update_features,
    wanted_kraft_version,
)
from kbroker.controller.metadata_versions import supported_features
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)
from kbroker.protocol.releases import is_before

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.update_features_request import UpdateFeaturesRequest
    from kbroker.protocol.primitives import Message

VERSIONS = (0, 2)


def handle(
    services: Services, context: RequestContext, request: UpdateFeaturesRequest
) -> Deferred[UpdateFeaturesResponse]:
    """Answered when the levels are committed. Before 4.0 each feature was updated, or refused, by itself."""
    # v0's allowDowngrade does not get through: Kafka takes every update of v0 for an upgrade.
    updates = [
        FeatureUpdate(update.feature, update.max_version_level, update.upgrade_type)
        for update in request.feature_updates
    ]

    def answer(_: None) -> UpdateFeaturesResponse:
        results = []
        if context.version < 2:
            # "NONE" is what Kafka writes there on success, once for each update.
            results = [
                UpdatableFeatureResult(feature=update.name, error_message="NONE") for update in updates
            ]
        return UpdateFeaturesResponse(error_message=None, results=results)

    if is_before(services.compatibility, (4, 0)):
        return _each_by_itself(services, request, updates)
    controller, quorum = services.controller, services.quorum
    voters = [] if quorum is None else quorum.static_voters

    def decide(image: ClusterImage) -> Decision[None]:
        minimum = services.config.static_int("min.insync.replicas")
        only_check = request.validate_only
        known = supported_features(services.compatibility)
        return update_features(image, updates, only_check, services.broker_id, minimum, voters, known)

    level = wanted_kraft_version(controller.speculative_image, updates)
    if level is None or quorum is None or not controller.active:
        return controller.append_records(decide, timeout_ms=request.timeout_ms).map(answer)
    # The quorum goes first, and nothing takes that back: all others must be possible.
    decide(controller.speculative_image)
    updated: Deferred[None] = Deferred()

    def upgraded(done: Deferred[None]) -> None:
        try:
            done.result()
        except ApiError as error:
            updated.fail(error)
        else:
            controller.append_records(decide, timeout_ms=request.timeout_ms).then(updated.follow)

    quorum.upgrade(level, request.validate_only).then(upgraded)
    return updated.map(answer)


def _each_by_itself(
    services: Services, request: UpdateFeaturesRequest, updates: list[FeatureUpdate]
) -> Deferred[UpdateFeaturesResponse]:
    minimum = services.config.static_int("min.insync.replicas")
    known = supported_features(services.compatibility)
    me = services.broker_id

    def decide(image: ClusterImage) -> Decision[list[UpdatableFeatureResult]]:
        results: list[UpdatableFeatureResult] = []
        records: list[Message] = []
        for update in {each.name: each for each in updates}.values():
            result = UpdatableFeatureResult(feature=update.name, error_message=None)
            try:
                decided = update_features(image, [update], request.validate_only, me, minimum, (), known)
                records += decided.records
            except ApiError as error:
                result.error_code = error.code
                result.error_message = error.text.removeprefix(FAILED_FOR_ALL)
            results.append(result)
        return Decision(results, records)

    decided = services.controller.append_records(decide, timeout_ms=request.timeout_ms)
    return decided.map(lambda results: UpdateFeaturesResponse(error_message="", results=results))


def error_response(
    request: UpdateFeaturesRequest, version: int, code: ErrorCode, message: str | None
) -> UpdateFeaturesResponse:
    """Nothing but the error."""
    return UpdateFeaturesResponse(error_code=code, error_message=message)
