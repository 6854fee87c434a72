"""ShareAcknowledge (79): a member says what became of records that it holds (KIP-932).

v1 first (v0 was an early access); v2 renewing of locks, the lock's time in the answer (KIP-1222).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.gather import gather
from kbroker.broker.share_sessions import FINAL_EPOCH, INITIAL_EPOCH
from kbroker.broker.shares import shares
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.share_acks import acknowledge, check_member, name_leader
from kbroker.protocol.generated.share_acknowledge_response import (
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.share_acknowledge_request import ShareAcknowledgeRequest

VERSIONS = (1, 2)


def handle(
    services: Services, context: RequestContext, request: ShareAcknowledgeRequest
) -> Deferred[ShareAcknowledgeResponse]:
    """Answered once what is acknowledged is written."""
    parts = shares(services)
    parts.settings.check()
    group_id, member_id = check_member(request.group_id, request.member_id)
    if request.share_session_epoch == INITIAL_EPOCH:
        raise ApiError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    session = parts.sessions.find(group_id, member_id)
    final = request.share_session_epoch == FINAL_EPOCH
    if not final:
        session.check(request.share_session_epoch)
    wanted = [(topic.topic_id, each) for topic in request.topics for each in topic.partitions]
    acks = [
        acknowledge(
            services,
            parts,
            group_id,
            member_id,
            (topic_id, each.partition_index),
            each.acknowledgement_batches,
            request.is_renew_ack,
        )
        for topic_id, each in wanted
    ]

    def answer(values: list[ApiError | None]) -> ShareAcknowledgeResponse:
        if final:
            parts.sessions.close(session)
        nodes: dict[int, NodeEndpoint] = {}
        topics: dict[bytes, list[Any]] = {}
        for (topic_id, each), value in zip(wanted, values):
            result = PartitionData(partition_index=each.partition_index)
            if value is not None:
                result.error_code, result.error_message = value.code, value.message
            if result.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                name_leader(services, context, topic_id, result, nodes, NodeEndpoint)
            topics.setdefault(topic_id, []).append(result)
        return ShareAcknowledgeResponse(
            acquisition_lock_timeout_ms=parts.settings.limits(group_id).lock_ms,
            responses=[
                ShareAcknowledgeTopicResponse(topic_id=topic_id, partitions=results)
                for topic_id, results in topics.items()
            ],
            node_endpoints=list(nodes.values()),
        )

    return gather(acks).map(answer)


def error_response(
    request: ShareAcknowledgeRequest, version: int, code: ErrorCode, message: str | None
) -> ShareAcknowledgeResponse:
    """No partitions."""
    return ShareAcknowledgeResponse(error_code=code, error_message=message)
