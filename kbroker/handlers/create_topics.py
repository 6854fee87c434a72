"""CreateTopics: new topics, by counts or by manual assignment.

v0 first; v1 validateOnly, error messages; v2 throttle time; v3 as v2; v4 counts of -1 take the broker's
defaults (KIP-464; taken from older versions too, as Kafka does); v5 flexible, the answer tells partitions,
copies and configs (KIP-525); v6 may answer THROTTLING_QUOTA_EXCEEDED (KIP-599); v7 topic ids (KIP-516).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.auto_topics import topic_rules
from kbroker.config.describe import describe_topic
from kbroker.controller.topics import create_error, create_topics
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest

VERSIONS = (0, 7)


def handle(
    services: Services, context: RequestContext, request: CreateTopicsRequest
) -> Deferred[CreateTopicsResponse]:
    """Answered when the topics are committed and every partition that this broker leads serves."""
    rules = topic_rules(services.config, services.new_uuid)
    mutations = services.mutations(context, strict=context.version >= 6)

    def answer(results: list[CreatableTopicResult]) -> CreateTopicsResponse:
        if context.version >= 5:
            _add_configs(services, request, results)
        return CreateTopicsResponse(topics=results, throttle_time_ms=mutations.throttle_ms)

    return services.controller.append_records(
        lambda image: create_topics(image, request.topics, request.validate_only, rules, mutations.charge),
        timeout_ms=request.timeout_ms,
    ).map(answer)


def error_response(
    request: CreateTopicsRequest, version: int, code: ErrorCode, message: str | None
) -> CreateTopicsResponse:
    """Every topic refused alike."""
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreateTopicsResponse(topics=[create_error(name, code, message) for name in names])


def _add_configs(
    services: Services, request: CreateTopicsRequest, results: list[CreatableTopicResult]
) -> None:
    """The configs in force of each created topic; topics of one request mostly have the same."""
    described: dict[tuple[tuple[str, str | None], ...], list[CreatableTopicConfigs]] = {}
    topics = {topic.name: topic for topic in request.topics}
    for result in results:
        if result.error_code:
            continue
        own = _own_configs(topics[result.name])
        if own not in described:
            described[own] = _effective(services, dict(own))
        result.configs = described[own]


def _own_configs(topic: CreatableTopic) -> tuple[tuple[str, str | None], ...]:
    return tuple({config.name: config.value for config in topic.configs}.items())


def _effective(services: Services, own: dict[str, str | None]) -> list[CreatableTopicConfigs]:
    overrides = {name: value for name, value in own.items() if value is not None}
    return [
        CreatableTopicConfigs(
            name=entry.name,
            # As it was given: Kafka does not rewrite a value that it accepts.
            value=overrides.get(entry.name, entry.value),
            read_only=entry.read_only,
            config_source=entry.source,
            is_sensitive=entry.sensitive,
        )
        for entry in sorted(describe_topic(services.config, overrides))  # by name, unlike DescribeConfigs
    ]
