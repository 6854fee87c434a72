"""The settings that group coordination depends on, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.plain import plain

if TYPE_CHECKING:
    from kbroker.coordinator.group.consumer_draft import ConsumerLimits
    from kbroker.coordinator.group.streams_draft import StreamsLimits
    from kbroker.metadata.image import ClusterImage

_INT32_MAX = 2**31 - 1


@plain(frozen=True, kw_only=True)
class GroupLimits:
    """Defaults are Kafka's; names follow the settings `group.*` and `offset(s).*`."""

    min_session_timeout_ms: int = 6_000
    max_session_timeout_ms: int = 1_800_000
    initial_rebalance_delay_ms: int = 3_000
    max_size: int = _INT32_MAX
    #: How long a new member's JoinGroup may be parked before it counts as gone (Kafka: 5 minutes, fixed).
    #: Such a member cannot send heartbeats yet, and its connection is not watched meanwhile.
    new_member_join_timeout_ms: int = 300_000
    offset_metadata_bytes_max: int = 4_096
    offsets_retention_ms: int = 10_080 * 60_000


@plain(frozen=True, kw_only=True)
class Surroundings:
    """What kinds of groups beside the classic one need: asked for only once there is such a group."""

    #: The latest metadata.
    image: Callable[[], ClusterImage]
    consumer_limits: Callable[[], ConsumerLimits]
    streams_limits: Callable[[], StreamsLimits] | None = None
