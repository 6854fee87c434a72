"""AlterPartition: leaders propose their ISRs to the active controller (KIP-497, KIP-704, KIP-903).

v2 topic ids; v3 broker epochs in the ISR. Versions 0 and 1 named topics; Kafka's controllers refuse them.
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

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated import alter_partition_request as asked

VERSIONS = (2, 3)


def handle(
    services: Services, context: RequestContext, request: asked.AlterPartitionRequest
) -> Deferred[AlterPartitionResponse]:
    """Answered when the new ISRs are committed."""
    proposals = [
        _proposal(topic, partition, context.version)
        for topic in request.topics
        for partition in topic.partitions
    ]

    def answer(outcomes: list[ProposalOutcome]) -> AlterPartitionResponse:
        left = iter(outcomes)
        return AlterPartitionResponse(
            topics=[
                TopicData(
                    topic_id=topic.topic_id,
                    partitions=[_partition(p.partition_index, next(left)) for p in topic.partitions],
                )
                for topic in request.topics
            ]
        )

    rules = services.active_chores.rules
    return services.controller.append_records(
        lambda image: alter_partitions(image, request.broker_id, request.broker_epoch, proposals, rules)
    ).map(answer)


def _proposal(topic: asked.TopicData, partition: asked.PartitionData, version: int) -> Proposal:
    isr = (
        [IsrMember(member.broker_id, member.broker_epoch) for member in partition.new_isr_with_epochs]
        if version >= 3
        else [IsrMember(broker_id) for broker_id in partition.new_isr]
    )
    return Proposal(
        topic.topic_id,
        partition.partition_index,
        partition.leader_epoch,
        partition.partition_epoch,
        isr,
        partition.leader_recovery_state,
    )


def _partition(index: int, outcome: ProposalOutcome) -> PartitionData:
    state = outcome.state
    if state is None:
        return PartitionData(partition_index=index, error_code=outcome.code)
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
