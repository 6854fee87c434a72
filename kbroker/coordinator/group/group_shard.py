"""One partition of `__consumer_offsets`: its groups, their offsets, and the door to both.

Deciding reads the state and returns an `Outcome`; `apply` alone makes true what stands in the log (see
coordinator/shard.py). Kinds of groups and records register here: `groups` holds groups of any kind,
`_appliers` the meaning of each key type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.coordinator.group.classic import ClassicGroup
from kbroker.coordinator.group.classic_requests import ClassicRequests, Joining
from kbroker.coordinator.group.classic_rounds import ClassicRounds, join_error, sync_error
from kbroker.coordinator.group.group import NO_MEMBER, Group
from kbroker.coordinator.group.limits import GroupLimits, Surroundings
from kbroker.coordinator.group.offset_requests import (
    NO_PRODUCER,
    Committing,
    FetchedOffset,
    OffsetRequests,
)
from kbroker.coordinator.group.offsets import CommittedOffset, OffsetStore
from kbroker.coordinator.group.record_kinds import (
    CONSUMER_KEYS,
    OTHER_KEYS,
    SHARE_KEYS,
    STREAMS_KEYS,
)
from kbroker.coordinator.group.records import GROUP_METADATA, OFFSET, decode_record, group_record
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket, write_error
from kbroker.coordinator.timers import Timer, TimerQueue
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.leave_group_request import MemberIdentity
from kbroker.protocol.generated.leave_group_response import LeaveGroupResponse, MemberResponse
from kbroker.protocol.generated.sync_group_request import SyncGroupRequest
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.coordinator.group.consumer_part import ConsumerPart
    from kbroker.coordinator.group.consumer_requests import Beating
    from kbroker.coordinator.group.share_part import SharePart
    from kbroker.coordinator.group.streams_part import StreamsPart
    from kbroker.coordinator.group.streams_requests import Beating as StreamsBeating

CONSUMER, SHARE, STREAMS = "consumer", "share", "streams"

#: When what a deadline leads to is tried again that could not be written.
_RETRY_MS = 500


class ListedGroup(NamedTuple):
    """A group as ListGroups names it."""

    group_id: str
    protocol_type: str
    state: str
    type: str


class GroupShard:
    """The group coordinator's state for one partition.

    Args:
        limits: the settings.
        surroundings: for the other kinds of groups; None: there are none (tests).
    """

    __slots__ = (
        "_appliers",
        "_classic",
        "_consumer",
        "_offset_requests",
        "_rounds",
        "_share",
        "_streams",
        "_surroundings",
        "_timers",
        "groups",
        "offsets",
    )

    def __init__(self, limits: GroupLimits, surroundings: Surroundings | None = None) -> None:
        self._surroundings = surroundings
        self._consumer: ConsumerPart | None = None
        self._share: SharePart | None = None
        self._streams: StreamsPart | None = None
        self.groups: dict[str, Group] = {}
        self.offsets = OffsetStore()
        self._timers: TimerQueue[Outcome] = TimerQueue()
        self._rounds = ClassicRounds(limits, self._timers)
        self._classic = ClassicRequests(self._rounds)
        self._offset_requests = OffsetRequests(self.groups, self.offsets, limits)
        self._appliers: dict[int, Callable[[CoordinatorRecord, int, int], None]] = {
            OFFSET: self._apply_offset,
            GROUP_METADATA: self._apply_group,
            **dict.fromkeys(OTHER_KEYS, self._apply_nothing),
            **dict.fromkeys(CONSUMER_KEYS, self._apply_consumer),
            **dict.fromkeys(STREAMS_KEYS, self._apply_streams),
            **dict.fromkeys(SHARE_KEYS, self._apply_share),
        }

    @property
    def rebalances(self) -> int:
        """Of classic groups, that came to their end."""
        return self._rounds.completed

    @property
    def consumer(self) -> ConsumerPart:
        """All about consumer groups (KIP-848); made when it is first asked for."""
        if self._consumer is None:
            from kbroker.coordinator.group.consumer_part import ConsumerPart

            assert self._surroundings is not None
            self._consumer = ConsumerPart(self.groups, self._timers, self._rounds, self._surroundings)
        return self._consumer

    def consumer_heartbeat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        """ConsumerGroupHeartbeat."""
        return self.consumer.heartbeat(ticket, beating, now_ms)

    @property
    def streams(self) -> StreamsPart:
        """All about streams groups (KIP-1071); made when it is first asked for."""
        if self._streams is None:
            from kbroker.coordinator.group.streams_part import StreamsPart

            assert self._surroundings is not None
            self._streams = StreamsPart(self.groups, self._timers, self._surroundings)
        return self._streams

    def streams_heartbeat(self, ticket: Ticket, beating: StreamsBeating, now_ms: int) -> Outcome:
        """StreamsGroupHeartbeat; answers with a `Beat`."""
        return self.streams.heartbeat(ticket, beating, now_ms)

    @property
    def share(self) -> SharePart:
        """All about share groups (KIP-932); made when it is first asked for."""
        if self._share is None:
            from kbroker.coordinator.group.share_part import SharePart

            assert self._surroundings is not None
            self._share = SharePart(self.groups, self._timers, self._surroundings.image)
        return self._share

    # -- classic members -------------------------------------------------------------------------------------

    def join(self, ticket: Ticket, joining: Joining, now_ms: int) -> Outcome:
        """JoinGroup. A group is born when somebody without a member id joins it; that is recorded first."""
        request = joining.request
        group = self.groups.get(request.group_id)
        if group is None:
            if request.member_id != NO_MEMBER:
                return Outcome.answer(ticket, join_error(request.member_id, ErrorCode.UNKNOWN_MEMBER_ID))
            return self._birth(ticket, joining, now_ms)
        if isinstance(group, ClassicGroup):
            return self._classic.join(group, ticket, joining, now_ms)
        if group.TYPE != CONSUMER:
            return Outcome.answer(ticket, join_error(NO_MEMBER, ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
        occupied: Any = group
        if occupied.members:
            return self.consumer.classic.join(occupied, ticket, joining, now_ms)
        if request.member_id != NO_MEMBER:
            return Outcome.answer(ticket, join_error(request.member_id, ErrorCode.UNKNOWN_MEMBER_ID))
        return self._birth(ticket, joining, now_ms, group.tombstones())

    def _birth(
        self, ticket: Ticket, joining: Joining, now_ms: int, before: Sequence[CoordinatorRecord] = ()
    ) -> Outcome:
        newborn = ClassicGroup(joining.request.group_id)
        newborn.state_timestamp_ms = now_ms
        return Outcome(
            [*before, group_record(newborn.group_id, newborn.record())],
            refused=lambda code: Outcome.answer(ticket, join_error(NO_MEMBER, write_error(code))),
            then=lambda: self.join(ticket, joining, now_ms),
        )

    def sync(self, ticket: Ticket, request: SyncGroupRequest, now_ms: int) -> Outcome:
        """SyncGroup."""
        group: Any = self.groups.get(request.group_id)
        if isinstance(group, ClassicGroup):
            return self._classic.sync(group, ticket, request, now_ms)
        if group is not None and group.TYPE == CONSUMER:
            return self.consumer.classic.sync(group, ticket, request, now_ms)
        return Outcome.answer(ticket, sync_error(ErrorCode.UNKNOWN_MEMBER_ID))

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> ErrorCode:
        """Heartbeat: at once, and without effect on the log."""
        group: Any = self.groups.get(group_id)
        if isinstance(group, ClassicGroup):
            return self._classic.heartbeat(group, member_id, instance_id, generation, now_ms)
        if group is not None and group.TYPE == CONSUMER:
            return self.consumer.classic.heartbeat(group, member_id, instance_id, generation, now_ms)
        return ErrorCode.UNKNOWN_MEMBER_ID

    def leave(self, ticket: Ticket, group_id: str, members: list[MemberIdentity], now_ms: int) -> Outcome:
        """LeaveGroup; answers with a response of version 3 and later."""
        out = Outcome()
        group: Any = self.groups.get(group_id)
        if group is not None and group.TYPE == CONSUMER:
            return self.consumer.classic.leave(group, ticket, members, now_ms)
        if isinstance(group, ClassicGroup):
            answers = self._classic.leave(group, members, now_ms, out)
        else:
            answers = [
                MemberResponse(
                    member_id=each.member_id,
                    group_instance_id=each.group_instance_id,
                    error_code=ErrorCode.UNKNOWN_MEMBER_ID,
                )
                for each in members
            ]
        return out.also(ticket, LeaveGroupResponse(members=answers))

    # -- offsets ---------------------------------------------------------------------------------------------

    def commit(self, ticket: Ticket, request: Committing, now_ms: int) -> Outcome:
        """OffsetCommit; answers with a list of codes. A member that commits is alive."""
        out = self._offset_requests.commit(ticket, request, now_ms)
        group = self.groups.get(request.group_id)
        renews = request.generation >= 0 and request.producer == NO_PRODUCER
        if out.records and renews and isinstance(group, ClassicGroup):
            member = group.members.get(request.member_id)
            if member is not None:
                self._rounds.renew_session(group, member, now_ms)
        return out

    def may_commit(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        version: int,
        now_ms: int,
    ) -> bool:
        """Whether all that this member of a group that exists commits now is taken; it is alive, then.

        What is committed has to be put in the log, and to `offsets`, before anything else is decided.
        """
        group = self.groups.get(group_id)
        if group is None:
            return False
        try:
            if group.check_commit(member_id, instance_id, generation, version, False) is not None:
                return False
        except ApiError:
            return False
        if generation >= 0 and isinstance(group, ClassicGroup):
            member = group.members.get(member_id)
            if member is not None:
                self._rounds.renew_session(group, member, now_ms)
        return True

    def fetch_offsets(
        self,
        group_id: str,
        member_id: str | None,
        member_epoch: int,
        topics: list[tuple[str, Uuid, list[int]]] | None,
        require_stable: bool,
    ) -> list[tuple[str, list[FetchedOffset]]]:
        """OffsetFetch of one group, as far as was said to be `committed`; see `OffsetRequests.fetch`."""
        return self._offset_requests.fetch(group_id, member_id, member_epoch, topics, require_stable)

    def delete_offsets(self, ticket: Ticket, group_id: str, partitions: list[tuple[str, int]]) -> Outcome:
        """OffsetDelete; answers with `DeletedOffsets`."""
        return self._offset_requests.delete(ticket, group_id, partitions)

    def delete_group(self, ticket: Ticket, group_id: str) -> Outcome:
        """DeleteGroups, one group; answers with an error code."""
        return self._offset_requests.delete_group(ticket, group_id)

    def expire_offsets(self, now_ms: int) -> Iterator[Outcome]:
        """What the retention time has overtaken. Perform each outcome before asking for the next."""
        return self._offset_requests.expire(now_ms)

    def topics_deleted(self, topics: list[str]) -> Iterator[Outcome]:
        """Forget offsets of deleted topics. Perform each outcome before asking for the next."""
        return self._offset_requests.topics_deleted(topics)

    def topics_changed(self, names: Iterable[str], created: bool, racks: bool) -> None:
        """The metadata changed; see `ConsumerPart.topics_changed`."""
        if self._consumer is not None:
            self._consumer.topics_changed(names, created, racks)
        if self._streams is not None:
            self._streams.topics_changed(names, racks)
        if self._share is not None:
            self._share.topics_changed(names, racks)

    def list_groups(self) -> list[ListedGroup]:
        """All groups."""
        return [
            ListedGroup(group.group_id, group.protocol_type_name, group.state_name, group.TYPE)
            for group in self.groups.values()
        ]

    # -- the log (Shard) -------------------------------------------------------------------------------------

    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        """A record of the log; None for one of a kind that is not known here."""
        return decode_record(key, value)

    def apply(self, record: CoordinatorRecord, offset: int, producer_id: int = -1) -> None:
        """Make true what a record says."""
        self._appliers[record.key.API_KEY](record, offset, producer_id)

    def apply_marker(self, producer_id: int, committed: bool, offset: int) -> None:
        """A transaction's pending offsets become true, or go."""
        self.offsets.end_transaction(producer_id, committed, offset)

    def committed(self, end: int) -> None:
        """The log is committed below `end`."""
        self.offsets.committed(end)

    def _apply_offset(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        key, value = record.key, record.value
        if value is None:
            self.offsets.remove(key.group, key.topic, key.partition, offset)
            return
        if key.group not in self.groups:
            self.groups[key.group] = ClassicGroup(key.group)
        committed = CommittedOffset(
            value.offset,
            value.leader_epoch,
            value.metadata,
            value.commit_timestamp,
            value.expire_timestamp,
            value.topic_id,
            offset,
        )
        self.offsets.put(key.group, key.topic, key.partition, committed, producer_id)

    def _apply_group(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        group_id, value = record.key.group, record.value
        if value is None:
            # A group that became one of another kind leaves this record of its former self.
            if isinstance(self.groups.get(group_id), ClassicGroup):
                del self.groups[group_id]
            return
        group: Any = self.groups.get(group_id)
        if not isinstance(group, ClassicGroup):
            group = self.groups[group_id] = ClassicGroup(group_id)
        group.restore(value)

    def _apply_consumer(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        self.consumer.apply(record)

    def _apply_streams(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        self.streams.apply(record)

    def _apply_share(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        self.share.apply(record)

    def _apply_nothing(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        """It stays in the log; that is all."""

    # -- time (Shard) ----------------------------------------------------------------------------------------

    def loaded(self, now_ms: int) -> Outcome:
        """The log has been replayed: the sessions of its members begin. Groups above the limit must
        rebalance.
        """
        out = Outcome()
        group: Any
        for group in self.groups.values():
            if group.TYPE == CONSUMER:
                self.consumer.loaded(group, now_ms)
            elif group.TYPE == STREAMS:
                self.streams.loaded(group, now_ms)
            elif group.TYPE == SHARE:
                self.share.loaded(group, now_ms)
            if not isinstance(group, ClassicGroup):
                continue
            for member in group.members.values():
                self._rounds.renew_session(group, member, now_ms)
            if len(group.members) > self._rounds.limits.max_size:
                self._rounds.prepare(group, now_ms, out)
        return out

    def deadline(self) -> int | None:
        """When `tick` wants to be called."""
        return self._timers.deadline()

    def tick(self, now_ms: int) -> Outcome | None:
        """Handle one passed deadline; None when there is none left. One whose records the log refuses, as
        while too few replicas are in sync, comes again: a member that is gone would else be one for ever.
        """
        timer = self._timers.pop_due(now_ms)
        if timer is None:
            return None
        outcome = timer.action(now_ms)
        if outcome.records and outcome.refused is None:
            outcome.refused = partial(self._come_again, timer, now_ms)
        return outcome

    def _come_again(self, timer: Timer[Outcome], now_ms: int, code: ErrorCode) -> Outcome:
        if not timer.running:
            self._timers.start(timer, now_ms + _RETRY_MS)
        return Outcome()
