"""Topics: creation, deletion, more partitions.

Item by item: what is wrong with one topic of a request does not touch the others. A request that is too
large as a whole is refused as a whole (`ApiError` escapes; the handler gives every item that code).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.controller.partitions import all_cordoned, check_assignment, new_partition
from kbroker.controller.placement import UsableBroker, place_replicas
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_TOPIC, ClusterImage, TopicImage
from kbroker.plain import plain
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kbroker.protocol.generated.create_partitions_response import CreatePartitionsTopicResult
from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.protocol.generated.create_topics_response import CreatableTopicResult
from kbroker.protocol.generated.delete_topics_response import DeletableTopicResult
from kbroker.protocol.generated.partition_record import PartitionRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.topic_record import TopicRecord
from kbroker.protocol.primitives import Message
from kbroker.types import ZERO_UUID, Uuid

MAX_NAME_LENGTH = 249
#: Takes so many partitions of a client's quota; raises ApiError THROTTLING_QUOTA_EXCEEDED.
Charge = Callable[[int], None]
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+\Z")
#: Looks like a topic, but is the log of all this.
METADATA_TOPIC = "__cluster_metadata"


def topic_name_problem(name: str) -> str | None:
    """Why no topic may be called `name`, in Kafka's words; None if it may."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.match(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


@plain()
class TopicRules:
    """What creation needs to know besides the request: defaults, config rules, randomness.

    Attributes:
        default_partitions: `num.partitions`.
        default_replication_factor: `default.replication.factor`.
        check_configs: raises ApiError(INVALID_CONFIG) for configs that a topic may not have.
        new_uuid: 16 random bytes.
        random_below: a random number below its argument.
    """

    default_partitions: int
    default_replication_factor: int
    check_configs: Callable[[Mapping[str, str]], None]
    new_uuid: Callable[[], Uuid]
    random_below: Callable[[int], int]


def _free(partitions: int) -> None:
    """No quota."""


class _Creation(NamedTuple):
    result: CreatableTopicResult
    records: list[Message]


def create_topics(
    image: ClusterImage,
    topics: Sequence[CreatableTopic],
    validate_only: bool,
    rules: TopicRules,
    charge: Charge = _free,
) -> Decision[list[CreatableTopicResult]]:
    """New topics with their configs and partitions; one result for each name, in the order of the request.

    The effective configs of an answer are not the controller's affair: the handler adds them.

    Raises:
        ApiError: POLICY_VIOLATION, the request is too large as a whole.
    """
    count = Counter(topic.name for topic in topics)
    _check_total(sum(_partitions_wanted(topic, rules) for topic in topics if count[topic.name] == 1))
    results, records = [], []
    for topic in {topic.name: topic for topic in topics}.values():
        try:
            if count[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if topic.name == METADATA_TOPIC:
                raise ApiError(
                    ErrorCode.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited."
                )
            created = _create_topic(image, topic, rules)
            charge(created.result.num_partitions)
        except ApiError as error:
            results.append(create_error(topic.name, error.code, error.message))
        else:
            results.append(created.result)
            records += created.records
    _check_records(records)
    return Decision(results, [] if validate_only else records)


def create_error(name: str, code: ErrorCode, message: str | None) -> CreatableTopicResult:
    """The result of a topic that is not created."""
    return CreatableTopicResult(
        name=name,
        error_code=code,
        error_message=message,
        num_partitions=-1,
        replication_factor=-1,
        configs=[],
    )


def _check_total(partitions: int, what: str = "partitions") -> None:
    if partitions > MAX_RECORDS_PER_REQUEST:
        raise ApiError(ErrorCode.POLICY_VIOLATION, f"Excessively large number of {what} per request.")


def _check_records(records: Sequence[Message]) -> None:
    if len(records) > MAX_RECORDS_PER_REQUEST:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")


def _partitions_wanted(topic: CreatableTopic, rules: TopicRules) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return rules.default_partitions if topic.num_partitions == -1 else max(0, topic.num_partitions)


def _create_topic(image: ClusterImage, topic: CreatableTopic, rules: TopicRules) -> _Creation:
    name = topic.name
    _check_new_name(image, name)
    configs = _checked_configs(topic, rules)
    assignment = _manual_assignment(image, topic) if topic.assignments else _placed(image, topic, rules)
    topic_id = rules.new_uuid()
    partitions = _new_partitions(image, topic_id, 0, assignment)
    records: list[Message] = [TopicRecord(name=name, topic_id=topic_id)]
    records += [
        ConfigRecord(resource_type=CONFIG_TOPIC, resource_name=name, name=key, value=value)
        for key, value in configs.items()
    ]
    result = CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        error_code=0,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(assignment[0]),
        configs=[],
    )
    return _Creation(result, [*records, *partitions])


