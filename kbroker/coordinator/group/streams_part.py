"""Streams groups (KIP-1071) as the shard sees them: one door to the modules that decide on them.

Imported only once there is such a group, or somebody asks for one: brokers without them start sooner.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from kbroker.coordinator.group.streams_group import StreamsGroup
from kbroker.coordinator.group.streams_requests import Beating, StreamsRequests, not_a_streams_group
from kbroker.coordinator.group.topic_view import TopicView
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.coordinator.group.limits import Surroundings
    from kbroker.coordinator.shard import CoordinatorRecord, Outcome, Ticket
    from kbroker.coordinator.timers import TimerQueue

_GROUP_KEY = 17


class StreamsPart:
    """The streams groups of one shard.

    Args:
        groups: of the shard; `apply` adds to it and removes from it.
        timers: of the shard.
    """

    def __init__(
        self,
        groups: MutableMapping[str, Any],
        timers: TimerQueue[Outcome],
        surroundings: Surroundings,
    ) -> None:
        assert surroundings.streams_limits is not None
        self._groups = groups
        self._topics = TopicView(surroundings.image)
        self._requests = StreamsRequests(groups, timers, self._topics, surroundings.streams_limits())

    def heartbeat(self, ticket: Ticket, beating: Beating, now_ms: int) -> Outcome:
        """StreamsGroupHeartbeat."""
        return self._requests.heartbeat(ticket, beating, now_ms)

    def apply(self, record: CoordinatorRecord) -> None:
        """Make true what a record says."""
        key = record.key
        group = self._groups.get(key.group_id)
        if not isinstance(group, StreamsGroup):
            if record.value is None:
                return
            group = self._groups[key.group_id] = StreamsGroup(key.group_id)
        if key.API_KEY == _GROUP_KEY and record.value is None:
            group.stop()
            del self._groups[key.group_id]
        else:
            group.apply(record)

    def describe(self, group_id: str) -> StreamsGroup:
        """A group.

        Raises:
            ApiError: GROUP_ID_NOT_FOUND.
        """
        group = self._groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, StreamsGroup):
            raise not_a_streams_group(group_id)
        return group

    def loaded(self, group: StreamsGroup, now_ms: int) -> None:
        """The log has been replayed."""
        self._requests.loaded(group, now_ms)

    def topics_changed(self, names: Iterable[str], racks: bool) -> None:
        """The metadata changed: groups that need such topics look at them with their next heartbeat.

        Args:
            names: topics that came, went or changed.
            racks: brokers came, went or moved to other racks.
        """
        if racks:
            self._topics.racks_changed()
        changed = set(names)
        for group in self._groups.values():
            if isinstance(group, StreamsGroup) and (racks or not changed.isdisjoint(group.needs())):
                group.refresh_ms = 0
