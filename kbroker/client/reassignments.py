"""Moving replicas between brokers (KIP-455), electing leaders (KIP-460), leaving for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check, failure
from kbroker.errors import ApiError
from kbroker.protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kbroker.protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kbroker.protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kbroker.protocol.generated.elect_leaders_response import ElectLeadersResponse
from kbroker.protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from kbroker.protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
)
from kbroker.protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kbroker.protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kbroker.types import TopicPartition

PREFERRED, UNCLEAN = 0, 1


@dataclass(frozen=True, slots=True)
class Reassignment:
    """One that goes on."""

    topic: str
    partition: int
    replicas: list[int]
    adding: list[int]
    removing: list[int]


class Place(NamedTuple):
    """A broker that may get replicas."""

    id: int
    rack: str | None = None


def list_reassignments(cluster: Cluster) -> list[Reassignment]:
    """All that go on.

    Raises:
        ApiError: not allowed.
    """
    answer = cluster.ask_controller(
        ListPartitionReassignmentsRequest(topics=None, timeout_ms=int(cluster.timeout_s * 1000)),
        ListPartitionReassignmentsResponse,
        lambda answer: [answer.error_code],
    )
    check(answer.error_code, answer.error_message, "reassignments", needs="DESCRIBE")
    found = [
        Reassignment(
            topic.name, part.partition_index, part.replicas, part.adding_replicas, part.removing_replicas
        )
        for topic in answer.topics
        for part in topic.partitions
    ]
    return sorted(found, key=lambda each: (each.topic, each.partition))


def alter_reassignments(
    cluster: Cluster, wanted: Mapping[TopicPartition, Sequence[int] | None]
) -> dict[TopicPartition, ApiError | None]:
    """Begin to move partitions to these brokers, the preferred leader first; None cancels what goes on.

    Raises:
        ApiError: all of it was refused.
    """
    topics: dict[str, list[ReassignablePartition]] = {}
    for tp, replicas in wanted.items():
        part = ReassignablePartition(
            partition_index=tp.partition, replicas=None if replicas is None else list(replicas)
        )
        topics.setdefault(tp.topic, []).append(part)
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=int(cluster.timeout_s * 1000),
        topics=[ReassignableTopic(name=name, partitions=parts) for name, parts in topics.items()],
    )
    answer = cluster.ask_controller(
        request, AlterPartitionReassignmentsResponse, lambda answer: [answer.error_code]
    )
    check(answer.error_code, answer.error_message, "reassignment", needs="ALTER")
    results: dict[TopicPartition, ApiError | None] = {}
    for topic in answer.responses:
        for result in topic.partitions:
            tp = TopicPartition(topic.name, result.partition_index)
            results[tp] = failure(result.error_code, result.error_message, str(tp))
    return results


def elect_leaders(
    cluster: Cluster, partitions: Iterable[TopicPartition] | None, kind: int = PREFERRED
) -> dict[TopicPartition, ApiError | None]:
    """Let the preferred replicas lead, or with UNCLEAN any that is there; None: of all partitions.

    Raises:
        ApiError: all of it was refused.
    """
    chosen: list[TopicPartitions] | None = None
    if partitions is not None:
        by_topic: dict[str, list[int]] = {}
        for tp in partitions:
            by_topic.setdefault(tp.topic, []).append(tp.partition)
        chosen = [TopicPartitions(topic=name, partitions=indexes) for name, indexes in by_topic.items()]
    request = ElectLeadersRequest(
        election_type=kind, topic_partitions=chosen, timeout_ms=int(cluster.timeout_s * 1000)
    )
    answer = cluster.ask_controller(request, ElectLeadersResponse, lambda answer: [answer.error_code])
    check(answer.error_code, what="election", needs="ALTER")
    results: dict[TopicPartition, ApiError | None] = {}
    for topic in answer.replica_election_results:
        for part in topic.partition_result:
            tp = TopicPartition(topic.topic, part.partition_id)
            results[tp] = failure(part.error_code, part.error_message, str(tp), needs="ALTER")
    return results


def unregister_broker(cluster: Cluster, broker_id: int) -> None:
    """Forget a broker that will not come back.

    Raises:
        ApiError: there is none of that id, or it is not allowed.
    """
    answer = cluster.ask_controller(
        UnregisterBrokerRequest(broker_id=broker_id),
        UnregisterBrokerResponse,
        lambda answer: [answer.error_code],
    )
    check(answer.error_code, answer.error_message, f"broker {broker_id}", needs="ALTER")


def plan_assignment(
    current: Mapping[TopicPartition, Sequence[int]], places: Sequence[Place], replication_factor: int | None
) -> dict[TopicPartition, list[int]]:
    """Spread partitions over `places` evenly, racks first, moving no more than that needs.

    Args:
        replication_factor: None keeps that of each partition.

    Raises:
        ValueError: there are not enough places.
    """
    racks = {place.id: place.rack for place in places}
    counts = {tp: replication_factor or len(replicas) for tp, replicas in current.items()}
    if any(count > len(places) for count in counts.values()):
        raise ValueError(f"{max(counts.values())} replicas need as many brokers, not {len(places)}")
    load = {place.id: 0 for place in places}
    planned: dict[TopicPartition, list[int]] = {}
    for tp in sorted(current):
        chosen = planned[tp] = []
        for broker in current[tp]:
            if broker in load and len(chosen) < counts[tp] and not _shares_rack(broker, chosen, racks):
                chosen.append(broker)
                load[broker] += 1
    for tp, chosen in planned.items():
        while len(chosen) < counts[tp]:
            broker = min(
                (each for each in load if each not in chosen),
                key=lambda each: (
                    _shares_rack(each, chosen, racks),
                    load[each],
                    each not in current[tp],
                    each,
                ),
            )
            chosen.append(broker)
            load[broker] += 1
    while _even_out(planned, load, racks):
        pass
    _spread_leaders(planned, load)
    return planned


def _shares_rack(broker: int, chosen: Sequence[int], racks: Mapping[int, str | None]) -> bool:
    rack = racks[broker]
    return rack is not None and any(racks[each] == rack for each in chosen)


def _even_out(
    planned: Mapping[TopicPartition, list[int]], load: dict[int, int], racks: Mapping[int, str | None]
) -> bool:
    """Move replicas to brokers that have at least two fewer; whether any was moved."""
    moved = False
    for chosen in planned.values():
        for index, broker in enumerate(chosen):
            rest = [each for each in chosen if each != broker]
            crowded = _shares_rack(broker, rest, racks)
            target = min(
                (
                    each
                    for each in load
                    if each not in chosen and (crowded or not _shares_rack(each, rest, racks))
                ),
                key=lambda each: (load[each], each),
                default=None,
            )
            if target is not None and load[broker] - load[target] >= 2:
                chosen[index] = target
                load[broker] -= 1
                load[target] += 1
                moved = True
    return moved


def _spread_leaders(planned: Mapping[TopicPartition, list[int]], brokers: Iterable[int]) -> None:
    """Put the broker first that is first of the fewest."""
    leads = dict.fromkeys(brokers, 0)
    for chosen in planned.values():
        first = min(chosen, key=lambda each: (leads[each], chosen.index(each)))
        leads[first] += 1
        chosen.remove(first)
        chosen.insert(0, first)
