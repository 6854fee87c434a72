"""Asks the coordinator before a partition takes a transactional write (KIP-890).

A leader that knows of no open transaction of the producer on its partition asks the coordinator: producers
of old clients must have added the partition, for those of new ones it is added now. The answer is for one
moment: a marker that comes in between makes it void, which the guard in the partition's producer state
tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from time import perf_counter
from typing import TYPE_CHECKING

from kbroker.broker.auto_topics import TRANSACTION_STATE
from kbroker.broker.deferred import Deferred
from kbroker.coordinator.partitioner import partition_for
from kbroker.errors import ApiError, ErrorCode
from kbroker.metrics.histogram import Histogram
from kbroker.protocol.generated.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.broker.txn_link import TxnLink
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.cache import MetadataCache
    from kbroker.protocol.generated.add_partitions_to_txn_response import AddPartitionsToTxnResponse

_Place = tuple[str, int]
Verdicts = dict[_Place, ErrorCode]


class ClientLevel(Enum):
    """What a client understands, by the version of its Produce or TxnOffsetCommit."""

    #: Errors of old; partitions were added by requests of their own.
    OLD = 0
    #: TRANSACTION_ABORTABLE, too.
    ABORTABLE = 1
    #: Its partitions are added on the way (transaction version 2).
    ADDS = 2


class TxnVerifier:
    """Verifies transactional writes at their coordinator."""

    def __init__(self, config: BrokerConfig, link: TxnLink, metadata: MetadataCache, timer: Timer) -> None:
        self._config = config
        self._link = link
        self._metadata = metadata
        self._timer = timer
        #: How long verdicts took, in µs, and how many partitions were refused.
        self.times = Histogram(0.001)
        self.failures = 0
        self._retry_ms = config.get_int("add.partitions.to.txn.retry.backoff.ms")
        self._retry_max_ms = config.get_int("add.partitions.to.txn.retry.backoff.max.ms")

    def wants(self, level: ClientLevel) -> bool:
        """Whether writes of such clients are verified at all; adding is not up to a setting."""
        return level is ClientLevel.ADDS or self._config.get_bool("transaction.partition.verification.enable")

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        places: Sequence[_Place],
        level: ClientLevel,
    ) -> Deferred[Verdicts]:
        """What the coordinator says of each partition, as a producer of that level understands it.

        Done at once if this broker is the coordinator. Never fails.
        """
        verdicts: Deferred[Verdicts] = Deferred()
        began_s = perf_counter()
        request = _request(transactional_id, producer_id, epoch, places, level)
        waited_ms = 0

        def ask() -> None:
            leader = self._coordinator(transactional_id)
            if leader < 0:
                verdicts.resolve(dict.fromkeys(places, ErrorCode.COORDINATOR_NOT_AVAILABLE))
            else:
                self._link.send(leader, request).then(answered)

        def answered(done: Deferred[AddPartitionsToTxnResponse]) -> None:
            nonlocal waited_ms
            found = _verdicts(done, places, level)
            busy = ErrorCode.CONCURRENT_TRANSACTIONS in found.values()
            if busy and level is ClientLevel.ADDS and waited_ms < self._retry_max_ms:
                # The end of the transaction before is nearly always there in a moment.
                waited_ms += self._retry_ms
                self._timer.call_later(self._retry_ms, ask)
                return
            self.times.record(int((perf_counter() - began_s) * 1e6))
            self.failures += sum(code is not ErrorCode.NONE for code in found.values())
            verdicts.resolve(found)

        ask()
        return verdicts

    def _coordinator(self, transactional_id: str) -> int:
        topic = self._metadata.image.topics.get(TRANSACTION_STATE)
        if topic is None:
            return -1
        return topic.partitions[partition_for(transactional_id, len(topic.partitions))].leader


def _request(
    transactional_id: str, producer_id: int, epoch: int, places: Sequence[_Place], level: ClientLevel
) -> AddPartitionsToTxnRequest:
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for topic, index in places:
        entry = topics.get(topic)
        if entry is None:
            entry = topics[topic] = AddPartitionsToTxnTopic(name=topic)
        entry.partitions.append(index)
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=transactional_id,
        producer_id=producer_id,
        producer_epoch=epoch,
        verify_only=level is not ClientLevel.ADDS,
        topics=list(topics.values()),
    )
    return AddPartitionsToTxnRequest(transactions=[transaction])


def _verdicts(
    done: Deferred[AddPartitionsToTxnResponse], places: Sequence[_Place], level: ClientLevel
) -> Verdicts:
    try:
        response = done.result()
    except ApiError as error:
        return dict.fromkeys(places, error.code)
    if response.error_code:
        return dict.fromkeys(places, ErrorCode(response.error_code))
    found: Verdicts = dict.fromkeys(places, ErrorCode.UNKNOWN_SERVER_ERROR)
    for transaction in response.results_by_transaction:
        for topic in transaction.topic_results:
            for result in topic.results_by_partition:
                found[topic.name, result.partition_index] = _as_told(
                    ErrorCode(result.partition_error_code), level
                )
    return found


def _as_told(code: ErrorCode, level: ClientLevel) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and level is ClientLevel.OLD:
        return ErrorCode.INVALID_TXN_STATE
    return code
