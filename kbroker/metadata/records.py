"""Metadata records and their frame in `__cluster_metadata`.

A record's value is: unsigned varint frame version (1), unsigned varint record type, unsigned varint record
version, then the body, which is always flexible. Keys are null. Control records (leader change, snapshot
header and so on) are not framed: see protocol/control_records.py.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from kbroker.errors import ProtocolError
from kbroker.metadata.delta import MetadataCorruption
from kbroker.protocol.primitives import Message

FRAME_VERSION = 1


#: Any of the generated record classes named in `RECORD_TYPES`.
MetadataRecord: TypeAlias = Message

#: Record type numbers; 6, 13 and 16 were never used by a released Kafka, or no longer are.
RECORD_TYPES: dict[int, str] = {
    0: "RegisterBrokerRecord",
    1: "UnregisterBrokerRecord",
    2: "TopicRecord",
    3: "PartitionRecord",
    4: "ConfigRecord",
    5: "PartitionChangeRecord",
    7: "FenceBrokerRecord",
    8: "UnfenceBrokerRecord",
    9: "RemoveTopicRecord",
    10: "DelegationTokenRecord",
    11: "UserScramCredentialRecord",
    12: "FeatureLevelRecord",
    14: "ClientQuotaRecord",
    15: "ProducerIdsRecord",
    17: "BrokerRegistrationChangeRecord",
    18: "AccessControlEntryRecord",
    19: "RemoveAccessControlEntryRecord",
    20: "NoOpRecord",
    21: "ZkMigrationStateRecord",
    22: "RemoveUserScramCredentialRecord",
    23: "BeginTransactionRecord",
    24: "EndTransactionRecord",
    25: "AbortTransactionRecord",
    26: "RemoveDelegationTokenRecord",
    27: "RegisterControllerRecord",
    28: "ClearElrRecord",
    29: "UnregisterControllerRecord",
}
_TYPE_OF_NAME = {name: number for number, name in RECORD_TYPES.items()}


def record_version(record: Any, metadata_version: int) -> int:
    """The version to write a record in, so that every node at `metadata_version` can read it.

    Partition records carry directories from 17 (3.7-IV2) and ELRs from 23 (4.0-IV1), broker registrations
    cordoned directories from 32 (4.4-IV1). A registration change is written in the lowest version that has
    its fields, as Kafka does.
    """
    name = record.NAME
    if name in ("PartitionRecord", "PartitionChangeRecord"):
        return 2 if metadata_version >= 23 else 1 if metadata_version >= 17 else 0
    if name == "RegisterBrokerRecord":
        if metadata_version >= 32:
            return 4
        return 3 if metadata_version >= 17 else 2 if metadata_version >= 8 else 1
    if name == "BrokerRegistrationChangeRecord":
        if record.cordoned_log_dirs is not None:
            return 3
        return 2 if record.log_dirs else 1 if record.in_controlled_shutdown else 0
    return 0


def encode_record(record: MetadataRecord, metadata_version: int) -> bytes:
    """The framed value of a record."""
    number = _TYPE_OF_NAME[record.NAME]
    version = record_version(record, metadata_version)
    # All three numbers stay below 128, where an unsigned varint is the byte itself.
    out = bytearray((FRAME_VERSION, number, version))
    record.encode_into(out, version)
    return bytes(out)


def decode_record(value: bytes | memoryview) -> MetadataRecord:
    """The record in a framed value.

    Raises:
        MetadataCorruption: not a frame, or a type or version that we do not know.
    """
    if len(value) < 3 or value[0] != FRAME_VERSION:
        raise MetadataCorruption("a metadata record without the frame of version 1")
    number, version = value[1], value[2]
    name = RECORD_TYPES.get(number)
    if name is None:
        raise MetadataCorruption(f"unknown metadata record type {number}")
    record_class = _record_class(name)
    if version > record_class.MAX_VERSION:
        raise MetadataCorruption(f"version {version} of {name} is newer than we know")
    try:
        record: MetadataRecord = record_class.decode(value, version, 3)
    except ProtocolError as error:
        raise MetadataCorruption(str(error)) from None
    return record


_classes: dict[str, Any] = {}


def _record_class(name: str) -> Any:
    found = _classes.get(name)
    if found is None:
        from kbroker.protocol.api_keys import message_class

        found = _classes[name] = message_class(name)
    return found
