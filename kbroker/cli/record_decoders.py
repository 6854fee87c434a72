"""Keys and values of the broker's own topics as JSON: metadata, group offsets, transactions, share state."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct
from typing import Any, TypeAlias

from kbroker.errors import ProtocolError
from kbroker.metadata.records import RECORD_TYPES
from kbroker.protocol.api_keys import message_class
from kbroker.protocol.control_records import EndTxnMarker, decode_control_message
from kbroker.protocol.json_converter import to_json
from kbroker.protocol.primitives import Message, read_uvarint
from kbroker.protocol.record_batch import Record

#: Key and value as JSON has them.
Decoded: TypeAlias = tuple[Any, Any]
Decoder: TypeAlias = Callable[[Record], Decoded]

_INT16 = Struct(">h")
_GROUP_KEYS = (
    "LegacyOffsetCommit",
    "OffsetCommit",
    "GroupMetadata",
    *(
        f"ConsumerGroup{part}"
        for part in (
            "Metadata",
            "PartitionMetadata",
            "MemberMetadata",
            "TargetAssignmentMetadata",
            "TargetAssignmentMember",
            "CurrentMemberAssignment",
            "RegularExpression",
        )
    ),
    *(
        f"ShareGroup{part}"
        for part in (
            "PartitionMetadata",
            "MemberMetadata",
            "Metadata",
            "TargetAssignmentMetadata",
            "TargetAssignmentMember",
            "CurrentMemberAssignment",
            "StatePartitionMetadata",
        )
    ),
    *(
        f"StreamsGroup{part}"
        for part in (
            "Metadata",
            "MemberMetadata",
            "TargetAssignmentMetadata",
            "TargetAssignmentMember",
            "CurrentMemberAssignment",
            "Topology",
        )
    ),
)
#: By topic: the messages, without the "Key" or "Value" their names end with.
_COORDINATORS = {
    "__consumer_offsets": _GROUP_KEYS,
    "__transaction_state": ("TransactionLog",),
    "__share_group_state": ("ShareSnapshot", "ShareUpdate"),
}


def decoder_for(topic: str) -> Decoder | None:
    """How records of that topic are read; None for topics of applications."""
    if topic == "__cluster_metadata":
        return decode_metadata
    if topic in _COORDINATORS:
        return lambda record: decode_coordinator(topic, record)
    return None


def decode_metadata(record: Record) -> Decoded:
    """A record of `__cluster_metadata`.

    Raises:
        ProtocolError: damaged, or of a type that is not known.
    """
    if record.value is None:
        return None, None
    value = record.value
    try:
        _, pos = read_uvarint(value, 0)
        number, pos = read_uvarint(value, pos)
        version, pos = read_uvarint(value, pos)
    except IndexError:
        raise ProtocolError("a metadata record without its frame") from None
    name = RECORD_TYPES.get(number)
    if name is None:
        raise ProtocolError(f"unknown metadata record type {number}")
    message = message_class(name).decode(value, version, pos)
    return None, {"type": name, "version": version, "data": to_json(message, version)}


def decode_coordinator(topic: str, record: Record) -> Decoded:
    """A record of a coordinator's topic.

    Raises:
        ProtocolError: damaged, or of a type or version that is not known.
    """
    if record.key is None or len(record.key) < _INT16.size:
        raise ProtocolError("a coordinator record without the type in its key")
    (number,) = _INT16.unpack_from(record.key)
    name = _names(topic).get(number)
    if name is None:
        raise ProtocolError(f"unknown record type {number} in {topic}")
    # A key's version is its type; the layout behind it is version 0 of that message.
    key = message_class(f"{name}Key").decode(record.key, 0, _INT16.size)
    key_json = {"type": name, "data": to_json(key, 0)}
    if record.value is None:
        return key_json, None
    if len(record.value) < _INT16.size:
        raise ProtocolError("a coordinator record without the version in its value")
    (version,) = _INT16.unpack_from(record.value)
    value = message_class(f"{name}Value").decode(record.value, version, _INT16.size)
    return key_json, {"version": version, "data": to_json(value, version)}


@cache
def _names(topic: str) -> dict[int, str]:
    found = {}
    for name in _COORDINATORS[topic]:
        number = message_class(f"{name}Key").API_KEY
        if number is not None:
            found[number] = name
    return found


def decode_control(record: Record) -> dict[str, Any]:
    """A control record; of a type that is not known only its name "unknown".

    Raises:
        ApiError: damaged.
    """
    kind, content = decode_control_message(record)
    shown: dict[str, Any] = {"type": kind.name.lower()}
    if isinstance(content, EndTxnMarker):
        shown["coordinator_epoch"] = content.coordinator_epoch
    elif isinstance(content, Message) and record.value is not None:
        shown["data"] = to_json(content, _INT16.unpack_from(record.value)[0])
    return shown
