"""Where share groups are, and moving them, at their coordinator: for tools (KIP-932)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kbroker.broker.auto_topics import SHARE_STATE
from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed, gather
from kbroker.broker.latest_offsets import Ends, latest_offsets
from kbroker.broker.share_groups import begun_state, share_groups
from kbroker.broker.shares import shares
from kbroker.coordinator.share.state_shard import UNKNOWN_OFFSET, ShareKey, ShareState
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.coordinator.group.share_group import ShareGroup
    from kbroker.coordinator.group.share_records import StateTopics
    from kbroker.metadata.image import TopicImage

_UNKNOWN = ShareState()
_NOTHING_KEPT = "There is no offset information to delete."


class ShareOffsets:
    """One request's look at the groups of this broker; methods raise, or fail with, ApiError."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._groups = share_groups(services)
        self._persister = shares(services).persister

    def check(self) -> None:
        """UNSUPPORTED_VERSION while share groups are off."""
        self._groups.settings.check()

    def _group(self, group_id: str) -> ShareGroup | None:
        """The group; None if there is none at all."""
        try:
            return self._groups.find(group_id)
        except ApiError as error:
            there = self._services.groups.group(group_id) is not None
            if error.code is not ErrorCode.GROUP_ID_NOT_FOUND or there:
                raise
            return None

    # -- describing ------------------------------------------------------------------------------------------

    def describe(self, group_id: str, topics: Sequence[tuple[str, Sequence[int]]] | None) -> Deferred[Any]:
        """[(topic, id, [(partition, (start, leader epoch, lag) or ApiError)])]; None: all it knows."""
        try:
            group = self._group(group_id)
        except ApiError as error:
            if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:
                return failed(error)
            group = None  # one of another kind is nowhere as a share group
        known = {} if group is None else group.state.initialized
        if topics is None:
            topics = [(name, sorted(partitions)) for name, partitions in known.values()]
        image = self._services.metadata.image
        may_have_state = image.topics.get(SHARE_STATE) is not None
        parts: list[Deferred[ShareState]] = []
        shape: list[tuple[str, Uuid, list[int]]] = []
        for name, partitions in topics:
            topic = image.topics.get(name)
            topic_id = ZERO_UUID if topic is None else topic.id
            shape.append((name, topic_id, list(partitions)))
            for index in partitions:
                state = image.topics.partition(name, index)
                if state is not None and may_have_state:  # whether the group knows it or not
                    key = ShareKey(group_id, topic_id, index)
                    parts.append(self._persister.summary(key, state.leader_epoch))
                else:
                    parts.append(_done(_UNKNOWN))
        places = [(name, index) for name, _, indexes in shape for index in indexes]
        answer: Deferred[Any] = Deferred()

        def told(done: Deferred[list[ShareState | ApiError]]) -> None:
            states = done.result()
            counted = [place for place, state in zip(places, states) if _is_counted(state)]
            latest_offsets(self._services, counted).map(lambda ends: _positions(shape, states, ends)).then(
                lambda ended: _pass_on(ended, answer)
            )

        gather(parts).then(told)
        return answer

    # -- moving ----------------------------------------------------------------------------------------------

    def alter(self, group_id: str, topics: Mapping[str, Mapping[int, int]]) -> Deferred[Any]:
        """[(topic, id, [(partition, None or ApiError)])].

        A group that does not exist comes into being if one of the topics does, as in Kafka.
        """
        group = self._group(group_id)
        if group is not None and group.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")
        epoch = 1 if group is None else max(group.epoch, 1)
        image = self._services.metadata.image
        parts: list[Deferred[Any]] = []
        places: list[tuple[Uuid, int]] = []
        for name, partitions in topics.items():
            topic = image.topics.get(name)
            for index, offset in partitions.items():
                places.append((ZERO_UUID if topic is None else topic.id, index))
                if topic is None or not 0 <= index < len(topic.partitions):
                    parts.append(failed(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)))
                else:
                    parts.append(
                        self._persister.initialize(ShareKey(group_id, topic.id, index), epoch, offset)
                    )
        answer: Deferred[Any] = Deferred()

        def begun(done: Deferred[list[Any]]) -> None:
            values = done.result()
            made: dict[Uuid, set[int]] = {}
            for (topic_id, index), value in zip(places, values):
                if not isinstance(value, ApiError):
                    made.setdefault(topic_id, set()).add(index)
            found = iter(values)
            result = [
                (
                    name,
                    _id_of(image.topics.get(name)),
                    [(index, next(found)) for index in partitions],
                )
                for name, partitions in topics.items()
            ]
            names = self._services.topic_name_of
            self._groups.change_state(
                group_id,
                lambda group: begun_state(group, made, lambda each: names(each) or ""),
                is_wanted=any(name in image.topics for name in topics),
            ).map(lambda _: result).then(lambda noted: _pass_on(noted, answer))

        gather(parts).then(begun)
        return answer

    def delete(self, group_id: str, names: Sequence[str]) -> Deferred[Any]:
        """[(topic, id, None or ApiError)]: what the group knows of these topics goes."""
        group = self._group(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if group.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")
        image = self._services.metadata.image
        result: list[tuple[str, Uuid, ApiError | None]] = []
        gone: dict[Uuid, frozenset[int]] = {}
        for name in names:
            topic = image.topics.get(name)
            if topic is None:
                result.append((name, ZERO_UUID, ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)))
                continue
            known = group.initialized(topic.id)
            if not known:
                refusal = ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _NOTHING_KEPT)
                result.append((name, ZERO_UUID, refusal))
                continue
            result.append((name, topic.id, None))
            gone[topic.id] = known
        answer: Deferred[Any] = Deferred()

        def deleted(done: Deferred[list[Any]]) -> None:
            errors = [each for each in done.result() if isinstance(each, ApiError)]
            if errors:
                answer.resolve([(name, each, error or errors[0]) for name, each, error in result])
                return
            self._groups.change_state(group_id, lambda now: _without(now, gone)).map(lambda _: result).then(
                lambda noted: _pass_on(noted, answer)
            )

        self._groups.delete_state(group_id, gone).then(deleted)
        return answer


