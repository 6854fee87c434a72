"""Topics and their partitions, as Kafka 2.8.2 with ZooKeeper speaks of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode
from kbroker.handlers.manners.manner import Around, Rule, then
from kbroker.protocol.api_keys import ApiKey
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.manners.manner import Handle

_MALFORMED, _UNEXPECTED = ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_SERVER_ERROR
_UNKNOWN, _ASSIGNMENT = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_REPLICA_ASSIGNMENT
_COUNT, _FACTOR = ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_REPLICATION_FACTOR
_AT_REST = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
_CREATE, _DELETE, _ENLARGE = ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.CREATE_PARTITIONS
_MOVE, _ELECT = ApiKey.ALTER_PARTITION_REASSIGNMENTS, ApiKey.ELECT_LEADERS

_NO_PARTITION = "The partition does not exist."

RULES = (
    Rule(_COUNT, text="Number of partitions must be larger than 0.", api=_CREATE),
    Rule(_FACTOR, r"(.*), or -1 to use the default value\.", text="{1}.", api=_CREATE),
    Rule(
        _FACTOR,
        r"Unable to replicate .* target replication factor of (\d+) .* only (\d+) broker\(s\) .*",
        text="Replication factor: {1} larger than available brokers: {2}.",
        api=_CREATE,
    ),
    Rule(
        _MALFORMED,
        "A manual partition assignment was specified, .*",
        text="Both numPartitions or replicationFactor and replicasAssignments were set. Both cannot be used "
        "at the same time.",
        api=_CREATE,
    ),
    Rule(_MALFORMED, r"Duplicate topic name\.", text="Found multiple entries for this topic.", api=_CREATE),
    Rule(
        ErrorCode.INVALID_CONFIG,
        "(Null value not supported for topic configs)(: .*)",
        _MALFORMED,
        "{1} {2}",
        _CREATE,
    ),
    Rule(
        _MALFORMED,
        r"Neither topic name nor id were specified\.",
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        None,
        _DELETE,
    ),
    *(Rule(code, text=None, api=_DELETE) for code in (_UNKNOWN, ErrorCode.UNKNOWN_TOPIC_ID, _MALFORMED)),
    Rule(_UNKNOWN, text="The topic '{of.name}' does not exist.", api=_ENLARGE),
    Rule(
        _COUNT,
        r"Topic already has (\d+) partition\(s\)\.",
        text="Topic already has {1} partitions.",
        api=_ENLARGE,
    ),
    Rule(
        _COUNT,
        r"The topic .* currently has (\d+) partition\(s\); (-?\d+) would not be an increase\.",
        text="Topic currently has {1} partitions, which is higher than the requested {2}.",
        api=_ENLARGE,
    ),
    Rule(_MALFORMED, r"Duplicate topic name\.", text="Duplicate topic in request.", api=_ENLARGE),
    Rule(
        _ASSIGNMENT,
        r"Attempted to add (\d+) additional partition\(s\), but only (\d+) assignment\(s\) were specified\.",
        text="Increasing the number of partitions by {1} but {2} assignments provided.",
        api=_ENLARGE,
    ),
    Rule(_UNKNOWN, text=_NO_PARTITION, api=_ELECT),
    Rule(_MALFORMED, "Unknown election type .*", _UNEXPECTED, None, _ELECT),
    Rule(_MALFORMED, "", _UNEXPECTED, None, _ELECT),
    Rule(_UNKNOWN, text=_NO_PARTITION, api=_MOVE),
    Rule(_AT_REST, text="No partition reassignment is in progress.", api=_MOVE),
)


def _array(numbers: Iterable[int]) -> str:
    return f"ArrayBuffer({', '.join(map(str, numbers))})"


def _created(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """CreateTopics: of a partition assigned twice the last counted; each mention of a name was refused."""
    request = copy(request)
    request.topics = [copy(topic) for topic in request.topics]
    for topic in request.topics:
        last = {each.partition_index: each for each in topic.assignments}
        topic.assignments = list(last.values())
    by_name = {topic.name: topic for topic in request.topics}
    counts = Counter(topic.name for topic in request.topics)

    def told(answer: Any) -> Any:
        for result in answer.topics:
            if result.error_code == _ASSIGNMENT:
                _reassess(result, {a.partition_index: a.broker_ids for a in by_name[result.name].assignments})
        answer.topics = [copy(result) for result in answer.topics for _ in range(counts[result.name])]
        return answer

    return then(handle(services, context, request), told)


def _reassess(result: Any, assignment: Mapping[int, Sequence[int]]) -> None:
    """What was looked for in an assignment, and when; whether there are such brokers was not."""
    if len({len(brokers) for brokers in assignment.values()}) > 1:
        result.error_message = "All partitions should have the same number of replicas"
    elif any(len(set(brokers)) < len(brokers) for brokers in assignment.values()):
        shown = ", ".join(f"{index} -> {_array(brokers)}" for index, brokers in sorted(assignment.items()))
        result.error_message = f"Duplicate replica assignment found: HashMap({shown})"
    elif min(assignment) < 0:
        result.error_code, result.error_message = _UNEXPECTED, None


def _deleted(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """DeleteTopics: who asked twice was answered twice."""
    topics = services.metadata.image.topics
    request = copy(request)
    if request.topics:
        wanted: dict[Any, Any] = {}
        mentions: list[Any] = []
        for each in request.topics:
            known = None if each.name is not None else topics.by_id(each.topic_id)
            same = known.name if known is not None else each.name
            key = same if same is not None else bytes(each.topic_id)
            if (each.name is not None and each.topic_id != ZERO_UUID) or key == ZERO_UUID:
                key = len(mentions)  # refused by itself
            mentions.append(key)
            wanted.setdefault(key, each)
        request.topics = list(wanted.values())
        keys = list(wanted)
    else:
        mentions = list(request.topic_names)
        keys = request.topic_names = list(dict.fromkeys(mentions))
    if len(keys) == len(mentions):
        return handle(services, context, request)

    def told(answer: Any) -> Any:
        results: dict[Any, Any] = {}
        for result in answer.responses:
            results.setdefault(result.name if result.name is not None else bytes(result.topic_id), result)
        repeated = [results[key] for key in mentions if key in results]
        rest = [result for result in answer.responses if result not in repeated]
        answer.responses = [copy(result) for result in (*repeated, *rest)]
        return answer

    return then(handle(services, context, request), told)


def _enlarged(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """CreatePartitions: assignments were looked at in another order, and told of otherwise."""
    image = services.metadata.image
    asked = {topic.name: topic for topic in request.topics}

    def told(answer: Any) -> Any:
        for result in answer.results:
            if not result.name and result.error_code == _UNKNOWN:
                result.error_code, result.error_message = _UNEXPECTED, None
            topic = image.topics.get(result.name)
            if result.error_code == _ASSIGNMENT and topic is not None and asked[result.name].assignments:
                lists = [each.broker_ids for each in asked[result.name].assignments]
                text = _wrong_assignment(lists, image.brokers, len(topic.partitions))
                result.error_message = text or result.error_message
        return answer

    return then(handle(services, context, request), told)


def _wrong_assignment(lists: Sequence[Sequence[int]], brokers: Mapping[int, Any], first: int) -> str | None:
    for index, replicas in enumerate(lists, first):
        if not replicas:
            return f"Cannot have replication factor of 0 for partition id {index}."
        if len(set(replicas)) < len(replicas):
            shown = ", ".join(map(str, replicas))
            return f"Duplicate brokers not allowed in replica assignment: {shown} for partition id {index}."
    unknown = sorted({broker for replicas in lists for broker in replicas} - brokers.keys())
    if unknown:
        return f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}."
    return None


def _moved(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """AlterPartitionReassignments: of a partition named twice one counted; brokers were called otherwise."""
    request = copy(request)
    merged: dict[str, dict[int, Any]] = {}
    for topic in request.topics:
        for partition in topic.partitions:
            merged.setdefault(topic.name, {})[partition.partition_index] = partition
    first = {topic.name: copy(topic) for topic in reversed(request.topics)}
    request.topics = [first[name] for name in merged]
    for topic in request.topics:
        topic.partitions = list(merged[topic.name].values())
    image = services.metadata.image

    def told(answer: Any) -> Any:
        if not answer.error_code:
            answer.error_message = ""
        for topic in answer.responses:
            for result in topic.partitions:
                replicas = merged[topic.name][result.partition_index].replicas
                if replicas is None and result.error_code == _UNKNOWN:
                    result.error_code, result.error_message = _AT_REST, None
                elif result.error_code == _ASSIGNMENT:
                    text = _wrong_replicas(replicas, image.brokers)
                    result.error_message = text or result.error_message
        return answer

    return then(handle(services, context, request), told)


def _wrong_replicas(replicas: Sequence[int], brokers: Mapping[int, Any]) -> str | None:
    if not replicas:
        return "Empty replica list specified in partition reassignment."
    if any(broker < 0 for broker in replicas):
        return f"Invalid broker id in replica list: {_array(replicas)}"
    if len(set(replicas)) < len(replicas):
        return f"Duplicate replica ids in partition reassignment replica list: {_array(replicas)}"
    if not set(replicas) <= brokers.keys():
        return (
            f"Replica assignment has brokers that are not alive. Replica list: {_array(replicas)}, live "
            f"broker list: Set({', '.join(map(str, sorted(brokers)))})"
        )
    return None


def _moves(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """ListPartitionReassignments: success has a text."""

    def told(answer: Any) -> Any:
        if not answer.error_code:
            answer.error_message = ""
        return answer

    return then(handle(services, context, request), told)


def any_time(handle: Handle, services: Services, context: RequestContext, request: Any) -> Any:
    """ListOffsets: what has no meaning was a time before all others."""
    for topic in request.topics:
        for partition in topic.partitions:
            if partition.timestamp < -2:
                partition.timestamp = 0
    return handle(services, context, request)


AROUND: Mapping[int, Around] = {
    _CREATE: _created,
    _DELETE: _deleted,
    _ENLARGE: _enlarged,
    _MOVE: _moved,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _moves,
}
