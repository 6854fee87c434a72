"""The consumer protocol that classic members embed in JoinGroup and SyncGroup, read and written where the
broker itself takes part: classic members of a consumer group.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from struct import Struct

from kbroker.coordinator.group.topic_view import TopicView
from kbroker.errors import ProtocolError
from kbroker.protocol.generated.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from kbroker.protocol.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kbroker.types import Uuid

_INT16 = Struct(">h")

PROTOCOL_TYPE = "consumer"


def version_of(data: bytes) -> int:
    """The version of embedded bytes; a later one than we know reads like the last that we know.

    Raises:
        ProtocolError: there is none.
    """
    if len(data) < _INT16.size:
        raise ProtocolError("an embedded consumer protocol has no version")
    (version,) = _INT16.unpack_from(data)
    if version < 0:
        raise ProtocolError("an embedded consumer protocol has an impossible version")
    return min(int(version), ConsumerProtocolSubscription.MAX_VERSION)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """What a classic member subscribes to and owns; ProtocolError on damage."""
    return ConsumerProtocolSubscription.decode(data, version_of(data), _INT16.size)


def owned_partitions(
    subscription: ConsumerProtocolSubscription, topics: TopicView
) -> list[tuple[Uuid, Collection[int]]]:
    """What the member says it owns, of topics that exist."""
    found: list[tuple[Uuid, Collection[int]]] = []
    for each in subscription.owned_partitions:
        topic = topics.get(each.topic)
        if topic is not None:
            found.append((topic.id, each.partitions))
    return found


def read_assignment(data: bytes, topics: TopicView) -> tuple[dict[Uuid, list[int]], bytes | None]:
    """The partitions of an assignment, of topics that exist, and what its assignor put beside them.

    Raises:
        ProtocolError: the bytes are damaged.
    """
    if not data:
        return {}, None
    assignment = ConsumerProtocolAssignment.decode(data, version_of(data), _INT16.size)
    found: dict[Uuid, list[int]] = {}
    for each in assignment.assigned_partitions:
        topic = topics.get(each.topic)
        if topic is not None:
            found.setdefault(topic.id, []).extend(each.partitions)
    return found, assignment.user_data


def write_assignment(held: Mapping[Uuid, Iterable[int]], topics: TopicView, version: int) -> bytes:
    """The bytes of an assignment, as a member of that version reads them."""
    partitions = []
    for topic_id, each in held.items():
        topic = topics.by_id(topic_id)
        if topic is not None:
            partitions.append(TopicPartition(topic=topic.name, partitions=sorted(each)))
    message = ConsumerProtocolAssignment(assigned_partitions=partitions, user_data=None)
    return _INT16.pack(version) + message.encode(version)
