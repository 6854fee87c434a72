"""The followers of a partition that this broker leads: how far they are, and who of them is in sync.

Methods of `Partition`, which takes them in by name. What is asked of the controller goes out by the
partition's `InSyncPort`; what came of it comes back as `isr_accepted` or `isr_refused`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ApiError, ErrorCode
from kbroker.replication.isr import Proposal, Verdict
from kbroker.storage.log_config import MAX_LONG

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition


def check_follower(partition: Partition, replica_id: int) -> None:
    """ApiError(NOT_LEADER_OR_FOLLOWER) if that broker is no replica of this partition."""
    if partition.leader_state is None or replica_id not in partition.leader_state.followers:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)


def follower_fetched(
    partition: Partition,
    replica_id: int,
    offset: int,
    log_start: int = -1,
    broker_epoch: int = -1,
    cleaned: int = 0,
) -> None:
    """A follower asks for `offset`, so it has everything below: note it, advance the high watermark.

    It may have become fit for the in-sync set; then that is asked for.

    Raises:
        ApiError: NOT_LEADER_OR_FOLLOWER if it is no replica of this partition, or if the broker has
            registered again since it sent this (KIP-903).
    """
    state, log = partition.leader_state, partition.online_log()
    if state is None or (broker_epoch >= 0 and partition._in_sync.is_outdated(replica_id, broker_epoch)):
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    now_ms = partition._clock.monotonic_ms()
    if not state.follower_fetched(replica_id, offset, log.log_end_offset, now_ms, log_start, broker_epoch):
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if cleaned:
        state.followers[replica_id].cleaned_offset = cleaned
    proposal = state.propose_join(replica_id)
    if proposal is not None:
        partition._in_sync.propose(partition, proposal)
    if partition._advance():
        partition.wake()
    if partition._deletions:
        partition.check_deletions()


def follower_has_all(partition: Partition, replica_id: int, broker_epoch: int) -> bool:
    """Whether a follower that asks for our end has nothing to hear, and we nothing to do for it, nor to
    note: it is registered as it was."""
    state, log = partition.leader_state, partition.log
    if state is None or log is None or replica_id not in state.in_sync.maximal:
        return False
    progress = state.followers.get(replica_id)
    return (
        progress is not None
        and progress.log_end_offset == log.log_end_offset
        and progress.broker_epoch == broker_epoch
    )


def removable(partition: Partition, own_cleaned: int) -> int:
    """Below this offset tombstones may go; `own_cleaned`: how far this replica has compacted."""
    state = partition.leader_state
    if state is not None:
        if not state.followers:
            return MAX_LONG
        cleaned = min(progress.cleaned_offset for progress in state.followers.values())
        partition.removable_to = max(partition.removable_to, min(cleaned, own_cleaned))
    return partition.removable_to


def check_in_sync(partition: Partition) -> None:
    """From time to time: ask for laggards to leave, or again for what a newer controller refused."""
    state = partition.leader_state
    if state is None or partition.log is None or not (state.followers or state.recovering):
        return
    in_sync = state.in_sync
    if in_sync.proposal is not None:
        if in_sync.waits:
            in_sync.waits = False
            partition._in_sync.propose(partition, in_sync.proposal)
        return
    propose_recovered(partition)
    proposal = state.propose_leave(partition.log.log_end_offset, partition._clock.monotonic_ms())
    if proposal is not None:
        partition._in_sync.propose(partition, proposal)


def isr_accepted(
    partition: Partition, proposal: Proposal, leader_epoch: int, partition_epoch: int, isr: tuple[int, ...]
) -> bool:
    """The controller has taken a proposal: the set is `isr`. Whether that was news."""
    state = partition.leader_state
    if state is None or not state.accepted(proposal, leader_epoch, partition_epoch, isr):
        return False
    partition._advance()
    partition.wake()
    return True


def isr_refused(partition: Partition, proposal: Proposal, code: ErrorCode) -> Verdict:
    """The controller has refused a proposal, or nobody has answered."""
    state = partition.leader_state
    if state is None:
        return Verdict.STALE
    verdict = state.in_sync.refused(proposal, code)
    if verdict is Verdict.REVERTED:
        partition._watchers.tell(state, wake=False)  # else they would ask at once, and again and again
    return verdict


def may_join(partition: Partition, replica: int, broker_epoch: int) -> bool:
    """Whether the metadata lets that broker, in that registration, into the in-sync set.

    Who is on a failed disk will not catch up, however short ago it was at our end: nobody waits for it.
    """
    index = partition.topic_partition.partition
    return partition._in_sync.may_join(replica, broker_epoch) and partition._in_sync.has_disk(
        partition.topic_id, index, replica
    )


def propose_recovered(partition: Partition) -> None:
    """After an unclean election: tell the controller that we are as whole as we shall be."""
    state = partition.leader_state
    proposal = state.propose_recovered() if state is not None else None
    if proposal is not None:
        partition._in_sync.propose(partition, proposal)
