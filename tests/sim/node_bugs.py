"""Bugs to plant into whole nodes, to see that `node_run` finds them: a patch -> a seed that finds it."""

from __future__ import annotations

from kbroker.broker.controller_driver import ControllerDriver
from kbroker.broker.deferred import Deferred
from kbroker.broker.marker_sender import _marker
from kbroker.broker.partition import Partition
from kbroker.coordinator.group.consumer_member import reconciled
from kbroker.coordinator.group.streams_member import reconciled as walked
from kbroker.replication.leader import LeaderState
from kbroker.storage.producer_state import ProducerState
from tests.sim.replication_bugs import no_truncation


def acknowledged_when_written(patch):
    """acks=all does not wait for the followers."""

    def at_once(self, last_offset):
        done = Deferred()
        done.resolve(None)
        return done

    patch.setattr(Partition, "when_committed", at_once)


def watermark_at_the_leaders_end(patch):
    """Consumers see, and producers are told, what the followers do not have."""
    patch.setattr(LeaderState, "_lowest_needed", lambda self, leader_end, now_ms: leader_end)


def repetitions_are_not_known(patch):
    """What is sent again is there twice."""
    patch.setattr(ProducerState, "verdict", lambda self, *batch: None)


def followers_do_not_count_producers(patch):
    """A new leader knows nothing of the producers of the one before."""
    patch.setattr("kbroker.storage.follower_append.count_producer", lambda *batch: None)


def decisions_are_told_before_they_are_committed(patch):
    """The controller answers when it has appended."""

    def append_records(self, decide, timeout_ms=None, append=ControllerDriver.append_records, **more):
        told = Deferred()
        append(self, lambda image: _tell(told, decide(image)), timeout_ms, **more).then(
            lambda done: _fail(told, done)
        )
        return told

    patch.setattr(ControllerDriver, "append_records", append_records)


def _tell(told, decision):
    told.resolve(decision.response)
    return decision


def _fail(told, done):
    if not told.done:
        try:
            told.resolve(done.result())
        except Exception as error:
            told.fail(error)


def accepted_records_are_not_written(patch):
    """The leader of a share partition answers, and tells the share coordinator nothing."""

    def nothing(self, start, complete_count, batches):
        done = Deferred()
        done.resolve(None)
        return done

    patch.setattr("kbroker.broker.share_partitions.LiveShare._write", nothing)


def partitions_have_two_owners(patch):
    """A member of a consumer group does not wait until another one gave up what it is to have."""

    def together(member, move):
        return reconciled(member, move._replace(epoch_of=lambda topic_id, partition: -1))

    patch.setattr("kbroker.coordinator.group.consumer_draft.reconciled", together)


def tasks_have_two_owners(patch):
    """A member of a streams group does not wait until another one closed the task that it is to have."""

    def together(member, move):
        return walked(member, move._replace(active_process=lambda subtopology, partition: None))

    patch.setattr("kbroker.coordinator.group.streams_draft.reconciled", together)


def aborted_is_committed(patch):
    """Markers say the opposite."""
    patch.setattr("kbroker.broker.marker_sender._marker", _committing)


def _committing(due, places):
    return _marker(due._replace(commit=True), places)


BUGS = {
    acknowledged_when_written: 2,
    watermark_at_the_leaders_end: 1,
    no_truncation: 5,
    repetitions_are_not_known: 1,
    followers_do_not_count_producers: 5,
    decisions_are_told_before_they_are_committed: 3,
    accepted_records_are_not_written: 9,
    partitions_have_two_owners: 12,
    tasks_have_two_owners: 12,
    aborted_is_committed: 6,
}
