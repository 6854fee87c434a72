"""The rounds of a classic group: gather joins, name a generation, hand out assignments, notice who is gone.

    Empty --join--> Preparing --all joined, or time is up--> Completing --leader's sync--> Stable
      ^              |     ^                                      |                           |
      +--nobody left-+     +-- a member joins, leaves, changes, is lost, or is late to sync --+

Every function adds what happens to the `Outcome` it is given. One outcome has at most one record; what
needs the record applied first is in its `then`.
"""

from __future__ import annotations

from functools import partial

from kbroker.coordinator.group.classic import ClassicGroup, State
from kbroker.coordinator.group.classic_member import ClassicMember
from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.coordinator.group.limits import GroupLimits
from kbroker.coordinator.group.records import group_record
from kbroker.coordinator.shard import Outcome, write_error
from kbroker.coordinator.timers import Timer, TimerQueue
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.group_metadata_value import GroupMetadataValue
from kbroker.protocol.generated.join_group_response import JoinGroupResponse
from kbroker.protocol.generated.sync_group_response import SyncGroupResponse

#: The least time between two looks at a group whose members are all away; a client may have asked for -1.
_WAIT_AGAIN_MS = 1_000


def join_error(member_id: str, code: ErrorCode) -> JoinGroupResponse:
    """A JoinGroup that failed."""
    return JoinGroupResponse(member_id=member_id, error_code=code, protocol_name=None)


def sync_error(code: ErrorCode) -> SyncGroupResponse:
    """A SyncGroup that failed."""
    return SyncGroupResponse(error_code=code)


