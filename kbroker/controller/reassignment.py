"""Reassignment: other replicas for a partition, step by step and to be called off (KIP-455).

While it is under way the replicas are the wanted ones and then those that are to go. It is complete as soon
as all added ones are in sync (`partition_change.py`); no other step is needed, however often the controller
changes meanwhile: all of it is in the partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.controller.election_rules import ElectionRules, elr_enabled
from kbroker.controller.partition_change import Election, Wanted, change_partition, may_lead_now
from kbroker.controller.partitions import check_assignment
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord


class Reassignment(NamedTuple):
    """The replicas that a partition is to have; None calls off what is under way."""

    topic: str
    partition: int
    replicas: Sequence[int] | None


class ReassignmentOutcome(NamedTuple):
    """What came of one; `code` NONE: it has begun, or nothing was to do."""

    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


def alter_reassignments(
    image: ClusterImage,
    reassignments: Sequence[Reassignment],
    rules: ElectionRules,
    *,
    may_change_factor: bool = True,
) -> Decision[list[ReassignmentOutcome]]:
    """Begin, change or call off reassignments; one outcome for each, in their order.

    Args:
        may_change_factor: whether the number of replicas may be another one than now (KIP-860).

    Raises:
        ApiError: POLICY_VIOLATION, too many at once.
    """
    outcomes: list[ReassignmentOutcome] = []
    records: list[PartitionChangeRecord] = []
    touched: set[tuple[str, int]] = set()
    for item in reassignments:
        try:
            # The same partition again in one request: what came before counts.
            current = image.apply(records) if (item.topic, item.partition) in touched else image
            topic = _topic_of(current, item)
            if item.replicas is None:
                record = _call_off(current, topic, item.partition, rules)
            else:
                record = _begin(current, topic, item.partition, item.replicas, rules, may_change_factor)
        except ApiError as error:
            outcomes.append(ReassignmentOutcome(error.code, error.message))
            continue
        touched.add((item.topic, item.partition))
        outcomes.append(ReassignmentOutcome())
        if record is not None:
            records.append(record)
    if len(records) > MAX_RECORDS_PER_REQUEST:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
    return Decision(outcomes, records, atomic=False)


def _topic_of(image: ClusterImage, item: Reassignment) -> TopicImage:
    topic = image.topics.get(item.topic)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {item.topic}.")
    if not 0 <= item.partition < len(topic.partitions):
        raise ApiError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {item.topic}:{item.partition}."
        )
    return topic


def _begin(
    image: ClusterImage,
    topic: TopicImage,
    index: int,
    target: Sequence[int],
    rules: ElectionRules,
    may_change_factor: bool,
) -> PartitionChangeRecord | None:
    partition = topic.partitions[index]
    check_assignment(image, target, None)
    if not may_change_factor:
        _check_factor(partition, target)
    removing = sorted(set(partition.replicas) - set(target))
    replicas = [*target, *removing]
    # Added is what was not there before any reassignment: calling this one off leads back there.
    adding = sorted(set(replicas) - set(_before(partition)))
    wanted = Wanted(replicas=replicas, adding=adding, removing=removing)
    return change_partition(image, rules, topic, index, wanted)


def _before(partition: PartitionImage) -> list[int]:
    """The replicas without a reassignment that is under way."""
    return [replica for replica in partition.replicas if replica not in partition.adding_replicas]


def _check_factor(partition: PartitionImage, target: Sequence[int]) -> None:
    now = len(partition.replicas)
    if partition.reassigning:
        now -= len(partition.removing_replicas)
    if len(target) != now:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {now} to {len(target)}",
        )


def _call_off(
    image: ClusterImage, topic: TopicImage, index: int, rules: ElectionRules
) -> PartitionChangeRecord | None:
    partition = topic.partitions[index]
    if not partition.reassigning:
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    before = _before(partition)
    isr = [replica for replica in partition.isr if replica in before]
    unclean = rules.may_be_unclean(image, topic.name)
    if not isr:
        if not unclean or not any(may_lead_now(image, partition, replica) for replica in before):
            # Also where it is allowed: nobody would lead, and what is in sync now would be given up for that.
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {topic.name}:{index} because it would require an "
                "unclean leader election.",
            )
        # With eligible replicas they come first; without, an ISR is never empty.
        isr = [] if elr_enabled(image) else before[:1]
    wanted = Wanted(
        isr=isr,
        replicas=before,
        adding=(),
        removing=(),
        election=Election.UNCLEAN if unclean else Election.CLEAN,
    )
    return change_partition(image, rules, topic, index, wanted)


class OngoingReassignment(NamedTuple):
    """A partition whose replicas are being changed."""

    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


def ongoing_reassignments(
    image: ClusterImage, topics: Sequence[tuple[str, Sequence[int]]] | None
) -> list[tuple[str, list[OngoingReassignment]]]:
    """What is under way, of the named partitions or of all; topics where nothing is are left out."""
    asked = (
        [(topic.name, range(len(topic.partitions))) for topic in image.topics] if topics is None else topics
    )
    found = []
    for name, indexes in asked:
        topic = image.topics.get(name)
        if topic is None:
            continue
        ongoing = [
            OngoingReassignment(index, state.replicas, state.adding_replicas, state.removing_replicas)
            for index, state in ((i, topic.partitions[i]) for i in indexes if 0 <= i < len(topic.partitions))
            if state.reassigning
        ]
        if ongoing:
            found.append((name, ongoing))
    return found