def _check_new_name(image: ClusterImage, name: str) -> None:
    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    if name in image.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    other = image.topics.collides_with(name)
    if other is not None:
        raise ApiError(
            ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}"
        )


def _checked_configs(topic: CreatableTopic, rules: TopicRules) -> dict[str, str]:
    configs: dict[str, str] = {}
    nulls = []
    for config in topic.configs:
        if config.value is None:
            nulls.append(config.name)
        else:
            # The last of several values of one name wins.
            configs[config.name] = config.value
    if nulls:
        raise ApiError(
            ErrorCode.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(nulls)}"
        )
    if configs:
        rules.check_configs(configs)
    return configs


def _manual_assignment(image: ClusterImage, topic: CreatableTopic) -> list[list[int]]:
    """The replica lists by partition as the request gives them."""
    if topic.replication_factor != -1:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to -1.",
        )
    if topic.num_partitions != -1:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        )
    replicas: dict[int, list[int]] = {}
    size = None
    for assignment in topic.assignments:
        index = assignment.partition_index
        if index in replicas:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Found multiple manual partition assignments for partition {index}",
            )
        check_assignment(image, assignment.broker_ids, size)
        size = len(assignment.broker_ids)
        replicas[index] = list(assignment.broker_ids)
    if sorted(replicas) != list(range(len(replicas))):
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [replicas[index] for index in range(len(replicas))]


def _placed(image: ClusterImage, topic: CreatableTopic, rules: TopicRules) -> list[list[int]]:
    """The replica lists by partition as the controller chooses them."""
    if topic.replication_factor < -1 or topic.replication_factor == 0:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions < -1 or topic.num_partitions == 0:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
        )
    partitions = rules.default_partitions if topic.num_partitions == -1 else topic.num_partitions
    factor = topic.replication_factor
    factor = rules.default_replication_factor if factor == -1 else factor
    try:
        return _place(image, partitions, factor, rules)
    except ApiError as error:
        raise ApiError(
            error.code, f"Unable to replicate the partition {factor} time(s): {error.text}"
        ) from None


def _place(image: ClusterImage, partitions: int, factor: int, rules: TopicRules) -> list[list[int]]:
    usable = [
        UsableBroker(broker.id, broker.rack, not broker.active)
        for broker in image.brokers.values()
        if not all_cordoned(broker) and not image.is_left_behind(broker.id)
    ]
    return place_replicas(usable, partitions, factor, rules.random_below)


def _new_partitions(
    image: ClusterImage, topic_id: Uuid, first: int, assignment: Sequence[Sequence[int]]
) -> list[PartitionRecord]:
    records = []
    for index, replicas in enumerate(assignment, first):
        record = new_partition(image, topic_id, index, replicas)
        if record is None:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"All brokers specified in the manual partition assignment for partition {index} are fenced "
                "or in controlled shutdown.",
            )
        records.append(record)
    return records


def create_partitions(
    image: ClusterImage, request: CreatePartitionsRequest, rules: TopicRules, charge: Charge = _free
) -> Decision[list[CreatePartitionsTopicResult]]:
    """More partitions for existing topics.

    Raises:
        ApiError: POLICY_VIOLATION, the request is too large as a whole.
    """
    count = Counter(topic.name for topic in request.topics)
    _check_total(sum(_additional(image, t) for t in request.topics), "additional partitions")
    results: list[CreatePartitionsTopicResult] = []
    records: list[Message] = []
    for topic in {topic.name: topic for topic in request.topics}.values():
        code, message = ErrorCode.NONE, None
        try:
            if count[topic.name] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            more = _more_partitions(image, topic, rules)
            charge(len(more))
            records += more
        except ApiError as error:
            code, message = error.code, error.message
        results.append(CreatePartitionsTopicResult(name=topic.name, error_code=code, error_message=message))
    _check_records(records)
    return Decision(results, [] if request.validate_only else records)


