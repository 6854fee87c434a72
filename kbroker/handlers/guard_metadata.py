"""Guards of Metadata and DescribeTopicPartitions: what may not be described is hidden or refused, whether it
exists or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode
from kbroker.handlers import allowed_operations
from kbroker.handlers.guard_cluster import cluster_bits
from kbroker.handlers.guard_pieces import after, allowed_names, with_changes
from kbroker.handlers.guards import Handle, may_on_cluster
from kbroker.handlers.metadata import asked_ids, cannot_be_answered, to_create, wants_all
from kbroker.handlers.metadata_cache import EncodedAnswer
from kbroker.protocol.generated.describe_topic_partitions_request import TopicRequest
from kbroker.protocol.generated.describe_topic_partitions_response import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)
from kbroker.protocol.generated.metadata_request import MetadataRequestTopic
from kbroker.protocol.generated.metadata_response import MetadataResponse, MetadataResponseTopic
from kbroker.security.acl import Operation, ResourceType
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.types import Uuid

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_CLUSTER_OPERATIONS = range(8, 11)


def metadata(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE; CREATE of the cluster or the topic for who wants to have it created."""
    version = context.version
    if cannot_be_answered(request, version):
        return handle(services, context, request)
    everything = wants_all(request, version)
    refused: list[MetadataResponseTopic] = []
    if everything:
        names = _visible(services, context, services.metadata.image.topics.names())
        topics = [MetadataRequestTopic(name=name) for name in names]
    elif asked_ids(request):
        topics, refused = _by_id(services, context, request)
    else:
        topics, refused = _by_name(services, context, request)
    allowed = with_changes(
        request, topics=topics, allow_auto_topic_creation=request.allow_auto_topic_creation and not everything
    )
    # In version 0 no topics mean all: then one is asked for that cannot be, and taken out again.
    nothing = version == 0 and not topics
    if nothing:
        allowed.topics = [MetadataRequestTopic(name="")]
    bits = None
    if request.include_cluster_authorized_operations and version in _CLUSTER_OPERATIONS:
        bits = cluster_bits(services, context)
    operations: dict[str, int] = {}
    if request.include_topic_authorized_operations:
        operations = _operations(services, context, (_name(services, topic) for topic in topics))
    if not refused and not operations and not nothing and bits is None:
        return handle(services, context, allowed)

    def add(answer: Any) -> MetadataResponse:
        response = _decoded(answer)
        if nothing:
            response.topics = []
        for topic in response.topics:
            if topic.name in operations:
                topic.topic_authorized_operations = operations[topic.name]
        if bits is not None:
            response.cluster_authorized_operations = bits
        response.topics += refused
        return response

    return after(handle(services, context, allowed), add)


def _decoded(answer: Any) -> MetadataResponse:
    if isinstance(answer, EncodedAnswer):
        return MetadataResponse.decode(answer.data, answer.version)
    response: MetadataResponse = answer
    return response


def _name(services: Services, topic: MetadataRequestTopic) -> str | None:
    return topic.name if topic.topic_id == ZERO_UUID else services.topic_name_of(topic.topic_id)


def _operations(services: Services, context: RequestContext, names: Any) -> dict[str, int]:
    assert services.authorizer is not None
    operations = services.authorizer.operations
    return {name: operations(context, ResourceType.TOPIC, name) for name in names if name is not None}


def _visible(services: Services, context: RequestContext, names: list[str]) -> list[str]:
    visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, names, quietly=True)
    return [name for name in names if name in visible]


def _by_id(
    services: Services, context: RequestContext, request: Any
) -> tuple[list[MetadataRequestTopic], list[MetadataResponseTopic]]:
    """Names do not count there (see metadata.py). The name of a topic that is refused is not told."""
    known: dict[Uuid, str | None] = {each: services.topic_name_of(each) for each in asked_ids(request)}
    names = [name for name in known.values() if name is not None]
    visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, names)
    topics = [
        MetadataRequestTopic(topic_id=each, name=None)
        for each, name in known.items()
        if name is None or name in visible
    ]
    refused = [
        MetadataResponseTopic(error_code=_DENIED, name=None, topic_id=each)
        for each, name in known.items()
        if name is not None and name not in visible
    ]
    return topics, refused


def _by_name(
    services: Services, context: RequestContext, request: Any
) -> tuple[list[MetadataRequestTopic], list[MetadataResponseTopic]]:
    names = list(dict.fromkeys(topic.name or "" for topic in request.topics))
    visible = allowed_names(services, context, Operation.DESCRIBE, ResourceType.TOPIC, names)
    missing = [name for name in to_create(services, context.version, request) if name in visible]
    if missing and not may_on_cluster(services, context, Operation.CREATE):
        creatable = allowed_names(services, context, Operation.CREATE, ResourceType.TOPIC, missing)
        visible -= frozenset(missing) - creatable
    refused = [MetadataResponseTopic(error_code=_DENIED, name=name) for name in names if name not in visible]
    return [MetadataRequestTopic(name=name) for name in names if name in visible], refused


def describe_topic_partitions(
    services: Services, context: RequestContext, request: Any, handle: Handle
) -> Any:
    """DESCRIBE; refused only to who named the topic."""
    everything = not request.topics
    asked = services.metadata.image.topics.names() if everything else [topic.name for topic in request.topics]
    visible = allowed_names(
        services, context, Operation.DESCRIBE, ResourceType.TOPIC, asked, quietly=everything
    )
    # In the order of the request, and as often, for an answer that refuses all of it.
    names = [name for name in asked if name in visible]
    refused = []
    if not everything:
        refused = [
            DescribeTopicPartitionsResponseTopic(error_code=_DENIED, name=name)
            for name in sorted(set(asked) - visible)
        ]
    allowed = with_changes(request, topics=[TopicRequest(name=name) for name in names])
    if everything and request.cursor is not None and request.cursor.topic_name not in visible:
        # The topic where the last answer ended is gone, or may not be described any more.
        names = [name for name in names if name >= request.cursor.topic_name]
        allowed.topics, allowed.cursor = [TopicRequest(name=name) for name in names], None
    if not names:
        return DescribeTopicPartitionsResponse(topics=refused)
    response = handle(services, context, allowed)
    operations = _operations(services, context, (topic.name for topic in response.topics))
    for topic in response.topics:
        if topic.topic_authorized_operations != allowed_operations.UNKNOWN:
            topic.topic_authorized_operations = operations[topic.name]
    response.topics += refused
    return response
