"""Guards of what administrators do to topics and settings; the controller is where most are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.config.definitions import base_name
from kbroker.controller.topics import create_error
from kbroker.errors import ErrorCode, default_message
from kbroker.handlers.guard_pieces import DENIED, after, allowed_names, split, with_changes
from kbroker.handlers.guards import Handle, is_controller, may_on_cluster
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_CLIENT_METRICS, CONFIG_GROUP, CONFIG_TOPIC
from kbroker.protocol.generated.create_partitions_response import CreatePartitionsTopicResult
from kbroker.protocol.generated.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from kbroker.protocol.generated.describe_configs_response import DescribeConfigsResult
from kbroker.protocol.generated.incremental_alter_configs_response import AlterConfigsResourceResponse
from kbroker.security.acl import CLUSTER_NAME, Operation, ResourceType
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_CREATE_DENIED = "Authorization failed."
_CONFIGS_SINCE = 5
_BROKER_LOGGER = 8
#: Settings of brokers that decide who gets in, also with the prefix of a listener.
_SECURITY = ("sasl.", "ssl.", "principal.builder.", "security.", "listener.security.")
_OF_BROKERS = (CONFIG_BROKER, _BROKER_LOGGER)
#: What stands behind the kinds of resources that have settings.
_OF_CONFIG = {
    CONFIG_TOPIC: ResourceType.TOPIC,
    CONFIG_GROUP: ResourceType.GROUP,
    CONFIG_BROKER: ResourceType.CLUSTER,
    CONFIG_CLIENT_METRICS: ResourceType.CLUSTER,
    _BROKER_LOGGER: ResourceType.CLUSTER,
}


def create_topics(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """CREATE on the cluster or on each topic; its settings are told to who has DESCRIBE_CONFIGS."""
    names = [topic.name for topic in request.topics]
    describable = allowed_names(
        services, context, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, names, quietly=True
    )
    may: list[Any] = list(request.topics)
    may_not: list[Any] = []
    if may_on_cluster(services, context, Operation.CREATE):
        _note(services, context, Operation.CREATE, names)
    else:
        may, may_not = split(
            services, context, Operation.CREATE, ResourceType.TOPIC, request.topics, lambda each: each.name
        )
    refused = [create_error(name, _DENIED, _CREATE_DENIED) for name in dict.fromkeys(t.name for t in may_not)]

    def narrow(response: Any) -> Any:
        for result in response.topics:
            if context.version >= _CONFIGS_SINCE and not result.error_code and result.name not in describable:
                result.topic_config_error_code = _DENIED
                result.num_partitions = result.replication_factor = -1
                result.configs = []
        response.topics += refused
        return response

    return after(handle(services, context, with_changes(request, topics=may)), narrow)


def delete_topics(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DELETE on the cluster or on each topic. Who may not DESCRIBE a topic is not told its name."""
    if may_on_cluster(services, context, Operation.DELETE):
        ids = (services.topic_name_of(topic.topic_id) for topic in request.topics if topic.name is None)
        named = (topic.name for topic in request.topics)
        gone = [name for name in (*request.topic_names, *named, *ids) if name is not None]
        _note(services, context, Operation.DELETE, gone)
        return handle(services, context, request)
    names = list(request.topic_names)
    by_id: dict[bytes, str] = {}
    for topic in request.topics:
        if topic.name is not None:
            names.append(topic.name)
        elif topic.topic_id != ZERO_UUID:
            found = services.metadata.image.topics.by_id(topic.topic_id)
            if found is not None:
                by_id[topic.topic_id] = found.name
    every = [*names, *by_id.values()]
    deletable = allowed_names(services, context, Operation.DELETE, ResourceType.TOPIC, every)
    describable = allowed_names(
        services, context, Operation.DESCRIBE, ResourceType.TOPIC, every, quietly=True
    )
    text = default_message(_DENIED)
    refused = [
        DeletableTopicResult(name=name, error_code=_DENIED, error_message=text)
        for name in dict.fromkeys(names)
        if name not in deletable
    ]
    hidden = {key: name for key, name in by_id.items() if name not in deletable}
    refused += [
        DeletableTopicResult(
            name=name if name in describable else None, topic_id=key, error_code=_DENIED, error_message=text
        )
        for key, name in hidden.items()
    ]
    allowed = with_changes(
        request,
        topic_names=[name for name in request.topic_names if name in deletable],
        topics=[
            topic
            for topic in request.topics
            if (topic.name in deletable if topic.name is not None else topic.topic_id not in hidden)
        ],
    )

    def add(response: Any) -> Any:
        for result in response.responses:
            # A topic that is gone when its id is looked up by the controller keeps its name to itself.
            if result.name is not None and result.topic_id in by_id and result.name not in describable:
                result.name = None
        response.responses += refused
        return response

    if not allowed.topic_names and not allowed.topics:
        return DeleteTopicsResponse(responses=refused)
    return after(handle(services, context, allowed), add)


