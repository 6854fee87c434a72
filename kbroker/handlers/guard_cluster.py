"""Guards of what concerns the cluster, where the answer has a shape of its own for who may not."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode, default_message
from kbroker.handlers import allowed_operations
from kbroker.handlers.api_table import OWN_CLIENT
from kbroker.handlers.guard_pieces import after
from kbroker.handlers.guards import Handle, check_cluster, is_controller, may_on_cluster
from kbroker.protocol.api_keys import response_class
from kbroker.protocol.generated.alter_replica_log_dirs_response import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from kbroker.protocol.generated.describe_log_dirs_response import DescribeLogDirsResponse
from kbroker.security.acl import CLUSTER_NAME, Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
#: Since which version DescribeLogDirs has an error for the whole.
_LOG_DIRS_ERROR_SINCE = 3
_STATE_RESULTS = {
    83: "InitializeStateResult",
    84: "ReadStateResult",
    85: "WriteStateResult",
    86: "DeleteStateResult",
    87: "ReadStateSummaryResult",
}


def fetch_metadata(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """CLUSTER_ACTION: who follows the metadata log."""
    check_cluster(services, context, Operation.CLUSTER_ACTION)
    return handle(services, context, request)


def share_state(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """CLUSTER_ACTION: what group coordinators ask share coordinators."""
    try:
        check_cluster(services, context, Operation.CLUSTER_ACTION)
    except ApiError:
        return _share_state_refused(context.api_key, request)
    return handle(services, context, request)


def _share_state_refused(api_key: int, request: Any) -> Any:
    response: Any = response_class(api_key)()
    # Their answers look alike, by classes of their own.
    shapes: Any = import_module(type(response).__module__)
    result = getattr(shapes, _STATE_RESULTS[api_key])
    response.results = [
        result(
            topic_id=topic.topic_id,
            partitions=[
                shapes.PartitionResult(
                    partition=each.partition, error_code=_DENIED, error_message=default_message(_DENIED)
                )
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return response


def alter_replica_log_dirs(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """ALTER, told of each partition."""
    if services.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        return handle(services, context, request)
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            result = topics.setdefault(topic.name, AlterReplicaLogDirTopicResult(topic_name=topic.name))
            result.partitions += [
                AlterReplicaLogDirPartitionResult(partition_index=index, error_code=_DENIED)
                for index in topic.partitions
            ]
    return AlterReplicaLogDirsResponse(results=list(topics.values()))


def describe_log_dirs(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE; old versions are told nothing."""
    if services.allows(context, Operation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return handle(services, context, request)
    told = context.version >= _LOG_DIRS_ERROR_SINCE
    return DescribeLogDirsResponse(error_code=_DENIED if told else 0, results=[])


def describe_cluster(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """Everybody at a broker; ALTER at a controller. Operations for who may DESCRIBE."""
    if is_controller(context):
        check_cluster(services, context, Operation.ALTER)
    bits = cluster_bits(services, context) if request.include_cluster_authorized_operations else None

    def narrow(response: Any) -> Any:
        if bits is not None and response.cluster_authorized_operations != allowed_operations.UNKNOWN:
            response.cluster_authorized_operations = bits
        return response

    return after(handle(services, context, request), narrow)


def cluster_bits(services: Services, context: RequestContext) -> int:
    """The operations on the cluster that are allowed; nothing for who may not even DESCRIBE it."""
    assert services.authorizer is not None
    if not may_on_cluster(services, context, Operation.DESCRIBE):
        return 0
    return services.authorizer.operations(context, ResourceType.CLUSTER, CLUSTER_NAME)


def kbroker_command(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """What the command's module asks for by its `OPERATION`, else DESCRIBE."""
    from kbroker.handlers.kbroker_command import COMMANDS

    if context.client_software_name != OWN_CLIENT:
        return handle(services, context, request)  # which closes: for others it does not exist
    operation = Operation.DESCRIBE
    if request.command in COMMANDS:
        module = import_module(f"kbroker.handlers.command_{request.command}")
        operation = getattr(module, "OPERATION", operation)
    check_cluster(services, context, operation)
    return handle(services, context, request)
