"""Consumer groups (KIP-848) as the shard sees them: one door to the modules that decide on them.

Imported only once there is such a group, or somebody asks for one: brokers without them start sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from kbroker.coordinator.group.consumer_classic import ClassicMembers
from kbroker.coordinator.group.consumer_group import ConsumerGroup
from kbroker.coordinator.group.consumer_migration import Migration
from kbroker.coordinator.group.consumer_requests import (
    Beating,
    ConsumerRequests,
    not_a_consumer_group,
)
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.coordinator.group.classic_rounds import ClassicRounds
    from kbroker.coordinator.group.limits import Surroundings
    from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket
    from kbroker.coordinator.timers import TimerQueue

_GROUP_KEY = 3


class ConsumerPart:
    """The consumer groups of one shard.

    Args:
        groups: of the shard; `apply` adds to it and removes from it.
        timers: of the shard.
        rounds: what moves the shard's classic groups.
    """

    def __init__(
        self,
        groups: MutableMapping[str, Any],
        timers: TimerQueue[Outcome],
        rounds: ClassicRounds,
        surroundings: Surroundings,
    ) -> None:
        limits = surroundings.consumer_limits()
        topics = TopicView(surroundings.image)
        migration = Migration(groups, rounds, topics, limits)
        self._groups = groups
        self._topics = topics
        self._requests = ConsumerRequests(groups, timers, topics, limits, migration)
        self.classic = ClassicMembers(self._requests)

    def heartbeat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        """ConsumerGroupHeartbeat."""
        return self._requests.heartbeat(ticket, beating, now_ms)

    def apply(self, record: CoordinatorRecord) -> None:
        """Make true what a record says."""
        key = record.key
        group = self._groups.get(key.group_id)
        if not isinstance(group, ConsumerGroup):
            if record.value is None:
                return
            group = self._groups[key.group_id] = ConsumerGroup(key.group_id)
        if key.API_KEY == _GROUP_KEY and record.value is None:
            group.stop()
            del self._groups[key.group_id]
        else:
            group.apply(record)

    def describe(self, group_id: str) -> tuple[ConsumerGroup, str]:
        """A group, and the name of its assignor.

        Raises:
            ApiError: GROUP_ID_NOT_FOUND.
        """
        group = self._groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, ConsumerGroup):
            raise not_a_consumer_group(group_id)
        return group, self._requests.draft(group, None, []).assignor(group.members)

    def loaded(self, group: ConsumerGroup, now_ms: int) -> None:
        """The log has been replayed."""
        self._requests.loaded(group, now_ms)

    def topics_changed(self, names: Iterable[str], created: bool, racks: bool) -> None:
        """The metadata changed: groups that subscribe to such topics look at them with their next heartbeat.

        Args:
            names: topics that came, went or changed.
            created: there are new ones among them, which patterns may match.
            racks: brokers came, went or moved to other racks.
        """
        if racks:
            self._topics.racks_changed()
        if created:
            self._requests.regexes.newest_topics = self._topics.version
        changed = frozenset(names)
        for group in self._groups.values():
            if isinstance(group, ConsumerGroup) and (racks or group.subscribes_to_any(changed)):
                group.refresh_ms = 0
