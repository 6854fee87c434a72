"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup of classic groups."""

from __future__ import annotations

from kbroker.coordinator.group.classic import ClassicGroup, State
from kbroker.coordinator.group.classic_member import ClassicMember, protocols_of, same_protocols
from kbroker.coordinator.group.classic_rounds import ClassicRounds, join_error, sync_error
from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.coordinator.group.records import group_record
from kbroker.coordinator.shard import Outcome, Ticket, write_error
from kbroker.errors import ApiError, ErrorCode
from kbroker.plain import plain
from kbroker.protocol.generated.join_group_request import JoinGroupRequest
from kbroker.protocol.generated.leave_group_request import MemberIdentity
from kbroker.protocol.generated.leave_group_response import MemberResponse
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest

#: Version of JoinGroup from which a dynamic member is first given an id (KIP-394).
MEMBER_ID_REQUIRED_SINCE = 4
#: Version from which a static leader that came back may be told to keep the assignment (KIP-814).
SKIP_ASSIGNMENT_SINCE = 9


@plain()
class Joining:
    """A JoinGroup with what does not stand in it.

    `unique` makes a new member id unique (a uuid); it is used only when the request has no member id.
    """

    request: JoinGroupRequest
    version: int
    client_id: str
    client_host: str
    unique: str

    def rebalance_timeout_ms(self) -> int:
        """Version 0 had none: the session timeout counts."""
        request = self.request
        return request.session_timeout_ms if self.version == 0 else request.rebalance_timeout_ms


