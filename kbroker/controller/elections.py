"""Who leads and who is in sync, when brokers come and go and when somebody asks for an election.

Each function returns the records of one change of the cluster. Where
nothing follows there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from kbroker.controller.decision import MAX_RECORDS_PER_REQUEST, Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.partition_change import Election, Wanted, change_partition, may_lead_now
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import NO_LEADER, ClusterImage, PartitionImage, TopicImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord

#: Preferred leaders that one round of rebalancing elects at most, so that leaders move a few at a time.
REBALANCE_LIMIT = 1000

#: Partitions whose leaders and ISRs one decision changes because a broker goes: to decide on 10,000 takes
#: most of a second, for which the controller does nothing else.
SLICE = 1000

_NO_BROKER = -1


class PartitionRef(NamedTuple):
    """A partition of an image."""

    topic: TopicImage
    partition: int

    @property
    def state(self) -> PartitionImage:
        """The partition itself."""
        return self.topic.partitions[self.partition]


def all_partitions(image: ClusterImage) -> Iterator[PartitionRef]:
    """Every partition of the cluster."""
    for topic in image.topics:
        for index in range(len(topic.partitions)):
            yield PartitionRef(topic, index)


def in_isr_of(image: ClusterImage, broker_id: int) -> Iterator[PartitionRef]:
    """The partitions where a broker is in sync; it leads no others."""
    for topic in image.topics:
        for index, partition in enumerate(topic.partitions):
            if broker_id in partition.isr:
                yield PartitionRef(topic, index)


def leads_any(image: ClusterImage, broker_id: int) -> bool:
    """Whether a broker leads a partition."""
    return any(partition.leader == broker_id for topic in image.topics for partition in topic.partitions)


def leaderless(image: ClusterImage) -> Iterator[PartitionRef]:
    """The partitions that nobody leads."""
    for topic in image.topics:
        for index, partition in enumerate(topic.partitions):
            if partition.leader == NO_LEADER:
                yield PartitionRef(topic, index)


def elect_anew(
    image: ClusterImage,
    rules: ElectionRules,
    partitions: Iterable[PartitionRef],
    *,
    gone: int = _NO_BROKER,
    back: int = _NO_BROKER,
    lost: int = _NO_BROKER,
) -> list[PartitionChangeRecord]:
    """Leaders and ISRs of `partitions` after a broker's change that the image does not show yet.

    Args:
        gone: leaves the ISRs and leads nothing.
        back: may lead although it is still fenced.
        lost: as `gone`, and it may lack committed records: it is not eligible either.
    """
    records = []
    out, losers = (gone, lost), () if lost == _NO_BROKER else (lost,)
    elections: dict[str, Election] = {}
    for ref in partitions:
        topic, partition = ref.topic, ref.state
        if topic.name not in elections:
            unclean = rules.may_be_unclean(image, topic.name)
            elections[topic.name] = Election.UNCLEAN if unclean else Election.CLEAN
        wanted = Wanted(
            isr=[replica for replica in partition.isr if replica not in out],
            lost=losers,
            election=elections[topic.name],
        )
        may_lead = _alive(image, partition, out, back)
        record = change_partition(image, rules, topic, ref.partition, wanted, may_lead)
        if record is not None:
            records.append(record)
    return records


def _alive(
    image: ClusterImage, partition: PartitionImage, out: Sequence[int], back: int
) -> Callable[[int], bool]:
    def may_lead(replica: int) -> bool:
        if replica in out:
            return False
        if replica == back:
            directory = partition.directory_of(replica)
            return directory is None or image.brokers[replica].has_online(directory)
        return may_lead_now(image, partition, replica)

    return may_lead


def broker_gone(image: ClusterImage, rules: ElectionRules, broker_id: int) -> list[PartitionChangeRecord]:
    """`broker_id` is fenced, stops or restarts cleanly: it leaves the ISRs and what it led."""
    return elect_anew(image, rules, in_isr_of(image, broker_id), gone=broker_id)


def first_to_move(image: ClusterImage, broker_id: int) -> list[PartitionRef]:
    """Of the partitions where a broker that goes is in sync a slice, those first that it leads; none if all
    are so few that they may go at once.
    """
    held = list(in_isr_of(image, broker_id))
    if len(held) <= SLICE:
        return []
    led = [ref for ref in held if ref.state.leader == broker_id]
    return led[:SLICE] if led else held[:SLICE]


def move_slice(image: ClusterImage, rules: ElectionRules, broker_id: int) -> list[PartitionChangeRecord]:
    """As `broker_gone`, for a slice of many partitions; nothing if they are few."""
    return elect_anew(image, rules, first_to_move(image, broker_id), gone=broker_id)


def broker_lost_data(
    image: ClusterImage, rules: ElectionRules, broker_id: int, *, keeps_only_copies: bool = False
) -> list[PartitionChangeRecord]:
    """`broker_id` comes back without having stopped cleanly: its logs count for nothing.

    What it had written but not synced may be gone (KIP-966).

    Args:
        keeps_only_copies: where it is the only replica it is merely gone for a moment.
    """
    alone: list[PartitionRef] = []
    others: list[PartitionRef] = []
    for topic in image.topics:
        for index, partition in enumerate(topic.partitions):
            if broker_id in partition.isr or broker_id in partition.elr:
                kept = keeps_only_copies and len(partition.replicas) == 1
                (alone if kept else others).append(PartitionRef(topic, index))
    return [
        *elect_anew(image, rules, alone, gone=broker_id),
        *elect_anew(image, rules, others, lost=broker_id),
    ]


def broker_back(image: ClusterImage, rules: ElectionRules, broker_id: int) -> list[PartitionChangeRecord]:
    """`broker_id` is unfenced: it leads what has no leader and where it may."""
    return elect_anew(image, rules, leaderless(image), back=broker_id)


# -- elections that somebody or the clock asks for ---------------------------------------------------------


class ElectionType(IntEnum):
    """What ElectLeaders can ask for (KIP-460)."""

    PREFERRED = 0
    UNCLEAN = 1


class ElectionOutcome(NamedTuple):
    """What came of one partition; `code` NONE: its leader changes."""

    partition: int
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


def elect_leaders(
    image: ClusterImage,
    rules: ElectionRules,
    election_type: int,
    topics: Sequence[tuple[str, Sequence[int]]] | None,
) -> Decision[list[tuple[str, list[ElectionOutcome]]]]:
    """ElectLeaders: partition by partition; None asks for all, and hears only of those where it was needed.

    Raises:
        ApiError: INVALID_REQUEST, no such type; POLICY_VIOLATION, too many elections in one request.
    """
    try:
        wanted = ElectionType(election_type)
    except ValueError:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown election type {election_type}") from None
    asked = (
        [(topic.name, range(len(topic.partitions))) for topic in image.topics] if topics is None else topics
    )
    records: dict[tuple[str, int], PartitionChangeRecord] = {}
    results = []
    for name, indexes in asked:
        outcomes = []
        for index in indexes:
            if (name, index) in records:
                # The second time it has the leader already.
                outcomes.append(_not_needed(index))
                continue
            outcome = _elect_one(image, rules, wanted, name, index)
            if isinstance(outcome, PartitionChangeRecord):
                records[name, index] = outcome
                outcome = ElectionOutcome(index)
            if topics is not None or outcome.code is not ErrorCode.ELECTION_NOT_NEEDED:
                outcomes.append(outcome)
        results.append((name, outcomes))
    if len(records) > MAX_RECORDS_PER_REQUEST:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Unable to perform excessively large batch operation.")
    return Decision(results, list(records.values()), atomic=False)


def _not_needed(index: int) -> ElectionOutcome:
    return ElectionOutcome(
        index, ErrorCode.ELECTION_NOT_NEEDED, "Leader election not needed for topic partition."
    )


def _elect_one(
    image: ClusterImage, rules: ElectionRules, wanted: ElectionType, name: str, index: int
) -> ElectionOutcome | PartitionChangeRecord:
    topic = image.topics.get(name)
    if topic is None:
        return ElectionOutcome(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    if not 0 <= index < len(topic.partitions):
        return ElectionOutcome(
            index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}"
        )
    partition = topic.partitions[index]
    preferred = wanted is ElectionType.PREFERRED
    if _has_preferred_leader(partition) if preferred else partition.leader != NO_LEADER:
        return _not_needed(index)
    election = Election.PREFERRED if preferred else Election.UNCLEAN
    record = change_partition(image, rules, topic, index, Wanted(election=election))
    if record is not None:
        return record
    if preferred:
        return ElectionOutcome(
            index,
            ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
            "The preferred leader was not available.",
        )
    return ElectionOutcome(
        index, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "Eligible topic partition leaders are not available."
    )


def _has_preferred_leader(partition: PartitionImage) -> bool:
    return partition.leader == partition.replicas[0]


def rebalance(image: ClusterImage, rules: ElectionRules, limit: int = REBALANCE_LIMIT) -> Decision[None]:
    """Leadership goes back to preferred replicas that are in sync (`auto.leader.rebalance.enable`)."""
    records: list[PartitionChangeRecord] = []
    for ref in all_partitions(image):
        if len(records) >= limit:
            break
        if not _has_preferred_leader(ref.state):
            record = change_partition(
                image, rules, ref.topic, ref.partition, Wanted(election=Election.PREFERRED)
            )
            if record is not None:
                records.append(record)
    return Decision(None, records, atomic=False)


def elect_unclean(image: ClusterImage, rules: ElectionRules) -> Decision[None]:
    """Partitions without a leader get one, where an unclean election is allowed."""
    unclean = [ref for ref in leaderless(image) if rules.may_be_unclean(image, ref.topic.name)]
    return Decision(None, elect_anew(image, rules, unclean), atomic=False)
