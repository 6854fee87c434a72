"""Acknowledgements as they come in ShareFetch and ShareAcknowledge, and who leads what they were for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed
from kbroker.coordinator.share.acknowledgement import REJECT, RENEW, AckBatch
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.share_partitions import LiveShare
    from kbroker.broker.shares import Shares
    from kbroker.handlers.context import RequestContext

MEMBER_ID_MAX = 36


def check_member(group_id: str | None, member_id: str | None) -> tuple[str, str]:
    """Both, or INVALID_REQUEST."""
    if not group_id or not member_id or len(member_id) > MEMBER_ID_MAX:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    return group_id, member_id


def ack_batches(batches: Iterable[Any], renews: bool) -> list[AckBatch]:
    """Checked: in order, apart, of known kinds, one kind for all or one for each record.

    Raises:
        ApiError: INVALID_REQUEST.
    """
    found: list[AckBatch] = []
    end = -1
    for each in batches:
        first, last, kinds = each.first_offset, each.last_offset, each.acknowledge_types
        if first > last or first <= end or len(kinds) not in (1, last - first + 1):
            raise ApiError(ErrorCode.INVALID_REQUEST)
        if any(not 0 <= kind <= (RENEW if renews else REJECT) for kind in kinds):
            raise ApiError(ErrorCode.INVALID_REQUEST)
        found.append(AckBatch(first, last, kinds))
        end = last
    return found


def acknowledge(
    services: Services,
    parts: Shares,
    group_id: str,
    member_id: str,
    place: tuple[bytes, int],
    batches: Iterable[Any],
    renews: bool,
) -> Deferred[None]:
    """Take acknowledgements for one partition; done when written, fails with ApiError."""
    topic_id, index = place
    topic = services.metadata.image.topics.by_id(topic_id)
    if topic is None:
        return failed(ApiError(ErrorCode.UNKNOWN_TOPIC_ID))
    if not 0 <= index < len(topic.partitions):
        return failed(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    try:
        checked = ack_batches(batches, renews)
    except ApiError as error:
        return failed(error)
    for each in checked:
        if len(each.kinds) == 1:
            parts.acked[each.kinds[0]] += each.last - each.first + 1
        else:
            parts.acked.update(each.kinds)
    live = parts.partitions.here(group_id, topic_id, index)
    if live is not None:
        return live.acknowledge(member_id, checked)
    answer: Deferred[None] = Deferred()

    def pass_on(done: Deferred[None]) -> None:
        try:
            answer.resolve(done.result())
        except ApiError as error:
            answer.fail(error)

    def found(done: Deferred[LiveShare]) -> None:
        try:
            done.result().acknowledge(member_id, checked).then(pass_on)
        except ApiError as error:
            answer.fail(error)

    parts.partitions.get(group_id, topic_id, index).then(found)
    return answer


def name_leader(
    services: Services,
    context: RequestContext,
    topic_id: bytes,
    result: Any,
    nodes: dict[int, Any],
    kind: Any,
) -> None:
    """Tell a client that asked the wrong broker which one is right.

    Args:
        nodes: the answer's endpoints so far, by node.
        kind: the answer's class for one.
    """
    image = services.metadata.image
    topic = image.topics.by_id(topic_id)
    if topic is None or not 0 <= result.partition_index < len(topic.partitions):
        return
    state = topic.partitions[result.partition_index]
    result.current_leader.leader_id = state.leader
    result.current_leader.leader_epoch = state.leader_epoch
    broker = image.brokers.get(state.leader)
    endpoint = None if broker is None else broker.endpoint(context.listener_name)
    if broker is not None and endpoint is not None:
        nodes[broker.id] = kind(node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
