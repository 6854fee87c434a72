"""Checks of a ConsumerGroupHeartbeat, in Kafka's order and words."""

from __future__ import annotations

from collections.abc import Collection

from kbroker.coordinator.group.consumer_member import JOIN, LEAVE, LEAVE_FOR_A_MOMENT
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kbroker.protocol.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse

#: Version from which a member makes its own id (KIP-1082).
_OWN_ID_SINCE = 1


def refused(code: ErrorCode, message: str | None) -> ConsumerGroupHeartbeatResponse:
    """An answer that is only an error."""
    return ConsumerGroupHeartbeatResponse(
        error_code=code, error_message=message, member_id=None, assignment=None
    )


def check_form(request: ConsumerGroupHeartbeatRequest, version: int) -> None:
    """INVALID_REQUEST for what no member says."""
    epoch = request.member_epoch
    if epoch > JOIN or epoch == LEAVE or version >= _OWN_ID_SINCE:
        _not_empty("MemberId", request.member_id)
    _not_empty("GroupId", request.group_id)
    _not_empty("InstanceId", request.instance_id)
    _not_empty("RackId", request.rack_id)
    if epoch == JOIN:
        if request.rebalance_timeout_ms == -1:
            raise _invalid("RebalanceTimeoutMs must be provided in first request.")
        if request.topic_partitions is None or request.topic_partitions:
            raise _invalid("TopicPartitions must be empty when (re-)joining.")
        if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            raise _invalid(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
            )
    elif epoch == LEAVE_FOR_A_MOMENT:
        if request.instance_id is None:
            raise _invalid("InstanceId can't be null.")
    elif epoch < LEAVE:
        raise _invalid("MemberEpoch is invalid.")


def check_assignor(request: ConsumerGroupHeartbeatRequest, assignors: Collection[str]) -> None:
    """UNSUPPORTED_ASSIGNOR for one that is not offered."""
    name = request.server_assignor
    if name is not None and name not in assignors:
        offered = ", ".join(assignors)
        raise ApiError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {name} is not supported. Supported assignors: {offered}.",
        )


def _not_empty(name: str, text: str | None) -> None:
    if text is not None and not text.strip():
        raise _invalid(f"{name} can't be empty.")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
