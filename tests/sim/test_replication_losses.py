"""Cases of replication by name: power, disks and records that go."""

from __future__ import annotations

import pytest

from kbroker.broker.partition import STRANGERS_MS
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.log import AppendOrigin
from kbroker.storage.memory_disk import Tail
from tests.sim.replication_cluster import Cluster
from tests.sim.replication_world import directory_id


@pytest.fixture
def cluster():
    return Cluster()


def test_scenario_29_an_unclean_leader_says_when_it_has_recovered_and_the_old_one_is_cut_to_it():
    """KIP-704: it says so by itself, before anybody else is in sync."""
    cluster = Cluster(min_isr=1, unclean=True)
    kept = cluster.send()
    cluster.wait()
    for follower in (2, 3):
        cluster.nodes[follower].kill()
    cluster.wait()
    lost = cluster.send()
    cluster.wait()
    assert lost.acked
    cluster.nodes[1].kill()
    cluster.wait()
    cluster.nodes[2].boot()
    cluster.wait()
    state = cluster.state(0)
    assert (state.leader, state.isr, state.leader_recovery_state) == (2, (2,), 0)
    later = cluster.send()
    cluster.nodes[1].boot()
    cluster.nodes[3].boot()
    cluster.wait(3000)
    assert later.acked
    assert cluster.values(1) == [kept.value, later.value]
    cluster.assert_same()


def test_scenario_29_a_lone_replica_recovers_from_a_power_cut_without_anybody_else():
    cluster = Cluster(nodes=1, min_isr=1)
    cluster.send()
    cluster.wait()
    cluster.nodes[1].kill(Tail.LOST)
    cluster.wait()
    cluster.nodes[1].boot()
    cluster.wait()
    changes = [record for records in cluster.controller.log for record in records]
    said = [each.leader_recovery_state for each in changes if isinstance(each, PartitionChangeRecord)]
    assert [each for each in said if each >= 0] == [1, 0]
    assert (cluster.state(0).leader, cluster.state(0).isr) == (1, (1,))
    assert cluster.send().acked


def test_scenario_98_nobody_waits_for_a_follower_whose_disk_has_failed():
    """It was at the leader's end a moment ago and its broker is alive: still it does not hold up a commit."""
    cluster = Cluster(lag_ms=30_000)
    cluster.send()
    cluster.wait()
    cluster.split(3, 1, 2)
    waits = cluster.send()
    cluster.run_until(cluster.now + 50)
    assert not waits.acked
    broker = cluster.controller.image.brokers[3]
    elsewhere = (77).to_bytes(16, "big")
    cluster.controller.commit(
        [
            BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=broker.epoch, log_dirs=[elsewhere]),
            PartitionChangeRecord(partition_id=0, topic_id=b"T" * 16, isr=[1, 2]),
        ]
    )
    cluster.run_until(cluster.now + 50)
    assert waits.acked
    cluster.heal()
    cluster.wait()
    assert cluster.state(0).isr == (1, 2)
    back = cluster.controller.image.brokers[3]
    cluster.controller.commit(
        [BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=back.epoch, log_dirs=[directory_id(3)])]
    )
    cluster.wait()
    assert set(cluster.state(0).isr) == {1, 2, 3}


def test_scenario_84_deleted_records_stay_deleted_on_a_follower_that_loses_power(cluster):
    """Seed 2: below the leader's start a follower may have what an earlier leader never committed."""
    for _ in range(6):
        cluster.send()
    cluster.wait()
    for node in (1, 2, 3):
        cluster.log(node).fsync()
    cluster.partition(1, 0).delete_records(4)
    cluster.wait(600)
    assert [cluster.log(node).log_start_offset for node in (2, 3)] == [4, 4]
    cluster.nodes[3].kill(Tail.LOST)
    cluster.nodes[3].boot()
    assert cluster.nodes[3].logs.logs[("t", 0)].log_start_offset == 4
    cluster.wait(2000)
    cluster.assert_same()


