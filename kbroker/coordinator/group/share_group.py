"""A share group (KIP-932): its members, who reads which partition, and where the share coordinator keeps
state of it. All but the timers becomes true by records (`apply`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kbroker.coordinator.group.share_records import (
    Places,
    ShareMember,
    StateTopics,
    group_tombstones,
    state_of,
)
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import Uuid

if TYPE_CHECKING:
    from kbroker.coordinator.group.offsets import CommittedOffset
    from kbroker.coordinator.shard import CoordinatorRecord, Outcome
    from kbroker.coordinator.timers import Timer

#: The epoch of a group that was never written.
FIRST_EPOCH = 1


class ShareGroup:
    """One share group."""

    TYPE: ClassVar[str] = "share"

    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp_ms",
        "epoch",
        "group_id",
        "initializing_since_ms",
        "members",
        "metadata_hash",
        "refresh_ms",
        "sessions",
        "state",
        "targets",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = FIRST_EPOCH
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ShareMember] = {}
        self.targets: dict[str, Places] = {}
        self.state = StateTopics()
        self.sessions: dict[str, Timer[Outcome]] = {}
        #: When the topics are to be looked at again; 0: at the next occasion.
        self.refresh_ms = 0
        #: When the share coordinator was asked last to begin with partitions; -1: not by this coordinator.
        self.initializing_since_ms = -1

    def subscribed_topics(self) -> set[str]:
        """Of all members."""
        return {name for member in self.members.values() for name in member.topics}

    def initialized(self, topic_id: Uuid) -> frozenset[int]:
        """The partitions of a topic that may be read."""
        return self.state.initialized.get(topic_id, ("", frozenset()))[1]

    def stop(self) -> None:
        """The group is gone."""
        for timer in self.sessions.values():
            timer.cancel()

    # -- what every group answers (Group) --------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        """Empty or Stable."""
        return "Stable" if self.members else "Empty"

    @property
    def protocol_type_name(self) -> str:
        """`share`."""
        return "share"

    @property
    def removable(self) -> bool:
        """Not by time: the share coordinator has state of it."""
        return False

    def tombstones(self) -> list[CoordinatorRecord]:
        """Records that end the group."""
        return group_tombstones(self.group_id)

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, version: int, transactional: bool
    ) -> None:
        """GROUP_ID_NOT_FOUND: such a group commits no offsets."""
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """There is nothing to read, for anybody."""

    def check_delete(self) -> None:
        """NON_EMPTY_GROUP."""
        if self.members:
            raise ApiError(ErrorCode.NON_EMPTY_GROUP)

    def check_offset_delete(self) -> None:
        """GROUP_ID_NOT_FOUND: it has no offsets of that kind."""
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND)

    def subscriptions(self) -> Callable[[str], bool]:
        """What any member subscribes to."""
        return self.subscribed_topics().__contains__

    def offset_age_base(self) -> Callable[[CommittedOffset], int] | None:
        """It has none."""
        return None

    # -- records ---------------------------------------------------------------------------------------------

    def apply(self, record: CoordinatorRecord) -> None:
        """Make true what a record says."""
        _APPLIERS[record.key.API_KEY](self, record.key, record.value)

    def _apply_member(self, key: Any, value: Any) -> None:
        if value is None:
            self.members.pop(key.member_id, None)
            timer = self.sessions.pop(key.member_id, None)
            if timer is not None:
                timer.cancel()
            return
        self.members[key.member_id] = self._member(key)._replace(
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topics=tuple(value.subscribed_topic_names),
        )

    def _apply_epoch(self, key: Any, value: Any) -> None:
        self.epoch, self.metadata_hash = value.epoch, value.metadata_hash

    def _apply_target_epoch(self, key: Any, value: Any) -> None:
        self.assignment_epoch = FIRST_EPOCH if value is None else value.assignment_epoch
        self.assignment_timestamp_ms = 0 if value is None else value.assignment_timestamp

    def _apply_target(self, key: Any, value: Any) -> None:
        if value is None:
            self.targets.pop(key.member_id, None)
        else:
            self.targets[key.member_id] = _places(value.topic_partitions)

    def _apply_standing(self, key: Any, value: Any) -> None:
        if value is None:
            if key.member_id in self.members:
                self.members[key.member_id] = self._member(key)._replace(
                    epoch=0, previous_epoch=0, assigned={}
                )
            return
        self.members[key.member_id] = self._member(key)._replace(
            epoch=value.member_epoch,
            previous_epoch=value.previous_member_epoch,
            assigned=_places(value.assigned_partitions),
        )

    def _apply_state(self, key: Any, value: Any) -> None:
        self.state = StateTopics() if value is None else state_of(value)

    def _member(self, key: Any) -> ShareMember:
        found = self.members.get(key.member_id)
        return ShareMember(key.member_id) if found is None else found


def _places(parts: Any) -> Places:
    return {each.topic_id: frozenset(each.partitions) for each in parts}


#: What a record means, by its key type.
_APPLIERS: Mapping[int, Callable[[ShareGroup, Any, Any], None]] = {
    10: ShareGroup._apply_member,
    11: ShareGroup._apply_epoch,
    12: ShareGroup._apply_target_epoch,
    13: ShareGroup._apply_target,
    14: ShareGroup._apply_standing,
    15: ShareGroup._apply_state,
}
