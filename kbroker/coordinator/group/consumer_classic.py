"""Classic members of a consumer group: JoinGroup, SyncGroup, Heartbeat and LeaveGroup on the new protocol's
state (KIP-848).

Such a member knows nothing of epochs: its generation is its member epoch, the partitions it must give up
are those missing in its next assignment, and REBALANCE_IN_PROGRESS sends it through JoinGroup and SyncGroup
for each step.
"""

from __future__ import annotations

from functools import partial

from kbroker.coordinator.group.classic_member import protocols_of
from kbroker.coordinator.group.classic_requests import MEMBER_ID_REQUIRED_SINCE, Joining
from kbroker.coordinator.group.classic_rounds import join_error, sync_error
from kbroker.coordinator.group.consumer_draft import METADATA_REFRESH_MS, Draft
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.consumer_member import ClassicSide, ConsumerMember, MemberState
from kbroker.coordinator.group.consumer_requests import ConsumerRequests, known_member
from kbroker.coordinator.group.embedded_protocol import (
    PROTOCOL_TYPE,
    owned_partitions,
    read_subscription,
    version_of,
    write_assignment,
)
from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.coordinator.group.member_checks import check_instance
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.protocol.generated.join_group_response import JoinGroupResponse
from kbroker.protocol.generated.leave_group_request import MemberIdentity
from kbroker.protocol.generated.leave_group_response import LeaveGroupResponse, MemberResponse
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest
from kbroker.protocol.generated.sync_group_response import SyncGroupResponse
from kbroker.types import uuid_to_string


