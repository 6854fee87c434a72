"""What topics' settings come to: the node's configuration under the overrides of each topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbroker.broker.replica_manager import TopicSettings
from kbroker.config.topic_config import log_config_values, topic_value
from kbroker.metadata.image import CONFIG_TOPIC
from kbroker.storage.log_config import LogConfig

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.image import ClusterImage

_KEPT = 1000


class TopicSettingsSource:
    """Worked out once for all topics with the same settings, and shared by their logs.

    Args:
        config: of the node; its changes count at once.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._known: dict[frozenset[tuple[str, str]], TopicSettings] = {}
        config.subscribe(lambda _: self._known.clear())
        #: The metadata as it lies on disk, while logs are loaded and none is published.
        self.found: ClusterImage | None = None

    def of(self, overrides: Mapping[str, str]) -> TopicSettings:
        """The settings of a topic with these overrides."""
        key = frozenset(overrides.items())
        settings = self._known.get(key)
        if settings is None:
            min_isr = topic_value(self._config, overrides, "min.insync.replicas")
            assert isinstance(min_isr, int)
            log = LogConfig(**log_config_values(self._config, overrides))
            if len(self._known) >= _KEPT:
                self._known.clear()
            settings = self._known[key] = TopicSettings(
                log,
                min_isr,
                _listed(overrides, "leader.replication.throttled.replicas"),
                _listed(overrides, "follower.replication.throttled.replicas"),
            )
        return settings

    def at_start(self, topic: str) -> LogConfig:
        """For logs opened before metadata is published: recovery must know which ones are compacted."""
        found = self.found
        return self.of(found.config(CONFIG_TOPIC, topic) if found is not None else {}).log


def _listed(overrides: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(each for each in overrides.get(name, "").split(",") if each.strip())
