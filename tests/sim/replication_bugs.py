"""Bugs to plant, to see that the simulator finds them: name -> a patch for pytest's monkeypatch."""

from __future__ import annotations

from contextlib import suppress

from kbroker.broker.alter_partition_sender import AlterPartitionSender
from kbroker.broker.deferred import Deferred
from kbroker.broker.partition import Partition
from kbroker.broker.replica_fetcher import ReplicaFetcher
from kbroker.controller import alter_partition
from kbroker.errors import ApiError, ErrorCode
from kbroker.replication import isr as isr_module
from kbroker.replication.follower import Truncation
from kbroker.replication.isr import InSyncSet
from kbroker.replication.leader import LeaderState
from kbroker.storage.log import Log
from kbroker.storage.log_manager import LogManager


def watermark_by_the_committed_set(patch):
    """A proposal to join may be true already: without it the watermark passes what the new one has."""

    def lowest(self, leader_end, now_ms):
        ends = [self.followers[each].log_end_offset for each in self.isr if each in self.followers]
        return min([leader_end, *ends])

    patch.setattr(LeaderState, "_lowest_needed", lowest)


def no_truncation(patch):
    """A follower that keeps what the new leader never had."""
    patch.setattr(
        "kbroker.broker.follower_cuts.truncation",
        lambda epoch, end, own_end, mark, ends: Truncation(own_end, True),
    )
    patch.setattr("kbroker.storage.leader_epochs.LeaderEpochs.truncate_from_end", lambda self, end: None)


def truncation_to_the_high_watermark(patch):
    """Before KIP-101: a restarted follower drops what is committed but not known to it as such."""

    def add(self, partition, add=ReplicaFetcher.add):
        log = partition.log
        if log is not None:
            log.truncate_to(log.high_watermark)
        add(self, partition)

    patch.setattr(ReplicaFetcher, "add", add)


def stale_proposals_are_taken(patch):
    """The controller does not look at the partition epoch."""

    def refusal(image, broker_id, topic, proposal, check=alter_partition._refusal):
        partition = topic.partitions[proposal.partition]
        return check(image, broker_id, topic, proposal._replace(partition_epoch=partition.partition_epoch))

    patch.setattr(alter_partition, "_refusal", refusal)


def joining_without_having_caught_up(patch):
    """A follower is proposed wherever it is."""

    def propose(self, replica):
        in_sync = self.in_sync
        if replica in in_sync.maximal or in_sync.proposal is not None:
            return None
        if not self.may_join(replica, self.followers[replica].broker_epoch):
            return None
        return in_sync.propose_join(replica, self.leader_epoch)

    patch.setattr(LeaderState, "propose_join", propose)


def acknowledged_when_appended(patch):
    """acks=all that waits for nobody."""

    def when_committed(self, last_offset):
        done = Deferred()
        done.resolve(None)
        return done

    patch.setattr(Partition, "when_committed", when_committed)


def power_loss_is_taken_for_a_clean_stop(patch):
    """KIP-966's marker is ignored: who has lost its tail stays eligible."""

    def load(self, *args, load=LogManager.load):
        load(self, *args)
        self.previous_broker_epoch = None

    patch.setattr(LogManager, "load", load)


def refused_proposals_are_dropped(patch):
    """Any refusal takes the proposal back, although it may have come true."""

    def refused(self, proposal, code):
        if proposal is self.proposal:
            self._commit(self.committed, self.partition_epoch)
        return isr_module.Verdict.REVERTED

    patch.setattr(InSyncSet, "refused", refused)
    patch.setattr(
        AlterPartitionSender,
        "_answered",
        _dropping_lost_answers(AlterPartitionSender._answered),
    )


def _dropping_lost_answers(answered):
    def _answered(self, sent, done):
        if done._error is not None:
            self._under_way = False
            for partition, proposal in sent.items():
                partition.isr_refused(proposal, ErrorCode.REQUEST_TIMED_OUT)
            return
        answered(self, sent, done)

    return _answered


def answers_of_the_leader_before_are_taken(patch):
    """A follower appends what it asked an earlier leader for."""

    def remove(self, partition):
        self._session.forget((partition.topic_id, partition.topic_partition.partition))

    def take(self, followed, data):
        if data.error_code or data.diverging_epoch.epoch >= 0:
            followed.partition.log and self._want(followed)
        elif followed.partition.log is not None and not followed.partition.is_leader:
            with suppress(ApiError):
                followed.partition.copy(data.records, data.high_watermark, data.log_start_offset, 1 << 30)
            self._want(followed)

    patch.setattr(ReplicaFetcher, "remove", remove)
    patch.setattr(ReplicaFetcher, "_take", take)


def registrations_are_not_told_apart(patch):
    """KIP-903 is left out: a follower counts for what it had before its disk lost power."""
    patch.setattr(AlterPartitionSender, "may_join", lambda self, replica, epoch: True)
    patch.setattr(AlterPartitionSender, "is_outdated", lambda self, replica, epoch: False)
    patch.setattr(AlterPartitionSender, "_epoch_of", lambda self, partition, replica, own: -1)
    patch.setattr(alter_partition, "_eligible", lambda image, member: True)


def leading_by_old_metadata(patch):
    """A restarted leader goes on in its epoch before the controller has heard of the restart."""
    patch.setattr(Partition, "may_lead", lambda self, epoch: True)


def watermark_below_the_minimum_in_sync(patch):
    """KIP-966's rule is left out: the watermark moves although too few are in sync."""
    patch.setattr(LeaderState, "has_enough_in_sync", property(lambda self: True))


#: Each with a seed that finds it; another one within the first 200 will do when the product has changed.
def acknowledged_before_it_is_synced(patch):
    """flush.messages holds nothing back."""
    patch.setattr(Log, "committable_end", property(lambda self: self.log_end_offset))


BUGS = {
    watermark_by_the_committed_set: 14,
    no_truncation: 2,
    truncation_to_the_high_watermark: 5,
    stale_proposals_are_taken: 14,
    joining_without_having_caught_up: 3,
    acknowledged_when_appended: 3,
    power_loss_is_taken_for_a_clean_stop: 2,
    refused_proposals_are_dropped: 1,
    answers_of_the_leader_before_are_taken: 2,
    registrations_are_not_told_apart: 180,
    leading_by_old_metadata: 2,
    watermark_below_the_minimum_in_sync: 27,
    acknowledged_before_it_is_synced: 9,
}
