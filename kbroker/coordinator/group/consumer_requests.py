"""ConsumerGroupHeartbeat (KIP-848): joining, staying, leaving, and members that are heard of no more.

A heartbeat that changes nothing costs a few look-ups and a moved deadline. One that changes something
becomes one batch of records (see consumer_draft.py); the timers that follow from it start once it is
written.
"""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from functools import partial
from typing import Any, NamedTuple

from kbroker.coordinator.group import consumer_records as write
from kbroker.coordinator.group.consumer_draft import METADATA_REFRESH_MS, ConsumerLimits, Draft
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.consumer_heartbeat import (
    check_assignor,
    check_form,
    refused,
)
from kbroker.coordinator.group.consumer_member import (
    JOIN,
    LEAVE_FOR_A_MOMENT,
    ConsumerMember,
    MemberState,
)
from kbroker.coordinator.group.consumer_migration import Migration, Upgrade
from kbroker.coordinator.group.consumer_regex import RegexResolver, Visible
from kbroker.coordinator.group.member_checks import check_epoch, check_instance
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.coordinator.timers import Timer, TimerQueue
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
from kbroker.protocol.generated.consumer_group_heartbeat_response import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kbroker.types import Uuid

Owned = list[tuple[Uuid, Collection[int]]]


class Beating(NamedTuple):
    """A ConsumerGroupHeartbeat with what does not stand in it; `unique`: a member id for who has none.

    `visible` picks, of topics that a pattern finds, those that the member may see; None: all of them.
    """

    request: ConsumerGroupHeartbeatRequest
    version: int
    client_id: str
    client_host: str
    unique: str
    visible: Visible | None = None


