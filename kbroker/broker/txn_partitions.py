"""Partitions join transactions: what AddPartitionsToTxn does, for clients and for other brokers alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import gather
from kbroker.coordinator.transaction.rules import Producer
from kbroker.coordinator.transaction.state import EPOCH_BUMPS_SINCE, Partitions, partitions_of
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)

if TYPE_CHECKING:
    from kbroker.broker.transaction_driver import TransactionDriver
    from kbroker.metadata.cache import MetadataCache
    from kbroker.protocol.generated.add_partitions_to_txn_request import (
        AddPartitionsToTxnRequest,
        AddPartitionsToTxnTopic,
        AddPartitionsToTxnTransaction,
    )

#: By topic and partition.
Codes = dict[tuple[str, int], ErrorCode]


class PartitionAdder:
    """Adds partitions, or looks whether they were added."""

    def __init__(self, coordinator: TransactionDriver, metadata: MetadataCache) -> None:
        self._coordinator = coordinator
        self._metadata = metadata

    def add(
        self,
        transactional_id: str,
        producer: Producer,
        topics: Iterable[AddPartitionsToTxnTopic],
        client_version: int,
        *,
        verify_only: bool = False,
    ) -> Deferred[Codes]:
        """A code for each partition; all of them join, or none.

        Fails with ApiError only with `verify_only`: then it is the answer for all partitions.
        """
        wanted = partitions_of((topic.name, topic.partitions) for topic in topics)
        if not transactional_id:
            return _all(wanted, ErrorCode.INVALID_REQUEST)
        unknown = self._unknown(wanted)
        if unknown:
            return unknown
        try:
            if verify_only:
                return self._coordinator.verify_partitions(transactional_id, producer, wanted)
            done = self._coordinator.add_partitions(transactional_id, producer, wanted, client_version)
        except ApiError as error:
            return _all(wanted, error.code)
        answer: Deferred[Codes] = Deferred()

        def added(finished: Deferred[ErrorCode]) -> None:
            try:
                code = finished.result()
            except ApiError as error:
                code = error.code
            answer.resolve(_codes(wanted, code))

        done.then(added)
        return answer

    def _unknown(self, wanted: Partitions) -> Deferred[Codes] | None:
        """The answer if a partition does not exist: the others are not attempted."""
        topics = self._metadata.image.topics
        codes: Codes = {}
        found = False
        for topic, indexes in wanted.items():
            for index in indexes:
                missing = topics.partition(topic, index) is None
                found = found or missing
                codes[topic, index] = (
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if missing else ErrorCode.OPERATION_NOT_ATTEMPTED
                )
        return _done(codes) if found else None

    def add_all(self, request: AddPartitionsToTxnRequest) -> Deferred[AddPartitionsToTxnResponse]:
        """Version 4 and later, which other brokers send: several transactions, each by itself."""
        parts = [self._add_one(transaction) for transaction in request.transactions]

        def joined(codes: list[Codes | ApiError]) -> AddPartitionsToTxnResponse:
            return AddPartitionsToTxnResponse(
                results_by_transaction=[
                    AddPartitionsToTxnResult(
                        transactional_id=transaction.transactional_id,
                        topic_results=topic_results(transaction.topics, answer),
                    )
                    for transaction, answer in zip(request.transactions, codes)
                ]
            )

        return gather(parts).map(joined)

    def _add_one(self, transaction: AddPartitionsToTxnTransaction) -> Deferred[Codes]:
        return self.add(
            transaction.transactional_id,
            Producer(transaction.producer_id, transaction.producer_epoch),
            transaction.topics,
            EPOCH_BUMPS_SINCE,
            verify_only=transaction.verify_only,
        )


def topic_results(
    topics: Iterable[AddPartitionsToTxnTopic], codes: Codes | ApiError
) -> list[AddPartitionsToTxnTopicResult]:
    """The answer's part for these topics."""
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=codes.code
                    if isinstance(codes, ApiError)
                    else codes[topic.name, index],
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _codes(wanted: Partitions, code: ErrorCode) -> Codes:
    return {(topic, index): code for topic, indexes in wanted.items() for index in indexes}


def _all(wanted: Partitions, code: ErrorCode) -> Deferred[Codes]:
    return _done(_codes(wanted, code))


def _done(codes: Codes) -> Deferred[Codes]:
    answer: Deferred[Codes] = Deferred()
    answer.resolve(codes)
    return answer
