"""AssignReplicasToDirs: a broker tells which log directory its replicas lie in (KIP-858).

v0 first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.controller.directories import assign_replicas
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.assign_replicas_to_dirs_response import (
    AssignReplicasToDirsResponse,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest

VERSIONS = (0, 0)


def handle(
    services: Services, context: RequestContext, request: AssignReplicasToDirsRequest
) -> Deferred[AssignReplicasToDirsResponse]:
    """Answered when the directories are committed."""
    directories: dict[tuple[Uuid, int], Uuid] = {
        (topic.topic_id, partition.partition_index): directory.id
        for directory in request.directories
        for topic in directory.topics
        for partition in topic.partitions
    }

    def answer(codes: dict[tuple[Uuid, int], ErrorCode]) -> AssignReplicasToDirsResponse:
        return AssignReplicasToDirsResponse(
            directories=[
                DirectoryData(
                    id=directory.id,
                    topics=[
                        TopicData(
                            topic_id=topic.topic_id,
                            partitions=[
                                PartitionData(
                                    partition_index=p.partition_index,
                                    error_code=codes[topic.topic_id, p.partition_index],
                                )
                                for p in topic.partitions
                            ],
                        )
                        for topic in directory.topics
                    ],
                )
                for directory in request.directories
            ]
        )

    rules = services.active_chores.rules
    return services.controller.append_records(
        lambda image: assign_replicas(image, request.broker_id, request.broker_epoch, directories, rules)
    ).map(answer)


def error_response(
    request: AssignReplicasToDirsRequest, version: int, code: ErrorCode, message: str | None
) -> AssignReplicasToDirsResponse:
    """Nothing but the error."""
    return AssignReplicasToDirsResponse(error_code=code)
