"""DescribeQuorum: leader, high watermark and voters of the metadata quorum (KIP-595, KIP-836).

v0 first; v1 fetch times; v2 directory ids, messages, endpoints of the nodes (KIP-853).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ErrorCode, default_message
from kbroker.protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.describe_quorum_request import DescribeQuorumRequest

VERSIONS = (0, 2)

_TOPIC = "__cluster_metadata"


def handle(
    services: Services, context: RequestContext, request: DescribeQuorumRequest
) -> DescribeQuorumResponse:
    """Answered for a request that names the metadata partition and nothing else."""
    asked = [(topic.topic_name, p.partition_index) for topic in request.topics for p in topic.partitions]
    if asked != [(_TOPIC, 0)]:
        return _unknown(request)
    quorum = services.controller.quorum_status()
    now = services.clock.now_ms()
    voters = [
        ReplicaState(
            replica_id=voter.id,
            replica_directory_id=voter.directory_id if context.version >= 2 else ZERO_UUID,
            log_end_offset=quorum.log_end_offset,
            last_fetch_timestamp=now,
            last_caught_up_timestamp=now,
        )
        for voter in quorum.voters
    ]
    partition = PartitionData(
        leader_id=quorum.leader_id,
        leader_epoch=quorum.leader_epoch,
        high_watermark=quorum.high_watermark,
        current_voters=voters,
    )
    nodes = [
        Node(
            node_id=voter.id,
            listeners=[Listener(name=e.name, host=e.host, port=e.port) for e in voter.endpoints],
        )
        for voter in quorum.voters
    ]
    return DescribeQuorumResponse(
        topics=[TopicData(topic_name=_TOPIC, partitions=[partition])],
        nodes=nodes if context.version >= 2 else [],
    )


def error_response(
    request: DescribeQuorumRequest, version: int, code: ErrorCode, message: str | None
) -> DescribeQuorumResponse:
    """Nothing but the error."""
    return DescribeQuorumResponse(error_code=code, error_message=message)


def _unknown(request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DescribeQuorumResponse(
        topics=[
            TopicData(
                topic_name=topic.topic_name,
                partitions=[
                    PartitionData(
                        partition_index=partition.partition_index,
                        error_code=code,
                        error_message=default_message(code),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
