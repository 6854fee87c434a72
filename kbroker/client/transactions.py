"""Transactions: list, describe, the producers of partitions, those that hang, and their end (KIP-664)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kbroker.client.cluster import TRANSACTION, Cluster
from kbroker.client.errors import check
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.describe_producers_request import DescribeProducersRequest, TopicRequest
from kbroker.protocol.generated.describe_producers_response import DescribeProducersResponse
from kbroker.protocol.generated.describe_transactions_request import DescribeTransactionsRequest
from kbroker.protocol.generated.describe_transactions_response import DescribeTransactionsResponse
from kbroker.protocol.generated.list_transactions_request import ListTransactionsRequest
from kbroker.protocol.generated.list_transactions_response import ListTransactionsResponse
from kbroker.protocol.generated.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kbroker.protocol.generated.write_txn_markers_response import WriteTxnMarkersResponse
from kbroker.types import TopicPartition


class ListedTransaction(NamedTuple):
    """A line of a list of transactional ids."""

    id: str
    state: str
    producer_id: int
    coordinator: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """What the coordinator knows of a transactional id; `start_ms` -1: it never had a transaction."""

    id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int
    partitions: list[TopicPartition] = field(default_factory=list)


class PartitionProducer(NamedTuple):
    """A producer that a partition remembers; `start_offset` -1: it has no open transaction there."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    start_offset: int


class Hanging(NamedTuple):
    """A transaction that is open on a partition, and that no coordinator will end."""

    transactional_id: str | None
    producer: PartitionProducer


def list_transactions(
    cluster: Cluster,
    *,
    states: Sequence[str] = (),
    producer_ids: Sequence[int] = (),
    longer_than_ms: int = -1,
    pattern: str | None = None,
) -> list[ListedTransaction]:
    """The transactional ids of all brokers, sorted.

    Args:
        states, producer_ids: only those; Kafka's names, e.g. "Ongoing".
        longer_than_ms: open for longer than that (-1: any).
        pattern: a regular expression (RE2) that the whole id matches.
    """
    found = []
    for node_id in sorted(cluster.brokers(refresh=True)):
        request = ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=list(producer_ids),
            duration_filter=longer_than_ms,
            transactional_id_pattern=pattern,
        )
        answer = cluster.ask_node(node_id, request, ListTransactionsResponse)
        check(answer.error_code, what=f"transactions of broker {node_id}")
        found += [
            ListedTransaction(each.transactional_id, each.transaction_state, each.producer_id, node_id)
            for each in answer.transaction_states
        ]
    return sorted(found)


def describe_transaction(cluster: Cluster, transactional_id: str) -> Transaction:
    """One transactional id.

    Raises:
        ApiError: TRANSACTIONAL_ID_NOT_FOUND, or the coordinator refuses.
    """
    answer = cluster.ask_coordinator(
        transactional_id,
        DescribeTransactionsRequest(transactional_ids=[transactional_id]),
        DescribeTransactionsResponse,
        lambda a: [each.error_code for each in a.transaction_states],
        TRANSACTION,
    )
    (state,) = answer.transaction_states
    what = f"transactional id {transactional_id}"
    check(state.error_code, what=what, needs="DESCRIBE", on=transactional_id)
    return Transaction(
        transactional_id,
        state.transaction_state,
        state.producer_id,
        state.producer_epoch,
        state.transaction_timeout_ms,
        state.transaction_start_time_ms,
        [TopicPartition(topic.topic, index) for topic in state.topics for index in topic.partitions],
    )


def describe_producers(
    cluster: Cluster, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, list[PartitionProducer]]:
    """The producers that partitions remember.

    Raises:
        ApiError: a partition does not exist, or has no leader.
    """
    found = cluster.ask_leaders(
        partitions,
        lambda topics: DescribeProducersRequest(
            topics=[TopicRequest(name=name, partition_indexes=indexes) for name, indexes in topics.items()]
        ),
        DescribeProducersResponse,
        lambda answer: [
            (TopicPartition(topic.name, each.partition_index), each.error_code, each)
            for topic in answer.topics
            for each in topic.partitions
        ],
    )
    producers = {}
    for tp, result in found.items():
        check(result.error_code, result.error_message, str(tp), needs="READ", on=tp.topic)
        producers[tp] = [
            PartitionProducer(
                tp,
                each.producer_id,
                each.producer_epoch,
                each.coordinator_epoch,
                each.last_sequence,
                each.last_timestamp,
                each.current_txn_start_offset,
            )
            for each in result.active_producers
        ]
    return producers


def find_hanging(
    cluster: Cluster, partitions: Iterable[TopicPartition], now_ms: int, longer_than_ms: int
) -> list[Hanging]:
    """Transactions that are open on a partition, silent for that long, and unknown to their coordinator."""
    silent = [
        producer
        for producers in describe_producers(cluster, partitions).values()
        for producer in producers
        if producer.start_offset >= 0 and now_ms - producer.last_timestamp_ms > longer_than_ms
    ]
    if not silent:
        return []
    wanted = sorted({producer.producer_id for producer in silent})
    ids = {each.producer_id: each.id for each in list_transactions(cluster, producer_ids=wanted)}
    return [
        Hanging(ids.get(producer.producer_id), producer)
        for producer in silent
        if not _is_known(cluster, ids.get(producer.producer_id), producer.partition)
    ]


def _is_known(cluster: Cluster, transactional_id: str | None, partition: TopicPartition) -> bool:
    """The coordinator has the partition in the open transaction of that id, and will end it."""
    if transactional_id is None:
        return False
    try:
        return partition in describe_transaction(cluster, transactional_id).partitions
    except ApiError as error:
        if error.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            return False
        raise


def abort_open(cluster: Cluster, partition: TopicPartition, start_offset: int) -> PartitionProducer:
    """Write an abort marker for the transaction that began at `start_offset`; whose it was.

    Only for one that hangs: its coordinator is not asked.

    Raises:
        ApiError: there is no such transaction, or the partition refuses.
    """
    open_ = [
        producer
        for producer in describe_producers(cluster, [partition])[partition]
        if producer.start_offset == start_offset
    ]
    if start_offset < 0 or not open_:
        raise ApiError(
            ErrorCode.INVALID_TXN_STATE, f"{partition}: no open transaction begins at offset {start_offset}"
        )
    (producer,) = open_
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        coordinator_epoch=max(producer.coordinator_epoch, 0),
        topics=[WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])],
    )
    found = cluster.ask_leaders(
        [partition],
        lambda _: WriteTxnMarkersRequest(markers=[marker]),
        WriteTxnMarkersResponse,
        lambda answer: [
            (TopicPartition(topic.name, each.partition_index), each.error_code, each.error_code)
            for one in answer.markers
            for topic in one.topics
            for each in topic.partitions
        ],
    )
    check(found[partition], what=str(partition), needs="ALTER")
    return producer
