"""DescribeProducers (61): the producers that a partition remembers (KIP-664).

Versions: 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.topics import topic_name_problem
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_producers_request import DescribeProducersRequest
    from kbroker.storage.producer_state import ProducerEntry

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: DescribeProducersRequest
) -> DescribeProducersResponse:
    """Answer each partition by itself."""
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[_partition(services, topic.name, index) for index in topic.partition_indexes],
            )
            for topic in request.topics
        ]
    )


def _partition(services: Services, topic: str, index: int) -> PartitionResponse:
    answer = PartitionResponse(partition_index=index)
    problem = topic_name_problem(topic)
    try:
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
        log = services.led_partition(topic, index).check_leader()
        answer.active_producers = [_producer(entry) for _, entry in sorted(log.producers.entries.items())]
    except ApiError as error:
        answer.error_code = error.code
        # Kafka has no words for a partition that a topic does not have.
        answer.error_message = error.message if topic in services.metadata.image.topics else error.text
    return answer


def _producer(entry: ProducerEntry) -> ProducerState:
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.epoch,
        last_sequence=entry.last_sequence,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=entry.current_txn_first_offset,
    )
