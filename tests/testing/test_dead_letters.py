"""Dead letters of share groups over restarts and between brokers."""

from __future__ import annotations

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.records import produce
from kbroker.client.shares import SharePosition, share_positions
from kbroker.client.topics import create_topic
from kbroker.protocol.generated import (
    read_share_group_state_request as reading,
    write_share_group_state_request as writing,
)
from kbroker.protocol.generated.find_coordinator_request import FindCoordinatorRequest
from kbroker.protocol.generated.find_coordinator_response import FindCoordinatorResponse
from kbroker.protocol.generated.read_share_group_state_response import ReadShareGroupStateResponse
from kbroker.protocol.generated.write_share_group_state_response import WriteShareGroupStateResponse
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker, Cluster
from kbroker.types import TopicPartition
from tests.compat.share_member import Held, ShareMember
from tests.compat.test_dead_letters import (
    ACCEPT,
    ENABLED,
    EXCEEDED,
    REJECT,
    REJECTED,
    all_done_with,
    letters,
    make_group,
)
from tests.metrics.scrape import Scraped

SHARE_TOPIC = {"share.coordinator.state.topic.num.partitions": 3}


@pytest.fixture
def broker():
    with Broker(config=SHARE_TOPIC | {"kbroker.metrics.listener": "127.0.0.1:0"}) as broker:
        yield broker


def prepare(client, assignment=(), dead_assignment=(), group="g"):
    """Topic `t` with three records, and a group that gives records up to another one."""
    create_topic(client, "t", **({"assignment": assignment} if assignment else {"partitions": 1}))
    how = {"assignment": dead_assignment} if dead_assignment else {"partitions": 1}
    create_topic(client, "dlq.t", configs=ENABLED, **how)
    produce(client, TopicPartition("t", 0), [Record(timestamp=1, value=b"%d" % at) for at in range(3)])
    make_group(client, group, "dlq.t", errors_deadletterqueue_copy_record_enable="true")


def test_what_was_given_up_and_not_written_is_written_by_who_takes_over(broker):
    """The share coordinator knows records as on their way to be archived; so they are after a crash."""
    with Client(broker.bootstrap, timeout_s=30) as client:
        prepare(client)
        member = ShareMember(client, "g", "t", 1)
        topic_id = member._topic_id
        topics = [reading.ReadStateData(topic_id=topic_id, partitions=[reading.PartitionData(partition=0)])]
        answer = client.any().ask(
            reading.ReadShareGroupStateRequest(group_id="g", topics=topics), ReadShareGroupStateResponse
        )
        [state] = answer.results[0].partitions
        batches = [
            writing.StateBatch(first_offset=0, last_offset=1, delivery_state=3, delivery_count=1),
            writing.StateBatch(first_offset=2, last_offset=2, delivery_state=3, delivery_count=2),
        ]
        part = writing.PartitionData(
            partition=0, state_epoch=state.state_epoch, leader_epoch=0, start_offset=0, state_batches=batches
        )
        topics = [writing.WriteStateData(topic_id=topic_id, partitions=[part])]
        answer = client.any().ask(
            writing.WriteShareGroupStateRequest(group_id="g", topics=topics), WriteShareGroupStateResponse
        )
        assert answer.results[0].partitions[0].error_code == 0
        assert member.fetch() == []
        found = letters(client, "dlq.t", 1, 3)
        assert [(value, dict(headers)["message"]) for _, _, value, headers in found] == [
            (b"0", REJECTED),
            (b"1", REJECTED),
            (b"2", EXCEEDED),
        ]
        all_done_with(client, "g")
        broker.restart()
        client.close()
        member._session_epoch = 0
        assert member.fetch() == []
        assert len(letters(client, "dlq.t", 1, 3)) == 3, "and not again"


