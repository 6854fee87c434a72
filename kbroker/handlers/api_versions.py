"""ApiVersions (18): what this broker serves.

Versions: 1 throttle time · 3 flexible, client software name and version (KIP-511), features (KIP-584) · 4
features whose lowest level is 0 (KIP-1022) · 5 the cluster and node the client means (KIP-1242).

The answer's header is always version 0, and so is the body where the version asked for does not exist.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from kbroker.controller.metadata_versions import supported_features
from kbroker.errors import ErrorCode
from kbroker.handlers.api_table import OWN_CLIENT, OWN_TABLE, served_apis
from kbroker.handlers.context import BROKER
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kbroker.protocol.releases import is_before, release

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.api_versions_request import ApiVersionsRequest

VERSIONS = (0, 5)

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?", re.ASCII)


def handle(services: Services, context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """Name the APIs; from version 3 on remember what the client says it is."""
    if context.version >= 3:
        name, software_version = request.client_software_name, request.client_software_version
        if not (_SOFTWARE.fullmatch(name) and _SOFTWARE.fullmatch(software_version)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        context.connection.client_software_name = name
        context.connection.client_software_version = software_version
    if context.version >= 5:
        error = _check_target(services, request)
        if error is not ErrorCode.NONE:
            return ApiVersionsResponse(error_code=error)
    response = ApiVersionsResponse(api_keys=_api_keys(services, context.connection.role))
    if context.client_software_name == OWN_CLIENT:
        response.api_keys += [
            ApiVersion(api_key=key, min_version=low, max_version=high)
            for key, (_, low, high) in OWN_TABLE.items()
        ]
    if context.version >= 3:
        if _has_features(services):
            _add_features(services, response, context.version)
        elif _has_no_features_yet(services):
            response.finalized_features_epoch = 0
    return response


def unsupported_version(services: Services, role: str = BROKER) -> ApiVersionsResponse:
    """The answer, in version 0, to a version of ApiVersions that does not exist.

    It names ApiVersions itself, so that the client can ask anew (KIP-511).
    """
    own = [each for each in _api_keys(services, role) if each.api_key == ApiKey.API_VERSIONS]
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=own)


def _check_target(services: Services, request: ApiVersionsRequest) -> ErrorCode:
    """KIP-1242: a client that reached another cluster or node than it means has to bootstrap anew."""
    if (request.cluster_id is None) != (request.node_id == -1):
        return ErrorCode.INVALID_REQUEST
    if request.cluster_id is None:
        return ErrorCode.NONE
    if request.cluster_id != services.cluster_id or request.node_id != services.broker_id:
        return ErrorCode.REBOOTSTRAP_REQUIRED
    return ErrorCode.NONE


def _api_keys(services: Services, role: str) -> list[ApiVersion]:
    zookeeper = "zookeeper" in services.extras
    return list(_named(services.compatibility, role, services.client_metrics.keeps, zookeeper))


@lru_cache(8)
def _named(compatibility: str, role: str, telemetry: bool, zookeeper: bool) -> tuple[ApiVersion, ...]:
    """They are asked for on every connection; nobody changes what is in this."""
    apis = served_apis(compatibility, role, zookeeper)
    named = apis.advertised + apis.telemetry if telemetry else apis.advertised
    return tuple(ApiVersion(api_key=key, min_version=low, max_version=high) for key, low, high in named)


def _has_features(services: Services) -> bool:
    """Brokers told of features of the cluster since 3.3, when Kafka without ZooKeeper was ready for use; with
    ZooKeeper there are none, and the `metadata.version` that the image names is how we decide.
    """
    if "zookeeper" in services.extras:
        return False
    kafka = release(services.compatibility)
    return kafka is None or kafka.number >= (3, 3)


def _has_no_features_yet(services: Services) -> bool:
    """Since 2.7 brokers kept an empty set of them in ZooKeeper, of epoch 0 (KIP-584)."""
    name = services.compatibility
    return is_before(name, (3, 3)) and not is_before(name, (2, 7))


def _add_features(services: Services, response: ApiVersionsResponse, version: int) -> None:
    image, known = services.metadata.image, supported_features(services.compatibility)
    response.supported_features = [
        SupportedFeatureKey(name=name, min_version=levels.min_level, max_version=levels.max_level)
        for name, levels in known.items()
        if levels.max_level and (version >= 4 or levels.min_level > 0)
    ]
    response.finalized_features_epoch = image.offset
    told = {
        name: min(level, known[name].max_level)
        for name, level in image.finalized_features().items()
        if name in known
    }
    response.finalized_features = [
        FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for name, level in told.items()
        if level > 0
    ]
