"""Cases of replication by name: what has gone wrong elsewhere, played on a world without other faults."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kbroker.errors import ErrorCode
from kbroker.handlers import list_offsets
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.storage.memory_disk import Tail
from tests.sim.replication_cluster import Cluster
from tests.sim.replication_world import CONTROLLER, directory_id


@pytest.fixture
def cluster():
    return Cluster()


def test_scenario_1_a_follower_that_restarts_keeps_what_it_does_not_know_to_be_committed(cluster):
    first = cluster.send()
    cluster.wait()
    second = cluster.send()
    while not second.acked:
        cluster.run_until(cluster.now + 0.5)
    assert first.acked
    follower = next(n for n in (2, 3) if cluster.log(n).high_watermark < cluster.log(n).log_end_offset)
    cluster.nodes[follower].stop()
    cluster.nodes[follower].boot()
    cluster.wait()
    cluster.nodes[1].kill()
    cluster.wait()
    assert cluster.values(cluster.state(0).leader) == [first.value, second.value]
    assert cluster.values(follower) == [first.value, second.value]


def test_scenario_2_the_shorter_log_leads_and_the_longer_one_is_cut_to_it():
    cluster = Cluster(min_isr=1)
    cluster.nodes[3].kill()
    cluster.wait()
    kept = cluster.send()
    cluster.wait()
    for node in (1, 2):
        cluster.log(node).fsync()
    cluster.split(1, 2)
    lost = [cluster.send(acks=1) for _ in range(3)]  # only 1 has them
    cluster.nodes[2].kill(Tail.LOST)
    cluster.nodes[1].kill(Tail.KEPT)
    cluster.heal()
    cluster.nodes[2].boot()
    cluster.checker = None  # nobody was eligible: a loss may be
    cluster.wait(3000)
    cluster.controller.commit([PartitionChangeRecord(partition_id=0, topic_id=b"T" * 16, leader=2, isr=[2])])
    cluster.wait()
    anew = [cluster.send(2, acks=1), cluster.send(2, acks=1)]
    cluster.nodes[1].boot()
    cluster.nodes[3].boot()
    cluster.wait(3000)
    assert cluster.values(1) == [kept.value, *(each.value for each in anew)]
    assert not {each.value for each in lost} & set(cluster.values(1))
    cluster.assert_same()


def test_scenario_3_two_fast_failovers_leave_one_history(cluster):
    cluster.send()
    cluster.wait()
    cluster.split(1, 2, 3)
    cluster.send(1, acks=1)  # epoch 0, only at 1
    cluster.split(1, CONTROLLER)
    cluster.wait(600)
    leader = cluster.state(0).leader
    other = ({2, 3} - {leader}).pop()
    cluster.split(leader, other)
    cluster.send(leader, acks=1)  # epoch 1, only there
    cluster.split(leader, CONTROLLER)
    cluster.heal()
    cluster.split(leader, CONTROLLER)
    cluster.wait(600)
    for _ in range(3):
        cluster.send(cluster.state(0).leader)
    cluster.heal()
    cluster.wait(4000)
    cluster.assert_same()
    assert sorted(cluster.state(0).isr) == [1, 2, 3]


def test_scenario_6_a_zombie_leader_acknowledges_nothing_once_followers_left(cluster):
    cluster.send()
    cluster.wait()
    cluster.split(1, CONTROLLER)
    cluster.wait(600)
    new = cluster.state(0).leader
    assert new != 1
    mark = cluster.log(1).high_watermark
    zombie = cluster.send(1)
    loss = cluster.send(1, acks=1)
    real = cluster.send(new)
    cluster.wait(2000)
    assert real.acked
    assert not zombie.acked
    assert cluster.log(1).high_watermark == mark
    cluster.heal()
    cluster.wait(3000)
    assert zombie.error is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert loss.value not in cluster.values(1)
    cluster.assert_same()


def test_who_cuts_its_log_hears_where_the_leaders_begins(cluster):
    """That is told with the offset to cut at, and was not told again."""
    for _ in range(4):
        cluster.send()
    cluster.wait()
    cluster.controller.commit([PartitionChangeRecord(partition_id=0, topic_id=b"T" * 16, leader=3)])
    cluster.wait()
    cluster.split(3, 1, 2, CONTROLLER)
    cluster.send(3, acks=1)
    cluster.wait(600)
    leader = cluster.state(0).leader
    assert leader in (1, 2)
    cluster.partition(leader, 0).delete_records(2)
    cluster.wait()
    cluster.heal()
    cluster.wait(3000)
    cluster.assert_same()
    assert [cluster.log(node).log_start_offset for node in cluster.nodes] == [2, 2, 2]


def test_after_a_change_of_leader_nobody_waits_for_a_fetch_of_other_partitions():
    """It waits at the new leader for 200 ms, and does not name the partition."""
    cluster = Cluster(partitions=3)
    waits = []
    for _ in range(12):
        cluster.wait(517)
        leader = cluster.state(0).leader % 3 + 1
        cluster.controller.commit([PartitionChangeRecord(partition_id=0, topic_id=b"T" * 16, leader=leader)])
        cluster.run_until(cluster.now + 5)
        began = cluster.now
        sent = cluster.send(leader)
        while not sent.acked:
            assert sent.error is None
            cluster.run_until(cluster.now + 1)
        waits.append(cluster.now - began)
    assert max(waits) < 30, waits


def test_scenario_9_the_end_is_not_told_before_a_new_leader_knows_it(cluster):
    cluster.send()
    cluster.wait()
    sent = cluster.send()
    while not sent.acked:
        cluster.run_until(cluster.now + 0.5)
    cluster.split(2, 3)
    cluster.nodes[1].kill()
    cluster.run_until(cluster.now + 600)
    leader = cluster.nodes[cluster.state(0).leader]
    partition = cluster.partition(leader.id, 0)
    if partition.high_watermark >= partition.leader_state.epoch_start_offset:
        pytest.fail("the case is not there")
    ask = ListOffsetsPartition(partition_index=0, timestamp=-1)
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=[ask])])
    context = SimpleNamespace(version=9)
    answer = list_offsets.handle(leader.services, context, request).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    ask.timestamp = -2
    assert not list_offsets.handle(leader.services, context, request).topics[0].partitions[0].error_code
    cluster.heal()
    cluster.wait(2000)
    ask.timestamp = -1
    assert list_offsets.handle(leader.services, context, request).topics[0].partitions[0].offset == 2


def test_scenario_10_leadership_moves_while_a_produce_waits(cluster):
    cluster.wait()
    cluster.split(1, 2, 3)
    waiting = cluster.send()
    cluster.controller.commit([PartitionChangeRecord(partition_id=0, topic_id=b"T" * 16, leader=2)])
    cluster.wait()
    assert waiting.error is ErrorCode.NOT_LEADER_OR_FOLLOWER
    cluster.heal()
    cluster.wait()
    cluster.assert_same()


def test_scenario_11_a_shrinking_set_lets_parked_produces_go():
    cluster = Cluster(min_isr=2)
    cluster.wait()
    cluster.nodes[3].kill()
    waiting = [cluster.send() for _ in range(3)]
    cluster.run_until(cluster.now + 100)
    assert not any(each.acked for each in waiting)
    cluster.wait(2000)  # the session ends, 3 leaves
    assert all(each.acked for each in waiting)
    assert 3 not in cluster.state(0).isr


def test_scenario_14_a_follower_below_the_leaders_start_begins_anew_there(cluster):
    for _ in range(5):
        cluster.send()
    cluster.wait()
    cluster.nodes[3].stop()
    cluster.wait()
    for _ in range(5):
        cluster.send()
    cluster.wait()
    cluster.partition(1, 0).delete_records(8)
    cluster.nodes[3].boot()
    cluster.wait(3000)
    assert cluster.log(3).log_start_offset == 8
    assert cluster.values(3) == cluster.values(1)
    assert 3 in cluster.state(0).isr


def test_scenario_17_a_follower_with_an_old_watermark_leads_with_its_whole_log(cluster):
    cluster.send()
    cluster.wait()
    sent = cluster.send()
    while not sent.acked:
        cluster.run_until(cluster.now + 0.5)
    cluster.nodes[1].kill()
    cluster.wait(2000)
    leader = cluster.state(0).leader
    assert sent.value in cluster.values(leader)
    assert cluster.log(leader).high_watermark == 2


def test_scenario_19_and_20_a_slow_follower_leaves_and_comes_back_when_it_has_caught_up():
    cluster = Cluster(lag_ms=300, session_ms=10_000)
    cluster.wait()
    cluster.split(3, 1)
    sent = cluster.send()
    cluster.wait(100)
    assert not sent.acked
    cluster.wait(600)
    assert sent.acked
    assert cluster.state(0).isr == (1, 2)
    cluster.heal()
    cluster.wait(2000)
    assert sorted(cluster.state(0).isr) == [1, 2, 3]
    cluster.assert_same()


def test_scenario_21_a_fenced_broker_is_refused_and_asked_for_again_later():
    cluster = Cluster(session_ms=200, lag_ms=300)
    cluster.wait()
    cluster.split(3, CONTROLLER)
    cluster.wait(600)
    assert 3 not in cluster.state(0).isr
    state = cluster.partition(1, 0).leader_state
    state.may_join = lambda replica, epoch: True  # the leader has not heard of it
    cluster.nodes[1].replication.sender.may_join = state.may_join
    before = cluster.nodes[1].replication.sender.failures
    cluster.send()
    cluster.wait(600)
    assert cluster.nodes[1].replication.sender.failures > before
    assert state.in_sync.maximal == state.in_sync.committed or state.in_sync.proposal
    cluster.heal()
    cluster.wait(2000)
    assert sorted(cluster.state(0).isr) == [1, 2, 3]


def test_scenario_22_a_proposal_from_before_an_empty_restart_is_refused():
    cluster = Cluster(session_ms=10_000, lag_ms=300, min_isr=1)
    for _ in range(3):
        cluster.send()
    cluster.wait()
    cluster.split(3, 1)
    cluster.send()
    cluster.wait(800)
    assert cluster.state(0).isr == (1, 2)
    cluster.heal()
    epoch = cluster.nodes[3].epoch
    cluster.cut((1, CONTROLLER))  # what 1 proposes arrives later
    while cluster.partition(1, 0).leader_state.in_sync.proposal is None:
        cluster.run_until(cluster.now + 1)
    cluster.nodes[3].kill()
    cluster.nodes[3].disk = type(cluster.nodes[3].disk)()
    cluster.nodes[3].boot()
    cluster.wait(20)
    assert cluster.nodes[3].epoch != epoch
    cluster.heal()
    cluster.wait(3000)
    assert sorted(cluster.state(0).isr) == [1, 2, 3]
    cluster.assert_same()


@pytest.mark.parametrize("fault", [{"lost_answers": 0.8}, {"late_duplicates": 0.9}])
def test_scenario_23_proposals_lost_or_doubled_come_to_an_end(fault):
    cluster = Cluster(lag_ms=200, session_ms=10_000, **fault)
    for _ in range(4):
        cluster.split(3, 1)
        cluster.send()
        cluster.wait(700)
        cluster.heal()
        cluster.wait(700)
    cluster.options.lost_answers = 0
    cluster.wait(3000)
    assert sorted(cluster.state(0).isr) == [1, 2, 3]
    cluster.assert_same()


def test_scenario_25_too_few_in_sync_refuse_before_the_append_and_reads_go_on():
    cluster = Cluster(min_isr=2)
    cluster.send()
    cluster.wait()
    parked = None
    cluster.split(1, 2, 3)
    parked = cluster.send()
    cluster.nodes[2].kill()
    cluster.nodes[3].kill()
    cluster.wait(2000)
    assert cluster.state(0).isr == (1,)
    end = cluster.log(1).log_end_offset
    assert cluster.send().error is ErrorCode.NOT_ENOUGH_REPLICAS
    assert cluster.log(1).log_end_offset == end
    assert not parked.acked  # KIP-966: the watermark stays
    assert cluster.send(acks=1).error is None
    assert cluster.log(1).high_watermark == 1
    cluster.heal()
    cluster.nodes[2].boot()
    cluster.wait(2000)
    assert parked.acked


def test_scenario_26_and_34_what_only_an_isolated_leader_has_was_never_acknowledged_with_two():
    cluster = Cluster(min_isr=2)
    cluster.send()
    cluster.wait()
    cluster.split(1, 2, 3)
    alone = [cluster.send(acks=1), cluster.send(acks=-1)]
    cluster.wait(200)
    cluster.nodes[1].kill()
    cluster.heal()
    cluster.wait(2000)
    leader = cluster.state(0).leader
    assert leader in (2, 3)
    real = cluster.send(leader)
    cluster.nodes[1].boot()
    cluster.wait(3000)
    assert not alone[1].acked
    assert real.acked
    assert cluster.values(1) == cluster.values(leader)
    cluster.assert_same()


def test_scenario_28_without_an_eligible_replica_nobody_leads():
    cluster = Cluster(min_isr=1)
    cluster.nodes[3].stop()
    cluster.nodes[2].stop()
    cluster.wait()
    assert cluster.state(0).isr == (1,)
    kept = cluster.send()
    cluster.wait(100)
    assert kept.acked
    cluster.nodes[1].stop()
    cluster.wait()
    cluster.nodes[2].boot()
    cluster.nodes[3].boot()
    cluster.wait()
    assert cluster.state(0).leader == -1
    cluster.nodes[1].boot()
    cluster.wait(3000)
    assert cluster.state(0).leader == 1
    assert kept.value in cluster.values(3)
    cluster.assert_same()


def test_scenario_101_a_recreated_topic_has_nothing_of_the_old_one():
    from kbroker.protocol.generated.partition_record import PartitionRecord
    from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
    from kbroker.protocol.generated.topic_record import TopicRecord

    cluster = Cluster()
    old = cluster.send()
    cluster.wait()
    cluster.nodes[3].stop()
    cluster.wait()
    cluster.checker = None
    new_id = b"U" * 16
    cluster.controller.commit([RemoveTopicRecord(topic_id=b"T" * 16)])
    cluster.controller.commit(
        [
            TopicRecord(name="t", topic_id=new_id),
            PartitionRecord(
                partition_id=0,
                topic_id=new_id,
                replicas=[1, 2, 3],
                isr=[1, 2],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
                directories=[directory_id(each) for each in (1, 2, 3)],
            ),
        ]
    )
    cluster.wait()
    sent = cluster.send()
    cluster.nodes[3].boot()
    cluster.wait(3000)
    assert sent.acked
    for node in (1, 2, 3):
        assert cluster.values(node) == [sent.value] != [old.value]
    assert sorted(cluster.state(0).isr) == [1, 2, 3]


def test_scenario_109_without_a_controller_leaders_serve_and_sets_stay():
    cluster = Cluster(session_ms=100_000, lag_ms=100_000)
    for node in (1, 2, 3):
        cluster.split(node, CONTROLLER)
    sent = [cluster.send() for _ in range(5)]
    cluster.wait(2000)
    assert all(each.acked for each in sent)
    before = cluster.state(0)
    cluster.heal()
    cluster.wait()
    assert cluster.state(0) == before


def test_scenario_15_a_damaged_answer_is_not_appended_and_others_go_on(cluster, monkeypatch):
    from tests.sim import replication_world

    decode = replication_world._fetch_response
    damaged = []

    def damage(parts, version):
        response = decode(parts, version)
        for topic in response.responses:
            for each in topic.partitions:
                if each.records and len(damaged) < 3:
                    broken = bytearray(each.records)
                    if len(damaged) == 1:
                        broken = broken[:-7]  # cut inside a batch
                    else:
                        broken[-1] ^= 0xFF
                    damaged.append(each.partition_index)
                    each.records = bytes(broken)
        return response

    cluster.wait()
    monkeypatch.setattr(replication_world, "_fetch_response", damage)
    sent = [cluster.send() for _ in range(3)]
    cluster.wait(3000)
    assert len(damaged) == 3
    assert all(each.acked for each in sent)
    cluster.assert_same()


def test_nothing_waits_for_the_end_of_a_followers_fetch(cluster):
    """A wake-up that is lost shows as a send that takes a whole `replica.fetch.wait.max.ms`."""
    for fault in (None, cluster.nodes[3].stop, cluster.nodes[2].kill):
        if fault is not None:
            fault()
            cluster.wait(600)
            for node in cluster.nodes.values():
                if not node.alive:
                    node.boot()
            begin = cluster.now
            while len(cluster.state(0).isr) < 3 and cluster.now < begin + 5000:
                sent = cluster.send()
                cluster.run_until(cluster.now + 5)
        for _ in range(30):
            sent = cluster.send()
            cluster.run_until(cluster.now + cluster.random.uniform(1, 5))
        cluster.run_until(cluster.now + 20)
        assert sent.acked
        for _ in range(10):
            sent = cluster.send()
            cluster.run_until(cluster.now + 20)
            assert sent.acked
            cluster.wait(cluster.random.uniform(100, 400))


def test_scenario_104_a_reassignment_goes_on_over_failures_and_can_be_called_off():
    from kbroker.controller.reassignment import Reassignment, alter_reassignments

    cluster = Cluster(nodes=4)

    def reassign(*replicas):
        controller = cluster.controller
        wanted = [Reassignment("t", 0, replicas or None)]
        controller.commit(alter_reassignments(controller.image, wanted, controller.rules).records)

    sent = [cluster.send() for _ in range(5)]
    cluster.wait()
    cluster.nodes[4].kill()
    cluster.wait()
    reassign(4, 2, 3)
    cluster.wait()
    assert cluster.state(0).adding_replicas == (4,)
    cluster.nodes[1].kill()  # the leader
    cluster.wait()
    sent.append(cluster.send())
    cluster.nodes[4].boot()
    cluster.wait(3000)
    state = cluster.state(0)
    assert (sorted(state.replicas), state.adding_replicas) == ([2, 3, 4], ())
    assert cluster.values(4) == [each.value for each in sent]
    assert all(each.acked for each in sent)
    cluster.nodes[1].boot()
    cluster.wait(2000)
    assert cluster.partition(1, 0) is None
    reassign(1, 2, 3)
    reassign()
    cluster.wait(2000)
    assert sorted(cluster.state(0).replicas) == [2, 3, 4]
