"""Three kbrokers and three brokers of Apache Kafka 3.9, both kept in ZooKeeper:
`python -m tools.bench.bench_zookeeper --kills 5 --partitions 10000`.

Each cluster in turn gets both cores, a ZooKeeper of its own, and Kafka's default session time-out.
Compare the numbers of one run with each other: the last column is Kafka's over kbroker's.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode
from kbroker.testing.zookeeper import ZooKeeper
from tools.bench.bench_cluster import BenchCluster, Results, compare
from tools.bench.brokers import BrokerProcess, Kafka
from tools.bench.outages import Line, Silence
from tools.kafka_jars import class_path, zookeeper_path

KAFKA = "3.9.2"
_NODES = 3
_SESSION_MS = 18_000
_WAIT_SECONDS = 300.0
_AT_ONCE = 200


class KafkaZkNode(Kafka):
    """One of three Apache Kafkas of the last release with ZooKeeper."""

    one_core = False

    def __init__(self, cache: Path) -> None:
        super().__init__(cache)
        self._class_path = class_path(cache, KAFKA)

    def prepare(self) -> None:
        """Nothing: a folder is formatted by the first start."""


class ZkBenchCluster(BenchCluster):
    """Three nodes of one kind, in a ZooKeeper of their own."""

    def __init__(self, label: str, make: Callable[[], BrokerProcess], cache: Path) -> None:
        self.label = label
        self.nodes = [make() for _ in range(_NODES)]
        folder = str(self.nodes[0].folder / "zookeeper")
        self.server = ZooKeeper(folder, class_path=zookeeper_path(cache), jvm=["-Xmx512m"])
        self.server.start()
        self.znodes = KazooClient(self.server.address)
        self.znodes.start()
        for number, node in enumerate(self.nodes, start=1):
            settings = {
                "broker.id": number,
                "listeners": f"PLAINTEXT://127.0.0.1:{node.port}",
                "log.dirs": node.folder / "data",
                "zookeeper.connect": f"{self.server.address}/bench",
                "zookeeper.session.timeout.ms": _SESSION_MS,
                "zookeeper.connection.timeout.ms": 60_000,
                "group.initial.rebalance.delay.ms": 0,
                "auto.leader.rebalance.enable": "false",
            }
            text = "".join(f"{name}={value}\n" for name, value in settings.items())
            (node.folder / "server.properties").write_text(text)

    def znode(self, path: str) -> bytes | None:
        """What ZooKeeper has there."""
        try:
            data: bytes = self.znodes.get(f"/bench{path}")[0]
        except NoNodeError:
            return None
        return data

    def controller(self) -> int:
        """By /controller; 0: there is none."""
        data = self.znode("/controller")
        return 0 if data is None else int(json.loads(data)["brokerid"])

    def kill(self, number: int) -> float:
        """Kill a node; the time of it."""
        began = time.perf_counter()
        self.nodes[number - 1].kill()
        return began

    def bring_back(self, number: int) -> None:
        """Start it again. A Kafka does not start while the session of its killed life lasts."""
        node = self.nodes[number - 1]
        if isinstance(node, Kafka):
            self.until(lambda: self.znode(f"/brokers/ids/{number}") is None, "the end of a session")
        node.start()
        self.wait_for(_NODES)

    def wait_for(self, count: int) -> None:
        """See `BenchCluster`; a Kafka takes its time."""

        def there() -> bool:
            for node in self.nodes:
                if node._process is not None:
                    node.check_alive()
            with Cluster(self.bootstrap, timeout_s=30) as client:
                return len(client.metadata([]).brokers) >= count

        self.until(there, f"{count} brokers")

    def until(self, test: Callable[[], bool], what: str) -> float:
        """Wait for it; the time when it was so."""
        deadline = time.perf_counter() + _WAIT_SECONDS
        while time.perf_counter() < deadline:
            with suppress(ApiError, ClientError, OSError):
                if test():
                    return time.perf_counter()
            time.sleep(0.02)
        raise RuntimeError(f"{self.label}: no {what}")

    def leads(self, topics: list[str], count: int, without: int = -1) -> bool:
        """Whether so many partitions all have a leader that is not `without`, as the others say."""
        with Cluster(self.others(without), timeout_s=30) as client:
            found = client.metadata(topics).topics
        leaders = [p.leader_id for topic in found for p in topic.partitions]
        return len(leaders) >= count and -1 not in leaders and without not in leaders

    def in_sync(self, topics: list[str]) -> bool:
        """Whether nobody lags."""
        with Cluster(self.bootstrap, timeout_s=30) as client:
            found = client.metadata(topics).topics
        return all(len(p.isr_nodes) == _NODES for topic in found for p in topic.partitions)

    def others(self, without: int) -> str:
        """Where to ask."""
        return ",".join(node.bootstrap for number, node in enumerate(self.nodes, 1) if number != without)

    def remove(self) -> None:
        """See `BenchCluster`."""
        self.znodes.stop()
        self.znodes.close()
        super().remove()
        self.server.stop()


def leader_killed(cluster: ZkBenchCluster, kills: int) -> Iterator[Line]:
    """From `kill -9` of a leader to the next acknowledged record."""
    cluster.create("outage")
    silences, failed = [], 0
    for _ in range(kills):
        cluster.until(lambda: cluster.in_sync(["outage"]), "in-sync set")
        number = cluster.nodes.index(cluster.leader_of("outage")) + 1
        with Silence(cluster.bootstrap, "outage") as silence:
            instant = cluster.kill(number)
            silences.append(_silence(cluster, silence, instant))
        failed += silence.failed
        cluster.bring_back(number)
    yield f"leader killed: to the next acknowledged record, p50 of {kills}", statistics.median(silences), "s"
    yield f"leader killed: to the next acknowledged record, worst of {kills}", max(silences), "s"
    yield "leader killed: sends that failed", failed, ""


def _silence(cluster: ZkBenchCluster, producer: Silence, instant: float) -> float:
    """The longest time without an acknowledgement, once there are some for a second after it."""

    def longest() -> tuple[float, float]:
        later = [at for at in list(producer.acknowledged) if at > instant]
        gap, end = max(((b - a, b) for a, b in zip([instant, *later], later)), default=(0.0, 0.0))
        return gap, later[-1] - end if later else 0.0

    cluster.until(lambda: longest()[1] > 1, "acknowledged record")
    return longest()[0]


def creation(cluster: ZkBenchCluster, count: int) -> Iterator[Line]:
    """Until all brokers say that all partitions are led."""
    for topics in (1, count // 10):
        names = [f"new-{topics}-{number}" for number in range(topics)]
        began = time.perf_counter()
        for name in names:
            _create(cluster, name, count // topics)
        ended = cluster.until(partial(_led_everywhere, cluster, names, count), "leaders")
        yield (
            f"{count:,} partitions made in {topics:,} topic(s), on three nodes each",
            ended - began,
            "s",
        )


def _led_everywhere(cluster: ZkBenchCluster, topics: list[str], count: int) -> bool:
    for node in cluster.nodes:
        with Cluster(node.bootstrap, timeout_s=30) as client:
            found = client.metadata(topics).topics
        if sum(p.leader_id >= 0 for topic in found for p in topic.partitions) < count:
            return False
    return True


def fail_over(cluster: ZkBenchCluster, count: int) -> Iterator[Line]:
    """The controller of so many partitions is killed."""
    topics = [f"many-{number}" for number in range(max(count // _AT_ONCE, 1))]
    began = time.perf_counter()
    for topic in topics:
        _create(cluster, topic, count // len(topics))
    cluster.until(lambda: cluster.leads(topics, count), "leaders")
    yield f"{count:,} partitions made in {len(topics)} topics", time.perf_counter() - began, "s"
    yield "memory of a node with them", cluster.memory_mb(), "MB"
    cluster.until(lambda: cluster.in_sync(topics), "in-sync sets")
    old = cluster.controller()
    began = cluster.kill(old)
    elected = cluster.until(lambda: cluster.controller() not in (0, old), "controller")
    led = cluster.until(lambda: cluster.leads(topics, count, without=old), "leaders")
    yield f"controller of {count:,} killed: until there is another", elected - began, "s"
    yield "… until all partitions are led", led - began, "s"
    yield "… of that since there is another", led - elected, "s"
    _create(cluster, "after", 1, 2, without=old)
    yield "… until a topic is made", time.perf_counter() - began, "s"
    began = time.perf_counter()
    cluster.bring_back(old)
    cluster.until(lambda: cluster.in_sync(topics), "in-sync sets")
    yield "… it is back, and all in sync again", time.perf_counter() - began, "s"


def _create(
    cluster: ZkBenchCluster, name: str, partitions: int, replicas: int = _NODES, without: int = -1
) -> None:
    """Until it is there."""

    def made() -> bool:
        try:
            with Cluster(cluster.others(without), timeout_s=60) as client:
                create_topic(client, name, partitions=partitions, replication_factor=replicas)
        except ApiError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
        return True

    cluster.until(made, f"topic {name}")


def measure(cluster: ZkBenchCluster, kills: int, partitions: int) -> Results:
    """All lines."""
    results: Results = {}

    def note(lines: Iterator[Line]) -> None:
        for name, value, unit in lines:
            results[name] = (value, unit)
            print(f"{cluster.label}: {name}: {value:,.4g} {unit}", file=sys.stderr, flush=True)

    note(iter([("three nodes up", cluster.start(), "s")]))
    time.sleep(2)
    if kills:
        note(leader_killed(cluster, kills))
    note(creation(cluster, 1000))
    if partitions:
        note(fail_over(cluster, partitions))
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=5, help="of a leader; 0: none")
    parser.add_argument("--partitions", type=int, default=10_000, help="whose controller is killed; 0: none")

    def run(cluster: BenchCluster, asked: argparse.Namespace) -> Results:
        return measure(cluster, asked.kills, asked.partitions)

    return compare(parser, (f"Kafka {KAFKA}", KafkaZkNode), run, ZkBenchCluster, _with_ratios)


def _with_ratios(results: dict[str, Results]) -> dict[str, Results]:
    if len(results) < 2:
        return results
    ours, theirs = results.values()
    ratios = {
        name: (theirs[name][0] / value, "x") for name, (value, _) in ours.items() if value and name in theirs
    }
    return {**results, "Kafka / kbroker": ratios}


if __name__ == "__main__":
    sys.exit(main())