class ClassicRounds:
    """Moves classic groups through their rounds.

    Args:
        limits: the settings.
        timers: of the shard.
    """

    __slots__ = ("_timers", "completed", "limits")

    def __init__(self, limits: GroupLimits, timers: TimerQueue[Outcome]) -> None:
        #: Rounds that came to their end.
        self.completed = 0
        self.limits = limits
        self._timers = timers

    # -- gathering -------------------------------------------------------------------------------------------

    def rebalance_or_complete(self, group: ClassicGroup, now_ms: int, out: Outcome) -> None:
        """The roster changed: begin a rebalance, or see whether the present one can end."""
        if group.can_rebalance():
            self.prepare(group, now_ms, out)
        else:
            self.maybe_complete_join(group, now_ms, out)

    def prepare(self, group: ClassicGroup, now_ms: int, out: Outcome) -> None:
        """Begin to gather joins. The first rebalance of an empty group waits a moment for more members."""
        if group.state is State.COMPLETING_REBALANCE:
            for member in group.members.values():
                member.assignment = b""
            self.answer_syncs(group, now_ms, ErrorCode.REBALANCE_IN_PROGRESS, out)
        if group.sync_timer is not None:
            group.sync_timer.cancel()
        initial = group.state is State.EMPTY
        group.enter(State.PREPARING_REBALANCE, now_ms)
        if initial:
            delay_ms = self.limits.initial_rebalance_delay_ms
            group.new_member_added = False
            group.initial_delay_ms = delay_ms
            group.initial_remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._start_join_timer(group, now_ms + delay_ms)
        elif group.all_joined:
            self.complete_join(group, now_ms, out)
        else:
            self._start_join_timer(group, now_ms + group.rebalance_timeout_ms)

    def maybe_complete_join(self, group: ClassicGroup, now_ms: int, out: Outcome) -> None:
        """End the gathering if nobody is missing; the first one of an empty group ends by time alone."""
        if (
            group.state is State.PREPARING_REBALANCE
            and group.previous_state is not State.EMPTY
            and group.all_joined
        ):
            self.complete_join(group, now_ms, out)

    def complete_join(self, group: ClassicGroup, now_ms: int, out: Outcome) -> None:
        """Name the next generation: who did not join is out (static members stay until their session
        ends).
        """
        if group.join_timer is not None:
            group.join_timer.cancel()
        for member in [m for m in group.members.values() if m.join_ticket is None and not m.is_static]:
            group.remove(member)
        if not group.members:
            self._become_empty(group, now_ms, out)
        elif not group.elect_joined_leader():
            # Only static members that are away: wait until they come back or their sessions end.
            self._start_join_timer(group, now_ms + max(group.rebalance_timeout_ms, _WAIT_AGAIN_MS))
        else:
            self._next_generation(group, now_ms, out)

    def _become_empty(self, group: ClassicGroup, now_ms: int, out: Outcome) -> None:
        """Nobody is left: the log is told, from this time on the offsets age."""
        value = GroupMetadataValue(
            protocol_type=group.protocol_type or "",
            generation=group.generation + 1,
            protocol=None,
            leader=None,
            current_state_timestamp=now_ms,
            members=[],
        )
        out.records = [group_record(group.group_id, value)]

        def refused(code: ErrorCode) -> Outcome:
            # Members are gone whether it was written or not; a coordinator that replays the log will notice.
            group.restore(value)
            return Outcome(replies=out.replies)

        out.refused = refused

    def _next_generation(self, group: ClassicGroup, now_ms: int, out: Outcome) -> None:
        group.generation += 1
        group.protocol = group.select_protocol()
        group.enter(State.COMPLETING_REBALANCE, now_ms)
        group.pending_sync = dict.fromkeys(group.members)
        for member in group.members.values():
            ticket = member.join_ticket
            if ticket is not None:
                group.set_join_ticket(member, None)
                out.also(ticket, self.joined(group, member))
            member.is_new = False
            self.renew_session(group, member, now_ms)
        if group.sync_timer is None:
            group.sync_timer = Timer(partial(self._sync_time_up, group))
        self._timers.start(group.sync_timer, now_ms + group.rebalance_timeout_ms)

    def joined(self, group: ClassicGroup, member: ClassicMember) -> JoinGroupResponse:
        """The present generation, as the member hears of it; only the leader hears of the others."""
        leads = group.leader == member.member_id
        return JoinGroupResponse(
            generation_id=group.generation,
            protocol_type=group.protocol_type,
            protocol_name=group.protocol,
            leader=group.leader or NO_MEMBER,
            member_id=member.member_id,
            members=group.join_members() if leads else [],
        )

    # -- handing out assignments -----------------------------------------------------------------------------

    def assign(self, group: ClassicGroup, assignments: dict[str, bytes], now_ms: int, out: Outcome) -> None:
        """The leader's assignment: into the log, then to everybody; members not in it get an empty one."""
        out.records = [group_record(group.group_id, group.record(assignments))]

        def then() -> Outcome:
            self.completed += 1
            after = Outcome()
            self.answer_syncs(group, now_ms, ErrorCode.NONE, after)
            return after

        def refused(code: ErrorCode) -> Outcome:
            after = Outcome()
            for member in group.members.values():
                member.assignment = b""
            self.answer_syncs(group, now_ms, write_error(code), after)
            self.rebalance_or_complete(group, now_ms, after)
            return after

        out.then, out.refused = then, refused

    def answer_syncs(self, group: ClassicGroup, now_ms: int, code: ErrorCode, out: Outcome) -> None:
        """Answer every SyncGroup that waits, and begin those members' sessions anew."""
        for member in group.members.values():
            ticket, member.sync_ticket = member.sync_ticket, None
            if ticket is not None:
                out.also(ticket, sync_error(code) if code else self.assigned(group, member))
                self.renew_session(group, member, now_ms)

    def assigned(self, group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
        """The member's assignment."""
        return SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=member.assignment
        )

    def synced(self, group: ClassicGroup, member: ClassicMember) -> None:
        """The member asked for its assignment in time."""
        group.pending_sync.pop(member.member_id, None)
        if not group.pending_sync and group.sync_timer is not None:
            group.sync_timer.cancel()

    # -- leaving ---------------------------------------------------------------------------------------------

    def remove(self, group: ClassicGroup, member: ClassicMember, out: Outcome) -> None:
        """Take a member out; what it waits for is answered with UNKNOWN_MEMBER_ID, so that it joins anew."""
        if member.join_ticket is not None:
            out.also(member.join_ticket, join_error(NO_MEMBER, ErrorCode.UNKNOWN_MEMBER_ID))
        if member.sync_ticket is not None:
            out.also(member.sync_ticket, sync_error(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member)

    # -- time ------------------------------------------------------------------------------------------------

    def renew_session(self, group: ClassicGroup, member: ClassicMember, now_ms: int) -> None:
        """The member is alive."""
        self.start_session(group, member, now_ms + member.session_timeout_ms)

    def start_session(self, group: ClassicGroup, member: ClassicMember, deadline_ms: int) -> None:
        """The member must be heard of before `deadline_ms`."""
        session = member.session
        if session is None:
            session = member.session = Timer(partial(self._session_ended, group, member))
        self._timers.start(session, deadline_ms)

    def add_pending(self, group: ClassicGroup, member_id: str, deadline_ms: int) -> None:
        """An id was given out; who got it must join with it before `deadline_ms`."""
        timer = group.pending_members[member_id] = Timer(partial(self._pending_ended, group, member_id))
        self._timers.start(timer, deadline_ms)

    def _start_join_timer(self, group: ClassicGroup, deadline_ms: int) -> None:
        if group.join_timer is None:
            group.join_timer = Timer(partial(self._join_time_up, group))
        self._timers.start(group.join_timer, deadline_ms)

    def _join_time_up(self, group: ClassicGroup, now_ms: int) -> Outcome:
        out = Outcome()
        if group.state is not State.PREPARING_REBALANCE:
            return out
        if group.previous_state is State.EMPTY and group.new_member_added and group.initial_remaining_ms:
            # Members keep coming: wait once more, in all no longer than the rebalance timeout.
            group.new_member_added = False
            delay_ms = min(self.limits.initial_rebalance_delay_ms, group.initial_remaining_ms)
            group.initial_remaining_ms = max(group.initial_remaining_ms - group.initial_delay_ms, 0)
            group.initial_delay_ms = delay_ms
            self._start_join_timer(group, now_ms + delay_ms)
        else:
            self.complete_join(group, now_ms, out)
        return out

    def _sync_time_up(self, group: ClassicGroup, now_ms: int) -> Outcome:
        """Members that did not ask for their assignment are out (KAFKA-9752)."""
        out = Outcome()
        if group.state not in (State.COMPLETING_REBALANCE, State.STABLE):
            return out
        for member_id in list(group.pending_sync):
            self.remove(group, group.members[member_id], out)
        self.prepare(group, now_ms, out)
        return out

    def _session_ended(self, group: ClassicGroup, member: ClassicMember, now_ms: int) -> Outcome:
        out = Outcome()
        if group.members.get(member.member_id) is member and not member.excused:
            self.remove(group, member, out)
            self.rebalance_or_complete(group, now_ms, out)
        return out

    def _pending_ended(self, group: ClassicGroup, member_id: str, now_ms: int) -> Outcome:
        out = Outcome()
        if group.pending_members.pop(member_id, None) is not None:
            self.maybe_complete_join(group, now_ms, out)
        return out
