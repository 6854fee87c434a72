"""The in-sync set of a partition as its leader knows it: what is committed, and what it has asked for.

A change is *proposed* to the controller (AlterPartition, KIP-497) and counts only when the controller has
said so. Between the two nobody knows whether it is true yet, so that whatever must hold for either outcome
uses the *maximal* set: the committed one and whoever is proposed to join. The laws:

* at most one proposal is under way; it names the partition epoch that it is based on, and the controller
  takes it only at that epoch;
* a proposal is dropped when a later partition epoch is known: it can then never come true (or it has, and
  is part of what was heard);
* it is taken back without that only when the controller says that it was not applied *and* that our epoch is
  the current one. After any other refusal the proposal stays, is still counted in, and is sent again now and
  then until one of the two happens (what KAFKA-2729 lacked).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from kbroker.errors import ErrorCode

#: `Proposal.joins` where the set stays as it is.
NOBODY_JOINS_OR_LEAVES = -2


class Proposal(NamedTuple):
    """An in-sync set that the leader asks for.

    `joins` is the replica that would come in, -1 if it is about some that leave, NOBODY_JOINS_OR_LEAVES if
    the leader only says that it has recovered (KIP-704).
    """

    isr: tuple[int, ...]
    leader_epoch: int
    partition_epoch: int
    joins: int = -1


class Verdict(Enum):
    """What a refusal means for a proposal."""

    RETRY = "send it again soon"
    REVERTED = "taken back: it was not applied"
    WAITS = "keep it; news will come with the metadata"
    STALE = "nobody asks for this any more"


#: The controller knows our epoch as the current one, and did not apply the proposal.
_NOT_APPLIED = (ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED)
#: The controller knows better than we do: its metadata is on the way to us.
_BEHIND = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.INVALID_UPDATE_VERSION,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.NEW_LEADER_ELECTED,
)


class InSyncSet:
    """The committed in-sync set, its partition epoch, and at most one proposal."""

    __slots__ = ("committed", "maximal", "partition_epoch", "proposal", "waits")

    def __init__(self, committed: tuple[int, ...], partition_epoch: int) -> None:
        self.committed = committed
        self.partition_epoch = partition_epoch
        #: The committed set and whoever is proposed to join.
        self.maximal = committed
        self.proposal: Proposal | None = None
        #: The proposal was refused by a controller that knows more than we do.
        self.waits = False

    def propose_join(self, replica: int, leader_epoch: int) -> Proposal:
        """Ask for `replica` to come in. Only while nothing is proposed."""
        joined = (*self.committed, replica)
        self.maximal = joined
        return self._propose(Proposal(joined, leader_epoch, self.partition_epoch, replica))

    def propose_leave(self, replicas: tuple[int, ...], leader_epoch: int) -> Proposal:
        """Ask for `replicas` to go; until it is committed they count. Only while nothing is proposed."""
        left = tuple(each for each in self.committed if each not in replicas)
        return self._propose(Proposal(left, leader_epoch, self.partition_epoch))

    def propose_recovered(self, leader_epoch: int) -> Proposal:
        """Say that the leader, elected uncleanly, has recovered. Only while nothing is proposed."""
        proposal = Proposal(self.committed, leader_epoch, self.partition_epoch, NOBODY_JOINS_OR_LEAVES)
        return self._propose(proposal)

    def _propose(self, proposal: Proposal) -> Proposal:
        assert self.proposal is None, "one proposal at a time"
        self.proposal = proposal
        self.waits = False
        return proposal

    def accepted(
        self, proposal: Proposal, leader_epoch: int, partition_epoch: int, isr: tuple[int, ...]
    ) -> bool:
        """The controller's answer: the set is `isr` at `partition_epoch`; whether that is news.

        The answer to a proposal that was dropped meanwhile, or of another leader epoch, tells nothing that
        the metadata did not tell or will not tell.
        """
        if proposal is not self.proposal or leader_epoch != proposal.leader_epoch:
            return False
        if partition_epoch < self.partition_epoch:
            return False
        self._commit(isr, partition_epoch)
        return True

    def refused(self, proposal: Proposal, code: ErrorCode) -> Verdict:
        """The controller did not take it, or did not answer (REQUEST_TIMED_OUT and the like)."""
        if proposal is not self.proposal:
            return Verdict.STALE
        if code in _NOT_APPLIED:
            self._commit(self.committed, self.partition_epoch)
            return Verdict.REVERTED
        if code in _BEHIND:
            self.waits = True
            return Verdict.WAITS
        return Verdict.RETRY

    def take(self, isr: tuple[int, ...], partition_epoch: int) -> bool:
        """What the metadata says; False if it is older than what is known.

        At the epoch that is known already it says nothing new, and must not drop a proposal that is based on
        that epoch and may be true by now.
        """
        if partition_epoch < self.partition_epoch:
            return False
        if partition_epoch > self.partition_epoch or self.proposal is None:
            self._commit(isr, partition_epoch)
        return True

    def _commit(self, isr: tuple[int, ...], partition_epoch: int) -> None:
        self.committed = self.maximal = isr
        self.partition_epoch = partition_epoch
        self.proposal = None
        self.waits = False
