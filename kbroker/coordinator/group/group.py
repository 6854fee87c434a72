"""What every kind of group must answer, so that offsets, lists and deletions need not know which kind it is.

Classic groups are the first kind; consumer (KIP-848), share and streams groups join by implementing
`Group` and by registering their record types with the shard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from kbroker.coordinator.group.offsets import CommittedOffset
    from kbroker.coordinator.shard import CoordinatorRecord
    from kbroker.errors import ErrorCode
    from kbroker.types import Uuid

#: A member that has no id yet.
NO_MEMBER = ""


class Group(Protocol):
    """One group of any kind."""

    #: `classic`, `consumer`, `share` or `streams`, as ListGroups v5 names it.
    TYPE: ClassVar[str]

    group_id: str

    @property
    def state_name(self) -> str:
        """The state as ListGroups and DescribeGroups print it."""
        ...

    @property
    def protocol_type_name(self) -> str:
        """The protocol type, empty for a group that only holds offsets."""
        ...

    @property
    def removable(self) -> bool:
        """Nobody is in it or on the way in: it may be forgotten once its offsets are gone."""
        ...

    def tombstones(self) -> list[CoordinatorRecord]:
        """Records that end the group (its offsets are not part of it)."""
        ...

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, version: int, transactional: bool
    ) -> Callable[[str, Uuid, int], ErrorCode] | None:
        """May this member commit offsets now? ApiError if not; or, if that depends on the partition, a test
        of each (topic, its id, partition).
        """
        ...

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """May this member read offsets? ApiError if not."""
        ...

    def check_delete(self) -> None:
        """May the group be deleted (DeleteGroups)? ApiError if not."""
        ...

    def check_offset_delete(self) -> None:
        """May offsets of topics it is not subscribed to be deleted (KIP-496)? ApiError if not."""
        ...

    def subscriptions(self) -> Callable[[str], bool]:
        """A test whether a topic is subscribed to now; ask once for many topics."""
        ...

    def offset_age_base(self) -> Callable[[CommittedOffset], int] | None:
        """From when on an offset ages (ms), None if none does in the present state (KIP-211)."""
        ...