def test_scenario_31_and_32_who_lost_power_does_not_lead_before_who_did_not():
    cluster = Cluster(min_isr=2)
    cluster.send()
    cluster.wait()
    for node in (1, 2, 3):
        cluster.log(node).fsync()
    sent = [cluster.send() for _ in range(3)]
    cluster.wait(60)
    assert all(each.acked for each in sent)
    cluster.nodes[2].kill(Tail.LOST)
    cluster.nodes[2].boot()  # at once: nobody has noticed
    cluster.nodes[1].kill()
    cluster.wait(4000)
    leader = cluster.state(0).leader
    assert leader == 3
    assert set(cluster.values(leader)) >= {each.value for each in sent}
    cluster.nodes[1].boot()
    cluster.wait(3000)
    cluster.assert_same()


@pytest.mark.parametrize("tail", [Tail.LOST, Tail.TORN, Tail.ZEROED])
@pytest.mark.parametrize("first", [1, 2, 3])
def test_scenario_31_what_was_synced_before_it_was_acknowledged_survives_that_all_lose_power(first, tail):
    """flush.messages=1: whichever node comes back first, and whoever leads then."""
    cluster = Cluster(syncs_all=True)
    sent = [cluster.send() for _ in range(4)]
    cluster.wait(300)
    for _ in range(3):
        sent.append(cluster.send())
        cluster.run_until(cluster.now + 2)
    acked = [each.value for each in sent if each.acked]
    assert len(acked) >= 4
    for node in cluster.nodes.values():
        node.kill(tail)
    cluster.wait(600)
    for node_id in (first, *({1, 2, 3} - {first})):
        cluster.nodes[node_id].boot()
        cluster.wait(400)
    cluster.wait(4000)
    assert sorted(cluster.state(0).isr) == [1, 2, 3]
    assert cluster.values(1)[: len(acked)] == acked
    cluster.assert_same()
    later = cluster.send()
    cluster.wait()
    assert later.acked


@pytest.mark.parametrize("tail", [Tail.LOST, Tail.TORN, Tail.ZEROED])
def test_without_a_sync_all_come_back_to_one_history_when_all_lose_power(tail):
    """By default nothing is synced before it is acknowledged, as in Kafka: what is lost is lost on all, and
    what is there then stays."""
    cluster = Cluster()
    cluster.send()
    cluster.wait()
    for node in cluster.nodes.values():
        cluster.log(node.id).fsync()
    kept = cluster.values(1)
    for _ in range(3):
        cluster.send()
    cluster.wait()
    cluster.checker = None  # all lost what was committed
    for node in cluster.nodes.values():
        node.kill(tail)
    cluster.run_until(cluster.now + 600)
    for node in cluster.nodes.values():
        node.boot()
        cluster.run_until(cluster.now + 300)
    cluster.run_until(cluster.now + 4000)
    assert sorted(cluster.state(0).isr) == [1, 2, 3]
    assert cluster.values(1)[: len(kept)] == kept
    cluster.assert_same()
    assert cluster.send().error is None


def send_as(cluster, producer_id, sequence):
    """One batch of an idempotent producer to whoever leads; its offset."""
    node = cluster.nodes[cluster.state(0).leader]
    partition = cluster.partition(node.id, 0)
    record = Record(timestamp=1_700_000_000_000, value=b"%d" % sequence)
    batch = build_batch([record], producer_id=producer_id, producer_epoch=0, base_sequence=sequence)
    result = partition.append(batch, node.replicas.clock.now_ms(), AppendOrigin.CLIENT, -1)
    partition.flush()
    return result.base_offset


def test_a_producer_whose_first_batch_may_be_on_its_way_to_the_leader_before_waits_for_it(cluster):
    """librdkafka takes all that it sent before an acknowledged batch for written, too (chaos, seed 8810)."""
    assert send_as(cluster, 7, 5) == 0  # nobody has led before: it may begin anywhere (KIP-360)
    cluster.wait()
    cluster.nodes[1].kill()
    cluster.wait()
    assert cluster.state(0).leader != 1
    for sequence in (1, 1, 2):
        with pytest.raises(ApiError) as refused:
            send_as(cluster, 8, sequence)
        assert refused.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert [send_as(cluster, 8, sequence) for sequence in (0, 1, 2)] == [1, 2, 3]
    assert send_as(cluster, 7, 6) == 4
    with pytest.raises(ApiError):
        send_as(cluster, 9, 3)
    cluster.wait(STRANGERS_MS)
    assert send_as(cluster, 9, 3) == 5  # what it sent before is forgotten: retention, expiration