def _is_counted(state: ShareState | ApiError) -> bool:
    """Whether the group has begun, so that there is a lag to tell."""
    return (
        not isinstance(state, ApiError)
        and state.start_offset != UNKNOWN_OFFSET
        and state.complete_count != -1
    )


def _positions(
    shape: Sequence[tuple[str, Uuid, list[int]]], states: Sequence[ShareState | ApiError], ends: Ends
) -> Any:
    """The lag is what it comes to, as in Kafka: below zero where the start was moved behind the end."""
    left = iter(states)

    def position(name: str, index: int) -> tuple[int, int, int] | ApiError:
        state = next(left)
        if isinstance(state, ApiError):
            return state
        lag = -1
        if _is_counted(state):
            end = ends[name, index]
            if isinstance(end, ApiError):
                return end
            lag = end - state.start_offset - state.complete_count
        return state.start_offset, state.leader_epoch, lag

    return [
        (name, topic_id, [(index, position(name, index)) for index in indexes])
        for name, topic_id, indexes in shape
    ]


def _without(group: ShareGroup, gone: Mapping[Uuid, Any]) -> StateTopics:
    state = group.state
    return state._replace(
        initialized={each: found for each, found in state.initialized.items() if each not in gone}
    )


def _id_of(topic: TopicImage | None) -> Uuid:
    return ZERO_UUID if topic is None else topic.id


def _done(value: Any) -> Deferred[Any]:
    answer: Deferred[Any] = Deferred()
    answer.resolve(value)
    return answer


def _pass_on(done: Deferred[Any], answer: Deferred[Any]) -> None:
    try:
        answer.resolve(done.result())
    except ApiError as error:
        answer.fail(error)
