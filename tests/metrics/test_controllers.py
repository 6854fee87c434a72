"""What controllers tell that do not lead the quorum, as Kafka's do."""

from __future__ import annotations

from types import SimpleNamespace as Some

import pytest

from kbroker.broker.metric_cluster import add
from kbroker.config.broker_config import BrokerConfig
from kbroker.metrics.histogram import Histogram
from kbroker.metrics.registry import Registry


def told(registry):
    return {
        (family.name, *labels): value
        for family in registry._families.values()
        if family.type_name == "KafkaController"
        for labels, value in family.rows()
    }


@pytest.mark.parametrize(
    ("roles", "counts"), [("broker,controller", (1, 2, 1)), ("controller", (1, 2, 1)), ("broker", (0, 0, 0))]
)
def test_every_controller_tells_the_counts_of_the_cluster(roles, counts):
    partitions = [Some(leader=2, replicas=[2]), Some(leader=-1, replicas=[3])]
    brokers = {
        2: Some(id=2, fenced=False, in_controlled_shutdown=False),
        3: Some(id=3, fenced=True, in_controlled_shutdown=False),
    }
    image = Some(topics=[Some(partitions=partitions)], brokers=brokers, offset=7, controller_id=1)
    services = Some(
        metrics=Registry(),
        metadata=Some(image=image),
        controller=Some(active=False, started=0, timed_out=0, times=Histogram()),
        config=BrokerConfig({"node.id": "1", "process.roles": roles}),
        chores=Some(silences_ms=lambda: {2: 5}),
        extras={},
    )
    add(services)
    found = told(services.metrics)
    assert found["ActiveControllerCount",] == 0
    names = "GlobalTopicCount", "GlobalPartitionCount", "OfflinePartitionsCount"
    assert tuple(found[name,] for name in names) == counts
    is_controller = "controller" in roles
    assert ("BrokerRegistrationState", "2") in found or not is_controller
    if is_controller:
        assert (found["BrokerRegistrationState", "2"], found["BrokerRegistrationState", "3"]) == (30, 10)
    assert ("TimeSinceLastHeartbeatReceivedMs", "2") not in found
    services.controller.active = True
    found = told(services.metrics)
    assert found["TimeSinceLastHeartbeatReceivedMs", "2"] == 5
