"""Numbered scenarios of replication and control: what must never go wrong."""

from __future__ import annotations

import pytest

from kbroker.controller.alter_partition import IsrMember, Proposal, alter_partitions
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.errors import ErrorCode
from kbroker.metadata.image import ClusterImage
from kbroker.metadata.snapshot import image_records
from kbroker.plain import replace
from tests.handlers.fake_brokers import Controller


@pytest.fixture
def cluster():
    return Controller().up(10, 11, 12, 13)


def test_021_a_leader_proposes_a_broker_that_is_fenced_or_stopping(cluster):
    cluster.topic("t", [10, 11, 12])
    cluster.alter("t", [10], 10, 0, 0)
    cluster.beat(11, fence=True)
    cluster.topic("u", [12])
    cluster.beat(12, down=True)
    for member in (11, 12):
        assert cluster.alter("t", [10, member], 10, 0, 1) == ErrorCode.INELIGIBLE_REPLICA
    assert cluster.state("t")[3] == (10,)
    cluster.beat(11)
    assert cluster.alter("t", [10, 11], 10, 0, 1) == (0, 10, 0, [10, 11], 2), "retried later it succeeds"


def test_022_an_isr_from_before_a_restart_with_an_empty_disk(cluster):
    cluster.topic("t", [10, 11])
    cluster.alter("t", [10], 10, 0, 0)
    before = dict(cluster.epochs)
    cluster.world.advance(10_000)
    cluster.beat(10)
    cluster.world.advance(1)
    assert cluster.register(11, incarnation=99, previous=-1) == 0
    cluster.beat(11)
    epoch, partition_epoch = cluster.state("t")[1], cluster.image.topics.partition("t", 0).partition_epoch
    late = cluster.alter("t", [10, 11], 10, epoch, partition_epoch, epochs=before)
    assert late == ErrorCode.INELIGIBLE_REPLICA
    assert cluster.state("t")[3] == (10,)


def test_023_proposals_lost_repeated_and_overtaken_by_an_election(cluster):
    cluster.topic("t", [10, 11, 12], min_insync_replicas="1")
    assert cluster.alter("t", [10, 11], 10, 0, 0) == (0, 10, 0, [10, 11], 1)
    # The answer was lost, the same proposal comes again: it is told of, not carried out twice.
    assert cluster.alter("t", [10, 11], 10, 0, 0) == ErrorCode.INVALID_UPDATE_VERSION
    cluster.beat(10, fence=True)
    cluster.beat(10)
    assert cluster.alter("t", [10, 11, 12], 10, 0, 2) == ErrorCode.FENCED_LEADER_EPOCH
    assert cluster.state("t")[:4] == (11, 1, (10, 11, 12), (11,))


def test_028_nobody_in_sync_is_left_and_who_is_behind_may_not_lead(cluster):
    cluster.topic("t", [10, 11], min_insync_replicas="1")
    cluster.beat(11, fence=True)
    cluster.beat(10, fence=True)
    cluster.beat(11)
    assert cluster.state("t")[0] == -1
    cluster.beat(10)
    assert cluster.state("t")[:4] == (10, 2, (10, 11), (10,))


@pytest.mark.parametrize("order", [("false", "true"), ("true", "false")])
def test_029_a_topic_s_own_word_on_unclean_elections_counts(cluster, order):
    broker, topic = order
    assert cluster.configure(4, "", unclean_leader_election_enable=broker) == 0
    cluster.topic("t", [10, 11], min_insync_replicas="1", unclean_leader_election_enable=topic)
    cluster.beat(11, fence=True)
    cluster.beat(10, fence=True)
    assert cluster.state("t")[0] == -1
    cluster.beat(11)
    assert cluster.state("t")[0] == (11 if topic == "true" else -1)


def test_029_a_clean_election_is_preferred_where_both_are_possible(cluster):
    cluster.topic("t", [10, 11, 12], min_insync_replicas="2", unclean_leader_election_enable="true")
    cluster.beat(12, fence=True)
    cluster.beat(11, fence=True)
    cluster.beat(12)
    cluster.beat(10, fence=True)
    assert cluster.state("t")[0] == 12, "nobody else is alive"
    cluster.up(10, 11)
    cluster.topic("u", [10, 11, 12], min_insync_replicas="2", unclean_leader_election_enable="true")
    cluster.alter("u", [10, 11], 10, 0, 0)
    cluster.beat(10, fence=True)
    assert cluster.state("u")[:4] == (11, 1, (10, 11, 12), (11,)), "12 lives, too, and stands as near"


def test_031_the_last_member_of_an_isr_loses_power(cluster):
    cluster.topic("t", [10, 11, 12], min_insync_replicas="2")
    for broker in (12, 11):
        cluster.beat(broker, fence=True)
    assert cluster.state("t")[3:5] == ((10,), (11,))
    cluster.world.advance(10_000)
    assert cluster.register(10, incarnation=99, previous=-1) == 0
    cluster.beat(10)
    assert cluster.state("t")[:5] == (-1, 1, (10, 11, 12), (), (11,)), "it may have lost what it acknowledged"
    cluster.beat(11)
    assert cluster.state("t")[:4] == (11, 2, (10, 11, 12), (11,)), "this one has everything"


