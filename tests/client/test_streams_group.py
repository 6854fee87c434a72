"""A streams group as `describe_group` tells it."""

from __future__ import annotations

from kbroker.client import Cluster
from kbroker.client.groups import describe_group
from kbroker.protocol.generated import streams_group_heartbeat_request as api
from kbroker.protocol.generated.streams_group_heartbeat_response import StreamsGroupHeartbeatResponse
from kbroker.testing import Broker
from kbroker.types import TopicPartition


def test_its_members_and_what_they_read() -> None:
    settings = {"group.streams.initial.rebalance.delay.ms": 0}
    topology = api.Topology(
        epoch=0, subtopologies=[api.Subtopology(subtopology_id="0", source_topics=["in"])]
    )
    request = api.StreamsGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        topology=topology,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        rebalance_timeout_ms=60_000,
        process_id="p",
        client_tags=[],
    )
    with Broker(config=settings) as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("in", 2)
        answer = cluster.ask_coordinator(
            "g", request, StreamsGroupHeartbeatResponse, lambda answer: [answer.error_code]
        )
        assert answer.error_code == 0
        group = describe_group(cluster, "g")
    assert (group.type, group.state, group.assignor) == ("streams", "Stable", "sticky")
    (member,) = group.members
    assert (member.id, member.partitions) == ("m", [TopicPartition("in", 0), TopicPartition("in", 1)])
