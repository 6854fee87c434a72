"""A group of a kind that this release does not serve: its records stay as they are, its offsets can be read.

Apache Kafka keeps share groups in `__consumer_offsets`, too. Law of this
file: nothing here ever writes a record of such a group, so that Kafka finds it again as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kbroker.coordinator.group.group import NO_MEMBER
from kbroker.coordinator.group.offsets import CommittedOffset
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.share_group_member_metadata_key import ShareGroupMemberMetadataKey
from kbroker.protocol.generated.share_group_metadata_key import ShareGroupMetadataKey

if TYPE_CHECKING:
    from kbroker.coordinator.shard import CoordinatorRecord


class KeptGroup:
    """Such a group: its name, its kind, and who was in it."""

    __slots__ = ("group_id", "members")
    TYPE: ClassVar[str]

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.members: dict[str, None] = {}

    @property
    def state_name(self) -> str:
        """`Empty`, or `Stable` while it has members."""
        return "Stable" if self.members else "Empty"

    @property
    def protocol_type_name(self) -> str:
        """The kind, as Kafka names it here."""
        return self.TYPE

    @property
    def removable(self) -> bool:
        """Never by us."""
        return False

    def tombstones(self) -> list[CoordinatorRecord]:
        """None: it stays as it is."""
        return []

    def check_commit(
        self, member_id: str, instance_id: str | None, generation: int, version: int, transactional: bool
    ) -> None:
        """UNKNOWN_MEMBER_ID, except for a tool while the group is empty."""
        if generation >= 0 or member_id != NO_MEMBER or self.members:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """UNKNOWN_MEMBER_ID for a member: there are none here."""
        if member_id and member_epoch >= 0:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID)

    def check_delete(self) -> None:
        """NON_EMPTY_GROUP, or UNSUPPORTED_VERSION: we would leave half of it behind."""
        raise ApiError(ErrorCode.NON_EMPTY_GROUP if self.members else ErrorCode.UNSUPPORTED_VERSION)

    def check_offset_delete(self) -> None:
        """Whoever asks for it by name may."""

    def subscriptions(self) -> Callable[[str], bool]:
        """With members, everything might be subscribed to."""
        occupied = bool(self.members)
        return lambda topic: occupied

    def offset_age_base(self) -> Callable[[CommittedOffset], int] | None:
        """Offsets do not age here."""
        return None


class KeptShareGroup(KeptGroup):
    """A share group (KIP-932)."""

    __slots__ = ()
    TYPE = "share"


class OtherKey(NamedTuple):
    """The key of a record that tells more of such a group than we need."""

    API_KEY: int


#: Key types of consumer groups (consumer_records.py), which are served.
CONSUMER_KEYS = frozenset({3, 4, 5, 6, 7, 8, 16})
#: Key types of streams groups (streams_records.py), which are served.
STREAMS_KEYS = frozenset({17, 19, 20, 21, 22, 23})
#: Key types that tell of a group's existence, and of a member's: the key's class and the kind of group.
GROUP_KEYS: dict[int, tuple[Any, type[KeptGroup]]] = {
    11: (ShareGroupMetadataKey, KeptShareGroup),
}
MEMBER_KEYS: dict[int, tuple[Any, type[KeptGroup]]] = {
    10: (ShareGroupMemberMetadataKey, KeptShareGroup),
}
#: The other key types of those groups in Kafka 4.4: assignments, subscriptions.
OTHER_KEYS = frozenset(range(9, 24)) - GROUP_KEYS.keys() - MEMBER_KEYS.keys() - CONSUMER_KEYS - STREAMS_KEYS
