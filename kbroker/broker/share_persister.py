"""Keeps the state of share groups with the share coordinator, wherever that is.

Here it is a call; to another broker it is a request. While the coordinator moves or loads it is asked again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.auto_topics import SHARE_STATE, create_automatic_topics
from kbroker.broker.deferred import Deferred
from kbroker.coordinator.partitioner import partition_for
from kbroker.coordinator.share.spans import StateBatch
from kbroker.coordinator.share.state_shard import ShareKey, ShareState, ShareStateShard, Written
from kbroker.errors import ApiError, ErrorCode, error_code

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.share_state import ShareStateDriver
    from kbroker.coordinator.shard import Outcome, Ticket
    from kbroker.protocol.primitives import Message

_RETRY_MS, _RETRIES = 100, 60
_AGAIN = frozenset(
    {
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NETWORK_EXCEPTION,
    }
)


class _Call:
    """One question: what the local shard does, what another broker is sent, how its answer reads."""

    __slots__ = ("answer", "decide", "key", "read", "request", "tries")

    def __init__(
        self,
        key: ShareKey,
        decide: Callable[[ShareStateShard, Ticket], Outcome],
        request: Callable[[], Message],
        read: Callable[[Any], Any],
    ) -> None:
        self.key = key
        self.decide = decide
        self.request = request
        self.read = read
        self.tries = 0
        self.answer: Deferred[Any] = Deferred()


class SharePersister:
    """Each method's answer fails with ApiError."""

    def __init__(self, services: Services, state: ShareStateDriver) -> None:
        self._services = services
        self._state = state

    def initialize(self, key: ShareKey, state_epoch: int, start_offset: int) -> Deferred[None]:
        """Begin anew at `start_offset`, -1: where the group's settings say."""
        from kbroker.protocol.generated import initialize_share_group_state_request as wire

        def request() -> Message:
            part = wire.PartitionData(
                partition=key.partition, state_epoch=state_epoch, start_offset=start_offset
            )
            topics = [wire.InitializeStateData(topic_id=key.topic_id, partitions=[part])]
            return wire.InitializeShareGroupStateRequest(group_id=key.group_id, topics=topics)

        now = self._state.now_ms()
        return self._ask(
            _Call(
                key,
                lambda shard, ticket: shard.initialize(ticket, key, state_epoch, start_offset, now),
                request,
                _nothing,
            )
        )

    def read(self, key: ShareKey, leader_epoch: int) -> Deferred[ShareState]:
        """Everything, as the leader of the partition in that epoch."""
        from kbroker.protocol.generated import read_share_group_state_request as wire

        def request() -> Message:
            part = wire.PartitionData(partition=key.partition, leader_epoch=leader_epoch)
            topics = [wire.ReadStateData(topic_id=key.topic_id, partitions=[part])]
            return wire.ReadShareGroupStateRequest(group_id=key.group_id, topics=topics)

        return self._ask(
            _Call(key, lambda shard, ticket: shard.read(ticket, key, leader_epoch), request, _state_of)
        )

    def write(self, key: ShareKey, what: Written) -> Deferred[None]:
        """What changed."""
        from kbroker.protocol.generated import write_share_group_state_request as wire

        def request() -> Message:
            part = wire.PartitionData(
                partition=key.partition,
                state_epoch=what.state_epoch,
                leader_epoch=what.leader_epoch,
                start_offset=what.start_offset,
                delivery_complete_count=what.complete_count,
                state_batches=[
                    wire.StateBatch(
                        first_offset=each.first,
                        last_offset=each.last,
                        delivery_state=each.state,
                        delivery_count=each.deliveries,
                    )
                    for each in what.batches
                ],
            )
            topics = [wire.WriteStateData(topic_id=key.topic_id, partitions=[part])]
            return wire.WriteShareGroupStateRequest(group_id=key.group_id, topics=topics)

        now = self._state.now_ms()
        return self._ask(
            _Call(key, lambda shard, ticket: shard.write(ticket, key, what, now), request, _nothing)
        )

    def delete(self, key: ShareKey) -> Deferred[None]:
        """Forget it."""
        from kbroker.protocol.generated import delete_share_group_state_request as wire

        def request() -> Message:
            topics = [
                wire.DeleteStateData(
                    topic_id=key.topic_id, partitions=[wire.PartitionData(partition=key.partition)]
                )
            ]
            return wire.DeleteShareGroupStateRequest(group_id=key.group_id, topics=topics)

        return self._ask(_Call(key, lambda shard, ticket: shard.delete(ticket, key), request, _nothing))

    def summary(self, key: ShareKey, leader_epoch: int) -> Deferred[ShareState]:
        """Where the group is."""
        from kbroker.coordinator.shard import Outcome
        from kbroker.protocol.generated import read_share_group_state_summary_request as wire

        def request() -> Message:
            part = wire.PartitionData(partition=key.partition, leader_epoch=leader_epoch)
            topics = [wire.ReadStateSummaryData(topic_id=key.topic_id, partitions=[part])]
            return wire.ReadShareGroupStateSummaryRequest(group_id=key.group_id, topics=topics)

        return self._ask(
            _Call(
                key,
                lambda shard, ticket: Outcome.answer(ticket, shard.summary(key, leader_epoch)),
                request,
                _summary_of,
            )
        )

    # -- asking ----------------------------------------------------------------------------------------------

    def _ask(self, call: _Call) -> Deferred[Any]:
        self._try(call)
        return call.answer

    def _try(self, call: _Call) -> None:
        services = self._services
        topic = services.metadata.image.topics.get(SHARE_STATE)
        if topic is None:
            create_automatic_topics(services, [SHARE_STATE]).then(lambda _: self._again(call))
            return
        leader = topic.partitions[partition_for(call.key.text, len(topic.partitions))].leader
        if leader == services.broker_id:
            self._state.submit(call.key, call.decide).then(lambda done: self._heard(call, done))
        elif leader < 0:
            self._again(call)
        else:
            answer = services.txns.link.send(leader, call.request())
            answer.map(lambda response: _value(call, response)).then(lambda done: self._heard(call, done))

    def _heard(self, call: _Call, done: Deferred[Any]) -> None:
        try:
            value = done.result()
        except ApiError as error:
            value = error
        if not isinstance(value, ApiError):
            call.answer.resolve(value)
        elif value.code in _AGAIN and call.tries < _RETRIES:
            self._again(call)
        else:
            call.answer.fail(value)

    def _again(self, call: _Call) -> None:
        call.tries += 1
        if call.tries > _RETRIES:
            call.answer.fail(ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        else:
            self._services.timer.call_later(_RETRY_MS if call.tries > 1 else 1, lambda: self._try(call))


def _value(call: _Call, response: Any) -> Any:
    (topic,) = response.results
    (result,) = topic.partitions
    if result.error_code:
        return ApiError(error_code(result.error_code), result.error_message)
    return call.read(result)


def _nothing(result: Any) -> None:
    return None


def _state_of(result: Any) -> ShareState:
    batches = tuple(
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in result.state_batches
    )
    return ShareState(state_epoch=result.state_epoch, start_offset=result.start_offset, batches=batches)


def _summary_of(result: Any) -> ShareState:
    return ShareState(
        state_epoch=result.state_epoch,
        leader_epoch=result.leader_epoch,
        start_offset=result.start_offset,
        complete_count=result.delivery_complete_count,
    )