class ClassicRequests:
    """Decides on the requests of classic members; `rounds` moves the groups."""

    __slots__ = ("_rounds",)

    def __init__(self, rounds: ClassicRounds) -> None:
        self._rounds = rounds

    # -- JoinGroup -------------------------------------------------------------------------------------------

    def join(self, group: ClassicGroup, ticket: Ticket, joining: Joining, now_ms: int) -> Outcome:
        """A member wants in, or in again; the group exists."""
        request = joining.request
        member_id = request.member_id
        if not self._has_room(group, member_id):
            if member_id in group.pending_members:
                group.remove_pending(member_id)
            elif (member := group.members.get(member_id)) is not None:
                group.remove(member)
            out = Outcome.answer(ticket, join_error(NO_MEMBER, ErrorCode.GROUP_MAX_SIZE_REACHED))
            self._rounds.maybe_complete_join(group, now_ms, out)
            return out
        protocols = protocols_of(request.protocols)
        if not group.speaks(request.protocol_type, protocols):
            return Outcome.answer(ticket, join_error(member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        if member_id == NO_MEMBER:
            return self._join_new(group, ticket, joining, protocols, now_ms)
        if member_id in group.pending_members and request.group_instance_id is None:
            group.remove_pending(member_id)
            return self._add(group, ticket, joining, protocols, member_id, now_ms)
        return self._join_again(group, ticket, joining, protocols, now_ms)

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        """While members gather, places are for those that come first: the slowest are turned away."""
        if group.state is State.EMPTY:
            return True
        member = group.members.get(member_id)
        if group.state is State.PREPARING_REBALANCE:
            waiting = member is not None and member.join_ticket is not None
            return waiting or group.awaiting_join < self._rounds.limits.max_size
        return member is not None or len(group.members) < self._rounds.limits.max_size

    def _join_new(
        self, group: ClassicGroup, ticket: Ticket, joining: Joining, protocols: dict[str, bytes], now_ms: int
    ) -> Outcome:
        instance_id = joining.request.group_instance_id
        prefix = joining.client_id if instance_id is None else instance_id
        new_id = f"{prefix}-{joining.unique}"
        if instance_id is not None:
            old_id = group.static_members.get(instance_id)
            if old_id is not None:
                return self._replace(group, ticket, joining, protocols, group.members[old_id], new_id, now_ms)
        elif joining.version >= MEMBER_ID_REQUIRED_SINCE:
            self._rounds.add_pending(group, new_id, now_ms + joining.request.session_timeout_ms)
            return Outcome.answer(ticket, join_error(new_id, ErrorCode.MEMBER_ID_REQUIRED))
        return self._add(group, ticket, joining, protocols, new_id, now_ms)

    def _add(
        self,
        group: ClassicGroup,
        ticket: Ticket,
        joining: Joining,
        protocols: dict[str, bytes],
        member_id: str,
        now_ms: int,
    ) -> Outcome:
        request = joining.request
        member = ClassicMember(
            member_id,
            request.group_instance_id,
            joining.client_id,
            joining.client_host,
            joining.rebalance_timeout_ms(),
            request.session_timeout_ms,
            protocols,
        )
        member.is_new = True
        member.join_ticket = ticket
        if group.state is State.PREPARING_REBALANCE and group.previous_state is State.EMPTY:
            group.new_member_added = True
        group.add(member, request.protocol_type)
        self._rounds.start_session(group, member, now_ms + self._rounds.limits.new_member_join_timeout_ms)
        out = Outcome()
        self._rounds.rebalance_or_complete(group, now_ms, out)
        return out

    def _join_again(
        self, group: ClassicGroup, ticket: Ticket, joining: Joining, protocols: dict[str, bytes], now_ms: int
    ) -> Outcome:
        request = joining.request
        try:
            member = group.check_member(request.member_id, request.group_instance_id)
        except ApiError as error:
            return Outcome.answer(ticket, join_error(request.member_id, error.code))
        if same_protocols(member, protocols):
            # In CompletingRebalance its answer may have got lost. In Stable only the leader forces a
            # rebalance without new metadata: something else may have changed, like the partitions of a
            # topic.
            settled = group.state is State.STABLE and group.leader != member.member_id
            if settled or group.state is State.COMPLETING_REBALANCE:
                return Outcome.answer(ticket, self._rounds.joined(group, member))
        out = Outcome()
        self._update(group, ticket, joining, protocols, member, out)
        self._rounds.rebalance_or_complete(group, now_ms, out)
        return out

    def _update(
        self,
        group: ClassicGroup,
        ticket: Ticket,
        joining: Joining,
        protocols: dict[str, bytes],
        member: ClassicMember,
        out: Outcome,
    ) -> None:
        """Take over what the member joins with; its JoinGroup waits from now on."""
        if member.join_ticket is not None:
            # The same member on another connection: it gave the first one up.
            out.also(member.join_ticket, join_error(member.member_id, ErrorCode.REBALANCE_IN_PROGRESS))
        group.set_protocols(member, protocols)
        member.rebalance_timeout_ms = joining.rebalance_timeout_ms()
        member.session_timeout_ms = joining.request.session_timeout_ms
        group.set_join_ticket(member, ticket)

    def _replace(
        self,
        group: ClassicGroup,
        ticket: Ticket,
        joining: Joining,
        protocols: dict[str, bytes],
        member: ClassicMember,
        new_id: str,
        now_ms: int,
    ) -> Outcome:
        """A static member came back under a new id: whoever uses the old one is fenced (KIP-345)."""
        if group.state is State.STABLE and group.select_protocol((member, protocols)) == group.protocol:
            return self._replace_quietly(group, ticket, joining, protocols, member, new_id, now_ms)
        out = Outcome()
        if member.join_ticket is not None:
            out.also(member.join_ticket, join_error(member.member_id, ErrorCode.FENCED_INSTANCE_ID))
            group.set_join_ticket(member, None)
        if member.sync_ticket is not None:
            out.also(member.sync_ticket, sync_error(ErrorCode.FENCED_INSTANCE_ID))
            member.sync_ticket = None
        group.replace_static(member, new_id)
        self._update(group, ticket, joining, protocols, member, out)
        self._rounds.renew_session(group, member, now_ms)
        self._rounds.rebalance_or_complete(group, now_ms, out)
        return out

    def _replace_quietly(
        self,
        group: ClassicGroup,
        ticket: Ticket,
        joining: Joining,
        protocols: dict[str, bytes],
        member: ClassicMember,
        new_id: str,
        now_ms: int,
    ) -> Outcome:
        """The group is stable and stays as it is but for the id, which the log must know first."""
        old_leader, old_id = group.leader, member.member_id
        value = group.record()
        if value.leader == old_id:
            value.leader = new_id
        for each in value.members:
            if each.member_id == old_id:
                each.member_id = new_id
                each.subscription = protocols.get(group.protocol or "", b"")
                each.rebalance_timeout = joining.rebalance_timeout_ms()
                each.session_timeout = joining.request.session_timeout_ms

        def then() -> Outcome:
            group.set_protocols(member, protocols)
            self._rounds.renew_session(group, member, now_ms)
            response = self._rounds.joined(group, member)
            if joining.version >= SKIP_ASSIGNMENT_SINCE:
                response.skip_assignment = group.leader == new_id
            else:
                # A leader of the old id makes the client take itself for a follower: it computes nothing.
                response.leader, response.members = old_leader or NO_MEMBER, []
            return Outcome.answer(ticket, response)

        def refused(code: ErrorCode) -> Outcome:
            return Outcome.answer(ticket, join_error(NO_MEMBER, write_error(code)))

        return Outcome([group_record(group.group_id, value)], refused=refused, then=then)

    # -- SyncGroup -------------------------------------------------------------------------------------------

    def sync(self, group: ClassicGroup, ticket: Ticket, request: SyncGroupRequest, now_ms: int) -> Outcome:
        """A member asks for its assignment; the leader brings those of all."""
        try:
            member = group.check_member(request.member_id, request.group_instance_id)
            if request.generation_id != group.generation:
                raise ApiError(ErrorCode.ILLEGAL_GENERATION)
            if request.protocol_type is not None and request.protocol_type != group.protocol_type:
                raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            if request.protocol_name is not None and request.protocol_name != group.protocol:
                raise ApiError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            if group.state is State.PREPARING_REBALANCE:
                raise ApiError(ErrorCode.REBALANCE_IN_PROGRESS)
        except ApiError as error:
            return Outcome.answer(ticket, sync_error(error.code))
        self._rounds.synced(group, member)
        out = Outcome()
        if group.state is State.STABLE:
            return out.also(ticket, self._rounds.assigned(group, member))
        if member.sync_ticket is not None:
            # The same member on another connection: it gave the first one up.
            out.also(member.sync_ticket, sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
        member.sync_ticket = ticket
        if group.leader == member.member_id:
            assignments = {each.member_id: each.assignment for each in request.assignments}
            self._rounds.assign(group, assignments, now_ms, out)
        return out

    # -- Heartbeat -------------------------------------------------------------------------------------------

    def heartbeat(
        self, group: ClassicGroup, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> ErrorCode:
        """A member is alive, and asks whether its generation still is."""
        if instance_id is None:
            member = group.members.get(member_id)
            if member is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        else:
            try:
                member = group.check_member(member_id, instance_id)
            except ApiError as error:
                return error.code
        if generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
        self._rounds.renew_session(group, member, now_ms)
        if group.state is State.PREPARING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.NONE

    # -- LeaveGroup ------------------------------------------------------------------------------------------

    def leave(
        self, group: ClassicGroup, members: list[MemberIdentity], now_ms: int, out: Outcome
    ) -> list[MemberResponse]:
        """Take members out, each by its id, or by its instance id alone (an administrator's way).

        As in Kafka the others rebalance also when a member leaves that had got its id and not joined yet.
        """
        answers = []
        for identity in members:
            code = self._leave_one(group, identity, out)
            answers.append(
                MemberResponse(
                    member_id=identity.member_id,
                    group_instance_id=identity.group_instance_id,
                    error_code=code,
                )
            )
        left = any(answer.error_code == ErrorCode.NONE for answer in answers)
        if left and group.state not in (State.EMPTY, State.DEAD):
            self._rounds.rebalance_or_complete(group, now_ms, out)
        return answers

    def _leave_one(self, group: ClassicGroup, identity: MemberIdentity, out: Outcome) -> ErrorCode:
        member_id, instance_id = identity.member_id, identity.group_instance_id
        if member_id == NO_MEMBER:
            found = group.static_members.get(instance_id) if instance_id is not None else None
            if found is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            member_id = found
        if member_id in group.pending_members:
            group.remove_pending(member_id)
            return ErrorCode.NONE
        try:
            member = group.check_member(member_id, instance_id)
        except ApiError as error:
            return error.code
        self._rounds.remove(group, member, out)
        return ErrorCode.NONE
