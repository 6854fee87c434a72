"""What a new KRaft cluster begins with: the records of its feature levels, and the first epoch's opening."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kbroker.controller.decision import Decision
from kbroker.controller.features import LATEST_METADATA_VERSION, METADATA_VERSION
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.records import MetadataRecord
from kbroker.protocol.generated.abort_transaction_record import AbortTransactionRecord
from kbroker.protocol.generated.begin_transaction_record import BeginTransactionRecord
from kbroker.protocol.generated.end_transaction_record import EndTransactionRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord

#: `metadata.version` from which records may be bracketed as a transaction (3.6-IV1, KIP-868).
TRANSACTION_LEVEL = 13


def feature_records(metadata_version: int = LATEST_METADATA_VERSION) -> list[MetadataRecord]:
    """What formatting writes into the first snapshot."""
    return [FeatureLevelRecord(name=METADATA_VERSION, feature_level=metadata_version)]


def bootstrap(image: ClusterImage, formatted: Sequence[MetadataRecord]) -> Decision[None]:
    """The first controller of a new cluster repeats the formatted records in its log.

    Args:
        formatted: the records of the first snapshot; without any, this release's newest level is taken.
    """
    records = list(formatted) or feature_records()
    if _level(records) >= TRANSACTION_LEVEL:
        records = [BeginTransactionRecord(name="Bootstrap records"), *records, EndTransactionRecord()]
    return Decision(None, records)


def abort_transaction(image: ClusterImage) -> Decision[None]:
    """A new controller ends what its predecessor began and did not finish."""
    return Decision(None, [AbortTransactionRecord(reason="The controller changed during the transaction")])


def _level(records: Iterable[MetadataRecord]) -> int:
    for record in records:
        if isinstance(record, FeatureLevelRecord) and record.name == METADATA_VERSION:
            level: int = record.feature_level
            return level
    return 0