class ConsumerRequests:
    """Decides on the requests of members that speak the consumer protocol.

    Args:
        groups: of the shard, to read.
        timers: of the shard.
    """

    def __init__(
        self,
        groups: MutableMapping[str, Any],
        timers: TimerQueue[Outcome],
        topics: TopicView,
        limits: ConsumerLimits,
        migration: Migration,
    ) -> None:
        self.groups = groups
        self.topics = topics
        self.limits = limits
        self.migration = migration
        self.regexes = RegexResolver(groups, topics, limits)
        self._timers = timers

    # -- the door --------------------------------------------------------------------------------------------

    def heartbeat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        """Answers with a ConsumerGroupHeartbeatResponse."""
        request = beating.request
        try:
            check_form(request, beating.version)
            check_assignor(request, self.limits.assignors)
            if request.member_epoch < JOIN:
                return self._leave(ticket, request, now_ms)
            return self._beat(ticket, beating, now_ms)
        except ApiError as error:
            return Outcome.answer(ticket, refused(error.code, error.text))

    def draft(
        self,
        group: ConsumerGroup,
        member: ConsumerMember | None,
        records: list[CoordinatorRecord],
        known: bool = True,
    ) -> Draft:
        """A draft for this group."""
        return Draft(group, member, records, self.topics, self.limits, known)

    # -- joining and staying ---------------------------------------------------------------------------------

    def _beat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        request = beating.request
        records: list[CoordinatorRecord] = []
        group, upgrade = self._group_to_join(request, records)
        member_id = request.member_id or beating.unique
        self.check_room(group, member_id)
        owned: Owned | None = None
        if request.topic_partitions is not None:
            owned = [(each.topic_id, each.partitions) for each in request.topic_partitions]
        draft = self._member_draft(group, member_id, request, owned, records)
        before = draft.before
        assert before is not None
        draft.describe(_told(before, beating))
        requires = self.regexes.changed(draft)
        draft.settle_epoch(now_ms)
        draft.settle_target(now_ms)
        moved = draft.reconcile(owned)
        member = draft.member
        assert member is not None
        response = self._answer(request, group.group_id, before, member, owned is not None)
        resolves = self.regexes.due(draft, requires, now_ms)
        if not records:
            if draft.refreshed:
                group.refresh_ms = now_ms + METADATA_REFRESH_MS
            self.renew_session(group, member, now_ms)
            out = Outcome.answer(ticket, response)
            if resolves:
                out.then = partial(self.regexes.resolve, group.group_id, now_ms, beating.visible)
            return out
        refreshed = draft.refreshed

        def after() -> Outcome:
            made = self.groups[group.group_id]
            if upgrade is not None:
                upgrade.finish()
                for each in made.members.values():
                    self.renew_session(made, each, now_ms)
            if refreshed:
                made.refresh_ms = now_ms + METADATA_REFRESH_MS
            self.renew_session(made, member, now_ms)
            if moved:
                self.watch_revocation(made, member, now_ms)
            return self.regexes.resolve(group.group_id, now_ms, beating.visible) if resolves else Outcome()

        out = self.recorded(ticket, records, response)
        if upgrade is not None:
            out.replies += upgrade.replies
        out.then = after
        return out

    def _group_to_join(
        self, request: ConsumerGroupHeartbeatRequest, records: list[CoordinatorRecord]
    ) -> tuple[ConsumerGroup, Upgrade | None]:
        group = self.groups.get(request.group_id)
        if isinstance(group, ConsumerGroup):
            return group, None
        if request.member_epoch != JOIN:
            if group is None:
                raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
            raise not_a_consumer_group(request.group_id)
        if group is None:
            return ConsumerGroup(request.group_id), None
        upgrade = self.migration.upgrade(group, records)
        return upgrade.group, upgrade

    def check_room(self, group: ConsumerGroup, member_id: str) -> None:
        """GROUP_MAX_SIZE_REACHED for one more member than may be."""
        if len(group.members) >= self.limits.max_size and member_id not in group.members:
            raise ApiError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {self.limits.max_size} members.",
            )

    def _member_draft(
        self,
        group: ConsumerGroup,
        member_id: str,
        request: ConsumerGroupHeartbeatRequest,
        owned: Owned | None,
        records: list[CoordinatorRecord],
    ) -> Draft:
        """A draft for the asking member, which may be new, or take the place of a static one."""
        instance_id = request.instance_id
        if instance_id is not None:
            static = group.static_member(instance_id)
            if request.member_epoch == JOIN:
                if static is None:
                    return self.new_or_known(group, member_id, records)
                if static.classic is None and static.epoch != LEAVE_FOR_A_MOMENT:
                    raise ApiError(
                        ErrorCode.UNRELEASED_INSTANCE_ID,
                        f"Static member {member_id} with instance id {instance_id} cannot join the group "
                        f"because the instance id is owned by {static.member_id} member.",
                    )
                return self.replace(group, static, member_id, records)
            static = check_instance(static, member_id, instance_id)
            check_epoch(static, request.member_epoch, owned, "consumer")
            return self.draft(group, static, records)
        if request.member_epoch == JOIN:
            return self.new_or_known(group, member_id, records)
        member = known_member(group, member_id)
        check_epoch(member, request.member_epoch, owned, "consumer")
        return self.draft(group, member, records)

    def new_or_known(self, group: ConsumerGroup, member_id: str, records: list[CoordinatorRecord]) -> Draft:
        """A draft for a member that may be new."""
        member = group.members.get(member_id)
        if member is not None:
            return self.draft(group, member, records)
        return self.draft(group, ConsumerMember(member_id), records, known=False)

    def replace(
        self, group: ConsumerGroup, static: ConsumerMember, member_id: str, records: list[CoordinatorRecord]
    ) -> Draft:
        """A static member comes back, maybe under another id: it takes over all that the old one has."""
        zero = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in static.assigned.items()}
        member = static.but(member_id=member_id, epoch=JOIN, previous_epoch=JOIN, assigned=zero)
        target = group.targets.get(static.member_id, {})
        records += write.member_tombstones(group.group_id, static.member_id)
        records.append(write.member_record(group.group_id, member))
        records.append(write.target_record(group.group_id, member_id, target))
        records.append(write.standing_record(group.group_id, member))
        draft = self.draft(group, member, records)
        draft.gone.add(static.member_id)
        draft.replaced = static.member_id
        draft.targets = {each: kept for each, kept in group.targets.items() if each != static.member_id}
        draft.targets[member_id] = target
        return draft

    def _answer(
        self,
        request: ConsumerGroupHeartbeatRequest,
        group_id: str,
        before: ConsumerMember,
        member: ConsumerMember,
        owned: bool,
    ) -> ConsumerGroupHeartbeatResponse:
        response = ConsumerGroupHeartbeatResponse(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self.limits.settings(group_id).heartbeat_interval_ms,
            assignment=None,
        )
        subscribes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        full = request.member_epoch == JOIN or (request.rebalance_timeout_ms != -1 and subscribes and owned)
        if full or not _same_partitions(before, member):
            response.assignment = Assignment(
                topic_partitions=[
                    TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
                    for topic_id, partitions in member.assigned.items()
                ]
            )
        return response

    # -- leaving ---------------------------------------------------------------------------------------------

    def _leave(self, ticket: Ticket, request: ConsumerGroupHeartbeatRequest, now_ms: int) -> Outcome:
        group = self.groups.get(request.group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
        if not isinstance(group, ConsumerGroup):
            raise not_a_consumer_group(request.group_id)
        response = ConsumerGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch, assignment=None
        )
        if request.instance_id is None:
            member = known_member(group, request.member_id)
        else:
            member = check_instance(
                group.static_member(request.instance_id), request.member_id, request.instance_id
            )
            if request.member_epoch == LEAVE_FOR_A_MOMENT:
                return self.recorded(ticket, [_away(group.group_id, member)], response)
        out = self.fence(group, [member.member_id], now_ms)
        out.refused = partial(_refused, ticket)
        return out.also(ticket, response)

    def fence(self, group: ConsumerGroup, member_ids: list[str], now_ms: int) -> Outcome:
        """Members are out; if only classic ones are left, the group is theirs."""
        downgraded = self.migration.downgrade(group, member_ids, None, now_ms)
        if downgraded is not None:
            return downgraded
        draft = self.draft(group, None, [])
        draft.remove(member_ids)
        return Outcome(draft.records)

    # -- answers ---------------------------------------------------------------------------------------------

    @staticmethod
    def recorded(ticket: Ticket, records: list[CoordinatorRecord], response: Any) -> Outcome:
        """The answer once the records are written."""
        return Outcome(records, refused=partial(_refused, ticket)).also(ticket, response)

    # -- time ------------------------------------------------------------------------------------------------

    def renew_session(self, group: ConsumerGroup, member: ConsumerMember, now_ms: int) -> None:
        """The member is alive."""
        if member.classic is None:
            timeout_ms = self.limits.settings(group.group_id).session_timeout_ms
        else:
            timeout_ms = member.classic.session_timeout_ms
        timers = group.timers_of(member.member_id)
        if timers.session is None:
            timers.session = self.fencing_timer(group.group_id, member.member_id)
        self._timers.start(timers.session, now_ms + timeout_ms)

    def watch_revocation(self, group: ConsumerGroup, member: ConsumerMember, now_ms: int) -> None:
        """A member that has to give something up has its rebalance timeout for it."""
        timers = group.timers_of(member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS or member.classic is not None:
            if timers.rebalance is not None:
                timers.rebalance.cancel()
            return
        timers.rebalance = Timer(partial(self._too_slow, group.group_id, member.member_id, member.epoch))
        self._timers.start(timers.rebalance, now_ms + max(member.rebalance_timeout_ms, 0))

    def start(self, timer: Timer[Outcome], deadline_ms: int) -> None:
        """Let a timer of a member run."""
        self._timers.start(timer, deadline_ms)

    def fencing_timer(self, group_id: str, member_id: str) -> Timer[Outcome]:
        """A timer that puts the member out."""
        return Timer(partial(self._time_is_up, group_id, member_id))

    def _time_is_up(self, group_id: str, member_id: str, now_ms: int) -> Outcome:
        group = self.groups.get(group_id)
        if not isinstance(group, ConsumerGroup) or member_id not in group.members:
            return Outcome()
        return self.fence(group, [member_id], now_ms)

    def _too_slow(self, group_id: str, member_id: str, epoch: int, now_ms: int) -> Outcome:
        group = self.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            return Outcome()
        member = group.members.get(member_id)
        if member is None or member.epoch != epoch:
            return Outcome()
        return self.fence(group, [member_id], now_ms)

    def loaded(self, group: ConsumerGroup, now_ms: int) -> None:
        """The log has been replayed: sessions begin, and the time of those that have to give something up."""
        for member in list(group.members.values()):
            self.renew_session(group, member, now_ms)
            self.watch_revocation(group, member, now_ms)


def _refused(ticket: Ticket, code: ErrorCode) -> Outcome:
    code = write_error(code)
    return Outcome.answer(ticket, refused(code, ApiError(code).text))


def not_a_consumer_group(group_id: str) -> ApiError:
    """The group is of another kind."""
    return ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")


def known_member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    """A member of the group.

    Raises:
        ApiError: UNKNOWN_MEMBER_ID.
    """
    member = group.members.get(member_id)
    if member is None:
        raise ApiError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.group_id}."
        )
    return member


