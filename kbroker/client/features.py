"""The levels of a cluster's features (KIP-584, KIP-778)."""

from __future__ import annotations

from collections.abc import Mapping

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kbroker.protocol.generated.update_features_response import UpdateFeaturesResponse

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def update_features(
    cluster: Cluster, levels: Mapping[str, int], *, kind: int = UPGRADE, validate_only: bool = False
) -> None:
    """Set these features to these levels, all or none.

    Args:
        kind: UPGRADE, SAFE_DOWNGRADE or UNSAFE_DOWNGRADE; all features go the same way.
        validate_only: check, and change nothing.

    Raises:
        ApiError: the cluster refuses; the text says which feature, and which node does not support it.
    """
    request = UpdateFeaturesRequest(
        timeout_ms=int(cluster.timeout_s * 1000),
        feature_updates=[
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
            for name, level in levels.items()
        ],
        validate_only=validate_only,
    )
    answer = cluster.ask_controller(request, UpdateFeaturesResponse, lambda answer: [answer.error_code])
    check(answer.error_code, answer.error_message, "features", needs="ALTER")
    for result in answer.results:
        check(result.error_code, result.error_message, f"feature {result.feature}")
