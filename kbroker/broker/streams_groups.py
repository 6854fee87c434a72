"""Streams groups (KIP-1071) on this broker: settings, and the internal topics that they are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_GROUP

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.coordinator.group.streams_draft import StreamsLimits, StreamsSettings
    from kbroker.coordinator.group.streams_topology import InternalTopic
    from kbroker.metadata.cache import MetadataCache

_STREAMS_VERSION = "streams.version"
#: Names of a setting: the broker's own, the bounds that it sets for groups, and the group's.
_LEVELS = ("group.streams", "group.streams.min", "group.streams.max", "streams")
_OWN = ("group.streams", "streams")
#: Groups whose topics could not be created: so many are remembered.
_FAILURES_MAX = 1_000


class StreamsGroupRules:
    """Settings of streams groups, those of the broker and those of each group (dynamic)."""

    def __init__(self, config: BrokerConfig, metadata: MetadataCache) -> None:
        self._config = config
        self._metadata = metadata
        self._served = "streams" in config.get_list("group.coordinator.rebalance.protocols")
        self._defaults: StreamsSettings | None = None
        self._limits: StreamsLimits | None = None
        self.topics = InternalTopics()
        config.subscribe(self._changed, ["group.streams.assignment.interval.ms"])

    def check(self) -> None:
        """UNSUPPORTED_VERSION while streams groups are off, by setting or by `streams.version`."""
        if not self._served or self._metadata.image.features.get(_STREAMS_VERSION, 0) < 1:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)

    def limits(self) -> StreamsLimits:
        """The settings as the coordinator takes them."""
        if self._limits is None:
            from kbroker.coordinator.group.streams_draft import StreamsLimits

            self._limits = StreamsLimits(self._config.get_int("group.streams.max.size"), self.settings)
        return self._limits

    def settings(self, group_id: str) -> StreamsSettings:
        """What holds for one group."""
        overrides = self._metadata.image.config(CONFIG_GROUP, group_id)
        defaults = self._defaults
        if defaults is None:
            defaults = self._defaults = self._resolve({})
        return self._resolve(overrides) if overrides else defaults

    def _resolve(self, overrides: Mapping[str, str]) -> StreamsSettings:
        from kbroker.coordinator.group.streams_draft import StreamsSettings

        config = self._config
        tags = overrides.get("streams.rack.aware.assignment.tags")
        listed = (
            config.get_list("group.streams.rack.aware.assignment.tags") if tags is None else tags.split(",")
        )
        standbys = self._own([f"{level}.num.standby.replicas" for level in _OWN], overrides)
        interval = self._own([f"{level}.task.offset.interval.ms" for level in _OWN], overrides)
        return StreamsSettings(
            session_timeout_ms=self._bounded([f"{level}.session.timeout.ms" for level in _LEVELS], overrides),
            heartbeat_interval_ms=self._bounded(
                [f"{level}.heartbeat.interval.ms" for level in _LEVELS], overrides
            ),
            assignment_interval_ms=self._bounded(
                [f"{level}.assignment.interval.ms" for level in _LEVELS], overrides
            ),
            initial_rebalance_delay_ms=self._own(
                [f"{level}.initial.rebalance.delay.ms" for level in _OWN], overrides
            ),
            num_standby_replicas=min(standbys, config.get_int("group.streams.max.standby.replicas")),
            task_offset_interval_ms=max(
                interval, config.get_int("group.streams.min.task.offset.interval.ms")
            ),
            acceptable_recovery_lag=self._own(
                [f"{level}.acceptable.recovery.lag" for level in _OWN], overrides
            ),
            rack_tags=tuple(tag.strip() for tag in listed if tag.strip()),
        )

    def _own(self, names: list[str], overrides: Mapping[str, str]) -> int:
        """The group's own value, else the broker's."""
        broker, group = names
        own = overrides.get(group)
        return self._config.get_int(broker) if own is None else int(own)

    def _bounded(self, names: list[str], overrides: Mapping[str, str]) -> int:
        """The group's own value within the broker's bounds, else the broker's."""
        broker, low, high, group = names
        own = overrides.get(group)
        if own is None:
            return self._config.get_int(broker)
        return min(max(int(own), self._config.get_int(low)), self._config.get_int(high))

    def _changed(self, names: object) -> None:
        self._defaults = None


class InternalTopics:
    """Creates what groups are missing: for each group one attempt at a time, and what it led to."""

    def __init__(self) -> None:
        self._pending: set[str] = set()
        self._failures: dict[str, dict[str, str]] = {}

    def failures(self, group_id: str) -> str:
        """Why topics of this group could not be created; empty if nothing is known against it."""
        failed = self._failures.get(group_id)
        if not failed:
            return ""
        return f"; Creation failed: {', '.join(f'{name} ({why})' for name, why in failed.items())}."

    def forget(self, group_id: str) -> None:
        """Nothing is missing any more."""
        self._failures.pop(group_id, None)

    def create(self, services: Services, group_id: str, topics: tuple[InternalTopic, ...]) -> None:
        """Create them, unless that is under way."""
        from kbroker.broker.auto_topics import create_topics_of_our_own
        from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreatableTopicConfig

        if group_id in self._pending:
            return
        self._pending.add(group_id)
        wanted = [
            CreatableTopic(
                name=topic.name,
                num_partitions=topic.partitions,
                replication_factor=topic.replication_factor or -1,
                configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs],
            )
            for topic in topics
        ]

        def tried(results: dict[str, tuple[ErrorCode, str | None]]) -> None:
            self._pending.discard(group_id)
            failed = {
                name: message or code.name
                for name, (code, message) in results.items()
                if code is not ErrorCode.NONE
            }
            self._failures.pop(group_id, None)
            if failed and len(self._failures) < _FAILURES_MAX:
                self._failures[group_id] = failed

        create_topics_of_our_own(services, wanted).map(tried)
