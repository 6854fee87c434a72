"""AlterReplicaLogDirs (34): move replicas between the log directories of this broker (KIP-113).

Versions: 1 same as 0 · 2 flexible. Kafka 4 refuses 0.

The answer says that the move was accepted; DescribeLogDirs shows how far it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.alter_replica_log_dirs_request import AlterReplicaLogDirsRequest

VERSIONS = (0, 2)

#: A move needs a folder whose name has an id and a suffix behind the partition's (KAFKA-4893).
_NAME_MAX = 255 - len(".") - 32 - len("-future")


def handle(
    services: Services, context: RequestContext, request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    """Begin the moves; each partition has its own error. Of one that is named twice the last move counts."""
    wanted = {
        TopicPartition(topic.name, index): directory.path
        for directory in request.dirs
        for topic in directory.topics
        for index in topic.partitions
    }
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    for tp, path in wanted.items():
        result = topics.setdefault(tp.topic, AlterReplicaLogDirTopicResult(topic_name=tp.topic))
        code = _move(services, tp, path)
        result.partitions.append(
            AlterReplicaLogDirPartitionResult(partition_index=tp.partition, error_code=code)
        )
    return AlterReplicaLogDirsResponse(results=list(topics.values()))


def _move(services: Services, tp: TopicPartition, path: str) -> ErrorCode:
    if len(f"{tp.topic}-{tp.partition}") > _NAME_MAX:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    if services.log_mover is None:
        return ErrorCode.REPLICA_NOT_AVAILABLE
    try:
        services.log_mover.move(tp, path)
    except ApiError as error:
        return error.code
    return ErrorCode.NONE