def _told(before: ConsumerMember, beating: Beating) -> ConsumerMember:
    """The member with what the heartbeat says of it; what it does not mention stays."""
    request = beating.request
    if _says_nothing(before, beating):
        return before
    member = before.but(client_id=beating.client_id, client_host=beating.client_host, classic=None)
    if request.instance_id is not None:
        member.instance_id = request.instance_id
    if request.rack_id is not None:
        member.rack_id = request.rack_id
    if request.rebalance_timeout_ms != -1:
        member.rebalance_timeout_ms = request.rebalance_timeout_ms
    if request.server_assignor is not None:
        member.assignor = request.server_assignor
    if request.subscribed_topic_names is not None:
        member.topics = tuple(sorted(set(request.subscribed_topic_names)))
    if request.subscribed_topic_regex is not None:
        member.regex = request.subscribed_topic_regex
    return member


def _says_nothing(before: ConsumerMember, beating: Beating) -> bool:
    """Most heartbeats tell nothing new of the member."""
    request = beating.request
    return (
        request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.rebalance_timeout_ms == -1
        and request.server_assignor is None
        and request.rack_id is None
        and (request.instance_id is None or request.instance_id == before.instance_id)
        and before.client_id == beating.client_id
        and before.client_host == beating.client_host
        and before.classic is None
    )


def _away(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """A static member is away for a moment: what it has stays with it, and nothing is left to give up."""
    zero = {topic_id: dict.fromkeys(partitions, 0) for topic_id, partitions in member.assigned.items()}
    return write.standing_record(group_id, member.but(epoch=LEAVE_FOR_A_MOMENT, assigned=zero, revoking={}))


def _same_partitions(one: ConsumerMember, other: ConsumerMember) -> bool:
    if one.assigned is other.assigned:
        return True
    return one.assigned.keys() == other.assigned.keys() and all(
        held.keys() == other.assigned[topic_id].keys() for topic_id, held in one.assigned.items()
    )
