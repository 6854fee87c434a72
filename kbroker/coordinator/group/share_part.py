"""Share groups as the shard sees them: heartbeats, members that fall silent, and for which partitions the
share coordinator has been asked to keep state. Imported only once there is such a group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.coordinator.group import share_records as write
from kbroker.coordinator.group.share_draft import ShareDraft, ShareGroupSettings
from kbroker.coordinator.group.share_group import ShareGroup
from kbroker.coordinator.group.share_records import ShareMember, StateTopics
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.coordinator.timers import Timer, TimerQueue
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.share_group_heartbeat_response import (
    Assignment,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest

JOIN, LEAVE = 0, -1
_REFRESH_MS = 600_000
_GROUP_KEY = 11


class ShareBeating(NamedTuple):
    """A ShareGroupHeartbeat with what does not stand in it."""

    request: ShareGroupHeartbeatRequest
    client_id: str
    client_host: str
    settings: ShareGroupSettings


class Beaten(NamedTuple):
    """The answer, and partitions for which state has to begin now, in that epoch of the group."""

    response: ShareGroupHeartbeatResponse
    to_initialize: Mapping[Uuid, frozenset[int]]
    epoch: int = 0


class SharePart:
    """The share groups of one shard.

    Args:
        groups: of the shard; `apply` adds to it and removes from it.
        timers: of the shard.
    """

    def __init__(
        self,
        groups: MutableMapping[str, Any],
        timers: TimerQueue[Outcome],
        image: Callable[[], ClusterImage],
    ) -> None:
        self._groups = groups
        self._timers = timers
        self._topics = TopicView(image)

    # -- heartbeats ------------------------------------------------------------------------------------------

    def heartbeat(self, ticket: Ticket, beating: ShareBeating, now_ms: int) -> Outcome:
        """Answers with `Beaten`."""
        request = beating.request
        try:
            check_form(request)
            if request.member_epoch == LEAVE:
                return self._leave(ticket, request, now_ms)
            return self._beat(ticket, beating, now_ms)
        except ApiError as error:
            return Outcome.answer(ticket, Beaten(_refused(error.code, error.message), {}))

    def _beat(self, ticket: Ticket, beating: ShareBeating, now_ms: int) -> Outcome:
        request, settings = beating.request, beating.settings
        group = self._group_to_join(request)
        before = self._member(group, request, settings)
        member = before._replace(client_id=beating.client_id, client_host=beating.client_host)
        if request.rack_id is not None:
            member = member._replace(rack_id=request.rack_id)
        if request.subscribed_topic_names is not None:
            member = member._replace(topics=tuple(sorted(set(request.subscribed_topic_names))))
        draft = ShareDraft(group, self._topics, member, now_ms)
        if before.member_id not in group.members or member.description() != before.description():
            draft.records.append(write.member_record(group.group_id, member))
        draft.settle_epoch(bumps=member.topics != before.topics)
        draft.settle_target(settings)
        draft.reconcile(before)
        to_initialize = draft.begin_state(settings)
        changed = draft.member.assigned != before.assigned
        response = _answer(draft.member, request, settings, changed)
        beaten = Beaten(response, to_initialize, draft.epoch)

        def after() -> Outcome:
            made = self._groups.get(group.group_id)
            if isinstance(made, ShareGroup):
                if draft.refreshed:
                    made.refresh_ms = now_ms + _REFRESH_MS
                if to_initialize:
                    made.initializing_since_ms = now_ms
                self._renew(made, member.member_id, now_ms, settings.session_timeout_ms)
            return Outcome()

        if not draft.records:
            after()
            return Outcome.answer(ticket, beaten)
        return Outcome(
            draft.records,
            refused=lambda code: Outcome.answer(ticket, Beaten(_refused(write_error(code), None), {})),
            then=after,
        ).also(ticket, beaten)

    def _group_to_join(self, request: ShareGroupHeartbeatRequest) -> ShareGroup:
        group = self._groups.get(request.group_id)
        if isinstance(group, ShareGroup):
            return group
        if group is None and request.member_epoch == JOIN:
            return ShareGroup(request.group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found.")
        raise not_a_share_group(request.group_id)

    def _member(
        self, group: ShareGroup, request: ShareGroupHeartbeatRequest, settings: ShareGroupSettings
    ) -> ShareMember:
        member = group.members.get(request.member_id)
        epoch = request.member_epoch
        if member is None:
            if epoch != JOIN:
                raise _unknown_member(group, request.member_id)
            if len(group.members) >= settings.max_size:
                raise ApiError(
                    ErrorCode.GROUP_MAX_SIZE_REACHED,
                    f"The share group has reached its maximum capacity of {settings.max_size} members.",
                )
            return ShareMember(request.member_id)
        if epoch != JOIN and epoch not in (member.epoch, member.previous_epoch):
            word, why = "greater", ""
            if epoch < member.epoch:
                word = "smaller"
                why = f", and it does not match the previous member epoch ({member.previous_epoch})"
            raise ApiError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                f"The share group member has a {word} member epoch ({epoch}) than the one known by the group "
                f"coordinator ({member.epoch}){why}. The member must abandon all its partitions and rejoin.",
            )
        return member

    def _leave(self, ticket: Ticket, request: ShareGroupHeartbeatRequest, now_ms: int) -> Outcome:
        group = self.group(request.group_id)
        if request.member_id not in group.members:
            raise _unknown_member(group, request.member_id)
        response = ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=LEAVE)
        return Outcome(
            self._removed(group, request.member_id),
            refused=lambda code: Outcome.answer(ticket, Beaten(_refused(write_error(code), None), {})),
        ).also(ticket, Beaten(response, {}))

    def _removed(self, group: ShareGroup, member_id: str) -> list[CoordinatorRecord]:
        left = {name for each, one in group.members.items() if each != member_id for name in one.topics}
        records = write.member_tombstones(group.group_id, member_id)
        epoch = group.epoch + 1
        records.append(write.epoch_record(group.group_id, epoch, self._topics.group_hash(left)))
        if len(group.members) == 1:
            records.append(write.target_epoch_record(group.group_id, epoch, 0))
        return records

    # -- time ------------------------------------------------------------------------------------------------

    def _renew(self, group: ShareGroup, member_id: str, now_ms: int, timeout_ms: int) -> None:
        timer = group.sessions.get(member_id)
        if timer is None:
            timer = group.sessions[member_id] = Timer(partial(self._silent, group.group_id, member_id))
        self._timers.start(timer, now_ms + timeout_ms)

    def _silent(self, group_id: str, member_id: str, now_ms: int) -> Outcome:
        group = self._groups.get(group_id)
        if not isinstance(group, ShareGroup) or member_id not in group.members:
            return Outcome()
        return Outcome(self._removed(group, member_id))

    def loaded(self, group: ShareGroup, now_ms: int) -> None:
        """The log has been replayed: sessions begin."""
        for member_id in group.members:
            self._renew(group, member_id, now_ms, ShareGroupSettings().session_timeout_ms)

    def topics_changed(self, names: Iterable[str], racks: bool) -> None:
        """The metadata changed: groups that subscribe to such topics look at them with the next heartbeat."""
        if racks:
            self._topics.racks_changed()
        changed = set(names)
        for group in self._groups.values():
            if isinstance(group, ShareGroup) and (racks or changed & group.subscribed_topics()):
                group.refresh_ms = 0

    # -- state -----------------------------------------------------------------------------------------------

    def change_state(
        self,
        ticket: Ticket,
        group_id: str,
        change: Callable[[ShareGroup], StateTopics],
        *,
        is_wanted: bool = False,
    ) -> Outcome:
        """Note for which partitions there is state; answers None.

        The group comes into being if there is something to note, or `is_wanted`.
        """
        found = self._groups.get(group_id)
        if found is not None and not isinstance(found, ShareGroup):
            return Outcome.answer(ticket, None)
        group = ShareGroup(group_id) if found is None else found
        state = change(group)
        records = [] if state == group.state else [write.state_record(group_id, state)]
        if found is None and (records or is_wanted):
            records.insert(0, write.epoch_record(group_id, group.epoch, 0))
        return Outcome(
            records, refused=lambda code: Outcome.answer(ticket, ApiError(write_error(code)))
        ).also(ticket, None)

    # -- looking, and the log --------------------------------------------------------------------------------

    def group(self, group_id: str) -> ShareGroup:
        """A group; GROUP_ID_NOT_FOUND if there is none of this kind."""
        group = self._groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, ShareGroup):
            raise not_a_share_group(group_id)
        return group

    def apply(self, record: CoordinatorRecord) -> None:
        """Make true what a record says."""
        key = record.key
        group = self._groups.get(key.group_id)
        if not isinstance(group, ShareGroup):
            if record.value is None:
                return
            group = self._groups[key.group_id] = ShareGroup(key.group_id)
        if key.API_KEY == _GROUP_KEY and record.value is None:
            group.stop()
            del self._groups[key.group_id]
        else:
            group.apply(record)


def _answer(
    member: ShareMember, request: ShareGroupHeartbeatRequest, settings: ShareGroupSettings, changed: bool
) -> ShareGroupHeartbeatResponse:
    response = ShareGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
    )
    if request.member_epoch == JOIN or request.subscribed_topic_names is not None or changed:
        response.assignment = Assignment(
            topic_partitions=[
                TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
                for topic_id, partitions in member.assigned.items()
            ]
        )
    return response


def check_form(request: ShareGroupHeartbeatRequest) -> None:
    """INVALID_REQUEST for what no member says."""
    if not request.member_id or len(request.member_id) > 36:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    if not request.group_id.strip():
        raise ApiError(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
    if request.rack_id is not None and not request.rack_id.strip():
        raise ApiError(ErrorCode.INVALID_REQUEST, "RackId can't be empty.")
    if request.member_epoch == JOIN and not request.subscribed_topic_names:
        raise ApiError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE:
        raise ApiError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


def not_a_share_group(group_id: str) -> ApiError:
    """The group is of another kind."""
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")


def _unknown_member(group: ShareGroup, member_id: str) -> ApiError:
    return ApiError(
        ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.group_id}."
    )


def _refused(code: ErrorCode, message: str | None) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(error_code=code, error_message=message)