def _note(services: Services, context: RequestContext, operation: Operation, names: list[str]) -> None:
    assert services.authorizer is not None
    services.authorizer.note_allowed(context, operation, ResourceType.TOPIC, dict.fromkeys(names))


def create_partitions(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """ALTER."""
    may, may_not = split(
        services, context, Operation.ALTER, ResourceType.TOPIC, request.topics, lambda each: each.name
    )
    names = dict.fromkeys(topic.name for topic in may_not)
    refused = [
        CreatePartitionsTopicResult(name=name, error_code=_DENIED, error_message=None) for name in names
    ]

    def add(response: Any) -> Any:
        response.results += refused
        return response

    return after(handle(services, context, with_changes(request, topics=may)), add)


# -- settings --


def describe_configs(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """DESCRIBE_CONFIGS on the topic, group or cluster."""
    if any(each.resource_type not in _OF_CONFIG for each in request.resources):
        return handle(services, context, request)
    may, may_not = _split_configs(services, context, Operation.DESCRIBE_CONFIGS, request.resources)
    refused = [
        DescribeConfigsResult(
            error_code=DENIED[_OF_CONFIG[each.resource_type]],
            error_message=default_message(DENIED[_OF_CONFIG[each.resource_type]]),
            resource_type=each.resource_type,
            resource_name=each.resource_name,
            configs=[],
        )
        for each in may_not
    ]

    def add(response: Any) -> Any:
        response.results += refused
        return response

    return after(handle(services, context, with_changes(request, resources=may)), add)


def alter_configs(services: Services, context: RequestContext, request: Any, handle: Handle) -> Any:
    """ALTER_CONFIGS on topic, group or cluster: a broker asks for its loggers, the controller for the rest.

    For settings of brokers that decide who gets in also ALTER. What is passed on is asked there, by the
    principal in the Envelope.
    """
    elsewhere = not services.controller.active and not is_controller(context)
    mine = [
        each
        for each in request.resources
        if each.resource_type in _OF_CONFIG and (each.resource_type == _BROKER_LOGGER or not elsewhere)
    ]
    may, may_not = _split_configs(services, context, Operation.ALTER_CONFIGS, mine)
    guarded = [each for each in may if each.resource_type == CONFIG_BROKER and _touches_security(each)]
    if guarded and not services.allows(context, Operation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        may_not += guarded
    if not may_not:
        return handle(services, context, request)
    may = [each for each in request.resources if not any(each is one for one in may_not)]

    def add(response: Any) -> Any:
        shape = _result_class(context.api_key)
        response.responses += [_alter_refused(shape, each) for each in may_not]
        return response

    return after(handle(services, context, with_changes(request, resources=may)), add)


def _touches_security(resource: Any) -> bool:
    """Whether it changes who gets in, and as whom: more than ALTER_CONFIGS is needed (CVE-2023-25194)."""
    return any(base_name(config.name).startswith(_SECURITY) for config in resource.configs)


def _result_class(api_key: int) -> Any:
    if api_key != 33:
        return AlterConfigsResourceResponse
    from kbroker.protocol.generated import alter_configs_response

    return alter_configs_response.AlterConfigsResourceResponse


def _alter_refused(shape: Any, resource: Any) -> Any:
    code = DENIED[_OF_CONFIG[resource.resource_type]]
    return shape(
        error_code=code,
        # Kafka has no words where it is about a broker.
        error_message=None if resource.resource_type in _OF_BROKERS else default_message(code),
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


def _split_configs(
    services: Services, context: RequestContext, operation: Operation, resources: list[Any]
) -> tuple[list[Any], list[Any]]:
    allowed: dict[ResourceType, frozenset[str]] = {}
    for kind in dict.fromkeys(_OF_CONFIG[each.resource_type] for each in resources):
        names = [_name(each) for each in resources if _OF_CONFIG[each.resource_type] is kind]
        allowed[kind] = allowed_names(services, context, operation, kind, names)
    may = [each for each in resources if _name(each) in allowed[_OF_CONFIG[each.resource_type]]]
    may_not = [each for each in resources if _name(each) not in allowed[_OF_CONFIG[each.resource_type]]]
    return may, may_not


def _name(resource: Any) -> str:
    name: str = resource.resource_name
    return CLUSTER_NAME if _OF_CONFIG[resource.resource_type] is ResourceType.CLUSTER else name
