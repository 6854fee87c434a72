"""The records of the way from ZooKeeper to KRaft (KIP-866).

BEFORE_MIGRATION is written with the first records of a quorum that is to take over: only brokers in
ZooKeeper's mode may register then, and nothing else is decided. MIGRATING comes with the last records of the
copy: the quorum decides, and ZooKeeper is told all of it. MIGRATED is written by a controller that is no
longer to migrate: ZooKeeper is told nothing more, and there is no way back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kbroker.controller.decision import Decision
from kbroker.controller.features import METADATA_VERSION
from kbroker.controller.metadata_versions import metadata_version_name
from kbroker.metadata.image import MIGRATED, MIGRATING, NOT_MIGRATED, ClusterImage
from kbroker.metadata.records import MetadataRecord
from kbroker.protocol.generated.begin_transaction_record import BeginTransactionRecord
from kbroker.protocol.generated.end_transaction_record import EndTransactionRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.zk_migration_state_record import ZkMigrationStateRecord

#: `metadata.version` of a quorum that takes over: 3.6-IV1 has transactions, 3.9-IV0 is ZooKeeper's last.
MIGRATION_LEVELS = range(13, 22)
#: So many records are decided in one turn of the loop.
_SLICE = 1000


def cannot_migrate(image: ClusterImage, formatted: Sequence[MetadataRecord]) -> str | None:
    """Why a node with `zookeeper.metadata.migration.enable` cannot start with what its folder holds.

    Args:
        formatted: the records of the first snapshot.
    """
    if image.metadata_version:
        if image.zk_migration_state != NOT_MIGRATED:
            return None
        return "Should not have ZK migrations enabled on a cluster that was created in KRaft mode."
    level = 0
    for record in formatted:
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION:
            level = record.feature_level
    if level in MIGRATION_LEVELS:
        return None
    name, first, last = map(metadata_version_name, (level, MIGRATION_LEVELS[0], MIGRATION_LEVELS[-1]))
    return (
        f"The bootstrap metadata.version {name} does not support ZK migrations: format the folder with "
        f"--release-version, {first} to {last}"
    )


def finalize_migration(image: ClusterImage) -> Decision[None]:
    """A controller that is not to migrate follows one that did: that ends it, as it does in Kafka."""
    done = image.zk_migration_state == MIGRATING
    return Decision(None, [ZkMigrationStateRecord(zk_migration_state=MIGRATED)] if done else [])


def copy_slices(records: Sequence[MetadataRecord]) -> Iterator[Decision[None]]:
    """What a cluster consists of, as one transaction in slices: nobody sees it before all is there."""
    marked: list[MetadataRecord] = [BeginTransactionRecord(name="ZK Migration"), *records]
    marked += [ZkMigrationStateRecord(zk_migration_state=MIGRATING), EndTransactionRecord()]
    for start in range(0, len(marked), _SLICE):
        yield Decision(None, marked[start : start + _SLICE], atomic=False, in_transaction=True)