def _additional(image: ClusterImage, topic: CreatePartitionsTopic) -> int:
    current = image.topics.get(topic.name)
    return 0 if current is None else max(0, topic.count - len(current.partitions))


def _more_partitions(
    image: ClusterImage, request: CreatePartitionsTopic, rules: TopicRules
) -> list[PartitionRecord]:
    topic = image.topics.get(request.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    current = len(topic.partitions)
    if request.count == current:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {current} partition(s).")
    if request.count < current:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {request.name} currently has {current} partition(s); {request.count} would not be an "
            "increase.",
        )
    more = request.count - current
    factor = len(topic.partitions[0].replicas)
    if request.assignments is None:
        assignment = _place(image, more, factor, rules)
    else:
        if len(request.assignments) != more:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Attempted to add {more} additional partition(s), but only {len(request.assignments)} "
                "assignment(s) were specified.",
            )
        assignment = [list(manual.broker_ids) for manual in request.assignments]
        for replicas in assignment:
            check_assignment(image, replicas, factor)
    return _new_partitions(image, topic.id, current, assignment)


class TopicRef(NamedTuple):
    """A topic to delete, by name or by id; the other one is None or zero."""

    name: str | None
    id: Uuid


def delete_topics(
    image: ClusterImage, refs: Sequence[TopicRef], charge: Charge = _free
) -> Decision[list[DeletableTopicResult]]:
    """Topics go, with their configs. Each is named once, by name or by id; double naming deletes nothing."""
    names = Counter(ref.name for ref in refs if ref.name is not None and ref.id == ZERO_UUID)
    ids = Counter(ref.id for ref in refs if ref.name is None and ref.id != ZERO_UUID)
    results: list[DeletableTopicResult] = []
    records: list[Message] = []
    seen: set[TopicRef] = set()
    for ref in refs:
        named_once = (ref.name is None) != (ref.id == ZERO_UUID)
        if ref in seen and named_once:  # told once, but a wrong item as often as it is there
            continue
        seen.add(ref)
        problem = _reference_problem(image, ref, names, ids)
        if problem is None:
            topic = _resolve(image, ref)
            assert topic is not None
            try:
                charge(len(topic.partitions))
            except ApiError as error:
                results.append(_refusal(TopicRef(topic.name, topic.id), error.code, error.message))
                continue
            records.append(RemoveTopicRecord(topic_id=topic.id))
            results.append(
                DeletableTopicResult(name=topic.name, topic_id=topic.id, error_code=0, error_message=None)
            )
        elif problem.result is not None:
            results.append(problem.result)
    return Decision(results, records)


class _Problem(NamedTuple):
    """Why a topic is not deleted; without a result when another item of the request already tells."""

    result: DeletableTopicResult | None


def _resolve(image: ClusterImage, ref: TopicRef) -> TopicImage | None:
    return image.topics.get(ref.name) if ref.name is not None else image.topics.by_id(ref.id)


def _reference_problem(
    image: ClusterImage, ref: TopicRef, names: Counter[str], ids: Counter[Uuid]
) -> _Problem | None:
    invalid = ErrorCode.INVALID_REQUEST
    if ref.name is not None and ref.id != ZERO_UUID:
        return _refused(ref, invalid, "You may not specify both topic name and topic id.")
    if ref.name is None and ref.id == ZERO_UUID:
        return _refused(ref, invalid, "Neither topic name nor id were specified.")
    if ref.name is not None and names[ref.name] > 1:
        return _refused(ref, invalid, "Duplicate topic name.")
    if ref.name is None and ids[ref.id] > 1:
        return _refused(ref, invalid, "Duplicate topic id.")
    topic = _resolve(image, ref)
    if topic is None:
        code = ErrorCode.UNKNOWN_TOPIC_ID if ref.name is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _refused(ref, code, ApiError(code).text)
    if names[topic.name] and ids[topic.id]:
        if ref.name is None:
            return _Problem(None)
        both = TopicRef(topic.name, topic.id)
        return _refused(both, invalid, "The provided topic name maps to an ID that was already supplied.")
    return None


def _refused(ref: TopicRef, code: ErrorCode, message: str) -> _Problem:
    return _Problem(_refusal(ref, code, message))


def _refusal(ref: TopicRef, code: ErrorCode, message: str | None) -> DeletableTopicResult:
    return DeletableTopicResult(name=ref.name, topic_id=ref.id, error_code=code, error_message=message)
