"""AlterPartition: a leader proposes its ISR (KIP-497), with broker epochs from version 3 on (KIP-903).

Partition by partition; epochs decide who knows more. The order of the checks is Kafka's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kbroker.controller.brokers import registered
from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.partition_change import LEADER_UNCHANGED, Election, Wanted, change_partition
from kbroker.errors import ErrorCode
from kbroker.metadata.delta import changed_partition
from kbroker.metadata.image import RECOVERED, RECOVERING, ClusterImage, PartitionImage, TopicImage
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.types import Uuid

#: Who proposes by the older versions does not know the epochs of its followers.
UNKNOWN_EPOCH = -1


class IsrMember(NamedTuple):
    """A replica that the leader has seen in sync, and the broker's epoch that it was seen in."""

    broker_id: int
    broker_epoch: int = UNKNOWN_EPOCH


class Proposal(NamedTuple):
    """What a leader wants for one partition, and what it knows of it."""

    topic_id: Uuid
    partition: int
    leader_epoch: int
    partition_epoch: int
    isr: Sequence[IsrMember]
    recovery_state: int = RECOVERED


class ProposalOutcome(NamedTuple):
    """What came of it: an error, or the partition as it is now."""

    code: ErrorCode
    state: PartitionImage | None = None


def alter_partitions(
    image: ClusterImage,
    broker_id: int,
    broker_epoch: int,
    proposals: Sequence[Proposal],
    rules: ElectionRules,
) -> Decision[list[ProposalOutcome]]:
    """New ISRs; one outcome for each proposal, in their order.

    NEW_LEADER_ELECTED stands beside a record: the proposal completed a reassignment, and another leads now.

    Raises:
        ApiError: STALE_BROKER_EPOCH, an older incarnation asks.
    """
    registered(image, broker_id, broker_epoch)
    outcomes: list[ProposalOutcome] = []
    records: dict[tuple[Uuid, int], PartitionChangeRecord] = {}
    for proposal in proposals:
        key = proposal.topic_id, proposal.partition
        if key in records:
            # The same partition again in one request: this proposal does not know of the first one.
            outcomes.append(ProposalOutcome(ErrorCode.INVALID_UPDATE_VERSION))
            continue
        topic = image.topics.by_id(proposal.topic_id)
        if topic is None:
            outcomes.append(ProposalOutcome(ErrorCode.UNKNOWN_TOPIC_ID))
            continue
        code = _refusal(image, broker_id, topic, proposal)
        if code is not ErrorCode.NONE:
            outcomes.append(ProposalOutcome(code))
            continue
        outcome, record = _alter(image, broker_id, topic, proposal, rules)
        outcomes.append(outcome)
        if record is not None:
            records[key] = record
    return Decision(outcomes, list(records.values()), atomic=False)


def _alter(
    image: ClusterImage, broker_id: int, topic: TopicImage, proposal: Proposal, rules: ElectionRules
) -> tuple[ProposalOutcome, PartitionChangeRecord | None]:
    wanted = Wanted(
        isr=[member.broker_id for member in proposal.isr],
        recovery_state=proposal.recovery_state,
        election=Election.UNCLEAN if rules.may_be_unclean(image, topic.name) else Election.CLEAN,
    )
    record = change_partition(image, rules, topic, proposal.partition, wanted)
    partition = topic.partitions[proposal.partition]
    if record is None:
        return ProposalOutcome(ErrorCode.NONE, partition), None
    if record.leader not in (LEADER_UNCHANGED, broker_id):
        return ProposalOutcome(ErrorCode.NEW_LEADER_ELECTED), record
    return ProposalOutcome(ErrorCode.NONE, changed_partition(partition, record)), record


def _refusal(image: ClusterImage, broker_id: int, topic: TopicImage, proposal: Proposal) -> ErrorCode:
    if not 0 <= proposal.partition < len(topic.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    partition = topic.partitions[proposal.partition]
    newer = (
        proposal.leader_epoch > partition.leader_epoch or proposal.partition_epoch > partition.partition_epoch
    )
    if newer:
        # It has heard of a later controller than this one.
        return ErrorCode.NOT_CONTROLLER
    if proposal.leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if broker_id != partition.leader:
        return ErrorCode.INVALID_REQUEST
    if proposal.partition_epoch < partition.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    isr = [member.broker_id for member in proposal.isr]
    if len(set(isr)) != len(isr) or not set(isr) <= set(partition.replicas) or partition.leader not in isr:
        return ErrorCode.INVALID_REQUEST
    if proposal.recovery_state not in (RECOVERED, RECOVERING):
        return ErrorCode.INVALID_REQUEST
    if proposal.recovery_state == RECOVERING and (
        len(isr) > 1 or partition.leader_recovery_state == RECOVERED
    ):
        return ErrorCode.INVALID_REQUEST
    if not all(_eligible(image, member) for member in proposal.isr):
        return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE


def _eligible(image: ClusterImage, member: IsrMember) -> bool:
    """KIP-841: neither fenced nor shutting down; KIP-903: and the incarnation that was seen."""
    broker = image.brokers.get(member.broker_id)
    if broker is None or not broker.active:
        return False
    return member.broker_epoch in (UNKNOWN_EPOCH, broker.epoch)