def test_they_are_counted_by_group(broker):
    with Client(broker.bootstrap, timeout_s=30) as client:
        prepare(client)
        member = ShareMember(client, "g", "t", 1)
        member.acknowledge(member.take(3), [REJECT])
        all_done_with(client, "g")
        alter_configs(client, ResourceType.TOPIC, "dlq.t", set_={"cleanup.policy": "compact"})
        produce(client, TopicPartition("t", 0), [Record(timestamp=1, value=b"3")])
        member.acknowledge(member.take(1), [REJECT])
        all_done_with(client, "g")
    samples, name = Scraped(broker).samples(), "kafka_server_sharegroupmetrics_deadletterqueue"
    group = (("group", "g"),)
    assert samples[f"{name}recordcount_count", group] == 3
    assert samples[f"{name}totalproducerequests_total", group] == 2
    assert samples[f"{name}failedproducerequests_total", group] == 1


def group_of(client, node_id):
    """A group that this broker coordinates."""
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=[f"g{number}" for number in range(20)])

    def look():
        answer = client.any().ask(request, FindCoordinatorResponse)
        return next((each.key for each in answer.coordinators if each.node_id == node_id), None)

    return look


def test_another_broker_leads_the_topic_and_coordinates_the_group(tmp_path):
    with (
        Cluster(2, config=SHARE_TOPIC, data=str(tmp_path / "data")) as cluster,
        Client(cluster.bootstrap, timeout_s=60) as client,
    ):
        cluster.wait_for(lambda: len(client.brokers(refresh=True)) == 2)
        first, second = sorted(client.brokers())
        group = cluster.wait_for(group_of(client, second))
        prepare(client, [[first]], [[second, first]], group)
        member = ShareMember(client, group, "t", 1, leader=first)
        held = member.take(3)
        assert member.acknowledge([Held(0, 0, 1, 1)], [REJECT, ACCEPT]) == {0}
        assert [value for _, _, value, _ in letters(client, "dlq.t", 1, 1)] == [b"0"]
        cluster.wait_for(lambda: share_positions(client, group) == [SharePosition("t", 0, 0, 1)])
        assert member.acknowledge([Held(0, 2, 2, 1)], [REJECT]) == {0}
        assert [value for _, _, value, _ in letters(client, "dlq.t", 1, 2)] == [b"0", b"2"]
        all_done_with(client, group)
        assert held == [Held(0, 0, 2, 1)]


def test_a_new_leader_writes_what_the_old_one_could_not(tmp_path):
    """The topic for dead letters has no leader, then the one that wants to write to it dies, too."""
    settings = SHARE_TOPIC | {
        "broker.heartbeat.interval.ms": 200,
        "broker.session.timeout.ms": 1500,
        "share.coordinator.state.topic.replication.factor": 3,
        "share.coordinator.state.topic.min.isr": 1,
        "offsets.topic.replication.factor": 3,
        "group.share.record.lock.duration.ms": 60_000,
    }
    with (
        Cluster(3, config=settings, data=str(tmp_path / "data")) as cluster,
        Client(cluster.bootstrap, timeout_s=60) as client,
    ):
        cluster.wait_for(lambda: len(client.brokers(refresh=True)) == 3)
        first, second, third = sorted(client.brokers())
        prepare(client, [[first, second]], [[third]])
        member = ShareMember(client, "g", "t", 1, leader=first)
        held = member.take(3)
        cluster.kill(third)
        cluster.wait_for(lambda: member.acknowledge(held, [REJECT]) == {0})
        cluster.kill(first)
        cluster.restart(third)
        cluster.wait_for(lambda: cluster.leader("t") == second)
        member._leader, member._session_epoch = second, 0
        with Client(cluster.nodes[second].bootstrap, timeout_s=60) as other:
            member._cluster = other
            cluster.wait_for(lambda: member.fetch() == [])
            # The old one may have written some in its last moments.
            found = letters(other, "dlq.t", 1, 3, exactly=False)
            assert {value for _, _, value, _ in found} == {b"0", b"1", b"2"}
            all_done_with(other, "g")
