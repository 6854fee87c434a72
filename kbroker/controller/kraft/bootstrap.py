"""What a new KRaft cluster begins with: the records of its feature levels, and the first epoch's opening."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kbroker.controller.decision import Decision
from kbroker.controller.features import (
    ELR_VERSION,
    GROUP_VERSION,
    LATEST_METADATA_VERSION,
    METADATA_VERSION,
    SHARE_VERSION,
    STREAMS_VERSION,
    TRANSACTION_VERSION,
    min_insync_records,
)
from kbroker.metadata.image import BEFORE_MIGRATION, ClusterImage
from kbroker.metadata.records import MetadataRecord
from kbroker.protocol.generated.abort_transaction_record import AbortTransactionRecord
from kbroker.protocol.generated.begin_transaction_record import BeginTransactionRecord
from kbroker.protocol.generated.end_transaction_record import EndTransactionRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.zk_migration_state_record import ZkMigrationStateRecord

#: `metadata.version` from which records may be bracketed as a transaction (3.6-IV1, KIP-868).
TRANSACTION_LEVEL = 13
#: `metadata.version` whose new clusters have consumer groups (4.0-IV0).
_GROUP_VERSION_LEVEL = 22
#: `metadata.version` whose new clusters have transactions of version 2 (4.0-IV2).
_TRANSACTION_VERSION_LEVEL = 24
#: `metadata.version` whose new clusters have eligible leader replicas (4.1-IV0).
_ELR_LEVEL = 26
#: `metadata.version` whose new clusters have streams groups (4.2-IV1).
_STREAMS_VERSION_LEVEL = 29
#: `metadata.version` whose new clusters have share groups: level 1 (4.2-IV0), level 2 (4.4-IV0).
_SHARE_VERSION_LEVELS = (28, 31)
_NO_LEVELS: Mapping[str, int] = {}


def feature_records(
    metadata_version: int = LATEST_METADATA_VERSION, wanted: Mapping[str, int] = _NO_LEVELS
) -> list[MetadataRecord]:
    """What formatting writes into the first snapshot.

    Args:
        wanted: levels of features that are not what comes with the `metadata.version`.
    """
    levels: dict[str, int] = {}
    if metadata_version >= _ELR_LEVEL:
        levels[ELR_VERSION] = 1
    if metadata_version >= _GROUP_VERSION_LEVEL:
        levels[GROUP_VERSION] = 1
    if metadata_version >= _TRANSACTION_VERSION_LEVEL:
        levels[TRANSACTION_VERSION] = 2
    if metadata_version >= _STREAMS_VERSION_LEVEL:
        levels[STREAMS_VERSION] = 1
    share_level = sum(metadata_version >= level for level in _SHARE_VERSION_LEVELS)
    if share_level:
        levels[SHARE_VERSION] = share_level
    levels.update(wanted)
    return [
        FeatureLevelRecord(name=METADATA_VERSION, feature_level=metadata_version),
        *(
            FeatureLevelRecord(name=name, feature_level=level)
            for name, level in sorted(levels.items())
            if level > 0
        ),
    ]


def bootstrap(
    image: ClusterImage,
    formatted: Sequence[MetadataRecord],
    min_insync_replicas: int,
    *,
    migrates: bool = False,
) -> Decision[None]:
    """The first controller of a new cluster repeats the formatted records in its log.

    Args:
        formatted: the records of the first snapshot; without any, this release's newest level is taken.
        min_insync_replicas: the controller's own setting, see `features.min_insync_records`.
        migrates: the cluster is still ZooKeeper's, and is to be taken over (KIP-866).
    """
    records = list(formatted) or feature_records()
    if _level(records, ELR_VERSION) > 0:
        records += min_insync_records(image, min_insync_replicas)
    if migrates:
        records.append(ZkMigrationStateRecord(zk_migration_state=BEFORE_MIGRATION))
    if _level(records, METADATA_VERSION) >= TRANSACTION_LEVEL:
        records = [BeginTransactionRecord(name="Bootstrap records"), *records, EndTransactionRecord()]
    return Decision(None, records)


def abort_transaction(image: ClusterImage) -> Decision[None]:
    """A new controller ends what its predecessor began and did not finish."""
    return Decision(None, [AbortTransactionRecord(reason="The controller changed during the transaction")])


def _level(records: Iterable[MetadataRecord], feature: str) -> int:
    for record in records:
        if isinstance(record, FeatureLevelRecord) and record.name == feature:
            level: int = record.feature_level
            return level
    return 0
