"""A living group changes its kind (KIP-848): from classic to consumer when the first member of the new
protocol comes, back when the last one goes.

Both ways the old records end and the new ones begin in one batch, so that no replay sees half a group.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, MutableMapping
from typing import Any, NamedTuple

from kbroker.coordinator.group import consumer_records as write
from kbroker.coordinator.group.classic import ClassicGroup, State
from kbroker.coordinator.group.classic_member import ClassicMember
from kbroker.coordinator.group.classic_rounds import ClassicRounds, join_error, sync_error
from kbroker.coordinator.group.consumer_draft import ConsumerLimits
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.consumer_member import ClassicSide, ConsumerMember
from kbroker.coordinator.group.embedded_protocol import (
    PROTOCOL_TYPE,
    read_assignment,
    read_subscription,
    version_of,
    write_assignment,
)
from kbroker.coordinator.group.records import group_record, group_tombstone
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Reply
from kbroker.errors import ApiError, ErrorCode, ProtocolError

_log = logging.getLogger(__name__)


class Upgrade(NamedTuple):
    """A group on its way to a consumer group.

    `group` is what it will be once `replies` are sent and its records are written; `finish` stops what the
    classic group still waited for.
    """

    group: ConsumerGroup
    replies: list[Reply]
    finish: Callable[[], None]


class _CustomAssignor(Exception):
    """An assignor put data of its own beside the partitions; the broker's assignors cannot carry it on."""


