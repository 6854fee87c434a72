"""Topics that appear because somebody needs them: by Metadata, or for a coordinator's state.

Also the one place that turns the node's configuration into what the controller's topic decisions ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.config.resource_checks import check_topic
from kbroker.controller.topics import TopicRules, create_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreatableTopicConfig
from kbroker.types import METADATA_TOPIC_ID, ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.protocol.generated.create_topics_response import CreatableTopicResult

_TIMEOUT_MS = 30_000
_DASH = 62  # '-' among the 64 characters of a uuid's text

GROUP_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_STATE = "__share_group_state"


def topic_rules(config: BrokerConfig, new_uuid: Callable[[], Uuid]) -> TopicRules:
    """Defaults, config rules and randomness for the controller's decisions on topics."""
    return TopicRules(
        default_partitions=config.get_int("num.partitions"),
        default_replication_factor=config.get_int("default.replication.factor"),
        check_configs=check_topic,
        new_uuid=lambda: _topic_id(new_uuid),
        random_below=lambda limit: int.from_bytes(new_uuid()[:8], "big") % limit,
    )


def _topic_id(new_uuid: Callable[[], Uuid]) -> Uuid:
    """A topic id as Kafka chooses them: not reserved, and no text that a command line takes for an option."""
    while True:
        found = new_uuid()
        if found not in (ZERO_UUID, METADATA_TOPIC_ID) and found[0] >> 2 != _DASH:
            return found


def automatic_topic(config: BrokerConfig, name: str) -> CreatableTopic:
    """How a topic is created that nobody described: coordinators' own topics have settings of their own."""
    if name == GROUP_OFFSETS:
        prefix, compression = "offsets.topic", "producer"
    elif name == TRANSACTION_STATE:
        prefix, compression = "transaction.state.log", "uncompressed"
    elif name == SHARE_STATE:
        prefix, compression = "share.coordinator.state.topic", "producer"
    else:
        return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1)
    configs = {
        "cleanup.policy": "compact",
        "compression.type": compression,
        "segment.bytes": str(config.get_int(f"{prefix}.segment.bytes")),
    }
    if name == SHARE_STATE:
        # Its records carry everything that came before, so that old segments are deleted, not compacted.
        configs.update({"cleanup.policy": "delete", "retention.ms": "-1"})
    if name != GROUP_OFFSETS:
        configs["min.insync.replicas"] = str(config.get_int(f"{prefix}.min.isr"))
    if name == TRANSACTION_STATE:
        configs["unclean.leader.election.enable"] = "false"
    return CreatableTopic(
        name=name,
        num_partitions=config.get_int(f"{prefix}.num.partitions"),
        replication_factor=config.get_int(f"{prefix}.replication.factor"),
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )


def create_automatic_topics(
    controller: ControllerDriver,
    config: BrokerConfig,
    new_uuid: Callable[[], Uuid],
    names: Iterable[str],
) -> Deferred[dict[str, ErrorCode]]:
    """Create topics that are missing; what became of each, NONE also for one that somebody else just made.

    Done when the topics are there and, where this broker leads them, serve. Never fails.
    """
    topics = [automatic_topic(config, name) for name in dict.fromkeys(names)]
    rules = topic_rules(config, new_uuid)
    answer: Deferred[dict[str, ErrorCode]] = Deferred()

    def created(done: Deferred[list[CreatableTopicResult]]) -> None:
        try:
            codes = {result.name: ErrorCode(result.error_code) for result in done.result()}
        except ApiError as error:
            codes = {topic.name: error.code for topic in topics}
        for name, code in codes.items():
            if code is ErrorCode.TOPIC_ALREADY_EXISTS:
                codes[name] = ErrorCode.NONE
        answer.resolve(codes)

    controller.append_records(
        lambda image: create_topics(image, topics, False, rules), timeout_ms=_TIMEOUT_MS
    ).then(created)
    return answer
