"""Feature levels: what this release can do, and UpdateFeatures.

Only features whose function exists are supported: a client that sees `group.version` 1 uses the new consumer
protocol at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kbroker.controller.decision import Decision
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import BEFORE_MIGRATION, CONFIG_BROKER, MIGRATING, ClusterImage, FeatureRange
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.primitives import Message

METADATA_VERSION = "metadata.version"
KRAFT_VERSION = "kraft.version"
#: What a refusal begins with.
FAILED_FOR_ALL = "The update failed for all features since the following feature had an error: "
#: Eligible leader replicas (KIP-966).
ELR_VERSION = "eligible.leader.replicas.version"
#: Transactions: 1 for flexible records in the coordinator's log, 2 for an epoch for each one (KIP-890).
TRANSACTION_VERSION = "transaction.version"
#: Groups: 1 for the consumer protocol (KIP-848).
GROUP_VERSION = "group.version"
#: Groups: 1 for the streams protocol (KIP-1071).
STREAMS_VERSION = "streams.version"

#: Share groups (KIP-932): 1, and 2 as of Kafka 4.4.
SHARE_VERSION = "share.version"

#: Kafka 4.4-IV2: what a new cluster is formatted with.
LATEST_METADATA_VERSION = 33

SUPPORTED_FEATURES: Mapping[str, FeatureRange] = {
    GROUP_VERSION: FeatureRange(0, 1),
    ELR_VERSION: FeatureRange(0, 1),
    KRAFT_VERSION: FeatureRange(0, 1),
    METADATA_VERSION: FeatureRange(7, LATEST_METADATA_VERSION),
    SHARE_VERSION: FeatureRange(0, 2),
    STREAMS_VERSION: FeatureRange(0, 1),
    TRANSACTION_VERSION: FeatureRange(0, 2),
}

#: The `metadata.version` that the first level of a feature needs for its records.
_NEEDED_METADATA_VERSION = {KRAFT_VERSION: 21, ELR_VERSION: 23, TRANSACTION_VERSION: 24}

#: Levels of `metadata.version` that changed what is in the log: no downgrade across them.
_FORMAT_CHANGES = frozenset({1, 3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


class FeatureUpdate(NamedTuple):
    """A wanted level; `upgrade_type` as in UpdateFeatures."""

    name: str
    level: int
    upgrade_type: int


def update_features(
    image: ClusterImage,
    updates: Sequence[FeatureUpdate],
    validate_only: bool,
    controller_id: int,
    min_insync_replicas: int,
    static_voters: Sequence[int] = (),
    supported: Mapping[str, FeatureRange] = SUPPORTED_FEATURES,
) -> Decision[None]:
    """New feature levels, all of them or none; of several updates of one feature the last counts.

    Args:
        min_insync_replicas: the controller's own setting, see `min_insync_records`.
        static_voters: controllers that must have registered, so that it is known what they support.
        supported: by this controller.

    Raises:
        ApiError: INVALID_UPDATE_VERSION for the first update that cannot be.
    """
    records: list[Message] = []
    current = image.finalized_features()
    for update in {update.name: update for update in updates}.values():
        me = _Controller(controller_id, supported, static_voters)
        reason = _refusal(image, update, current.get(update.name, 0), me)
        if reason is not None:
            raise _refused(reason)
        # The level of kraft.version is the quorum's own: no record of the metadata.
        if update.level == current.get(update.name, 0) or update.name == KRAFT_VERSION:
            continue
        if update.name == ELR_VERSION and update.level > 0:
            records += min_insync_records(image, min_insync_replicas)
        records.append(FeatureLevelRecord(name=update.name, feature_level=update.level))
    return Decision(None, [] if validate_only else records)


def wanted_kraft_version(image: ClusterImage, updates: Sequence[FeatureUpdate]) -> int | None:
    """The level that the quorum is to be asked for; None: the updates leave kraft.version as it is."""
    levels = [update.level for update in updates if update.name == KRAFT_VERSION]
    return levels[-1] if levels and levels[-1] != image.kraft_version else None


def kraft_version_refused(level: int, why: str) -> ApiError:
    """The quorum does not take that level."""
    return _refused(f"Invalid update version {level} for feature {KRAFT_VERSION}. {why}")


def _refused(reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_UPDATE_VERSION, f"{FAILED_FOR_ALL}{reason}")


def min_insync_records(image: ClusterImage, min_insync_replicas: int) -> list[Message]:
    """With eligible leader replicas min.insync.replicas has one value for all brokers, kept in the cluster.

    Args:
        min_insync_replicas: becomes that value, if the cluster has none.
    """
    name = "min.insync.replicas"
    records: list[Message] = []
    if name not in image.config(CONFIG_BROKER, ""):
        value = str(min_insync_replicas)
        records.append(ConfigRecord(resource_type=CONFIG_BROKER, resource_name="", name=name, value=value))
    for (kind, broker), settings in image.configs.items():
        if kind == CONFIG_BROKER and broker and name in settings:
            records.append(
                ConfigRecord(resource_type=CONFIG_BROKER, resource_name=broker, name=name, value=None)
            )
    return records


class _Controller(NamedTuple):
    id: int
    supported: Mapping[str, FeatureRange]
    voters: Sequence[int]


def _refusal(image: ClusterImage, update: FeatureUpdate, current: int, me: _Controller) -> str | None:
    reason = _unsuitable(image, update, current, me)
    if reason is not None:
        return f"Invalid update version {update.level} for feature {update.name}. {reason}"
    if update.name == METADATA_VERSION:
        return _metadata_downgrade_refusal(update, current)
    if update.name == KRAFT_VERSION and update.level < current:
        why = "Can't downgrade the version of this feature."
        return f"Invalid update version {update.level} for feature {update.name}. {why}"
    return None


def _unsuitable(image: ClusterImage, update: FeatureUpdate, current: int, me: _Controller) -> str | None:
    if update.upgrade_type not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        return "The controller does not support the given upgrade type."
    if update.level < 0:
        return "A feature version cannot be less than 0."
    supported = me.supported.get(update.name)
    if update.level or update.name == METADATA_VERSION:
        reason = _unsupported(f"Local controller {me.id}", supported, update.level)
        reason = reason or _unsupported_by_others(image, update, me)
        if reason is not None:
            return reason
    elif supported is None:
        return f"Feature {update.name} not found."
    if update.level < current and update.upgrade_type == UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or "
            "unsafe downgrade."
        )
    if update.level > current and update.upgrade_type != UPGRADE:
        return "Can't downgrade to a newer version."
    if update.name == METADATA_VERSION and image.zk_migration_state in (BEFORE_MIGRATION, MIGRATING):
        return "Unable to modify metadata.version while a ZK migration is in progress."
    needed = _NEEDED_METADATA_VERSION.get(update.name, 0)
    if update.level and image.metadata_version < needed:
        return (
            f"{update.name} could not be set to {update.level} because it depends on "
            f"{METADATA_VERSION} level {needed}"
        )
    return None


def _unsupported_by_others(image: ClusterImage, update: FeatureUpdate, me: _Controller) -> str | None:
    nodes = [(f"Broker {broker.id}", broker.features) for broker in image.brokers.values()]
    nodes += [(f"Controller {each.id}", each.features) for each in image.controllers.values()]
    for name, features in nodes:
        reason = _unsupported(name, features.get(update.name), update.level)
        if reason is not None:
            return reason
    for voter in me.voters:
        if voter != me.id and voter not in image.controllers:
            return f"controller {voter} has not registered, and may not support this feature"
    return None


def _unsupported(who: str, supported: FeatureRange | None, level: int) -> str | None:
    if supported is None or not supported.max_level:
        return f"{who} does not support this feature."
    if not supported.min_level <= level <= supported.max_level:
        return f"{who} only supports versions {supported.min_level}-{supported.max_level}"
    return None


def _metadata_downgrade_refusal(update: FeatureUpdate, current: int) -> str | None:
    if update.level >= current or not any(update.level < level <= current for level in _FORMAT_CHANGES):
        return None
    why = (
        "Unsafe metadata downgrade is not supported in this version."
        if update.upgrade_type == UNSAFE_DOWNGRADE
        else "Refusing to perform the requested downgrade because it might delete metadata information."
    )
    return f"Unsupported metadata.version downgrade from {current} to {update.level}. {why}"