class Migration:
    """Converts groups.

    Args:
        groups: of the shard, to read.
        rounds: what moves classic groups.
    """

    def __init__(
        self,
        groups: MutableMapping[str, Any],
        rounds: ClassicRounds,
        topics: TopicView,
        limits: ConsumerLimits,
    ) -> None:
        self._groups = groups
        self._rounds = rounds
        self._topics = topics
        self._limits = limits

    # -- upgrade ---------------------------------------------------------------------------------------------

    def upgrade(self, group: Any, records: list[CoordinatorRecord]) -> Upgrade:
        """A member of the consumer protocol joins a group of another kind.

        Raises:
            ApiError: GROUP_ID_NOT_FOUND: it cannot.
        """
        if not isinstance(group, ClassicGroup):
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group.group_id} is not a consumer group.")
        if group.state is State.EMPTY:
            records.append(group_tombstone(group.group_id))
            return Upgrade(ConsumerGroup(group.group_id), [], lambda: _stop(group))
        reason = self._against_upgrade(group)
        if reason is None:
            try:
                made = self._made_of(group)
            except ProtocolError as error:
                _log.warning("cannot convert the classic group %s: %s", group.group_id, error)
                reason = "because the embedded consumer protocol is malformed."
            except _CustomAssignor:
                reason = (
                    "because an unsupported custom assignor is in use. Please refer to the documentation or "
                    "switch to a default assignor before re-attempting the upgrade."
                )
        if reason is not None:
            raise ApiError(
                ErrorCode.GROUP_ID_NOT_FOUND,
                f"Cannot upgrade classic group {group.group_id} to consumer group {reason}",
            )
        replies = []
        for member in group.members.values():
            if member.join_ticket is not None:
                answer: Any = join_error(member.member_id, ErrorCode.REBALANCE_IN_PROGRESS)
                replies.append(Reply(member.join_ticket, answer))
            if member.sync_ticket is not None:
                replies.append(Reply(member.sync_ticket, sync_error(ErrorCode.REBALANCE_IN_PROGRESS)))
        records.append(group_tombstone(group.group_id))
        records += _birth_records(made)
        return Upgrade(made, replies, lambda: _stop(group))

    def _against_upgrade(self, group: ClassicGroup) -> str | None:
        if not self._limits.may_upgrade:
            return "because online upgrade is disabled."
        if group.protocol_type != PROTOCOL_TYPE:
            return "because the group does not use the consumer embedded protocol."
        if len(group.members) > self._limits.max_size:
            return "because the group size exceeds the consumer group maximum size."
        return None

    def _made_of(self, group: ClassicGroup) -> ConsumerGroup:
        made = ConsumerGroup(group.group_id)
        generation = group.generation
        for member in group.members.values():
            partitions, custom = read_assignment(member.assignment, self._topics)
            if custom:
                raise _CustomAssignor
            protocol = group.protocol if group.protocol in member.protocols else next(iter(member.protocols))
            subscription = read_subscription(member.protocols[protocol or ""])
            held = {topic_id: dict.fromkeys(each, generation) for topic_id, each in partitions.items()}
            converted = ConsumerMember(member.member_id).but(
                instance_id=member.instance_id,
                rack_id=subscription.rack_id or None,
                client_id=member.client_id,
                client_host=member.client_host,
                topics=tuple(sorted(set(subscription.topics))),
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                classic=ClassicSide(member.session_timeout_ms, tuple(member.protocols.items())),
                epoch=generation,
                previous_epoch=generation,
                assigned=held,
            )
            made.apply(write.member_record(group.group_id, converted))
            made.apply(write.standing_record(group.group_id, converted))
            made.apply(write.target_record(group.group_id, member.member_id, partitions))
        made.epoch = made.assignment_epoch = generation
        made.metadata_hash = self._topics.group_hash(made.names)
        return made

    # -- downgrade -------------------------------------------------------------------------------------------

    def downgrade(
        self,
        group: ConsumerGroup,
        leaving: Collection[str],
        joining: ConsumerMember | None,
        now_ms: int,
        stale: bool = False,
    ) -> Outcome | None:
        """The members `leaving` go, and only classic ones are left: the group is a classic one from now on.
        None: it stays what it is.

        Args:
            joining: a classic static member that takes the place of the one that goes.
            stale: `joining` has not got its last assignment, so that all must join again.
        """
        stay = [member for each, member in group.members.items() if each not in leaving]
        if joining is not None:
            stay.append(joining)
        if not stay or any(member.classic is None for member in stay):
            return None
        if all(group.members[each].classic is not None for each in leaving):
            return None
        if not self._limits.may_downgrade or len(stay) > self._rounds.limits.max_size:
            return None
        try:
            made = self._classic_of(group, stay, next(iter(leaving)), joining, now_ms)
        except ProtocolError as error:
            _log.warning("cannot convert the consumer group %s: %s", group.group_id, error)
            return None
        protocols = {member_id: member.protocols for member_id, member in made.members.items()}
        rebalances = joining is None or stale

        def then() -> Outcome:
            classic = self._groups[group.group_id]
            for member in list(classic.members.values()):
                classic.set_protocols(member, protocols[member.member_id])
                self._rounds.renew_session(classic, member, now_ms)
            out = Outcome()
            if rebalances:
                self._rounds.prepare(classic, now_ms, out)
            return out

        records = [*group.tombstones(), group_record(group.group_id, made.record())]
        return Outcome(records, then=then)

    def _classic_of(
        self,
        group: ConsumerGroup,
        stay: list[ConsumerMember],
        leaving: str,
        joining: ConsumerMember | None,
        now_ms: int,
    ) -> ClassicGroup:
        made = ClassicGroup(group.group_id)
        for member in stay:
            assert member.classic is not None
            made.add(
                ClassicMember(
                    member.member_id,
                    member.instance_id,
                    member.client_id,
                    member.client_host,
                    member.rebalance_timeout_ms,
                    member.classic.session_timeout_ms,
                    dict(member.classic.protocols),
                ),
                PROTOCOL_TYPE,
            )
        made.generation = group.epoch
        made.state_timestamp_ms = now_ms
        made.protocol = made.select_protocol()
        for each in made.members.values():
            # Who takes the place of another one takes its partitions.
            owner = leaving if joining is not None and each.member_id == joining.member_id else each.member_id
            version = version_of(each.protocols[made.protocol])
            each.assignment = write_assignment(group.targets.get(owner, {}), self._topics, version)
        return made


def _stop(group: ClassicGroup) -> None:
    """Nothing runs for a group that is no more."""
    timers = [group.join_timer, group.sync_timer, *group.pending_members.values()]
    timers += [member.session for member in group.members.values()]
    for timer in timers:
        if timer is not None:
            timer.cancel()


def _birth_records(group: ConsumerGroup) -> list[CoordinatorRecord]:
    """All of a group that was made of a classic one."""
    group_id = group.group_id
    return [
        *(write.member_record(group_id, member) for member in group.members.values()),
        write.epoch_record(group_id, group.epoch, group.metadata_hash),
        *(write.target_record(group_id, each, group.targets.get(each, {})) for each in group.members),
        write.target_epoch_record(group_id, group.assignment_epoch, 0),
        *(write.standing_record(group_id, member) for member in group.members.values()),
    ]