def test_032_a_restart_faster_than_the_session_leaves_every_isr_first(cluster):
    cluster.topic("t", [10, 11, 12], min_insync_replicas="2")
    cluster.services.chores.broker_lost(11, cluster.epochs[11])
    assert cluster.register(11, incarnation=99, previous=-1) == 0
    assert cluster.state("t")[3:5] == ((10, 12), ())
    cluster.beat(11)
    assert cluster.state("t")[3] == (10, 12)


def test_033_preferred_elections_and_stopping_move_leaders_to_isr_members_only(cluster):
    cluster.topic("t", [10, 11, 12], min_insync_replicas="1")
    cluster.alter("t", [10, 12], 10, 0, 0)
    assert cluster.beat(10, down=True) == (0, "caught")
    assert cluster.state("t")[:4] == (12, 1, (10, 11, 12), (12,))
    assert cluster.elect("t", 0) == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    assert cluster.state("t")[0] == 12


def test_101_a_topic_of_the_same_name_is_another_one(cluster):
    module = __import__("kbroker.protocol.generated.delete_topics_request", fromlist=["DeleteTopicState"])
    cluster.topic("t", [10, 11])
    old = cluster.image.topics.get("t").id
    cluster.ask("DeleteTopics", 6, topics=[module.DeleteTopicState(name="t")], timeout_ms=1000)
    cluster.topic("t", [10, 11])
    assert cluster.image.topics.get("t").id != old
    assert cluster.alter(old, [10], 10, 0, 0) == ErrorCode.UNKNOWN_TOPIC_ID


def taken_over(image: ClusterImage) -> ClusterImage:
    """What another controller has folded from the log."""
    empty = replace(image, topics=type(image.topics)(), brokers={}, configs={}, features={})
    return empty.apply(list(image_records(image)))


def propose(image, *isr):
    topic = image.topics.get("t")
    p = topic.partitions[0]
    members = [IsrMember(broker, image.brokers[broker].epoch) for broker in isr]
    proposal = Proposal(topic.id, 0, p.leader_epoch, p.partition_epoch, members)
    leader = image.brokers[p.leader]
    return image.apply(alter_partitions(image, leader.id, leader.epoch, [proposal], ElectionRules()).records)


def test_104_the_controller_dies_while_replicas_move(cluster):
    cluster.topic("t", [10, 11])
    cluster.reassign("t", [12, 13])
    image = taken_over(propose(cluster.image, 10, 11, 12))
    assert image.topics.partition("t", 0).isr == (10, 11, 12)
    image = taken_over(propose(image, 10, 11, 12, 13))
    p = image.topics.partition("t", 0)
    assert (p.replicas, p.isr, p.leader, p.reassigning) == ((12, 13), (12, 13), 12, False)


def test_104_a_move_is_called_off_by_the_next_controller_after_the_new_replica_died(cluster):
    cluster.topic("t", [10, 11])
    cluster.reassign("t", [12])
    cluster.beat(12, fence=True)
    image = taken_over(cluster.image)
    assert image.topics.partition("t", 0).isr == (10, 11)
    image = image.apply(alter_reassignments(image, [Reassignment("t", 0, None)], ElectionRules()).records)
    p = image.topics.partition("t", 0)
    assert (p.replicas, p.isr, p.leader, p.reassigning) == ((10, 11), (10, 11), 10, False)


def test_106_what_an_older_process_of_a_broker_says_late_is_refused(cluster):
    cluster.topic("t", [10, 11, 12], min_insync_replicas="1")
    before = cluster.epochs[10]
    cluster.world.advance(10_000)
    for broker in (11, 12):
        cluster.beat(broker)
    assert cluster.register(10, incarnation=99, previous=-1) == 0
    cluster.beat(10)
    leader, epoch = cluster.state("t")[:2]
    assert leader != 10
    after, cluster.epochs[10] = cluster.epochs[10], before
    assert cluster.beat(10, fence=True)[0] == ErrorCode.STALE_BROKER_EPOCH
    assert cluster.alter("t", [10], 10, 0, 0) == ErrorCode.STALE_BROKER_EPOCH
    cluster.epochs[10] = after
    assert cluster.alter("t", [10], 10, epoch - 1, 0) == ErrorCode.FENCED_LEADER_EPOCH
    assert cluster.state("t")[:2] == (leader, epoch)


def test_108_a_node_of_another_cluster(cluster):
    assert cluster.register(14, cluster_id="another") == ErrorCode.INCONSISTENT_CLUSTER_ID


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_moves_are_listed_whatever_time_the_client_leaves(cluster, timeout_ms):
    cluster.topic("t", [10])
    cluster.reassign("t", [11])
    assert cluster.ongoing(timeout_ms) == {("t", 0): ([11, 10], [11], [10])}
