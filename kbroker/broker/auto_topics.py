"""Topics that appear because somebody needs them: by Metadata, or for a coordinator's state.

Also the one place that turns the node's configuration into what the controller's topic decisions ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.config.resource_checks import check_topic
from kbroker.controller.topics import TopicRules, create_topics
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.generated.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kbroker.types import METADATA_TOPIC_ID, ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.protocol.generated.create_topics_response import CreatableTopicResult

_TIMEOUT_MS = 30_000
#: How long it may take until this node hears of what another controller has created.
_KNOWN_MS = 1000
_DASH = 62  # '-' among the 64 characters of a uuid's text

GROUP_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_STATE = "__share_group_state"


def topic_rules(config: BrokerConfig, new_uuid: Callable[[], Uuid]) -> TopicRules:
    """Defaults, config rules and randomness for the controller's decisions on topics."""
    return TopicRules(
        default_partitions=config.get_int("num.partitions"),
        default_replication_factor=config.get_int("default.replication.factor"),
        check_configs=partial(check_topic, compatibility=config.get_str("kbroker.compatibility")),
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


def create_automatic_topics(services: Services, names: Iterable[str]) -> Deferred[dict[str, ErrorCode]]:
    """Create topics that are missing; what became of each, NONE also for one that somebody else just made.

    Done when the topics are there and, where this broker leads them, serve. Never fails.
    """
    return create_topics_of_our_own(
        services, [automatic_topic(services.config, name) for name in dict.fromkeys(names)]
    ).map(lambda results: {name: code for name, (code, _) in results.items()})


def create_topics_of_our_own(
    services: Services, topics: Sequence[CreatableTopic]
) -> Deferred[dict[str, tuple[ErrorCode, str | None]]]:
    """As `create_automatic_topics`, for topics that somebody described; also what was wrong, in words."""
    answer: Deferred[dict[str, tuple[ErrorCode, str | None]]] = Deferred()

    def created(done: Deferred[list[CreatableTopicResult]]) -> None:
        try:
            found = {each.name: (error_code(each.error_code), each.error_message) for each in done.result()}
        except ApiError as error:
            found = {topic.name: (error.code, error.message) for topic in topics}
        for name, (code, _) in found.items():
            if code is ErrorCode.TOPIC_ALREADY_EXISTS:
                found[name] = ErrorCode.NONE, None
        made = [name for name, (code, _) in found.items() if code is ErrorCode.NONE]
        _when_known(services, made).then(lambda _: answer.resolve(found))

    if services.controller.active or services.to_controller is None:
        rules = topic_rules(services.config, services.new_uuid)
        services.controller.append_records(
            lambda image: create_topics(image, list(topics), False, rules), timeout_ms=_TIMEOUT_MS
        ).then(created)
    else:
        request = CreateTopicsRequest(topics=list(topics), timeout_ms=_TIMEOUT_MS)
        sent = services.to_controller.send(request, _TIMEOUT_MS)
        sent.map(lambda response: response.topics).then(created)
    return answer


def _when_known(services: Services, names: Sequence[str]) -> Deferred[None]:
    """Done when this node has heard of the topics: those of another controller take a moment."""
    done: Deferred[None] = Deferred()
    missing = [name for name in names if services.metadata.image.topics.get(name) is None]
    if not missing or services.when_applied is None:
        done.resolve(None)
        return done
    services.when_applied(lambda image: all(image.topics.get(name) is not None for name in missing)).then(
        lambda _: done.resolve(None)
    )
    # Somebody may have deleted them by then.
    services.timer.call_later(_KNOWN_MS, lambda: done.resolve(None))
    return done
