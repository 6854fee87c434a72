"""AlterPartition: leaders propose their ISRs to the active controller (KIP-497, KIP-704, KIP-903).

v2 topic ids; v3 broker epochs in the ISR. Versions 0 and 1 name topics; Kafka's controllers refuse them, but
for those of clusters in ZooKeeper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.alter_partition import IsrMember, Proposal, ProposalOutcome, alter_partitions
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated import alter_partition_request as asked
    from kbroker.types import Uuid

VERSIONS = (2, 3)
ZOOKEEPER_VERSIONS = (0, 3)


def handle(
    services: Services, context: RequestContext, request: asked.AlterPartitionRequest
) -> Deferred[AlterPartitionResponse]:
    """Answered when the new ISRs are committed."""
    by_name = context.version < 2

    def proposals(image: ClusterImage) -> list[Proposal]:
        return [
            _proposal(_id_of(image, topic) if by_name else topic.topic_id, partition, context.version)
            for topic in request.topics
            for partition in topic.partitions
        ]

    def answer(outcomes: list[ProposalOutcome]) -> AlterPartitionResponse:
        left = iter(outcomes)
        return AlterPartitionResponse(
            topics=[
                TopicData(
                    topic_name=topic.topic_name,
                    topic_id=topic.topic_id,
                    partitions=[_partition(p.partition_index, next(left), by_name) for p in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    rules = services.active_chores.rules
    return services.controller.append_records(
        lambda image: alter_partitions(
            image, request.broker_id, request.broker_epoch, proposals(image), rules
        ),
        by_leader=True,
    ).map(answer)


def _id_of(image: ClusterImage, topic: asked.TopicData) -> Uuid:
    found = image.topics.get(topic.topic_name)
    return ZERO_UUID if found is None else found.id


def _proposal(topic_id: Uuid, partition: asked.PartitionData, version: int) -> Proposal:
    isr = (
        [IsrMember(member.broker_id, member.broker_epoch) for member in partition.new_isr_with_epochs]
        if version >= 3
        else [IsrMember(broker_id) for broker_id in partition.new_isr]
    )
    return Proposal(
        topic_id,
        partition.partition_index,
        partition.leader_epoch,
        partition.partition_epoch,
        isr,
        partition.leader_recovery_state,
    )


def _partition(index: int, outcome: ProposalOutcome, by_name: bool) -> PartitionData:
    state = outcome.state
    if state is None:
        code = outcome.code
        if by_name and code is ErrorCode.UNKNOWN_TOPIC_ID:
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return PartitionData(partition_index=index, error_code=code)
    return PartitionData(
        partition_index=index,
        leader_id=state.leader,
        leader_epoch=state.leader_epoch,
        isr=list(state.isr),
        leader_recovery_state=state.leader_recovery_state,
        partition_epoch=state.partition_epoch,
    )


def error_response(
    request: asked.AlterPartitionRequest, version: int, code: ErrorCode, message: str | None
) -> AlterPartitionResponse:
    """Nothing but the error."""
    return AlterPartitionResponse(error_code=code)
