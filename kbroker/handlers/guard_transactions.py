"""Guards of producers' ids and transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.guard_groups import check_group
from kbroker.handlers.guard_offsets import sort_out
from kbroker.handlers.guard_pieces import after, allowed_names, with_changes
from kbroker.handlers.guards import Handle, check_cluster, may_on_cluster
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.generated.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kbroker.protocol.generated.describe_transactions_response import (
    DescribeTransactionsResponse,
    TransactionState,
)
from kbroker.protocol.generated.txn_offset_commit_response import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from kbroker.security.acl import Operation, ResourceType

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_TXN_DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
_FROM_BROKERS_SINCE = 4
_TOPIC_IDS_SINCE = 6


def check_transactional_id(services: Services, context: RequestContext, transactional_id: str) -> None:
    """WRITE.

    Raises:
        ApiError: TRANSACTIONAL_ID_AUTHORIZATION_FAILED.
    """
    if not services.allows(context, Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id):
        raise ApiError(_TXN_DENIED)


def init_producer_id(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """WRITE the transactional id; without one IDEMPOTENT_WRITE, or WRITE of any topic (KIP-679)."""
    if request.transactional_id is not None:
        check_transactional_id(services, context, request.transactional_id)
    elif not may_on_cluster(services, context, Operation.IDEMPOTENT_WRITE):
        assert services.authorizer is not None
        if not services.authorizer.allows_some(context, Operation.WRITE, ResourceType.TOPIC):
            check_cluster(services, context, Operation.IDEMPOTENT_WRITE)
    return handle(services, context, request)


def add_partitions_to_txn(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """From brokers CLUSTER_ACTION; from clients WRITE of id and topics, all or none."""
    if context.version >= _FROM_BROKERS_SINCE:
        check_cluster(services, context, Operation.CLUSTER_ACTION)
        return handle(services, context, request)
    check_transactional_id(services, context, request.v3_and_below_transactional_id)
    topics = request.v3_and_below_topics
    names = [topic.name for topic in topics if topic.name not in INTERNAL_TOPICS]
    allowed = allowed_names(services, context, Operation.WRITE, ResourceType.TOPIC, names)
    if all(topic.name in allowed for topic in topics):
        return handle(services, context, request)
    image = services.metadata.image

    def code(name: str, index: int) -> ErrorCode:
        if name not in allowed:
            return _DENIED
        if image.topics.partition(name, index) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.OPERATION_NOT_ATTEMPTED

    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                name=topic.name,
                results_by_partition=[
                    AddPartitionsToTxnPartitionResult(
                        partition_index=index, partition_error_code=code(topic.name, index)
                    )
                    for index in topic.partitions
                ],
            )
            for topic in topics
        ]
    )


def add_offsets_to_txn(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """WRITE the transactional id, READ the group."""
    check_transactional_id(services, context, request.transactional_id)
    check_group(services, context, request.group_id)
    return handle(services, context, request)


def end_txn(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """WRITE the transactional id."""
    check_transactional_id(services, context, request.transactional_id)
    return handle(services, context, request)


def txn_offset_commit(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """WRITE the transactional id, READ the group and each topic."""
    check_transactional_id(services, context, request.transactional_id)
    check_group(services, context, request.group_id)
    by_id = context.version >= _TOPIC_IDS_SINCE
    may, may_not = sort_out(services, context, Operation.READ, request.topics, by_id=by_id)
    refused = [
        TxnOffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=_DENIED)
                for each in topic.partitions
            ],
        )
        for topic in may_not
    ]
    if refused and not may:
        return TxnOffsetCommitResponse(topics=refused)

    def add(response: Any) -> Any:
        response.topics = refused + response.topics
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)


def describe_transactions(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE each transactional id; of its topics those that may be described are told."""
    ids = request.transactional_ids
    allowed = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, ids)
    may = [each for each in ids if each in allowed]
    response = DescribeTransactionsResponse()
    if may:
        response = handle(services, context, with_changes(request, transactional_ids=may))
    names = [topic.topic for state in response.transaction_states for topic in state.topics]
    visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, names, quietly=True)
    for state in response.transaction_states:
        state.topics = [topic for topic in state.topics if topic.topic in visible]
    response.transaction_states += [
        TransactionState(transactional_id=each, error_code=_TXN_DENIED) for each in ids if each not in allowed
    ]
    return response


def list_transactions(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """Those that may be described."""
    response = handle(services, context, request)
    ids = [state.transactional_id for state in response.transaction_states]
    visible = allowed_names(
        services, context, Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, ids, quietly=True
    )
    response.transaction_states = [
        state for state in response.transaction_states if state.transactional_id in visible
    ]
    return response
