"""Take the leaders away from a broker before it is worked on, and give them back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.client.reassignments import alter_reassignments, elect_leaders
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import TopicPartition

Order = dict[TopicPartition, list[int]]


class Plan(NamedTuple):
    """What draining a broker means.

    Attributes:
        before: the replicas as they are, of partitions whose first replica or leader it is.
        after: as they are to be: the broker last.
        stuck: partitions that nobody else has, or nobody else is in sync for.
    """

    before: Order
    after: Order
    stuck: list[TopicPartition]


def plan_drain(cluster: Cluster, broker_id: int) -> Plan:
    """Look at every partition that the broker leads, or would lead."""
    before: Order = {}
    after: Order = {}
    stuck: list[TopicPartition] = []
    for topic in cluster.metadata().topics:
        for partition in topic.partitions:
            replicas = list(partition.replica_nodes)
            if broker_id not in (partition.leader_id, replicas[0] if replicas else -1):
                continue
            tp = TopicPartition(topic.name or "", partition.partition_index)
            others = [each for each in replicas if each != broker_id and each in partition.isr_nodes]
            if not others:
                stuck.append(tp)
                continue
            late = [each for each in replicas if each != broker_id and each not in others]
            before[tp], after[tp] = replicas, [*others, *late, broker_id]
    return Plan(before, after, stuck)


def put_in_order(cluster: Cluster, order: Order) -> dict[TopicPartition, ApiError | None]:
    """Name replicas in this order, then let the first ones lead.

    Raises:
        ApiError: all of it was refused.
    """
    if not order:
        return {}
    results = alter_reassignments(cluster, order)
    moved = [tp for tp, error in results.items() if error is None]
    if moved:
        for tp, error in elect_leaders(cluster, moved).items():
            if error is not None and error.code is not ErrorCode.ELECTION_NOT_NEEDED:
                results[tp] = error
    return results


def save_order(path: str, order: Mapping[TopicPartition, list[int]]) -> None:
    """Keep it for `load_order`.

    Raises:
        ClientError: the file cannot be written, or is there.
    """
    rows = [{"topic": tp.topic, "partition": tp.partition, "replicas": order[tp]} for tp in sorted(order)]
    try:
        with open(path, "x", encoding="utf-8") as file:
            json.dump({"version": 1, "partitions": rows}, file, indent=1)
    except OSError as error:
        raise ClientError(f"cannot write {path}: {error.strerror}") from None


def load_order(path: str) -> Order:
    """What `save_order` kept.

    Raises:
        ClientError: the file cannot be read, or is none of ours.
    """
    try:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["partitions"]
        return {TopicPartition(row["topic"], row["partition"]): list(row["replicas"]) for row in rows}
    except OSError as error:
        raise ClientError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ClientError(f"{path} is no file of kbroker-admin drain") from None
