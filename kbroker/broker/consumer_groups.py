"""What consumer groups (KIP-848) get from the broker around them: settings, features, news of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_GROUP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbroker.config.broker_config import BrokerConfig
    from kbroker.coordinator.group.consumer_draft import ConsumerLimits, GroupSettings
    from kbroker.coordinator.group.group_shard import GroupShard
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

_GROUP_VERSION = "group.version"
#: Names of a setting: the broker's own, the bounds that it sets for groups, and the group's.
_LEVELS = ("group.consumer", "group.consumer.min", "group.consumer.max", "consumer")


class ConsumerGroupRules:
    """Settings of consumer groups, those of the broker and those of each group (dynamic)."""

    def __init__(self, config: BrokerConfig, metadata: MetadataCache) -> None:
        self._config = config
        self._metadata = metadata
        self._served = "consumer" in config.get_list("group.coordinator.rebalance.protocols")
        self._defaults: GroupSettings | None = None
        self._limits: ConsumerLimits | None = None
        config.subscribe(self._changed, ["group.consumer.assignment.interval.ms"])

    def check(self) -> None:
        """UNSUPPORTED_VERSION while the new protocol is off, by setting or by `group.version`."""
        if not self._served or self._metadata.image.features.get(_GROUP_VERSION, 0) < 1:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)

    def limits(self) -> ConsumerLimits:
        """The settings as the coordinator takes them."""
        if self._limits is None:
            from kbroker.coordinator.group.consumer_draft import ConsumerLimits

            config = self._config
            policy = config.get_str("group.consumer.migration.policy").lower()
            self._limits = ConsumerLimits(
                max_size=config.get_int("group.consumer.max.size"),
                assignors=tuple(config.get_list("group.consumer.assignors")),
                may_upgrade=policy in ("upgrade", "bidirectional"),
                may_downgrade=policy in ("downgrade", "bidirectional"),
                may_mix=policy != "disabled",
                regex_refresh_ms=config.get_int("group.consumer.regex.refresh.interval.ms"),
                settings=self.settings,
            )
        return self._limits

    def settings(self, group_id: str) -> GroupSettings:
        """What holds for one group."""
        overrides = self._metadata.image.config(CONFIG_GROUP, group_id)
        defaults = self._defaults
        if defaults is None:
            defaults = self._defaults = self._resolve({})
        return self._resolve(overrides) if overrides else defaults

    def _resolve(self, overrides: Mapping[str, str]) -> GroupSettings:
        from kbroker.coordinator.group.consumer_draft import GroupSettings

        return GroupSettings(
            self._value([f"{level}.session.timeout.ms" for level in _LEVELS], overrides),
            self._value([f"{level}.heartbeat.interval.ms" for level in _LEVELS], overrides),
            self._value([f"{level}.assignment.interval.ms" for level in _LEVELS], overrides),
        )

    def _value(self, names: list[str], overrides: Mapping[str, str]) -> int:
        """The group's own value, within the broker's bounds, else the broker's."""
        broker, low, high, group = names
        own = overrides.get(group)
        if own is None:
            return self._config.get_int(broker)
        return min(max(int(own), self._config.get_int(low)), self._config.get_int(high))

    def _changed(self, names: object) -> None:
        self._defaults = None


class TopicNews:
    """What a change of the metadata means for groups that subscribe to topics."""

    __slots__ = ("created", "names", "racks")

    def __init__(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        changes = [change.new or change.old for change in delta.topics.values()]
        changes += delta.deleted_topics.values()
        self.names = [topic.name for topic in changes if topic is not None]
        self.created = any(change.old is None for change in delta.topics.values())
        self.racks = any(_rack(old, each) != _rack(new, each) for each in delta.brokers)

    @property
    def matters(self) -> bool:
        """There is something to tell."""
        return bool(self.names) or self.racks

    def tell(self, shard: GroupShard) -> None:
        """Tell a shard."""
        shard.topics_changed(self.names, self.created, self.racks)


def _rack(image: ClusterImage, broker_id: int) -> str | None:
    broker = image.brokers.get(broker_id)
    return None if broker is None else broker.rack
