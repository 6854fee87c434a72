"""What a Produce request's partitions come to, and the answer that says so."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode, ProtocolError, to_keep
from kbroker.handlers.produce_prefix import FLEXIBLE_SINCE
from kbroker.protocol.generated.produce_response import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from kbroker.storage.append_checks import AppendError, RecordErrors
from kbroker.storage.disk import StorageError

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.metadata.image import ClusterImage
    from kbroker.metrics.requests import ApiStats
    from kbroker.metrics.topics import TopicBook
    from kbroker.storage.log import AppendResult

#: Errors after which a client is told who leads (KIP-951).
WRONG_LEADER = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
#: What the metrics of a topic tell apart.
_REJECTED = (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE)
_KEYLESS = "message without key"
_OTHER_MAGIC = "batches with magic version"
_LEAD = Struct(">ii")


class VerificationError(ApiError):
    """A transactional batch that the coordinator does not vouch for; the client is told its message."""


class Item:
    """One partition of a request on its way to an answer."""

    __slots__ = ("answer", "error", "failure", "index", "name", "partition", "records", "result", "topic_id")

    def __init__(self, name: str, topic_id: bytes, index: int, records: Any = None) -> None:
        self.name = name
        self.topic_id = topic_id
        self.index = index
        self.records: memoryview | bytes | None = records
        self.partition: Partition | None = None
        self.result: AppendResult | None = None
        self.failure: ApiError | None = None
        self.error: ErrorCode | None = None
        self.answer: PartitionProduceResponse | None = None

    def fail(self, failure: ApiError) -> None:
        """Answer with this error."""
        self.failure = to_keep(failure)
        self.error = failure.code

    def own_records(self) -> None:
        """Copy the records: it goes on later, and the connection uses the frame's memory again."""
        if self.records is not None:
            self.records = bytes(self.records)

    @property
    def is_uncommitted(self) -> bool:
        """Appended, and not committed yet as far as the write alone decides."""
        partition = self.partition
        return (
            self.error is None
            and partition is not None
            and (partition.has_followers or partition.waits_for_sync)
        )

    @property
    def waits_for_sync(self) -> bool:
        """Appended, and to be synced before it is acknowledged."""
        return self.error is None and self.partition is not None and self.partition.waits_for_sync

    def response(self) -> PartitionProduceResponse:
        """The partition's part of the answer."""
        failure, result = self.failure, self.result
        if failure is None and result is not None:
            return PartitionProduceResponse(
                index=self.index,
                base_offset=result.base_offset,
                log_append_time_ms=result.append_time_ms,
                log_start_offset=result.log_start_offset,
            )
        answer = PartitionProduceResponse(index=self.index, base_offset=-1, log_append_time_ms=-1)
        if failure is None:
            return answer
        answer.error_code = failure.code
        if isinstance(failure, AppendError):
            answer.log_start_offset = failure.log_start_offset
            if failure.told:
                answer.error_message = failure.message
                answer.record_errors = [
                    BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=text)
                    for index, text in failure.record_errors
                ]
        elif isinstance(failure, StorageError | VerificationError):
            answer.error_message = failure.message
        return answer


def response_of(items: list[Item], version: int) -> ProduceResponse:
    """The response, topics in order of their first partition."""
    topics: dict[object, TopicProduceResponse] = {}
    for item in items:
        key: object = item.topic_id if version >= 13 else item.name
        topic = topics.get(key)
        if topic is None:
            topic = topics[key] = TopicProduceResponse()
            if version >= 13:
                topic.topic_id = item.topic_id
            else:
                topic.name = item.name
        item.answer = item.response()
        if version < 4 and item.answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR:
            # A client of that time does not know the code; it looks for another leader.
            item.answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        topic.partition_responses.append(item.answer)
    return ProduceResponse(responses=list(topics.values()))


def name_leaders(
    response: ProduceResponse, items: list[Item], image: ClusterImage, listener_name: str
) -> None:
    """KIP-951: tell a client that asked the wrong broker who leads, and where that is."""
    named: dict[int, NodeEndpoint] = {}
    for item in items:
        state = image.topics.partition(item.name, item.index)
        if item.error not in WRONG_LEADER or item.answer is None or state is None:
            continue
        item.answer.current_leader = LeaderIdAndEpoch(leader_id=state.leader, leader_epoch=state.leader_epoch)
        broker = image.brokers.get(state.leader)
        endpoint = broker.endpoint(listener_name) if broker is not None else None
        if broker is not None and endpoint is not None:
            named[broker.id] = NodeEndpoint(
                node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
    response.node_endpoints = list(named.values())


def encode_answer(response: ProduceResponse, version: int, correlation_id: int) -> bytes:
    """The whole answer, length and header included."""
    out = bytearray(9 if version >= FLEXIBLE_SINCE else 8)
    response.encode_into(out, version)
    _LEAD.pack_into(out, 0, len(out) - 4, correlation_id)
    return bytes(out)


def count_errors(items: list[Item], stats: ApiStats, topics: TopicBook) -> None:
    """Before the answer leaves."""
    for item in items:
        if item.error:
            stats.error(item.error)
            topic = topics.of(item.name)
            topic.failed_produce += 1
            if item.error in _REJECTED and item.records is not None:
                topic.bytes_rejected += len(item.records)
            elif item.error == ErrorCode.CORRUPT_MESSAGE:
                topic.invalid_crc += 1
            elif item.error == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                topic.invalid_sequence += 1
            elif item.failure is not None and _OTHER_MAGIC in (item.failure.message or ""):
                topic.invalid_magic += 1
            elif isinstance(item.failure, RecordErrors):
                topic.no_key += sum(_KEYLESS in each.message for each in item.failure.record_errors)


def close_on_error(items: list[Item]) -> None:
    """acks=0 has no answer: only closing tells of an error; the client looks for a new leader."""
    for item in items:
        if item.error is not None:
            raise ProtocolError(f"Produce with acks=0 to {item.name}-{item.index} failed: {item.error.name}")
