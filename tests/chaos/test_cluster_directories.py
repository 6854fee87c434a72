"""A node of three loses one of its disks: only what lay there moves, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kbroker.client.cluster import Cluster as Client
from kbroker.client.describe import describe_log_dirs
from kbroker.client.offsets import list_offsets
from kbroker.testing import Cluster
from kbroker.types import TopicPartition
from tests.chaos.disks import LoopDisk, loop_disk

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PARTITIONS = 6
VICTIM = 1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[LoopDisk]:
    with loop_disk("ext4", tmp_path / "image", tmp_path / "disk", 64) as disk:
        yield disk


class Steady:
    """Sends to every partition in turn; any failure counts."""

    def __init__(self, cluster: Cluster) -> None:
        self.sent = [0] * PARTITIONS
        self.failures: list[object] = []
        self._producer = Producer(
            {
                "bootstrap.servers": cluster.bootstrap,
                "enable.idempotence": True,
                "linger.ms": 0,
                "retry.backoff.ms": 50,
                "log_level": 0,
            }
        )

    def tick(self) -> bool:
        for index in range(PARTITIONS):
            self._producer.produce(
                "t", b"x" * 200, partition=index, on_delivery=lambda e, _: e and self.failures.append(e)
            )
            self.sent[index] += 1
        self._producer.poll(0)
        return True

    def finish(self) -> None:
        # Far below replica.lag.time.max.ms: nobody waits for replicas on the failed disk.
        assert self._producer.flush(20) == 0
        assert self.failures == []


def on_disk(cluster: Cluster, disk: LoopDisk) -> set[int]:
    """The partitions whose replica at the victim lies on that disk."""
    with Client(cluster.bootstrap) as client:
        return {
            replica.partition
            for log_dir in describe_log_dirs(client, [VICTIM])
            for replica in log_dir.replicas
            if replica.topic == "t" and log_dir.path == str(disk.folder)
        }


def test_98_only_the_partitions_of_a_failed_disk_move(disk: LoopDisk, tmp_path: Path) -> None:
    with Cluster(3, data=str(tmp_path / "nodes"), links=False) as cluster:
        # A second disk for a node that has been there before.
        cluster.stop_node(VICTIM)
        node = cluster.nodes[VICTIM]
        node.settings["log.dirs"] = f"{node.data},{disk.folder}"
        cluster.restart(VICTIM)
        cluster.create_topic("t", PARTITIONS, config={"segment.bytes": 1 << 20})
        cluster.wait_for(cluster.all_in_sync)
        lost = on_disk(cluster, disk)
        kept = set(range(PARTITIONS)) - lost
        led = {index for index in range(PARTITIONS) if cluster.leader("t", index) == VICTIM}
        # Whatever was placed where: both kinds of replica are on the disk, and one leader beside it.
        assert lost
        before = {index: cluster.describe("t", index) for index in range(PARTITIONS)}
        steady = Steady(cluster)
        for _ in range(20):
            steady.tick()
        disk.cut_power()
        other = next(each for each in cluster.nodes if each != VICTIM)

        def moved() -> bool:
            steady.tick()
            found = [cluster.describe("t", index, other) for index in lost]
            return all(VICTIM not in each.isr_nodes and each.leader_id not in (-1, VICTIM) for each in found)

        cluster.wait_for(moved)
        for index in range(PARTITIONS):
            now = cluster.describe("t", index, other)
            assert now.offline_replicas == ([VICTIM] if index in lost else []), index
            if index not in lost or index not in led:
                assert (now.leader_id, now.leader_epoch) == (
                    before[index].leader_id,
                    before[index].leader_epoch,
                ), index
        assert all(len(cluster.describe("t", index, other).isr_nodes) == 3 for index in kept)
        steady.finish()
        cluster.stop_node(VICTIM)
        disk.mount_again()
        cluster.restart(VICTIM)
        cluster.wait_for(lambda: steady.tick() and cluster.all_in_sync())
        steady.finish()
        assert on_disk(cluster, disk) == lost
        partitions = {TopicPartition("t", index): -1 for index in range(PARTITIONS)}
        with Client(cluster.bootstrap) as client:
            ends = list_offsets(client, partitions)
        assert [ends[tp].offset for tp in partitions] == steady.sent
