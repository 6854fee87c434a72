"""What topics' settings come to: the node's configuration under the overrides of each topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kbroker.config.topic_config import log_config_values, topic_value
from kbroker.metadata.image import CONFIG_TOPIC, INTERNAL_TOPICS
from kbroker.storage.log_config import LogConfig

if TYPE_CHECKING:
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.metadata.image import ClusterImage

_KEPT = 1000
ENCRYPTED_TOPICS = "kbroker.encryption.topics"
#: In the place of a key.
NOT_ENCRYPTED = "none"


class TopicSettings(NamedTuple):
    """What a topic's configs come to: for its logs, and for replication."""

    log: LogConfig
    min_insync_replicas: int
    #: `partition:broker` pairs, or `*` (KIP-73).
    leader_throttled: tuple[str, ...] = ()
    follower_throttled: tuple[str, ...] = ()


class TopicSettingsSource:
    """Worked out once for all topics with the same settings, and shared by their logs.

    Args:
        config: of the node; its changes count at once.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._known: dict[tuple[frozenset[tuple[str, str]], str], TopicSettings] = {}
        self._encrypted: list[tuple[str, str]] = []
        config.subscribe(lambda _: self._changed())
        self._changed()
        #: The metadata as it lies on disk, while logs are loaded and none is published.
        self.found: ClusterImage | None = None

    def _changed(self) -> None:
        self._known.clear()
        pairs = (item.partition("=") for item in self._config.get_list(ENCRYPTED_TOPICS))
        self._encrypted = [(topic.strip(), key.strip()) for topic, _, key in pairs]

    def encryption_key(self, topic: str) -> str:
        """The id of the key for what clients write to a topic; "": it is not encrypted."""
        if topic not in INTERNAL_TOPICS:
            for pattern, key_id in self._encrypted:
                if topic == pattern or (pattern.endswith("*") and topic.startswith(pattern[:-1])):
                    return "" if key_id == NOT_ENCRYPTED else key_id
        return ""

    def of(self, overrides: Mapping[str, str], topic: str = "") -> TopicSettings:
        """The settings of a topic with these overrides."""
        encryption_key = self.encryption_key(topic) if self._encrypted else ""
        key = frozenset(overrides.items()), encryption_key
        settings = self._known.get(key)
        if settings is None:
            min_isr = topic_value(self._config, overrides, "min.insync.replicas")
            assert isinstance(min_isr, int)
            log = LogConfig(**log_config_values(self._config, overrides), encryption_key=encryption_key)
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
        return self.of(found.config(CONFIG_TOPIC, topic) if found is not None else {}, topic).log


def _listed(overrides: Mapping[str, str], name: str) -> tuple[str, ...]:
    return tuple(each for each in overrides.get(name, "").split(",") if each.strip())
