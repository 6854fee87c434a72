"""The settings that elections obey: how many replicas in sync are enough, and whether one behind may lead."""

from __future__ import annotations

from typing import NamedTuple

from kbroker.config.broker_config import BrokerConfig
from kbroker.metadata.image import CONFIG_BROKER, ClusterImage

MIN_INSYNC_REPLICAS = "min.insync.replicas"
UNCLEAN_ELECTION = "unclean.leader.election.enable"
ELR_VERSION = "eligible.leader.replicas.version"


class ElectionRules(NamedTuple):
    """What `server.properties` of the controller says; topics and dynamic broker settings go before it.

    Attributes:
        node_id: the controller, whose own dynamic settings go before those of all brokers.
    """

    min_insync_replicas: int = 1
    unclean_election: bool = False
    node_id: int = -1

    def min_isr(self, image: ClusterImage, topic: str, replicas: int) -> int:
        """How many replicas must be in sync for the topic, never more than it has."""
        value = self._setting(image, topic, MIN_INSYNC_REPLICAS)
        return min(self.min_insync_replicas if value is None else int(value), replicas)

    def may_be_unclean(self, image: ClusterImage, topic: str) -> bool:
        """Whether a replica that is not in sync may lead where no other can: what it lacks is lost."""
        value = self._setting(image, topic, UNCLEAN_ELECTION)
        return self.unclean_election if value is None else value.lower() == "true"

    def _setting(self, image: ClusterImage, topic: str, name: str) -> str | None:
        for settings in (
            image.topic_config(topic),
            image.config(CONFIG_BROKER, str(self.node_id)),
            image.config(CONFIG_BROKER, ""),
        ):
            if name in settings:
                return settings[name]
        return None


def election_rules(config: BrokerConfig) -> ElectionRules:
    """The rules by a controller's static settings."""
    return ElectionRules(
        config.static_int(MIN_INSYNC_REPLICAS),
        config.static.get(UNCLEAN_ELECTION, "false").strip().lower() == "true",
        config.node_id,
    )


def elr_enabled(image: ClusterImage) -> bool:
    """Whether the cluster keeps eligible leader replicas (KIP-966)."""
    return image.features.get(ELR_VERSION, 0) > 0