class ClassicMembers:
    """Decides on the requests of classic members to consumer groups."""

    def __init__(self, consumer: ConsumerRequests) -> None:
        self._consumer = consumer

    # -- JoinGroup -------------------------------------------------------------------------------------------

    def join(self, group: ConsumerGroup, ticket: Ticket, joining: Joining, now_ms: int) -> Outcome:
        """A classic member joins, or joins again; the group is not empty."""
        try:
            return self._join(group, ticket, joining, now_ms)
        except ApiError as error:
            return Outcome.answer(ticket, join_error(NO_MEMBER, error.code))
        except ProtocolError:
            return Outcome.answer(ticket, join_error(NO_MEMBER, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))

    def _join(self, group: ConsumerGroup, ticket: Ticket, joining: Joining, now_ms: int) -> Outcome:
        request = joining.request
        unknown = request.member_id == NO_MEMBER
        member_id = _short(joining.unique) if unknown else request.member_id
        if not self._consumer.limits.may_mix:
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        self._consumer.check_room(group, member_id)
        protocols = protocols_of(request.protocols)
        if not _speaks(group, request.protocol_type, protocols):
            raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
        instance_id = request.group_instance_id
        if unknown and instance_id is None and joining.version >= MEMBER_ID_REQUIRED_SINCE:
            return Outcome.answer(ticket, join_error(member_id, ErrorCode.MEMBER_ID_REQUIRED))
        subscription = read_subscription(next(iter(protocols.values())))
        owned = owned_partitions(subscription, self._consumer.topics)
        records: list[CoordinatorRecord] = []
        draft = self._draft(group, member_id, instance_id, unknown, records)
        before = draft.before
        assert before is not None
        told = before.but(
            client_id=joining.client_id,
            client_host=joining.client_host,
            topics=tuple(sorted(set(subscription.topics))),
            classic=ClassicSide(request.session_timeout_ms, tuple(protocols.items())),
        )
        if instance_id is not None:
            told.instance_id = instance_id
        if subscription.rack_id:
            told.rack_id = subscription.rack_id
        if (timeout_ms := joining.rebalance_timeout_ms()) != -1:
            told.rebalance_timeout_ms = timeout_ms
        draft.describe(told)
        draft.settle_epoch(now_ms)
        draft.settle_target(now_ms)
        draft.reconcile(owned)
        member = draft.member
        assert member is not None
        response = JoinGroupResponse(
            member_id=member.member_id,
            generation_id=member.epoch,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=next(iter(protocols)),
        )
        replaced = draft.replaced
        if replaced is not None:
            out = self._consumer.migration.downgrade(
                group, [replaced], member, now_ms, stale=member.epoch != group.epoch
            )
            if out is not None:
                out.refused = partial(_join_refused, ticket)
                return out.also(ticket, response)
        return self._joined(draft, ticket, response, now_ms)

    def _draft(
        self,
        group: ConsumerGroup,
        member_id: str,
        instance_id: str | None,
        unknown: bool,
        records: list[CoordinatorRecord],
    ) -> Draft:
        if instance_id is None:
            return self._consumer.new_or_known(group, member_id, records)
        static = group.static_member(instance_id)
        if not unknown:
            return self._consumer.draft(group, check_instance(static, member_id, instance_id), records)
        if static is None:
            return self._consumer.new_or_known(group, member_id, records)
        return self._consumer.replace(group, static, member_id, records)

    def _joined(self, draft: Draft, ticket: Ticket, response: JoinGroupResponse, now_ms: int) -> Outcome:
        member, group_id, refreshed = draft.member, draft.group.group_id, draft.refreshed
        assert member is not None

        def then() -> Outcome:
            group = self._consumer.groups[group_id]
            if refreshed:
                group.refresh_ms = now_ms + METADATA_REFRESH_MS
            self._consumer.renew_session(group, member, now_ms)
            timers = group.timers_of(member.member_id)
            if timers.rebalance is not None:
                timers.rebalance.cancel()
            if timers.join is not None:
                timers.join.cancel()
            if timers.sync is None:
                timers.sync = self._consumer.fencing_timer(group_id, member.member_id)
            self._consumer.start(timers.sync, now_ms + max(member.rebalance_timeout_ms, 0))
            return Outcome()

        return Outcome(draft.records, refused=partial(_join_refused, ticket), then=then).also(
            ticket, response
        )

    # -- SyncGroup -------------------------------------------------------------------------------------------

    def sync(self, group: ConsumerGroup, ticket: Ticket, request: SyncGroupRequest, now_ms: int) -> Outcome:
        """A classic member asks for what it holds."""
        try:
            member = self._member(group, request.member_id, request.group_instance_id)
            self._check_generation(member, request.generation_id)
            classic = member.classic
            assert classic is not None
            name, metadata = classic.protocols[0]
            if request.protocol_type is not None and request.protocol_type != PROTOCOL_TYPE:
                raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            if request.protocol_name is not None and request.protocol_name != name:
                raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
                self._expect_join(group, member, now_ms)
                raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
        except ApiError as error:
            return Outcome.answer(ticket, sync_error(error.code))
        timers = group.timers_of(member.member_id)
        if timers.sync is not None:
            timers.sync.cancel()
        self._consumer.renew_session(group, member, now_ms)
        assignment = write_assignment(member.assigned, self._consumer.topics, version_of(metadata))
        return Outcome.answer(
            ticket,
            SyncGroupResponse(
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignment=assignment,
            ),
        )

    # -- Heartbeat -------------------------------------------------------------------------------------------

    def heartbeat(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> ErrorCode:
        """A classic member is alive, and asks whether it must join again."""
        try:
            member = self._member(group, member_id, instance_id)
            self._check_generation(member, generation)
        except ApiError as error:
            return error.code
        self._consumer.renew_session(group, member, now_ms)
        if (
            member.epoch < group.epoch
            or member.state is MemberState.UNREVOKED_PARTITIONS
            or (member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member))
        ):
            self._expect_join(group, member, now_ms)
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    # -- LeaveGroup ------------------------------------------------------------------------------------------

    def leave(
        self, group: ConsumerGroup, ticket: Ticket, members: list[MemberIdentity], now_ms: int
    ) -> Outcome:
        """Take members out, of either protocol."""
        answers, leaving = [], dict[str, None]()
        for identity in members:
            code = ErrorCode.NONE
            try:
                leaving[self._leaver(group, identity).member_id] = None
            except ApiError as error:
                code = error.code
            answers.append(
                MemberResponse(
                    member_id=identity.member_id,
                    group_instance_id=identity.group_instance_id,
                    error_code=code,
                )
            )
        response = LeaveGroupResponse(members=answers)
        if not leaving:
            return Outcome.answer(ticket, response)
        out = self._consumer.fence(group, list(leaving), now_ms)
        out.refused = lambda code: Outcome.answer(ticket, LeaveGroupResponse(error_code=write_error(code)))
        return out.also(ticket, response)

    @staticmethod
    def _leaver(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
        if identity.group_instance_id is None:
            return known_member(group, identity.member_id)
        static = group.static_member(identity.group_instance_id)
        if identity.member_id == NO_MEMBER and static is not None:
            return static
        return check_instance(static, identity.member_id, identity.group_instance_id)

    # -- common ----------------------------------------------------------------------------------------------

    @staticmethod
    def _member(group: ConsumerGroup, member_id: str, instance_id: str | None) -> ConsumerMember:
        if instance_id is None:
            member = known_member(group, member_id)
        else:
            member = check_instance(group.static_member(instance_id), member_id, instance_id)
        if member.classic is None:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    @staticmethod
    def _check_generation(member: ConsumerMember, generation: int) -> None:
        if generation != member.epoch:
            raise ApiError(ErrorCode.ILLEGAL_GENERATION)

    def _expect_join(self, group: ConsumerGroup, member: ConsumerMember, now_ms: int) -> None:
        """The member was told to join; it has its rebalance timeout for that."""
        timers = group.timers_of(member.member_id)
        if timers.join is None:
            timers.join = self._consumer.fencing_timer(group.group_id, member.member_id)
        if not timers.join.running:
            self._consumer.start(timers.join, now_ms + max(member.rebalance_timeout_ms, 0))


def _join_refused(ticket: Ticket, code: ErrorCode) -> Outcome:
    return Outcome.answer(ticket, join_error(NO_MEMBER, write_error(code)))


def _short(unique: str) -> str:
    """A uuid as the new protocol writes it."""
    return uuid_to_string(bytes.fromhex(unique.replace("-", "")))


def _speaks(group: ConsumerGroup, protocol_type: str, protocols: dict[str, bytes]) -> bool:
    """Is there a protocol that all classic members speak too?"""
    if protocol_type != PROTOCOL_TYPE or not protocols:
        return False
    classics = [dict(member.classic.protocols) for member in group.members.values() if member.classic]
    return any(all(name in each for each in classics) for name in protocols)
