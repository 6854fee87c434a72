"""StreamsGroupHeartbeat (KIP-1071): joining, staying, leaving, and members that are heard of no more.

As for consumer groups (consumer_requests.py): what changes something becomes one batch of records, and the
timers that follow from it start once it is written. The answer carries, beside the response, the internal
topics that the broker is to create.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import partial
from typing import Any, NamedTuple

from kbroker.coordinator.group import streams_records as write
from kbroker.coordinator.group.classic import ClassicGroup, State
from kbroker.coordinator.group.member_checks import check_epoch, check_instance
from kbroker.coordinator.group.records import group_tombstone
from kbroker.coordinator.group.streams_draft import METADATA_REFRESH_MS, Draft, StreamsLimits
from kbroker.coordinator.group.streams_group import StreamsGroup
from kbroker.coordinator.group.streams_heartbeat import (
    JOIN,
    LEAVE_FOR_A_MOMENT,
    check_form,
    endpoints,
    known_member,
    owned_tasks,
    refused,
    same_tasks,
    tell_tasks,
)
from kbroker.coordinator.group.streams_member import MemberState, StreamsMember, Target, Tasks
from kbroker.coordinator.group.streams_topology import (
    MISSING_CLIENT_TAGS,
    SHUTDOWN_APPLICATION,
    InternalTopic,
    Problem,
    recorded_topology,
)
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.coordinator.timers import Timer, TimerQueue
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
from kbroker.protocol.generated.streams_group_heartbeat_response import (
    Status,
    StreamsGroupHeartbeatResponse,
)

#: Version from which members know of missing tags.
_TAGS_SINCE = 1


class Beating(NamedTuple):
    """A StreamsGroupHeartbeat with what does not stand in it."""

    request: StreamsGroupHeartbeatRequest
    version: int
    client_id: str
    client_host: str


class Beat(NamedTuple):
    """The answer: the response, and internal topics that are missing."""

    response: StreamsGroupHeartbeatResponse
    missing: tuple[InternalTopic, ...] = ()


class StreamsRequests:
    """Decides on the requests of members of streams groups.

    Args:
        groups: of the shard, to read.
        timers: of the shard.
    """

    def __init__(
        self,
        groups: MutableMapping[str, Any],
        timers: TimerQueue[Outcome],
        topics: TopicView,
        limits: StreamsLimits,
    ) -> None:
        self._groups = groups
        self._timers = timers
        self._topics = topics
        self._limits = limits

    def heartbeat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        """Answers with a `Beat`."""
        request = beating.request
        try:
            check_form(request)
            if request.member_epoch < JOIN:
                return self._leave(ticket, request)
            return self._beat(ticket, beating, now_ms)
        except ApiError as error:
            text = error.message if error.code is ErrorCode.UNKNOWN_SERVER_ERROR else error.text
            return Outcome.answer(ticket, Beat(refused(error.code, text or None)))

    # -- joining and staying ---------------------------------------------------------------------------------

    def _beat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        request = beating.request
        records: list[CoordinatorRecord] = []
        group = self._group_to_join(request, records)
        self._check_room(group, request.member_id)
        owned = owned_tasks(request)
        draft = self._member_draft(group, request, owned, records)
        before = draft.before
        assert before is not None
        draft.describe(_told(before, beating))
        draft.settle_topology(None if request.topology is None else recorded_topology(request.topology))
        draft.settle_epoch(now_ms)
        draft.settle_target(now_ms)
        moved = draft.reconcile(owned)
        member = draft.member
        assert member is not None
        told = request.member_epoch == JOIN or not same_tasks(before.assigned, member.assigned)
        beat = self._answer(beating, draft, before, told)

        def after() -> Outcome:
            made = self._groups[group.group_id]
            made.configured = draft.configured
            if draft.refreshed:
                made.refresh_ms = now_ms + METADATA_REFRESH_MS
            self._note(made, request, member)
            self._renew_session(made, member, now_ms)
            if moved:
                self._watch_revocation(made, member, now_ms)
            if draft.starts_delay and draft.settings.initial_rebalance_delay_ms > 0:
                self._delay(made, now_ms + draft.settings.initial_rebalance_delay_ms)
            return Outcome()

        if not records:
            after()
            return Outcome.answer(ticket, beat)
        out = self._recorded(ticket, records, beat)
        out.then = after
        return out

    def _group_to_join(
        self, request: StreamsGroupHeartbeatRequest, records: list[CoordinatorRecord]
    ) -> StreamsGroup:
        group = self._groups.get(request.group_id)
        if isinstance(group, StreamsGroup):
            return group
        joins = request.member_epoch == JOIN
        if group is None and not joins:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Streams group {request.group_id} not found.")
        if group is not None:
            if not joins or not isinstance(group, ClassicGroup) or group.state is not State.EMPTY:
                raise not_a_streams_group(request.group_id)
            records.append(group_tombstone(request.group_id))
        return StreamsGroup(request.group_id)

    def _check_room(self, group: StreamsGroup, member_id: str) -> None:
        if len(group.members) >= self._limits.max_size and member_id not in group.members:
            raise ApiError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The streams group has reached its maximum capacity of {self._limits.max_size} members.",
            )

    def _draft(
        self,
        group: StreamsGroup,
        member: StreamsMember | None,
        records: list[CoordinatorRecord],
        known: bool = True,
    ) -> Draft:
        settings = self._limits.settings(group.group_id)
        return Draft(group, member, records, self._topics, settings, known)

    def _member_draft(
        self,
        group: StreamsGroup,
        request: StreamsGroupHeartbeatRequest,
        owned: Target | None,
        records: list[CoordinatorRecord],
    ) -> Draft:
        """A draft for the asking member, which may be new, or take the place of a static one."""
        member_id, instance_id = request.member_id, request.instance_id
        joins = request.member_epoch == JOIN
        static = None if instance_id is None else group.static_member(instance_id)
        if joins and static is not None and static.member_id != member_id:
            if static.epoch != LEAVE_FOR_A_MOMENT:
                raise ApiError(
                    ErrorCode.UNRELEASED_INSTANCE_ID,
                    f"Static member {member_id} with instance id {instance_id} cannot join the group because "
                    f"the instance id is owned by {static.member_id} member.",
                )
            return self._replace(group, static, member_id, records)
        if joins:
            member = group.members.get(member_id)
            if member is not None:
                return self._draft(group, member, records)
            return self._draft(group, StreamsMember(member_id), records, known=False)
        if instance_id is None:
            member = known_member(group, member_id)
        else:
            member = check_instance(static, member_id, instance_id)
        check_epoch(member, request.member_epoch, owned, "streams")
        return self._draft(group, member, records)

    def _replace(
        self, group: StreamsGroup, static: StreamsMember, member_id: str, records: list[CoordinatorRecord]
    ) -> Draft:
        """A static member comes back under another id: it takes over all that the old one has."""
        member = static.but(
            member_id=member_id, epoch=JOIN, previous_epoch=JOIN, assigned=_from_zero(static.assigned)
        )
        target = group.target(static.member_id)
        records += write.member_tombstones(group.group_id, static.member_id)
        records.append(write.member_record(group.group_id, member))
        records.append(write.target_record(group.group_id, member_id, target))
        records.append(write.standing_record(group.group_id, member))
        draft = self._draft(group, member, records)
        draft.gone.add(static.member_id)
        draft.targets = {each: kept for each, kept in group.targets.items() if each != static.member_id}
        draft.targets[member_id] = target
        return draft

    def _note(
        self, group: StreamsGroup, request: StreamsGroupHeartbeatRequest, member: StreamsMember
    ) -> None:
        if request.task_offsets is not None or request.task_end_offsets is not None:
            offsets, ends = group.task_offsets.get(member.member_id, ([], []))
            group.task_offsets[member.member_id] = (
                offsets if request.task_offsets is None else request.task_offsets,
                ends if request.task_end_offsets is None else request.task_end_offsets,
            )

    def _answer(self, beating: Beating, draft: Draft, before: StreamsMember, told: bool) -> Beat:
        request, group, settings = beating.request, draft.group, draft.settings
        member = draft.member
        assert member is not None
        assert draft.topology is not None
        if told and group.has_endpoints():
            group.endpoint_epoch += 1
        if request.shutdown_application:
            group.shutdown_by = member.member_id
        configured = draft.current()
        problems = [] if configured.problem is None else [configured.problem]
        problems += _missing_tags(beating.version, settings.rack_tags, member)
        if group.shutdown_by is not None:
            problems.append(
                Problem(
                    SHUTDOWN_APPLICATION,
                    f"Streams group member {group.shutdown_by} encountered a fatal error and requested a "
                    "shutdown for the entire application.",
                )
            )
        if draft.delay is not None:
            problems.append(draft.delay)
        response = StreamsGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            task_offset_interval_ms=settings.task_offset_interval_ms,
            acceptable_recovery_lag=settings.acceptable_recovery_lag,
            status=[Status(status_code=each.code, status_detail=each.detail) for each in problems],
            endpoint_information_epoch=group.endpoint_epoch,
        )
        if told:
            tell_tasks(response, member.assigned)
        if group.endpoint_epoch != request.endpoint_information_epoch:
            response.partitions_by_user_endpoint = endpoints(group, draft.topology, member, draft.size_of)
        return Beat(response, configured.missing)

    # -- leaving ---------------------------------------------------------------------------------------------

    def _leave(self, ticket: Ticket, request: StreamsGroupHeartbeatRequest) -> Outcome:
        group = self._groups.get(request.group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Streams group {request.group_id} not found.")
        if not isinstance(group, StreamsGroup):
            raise not_a_streams_group(request.group_id)
        response = StreamsGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch, status=[]
        )
        if request.instance_id is None:
            member = known_member(group, request.member_id)
        else:
            static = group.static_member(request.instance_id)
            member = check_instance(static, request.member_id, request.instance_id)
            if request.member_epoch == LEAVE_FOR_A_MOMENT:
                return self._recorded(ticket, [_away(group.group_id, member)], Beat(response))
        out = self._fence(group, member.member_id)
        out.refused = partial(_refused, ticket)
        return out.also(ticket, Beat(response))

    def _fence(self, group: StreamsGroup, member_id: str) -> Outcome:
        draft = self._draft(group, None, [])
        draft.remove([member_id])
        return Outcome(draft.records)

    @staticmethod
    def _recorded(ticket: Ticket, records: list[CoordinatorRecord], beat: Beat) -> Outcome:
        return Outcome(records, refused=partial(_refused, ticket)).also(ticket, beat)

    # -- time ------------------------------------------------------------------------------------------------

    def _renew_session(self, group: StreamsGroup, member: StreamsMember, now_ms: int) -> None:
        timers = group.timers_of(member.member_id)
        if timers.session is None:
            timers.session = Timer(partial(self._time_is_up, group.group_id, member.member_id, None))
        timeout_ms = self._limits.settings(group.group_id).session_timeout_ms
        self._timers.start(timers.session, now_ms + timeout_ms)

    def _watch_revocation(self, group: StreamsGroup, member: StreamsMember, now_ms: int) -> None:
        """A member that has to give something up has its rebalance timeout for it."""
        timers = group.timers_of(member.member_id)
        if timers.rebalance is not None:
            timers.rebalance.cancel()
        if member.state is MemberState.UNREVOKED_TASKS:
            action = partial(self._time_is_up, group.group_id, member.member_id, member.epoch)
            timers.rebalance = Timer(action)
            self._timers.start(timers.rebalance, now_ms + max(member.rebalance_timeout_ms, 0))

    def _time_is_up(self, group_id: str, member_id: str, epoch: int | None, now_ms: int) -> Outcome:
        group = self._groups.get(group_id)
        if not isinstance(group, StreamsGroup):
            return Outcome()
        member = group.members.get(member_id)
        if member is None or (epoch is not None and member.epoch != epoch):
            return Outcome()
        return self._fence(group, member_id)

    def _delay(self, group: StreamsGroup, deadline_ms: int) -> None:
        """The first assignment waits for more members."""
        if group.initial_delay is None:
            group.initial_delay = Timer(partial(self._delay_is_over, group.group_id))
        if not group.initial_delay.running:
            self._timers.start(group.initial_delay, deadline_ms)

    def _delay_is_over(self, group_id: str, now_ms: int) -> Outcome:
        group = self._groups.get(group_id)
        if not isinstance(group, StreamsGroup) or not group.members or group.configured is None:
            return Outcome()
        draft = self._draft(group, None, [])
        draft.settle_target(now_ms, delay_over=True)
        return Outcome(draft.records)

    def loaded(self, group: StreamsGroup, now_ms: int) -> None:
        """The log has been replayed: sessions begin, and the time of those that have to give something up."""
        for member in list(group.members.values()):
            self._renew_session(group, member, now_ms)
            self._watch_revocation(group, member, now_ms)


def _told(before: StreamsMember, beating: Beating) -> StreamsMember:
    """The member with what the heartbeat says of it; what it does not mention stays."""
    request = beating.request
    member = before.but(client_id=beating.client_id, client_host=beating.client_host)
    if request.instance_id is not None:
        member.instance_id = request.instance_id
    if request.rack_id is not None:
        member.rack_id = request.rack_id
    if request.rebalance_timeout_ms != -1:
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
    if request.topology is not None:
        member.topology_epoch = request.topology.epoch
    if request.process_id is not None:
        member.process_id = request.process_id
    if request.user_endpoint is not None:
        member.endpoint = request.user_endpoint.host, request.user_endpoint.port
    if request.client_tags is not None:
        member.tags = tuple((each.key, each.value) for each in request.client_tags)
    return member


def _missing_tags(version: int, wanted: tuple[str, ...], member: StreamsMember) -> list[Problem]:
    have = {key for key, _ in member.tags}
    missing = [tag for tag in wanted if tag not in have]
    if not missing or version < _TAGS_SINCE:
        return []
    detail = (
        f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing)}]. "
        "Configure them via 'client.tag.<tagKey>' in your Streams config."
    )
    return [Problem(MISSING_CLIENT_TAGS, detail)]


def _from_zero(tasks: Tasks) -> Tasks:
    """The same tasks, as if always held."""
    active = {each: dict.fromkeys(partitions, 0) for each, partitions in tasks.active.items()}
    return Tasks(active, tasks.standby, tasks.warmup)


def _away(group_id: str, member: StreamsMember) -> CoordinatorRecord:
    """A static member is away for a moment: what it has stays with it, and nothing is left to give up."""
    away = member.but(epoch=LEAVE_FOR_A_MOMENT, assigned=_from_zero(member.assigned), revoking=Tasks())
    return write.standing_record(group_id, away)


def _refused(ticket: Ticket, code: ErrorCode) -> Outcome:
    code = write_error(code)
    return Outcome.answer(ticket, Beat(refused(code, ApiError(code).text)))


def not_a_streams_group(group_id: str) -> ApiError:
    """The group is of another kind."""
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
