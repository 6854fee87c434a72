"""The log of the share coordinator loses what no snapshot needs, and nothing else."""

from __future__ import annotations

import time

from confluent_kafka import Producer

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.offsets import EARLIEST, list_offsets
from kbroker.coordinator.share.acknowledgement import ACCEPT
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.compat.share_member import ShareMember

STATE = TopicPartition("__share_group_state", 0)
RECORDS = 30
SETTINGS = {
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.prune.interval.ms": 100,
    "share.coordinator.cold.partition.snapshot.interval.ms": 100,
    "share.coordinator.snapshot.update.records.per.snapshot": 5,
}


def test_old_parts_are_deleted_and_a_restart_knows_all() -> None:
    with Broker(config=SETTINGS, subprocess=True) as broker:
        broker.create_topic("t")
        with Cluster(broker.bootstrap) as cluster:
            for group in ("g", "rests"):
                wish = {"share.auto.offset.reset": "earliest"}
                alter_configs(cluster, ResourceType.GROUP, group, set_=wish)
            producer = Producer({"bootstrap.servers": broker.bootstrap})
            for number in range(RECORDS):
                producer.produce("t", b"%d" % number)
            assert producer.flush(30) == 0
            rests = ShareMember(cluster, "rests", "t", 1)
            assert rests.acknowledge(rests.take(RECORDS), [ACCEPT]) == {0}
            member = ShareMember(cluster, "g", "t", 1)
            for held in member.take(RECORDS):
                for offset in range(held.first, held.last):
                    assert member.acknowledge([held._replace(first=offset, last=offset)], [ACCEPT]) == {0}

            until = time.monotonic() + 60
            while list_offsets(cluster, [STATE], EARLIEST)[STATE].offset <= RECORDS // 2:
                assert time.monotonic() < until
                time.sleep(0.05)
        broker.restart()
        with Cluster(broker.bootstrap) as cluster:
            [last] = ShareMember(cluster, "g", "t", 1).take(1)
            assert (last.first, last.last) == (RECORDS - 1, RECORDS - 1)
            assert ShareMember(cluster, "rests", "t", 1).fetch() == []
