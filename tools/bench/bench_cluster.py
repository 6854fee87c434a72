"""Three kbrokers and three Apache Kafkas: `python -m tools.bench.bench_cluster --kills 20`.

Each cluster in turn gets both cores, and shares them with the load, as on a developer's machine. All nodes
are broker and controller. Compare the numbers of one run with each other.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tools.bench import librdkafka
from tools.bench.brokers import BrokerProcess, Kafka, Kbroker, free_port
from tools.bench.cluster_loads import LOADS, rate
from tools.bench.outages import Line, many_led_again, outages
from tools.kafka_jars import KAFKA_VERSION

_NODES = 3
_WAIT_SECONDS = 60.0
#: Of small messages before a load on fresh nodes: a JVM is slow at first.
_JVM_SECONDS = 4.0
_CLUSTER_ID = "a2JlbmNoLWNsdXN0ZXItMQ"
#: By line, with its unit.
Results = dict[str, tuple[float, str]]
Make = Callable[[], BrokerProcess]


class KbrokerNode(Kbroker):
    """One of three kbrokers, from a file of properties."""

    one_core = False

    def command(self) -> list[str]:
        return [sys.executable, "-m", "kbroker.cli.main", "start", "--config", str(self.properties)]

    @property
    def properties(self) -> Path:
        return self.folder / "server.properties"


class KafkaNode(Kafka):
    """One of three Apache Kafkas."""

    one_core = False

    def prepare(self) -> None:
        tool = ["kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c"]
        done = subprocess.run(
            self._java("-Xmx256M", *tool, str(self.folder / "server.properties")),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"kafka-storage format failed:\n{done.stdout}{done.stderr}")


class BenchCluster:
    """Three nodes of one kind."""

    def __init__(self, label: str, make: Callable[[], BrokerProcess]) -> None:
        self.label = label
        self.nodes = [make() for _ in range(_NODES)]
        controllers = [free_port() for _ in self.nodes]
        voters = ",".join(f"{i + 1}@127.0.0.1:{port}" for i, port in enumerate(controllers))
        for number, (node, controller) in enumerate(zip(self.nodes, controllers), start=1):
            self._configure(node, number, controller, voters)

    def _configure(self, node: BrokerProcess, number: int, controller: int, voters: str) -> None:
        settings = {
            "process.roles": "broker,controller",
            "node.id": number,
            "kbroker.cluster.id": _CLUSTER_ID,
            "controller.quorum.voters": voters,
            "listeners": f"PLAINTEXT://127.0.0.1:{node.port},CONTROLLER://127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": node.folder / "data",
            "group.initial.rebalance.delay.ms": 0,
        }
        if isinstance(node, Kafka):
            del settings["kbroker.cluster.id"]
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (node.folder / "server.properties").write_text(text)

    @property
    def bootstrap(self) -> str:
        return ",".join(node.bootstrap for node in self.nodes)

    def start(self) -> float:
        """Seconds until all three are in the cluster and a topic on all of them takes a record."""
        for node in self.nodes:
            node.prepare()
        started = time.perf_counter()
        for node in self.nodes:
            node.start()
        self.wait_for(_NODES)
        self.create("first")
        producer = Producer({"bootstrap.servers": self.bootstrap, "acks": "all", "linger.ms": 0})
        producer.produce("first", b"x", partition=0)
        if producer.flush(_WAIT_SECONDS):
            raise RuntimeError(f"{self.label}: no record was acknowledged")
        return time.perf_counter() - started

    def wait_for(self, count: int) -> None:
        """Until so many brokers are known."""
        deadline = time.perf_counter() + _WAIT_SECONDS
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        while True:
            with contextlib.suppress(Exception):
                if len(admin.list_topics(timeout=2).brokers) >= count:
                    return
            for node in self.nodes:
                if node._process is not None:
                    node.check_alive()
            if time.perf_counter() > deadline:
                raise RuntimeError(f"{self.label}: {count} brokers did not come up")
            time.sleep(0.01)

    def create(self, name: str, partitions: int = 1) -> None:
        """A topic on all three."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        configs = {"min.insync.replicas": "2"}
        topic = NewTopic(name, num_partitions=partitions, replication_factor=_NODES, config=configs)
        for future in admin.create_topics([topic], operation_timeout=30).values():
            future.result(_WAIT_SECONDS)

    def leader_of(self, topic: str) -> BrokerProcess:
        """The node that leads partition 0."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        deadline = time.perf_counter() + _WAIT_SECONDS
        while time.perf_counter() < deadline:
            found = admin.list_topics(topic, timeout=5).topics[topic].partitions
            if found and found[0].leader > 0 and len(found[0].isrs) == _NODES:
                return self.nodes[found[0].leader - 1]
            time.sleep(0.05)
        raise RuntimeError(f"{self.label}: {topic} has not its whole in-sync set")

    def cpu_seconds(self) -> float:
        """Of all nodes."""
        return sum(node.cpu_seconds() for node in self.nodes)

    def memory_mb(self) -> float:
        """Of one node, on average."""
        return statistics.mean(node.resident_mb() for node in self.nodes)

    def remove(self) -> None:
        """End it."""
        for node in self.nodes:
            node.remove()


def rates_in_turns(
    kinds: Sequence[tuple[str, Make]], turns: int, seconds: float, warm: bool
) -> dict[str, Results]:
    """Each load on three fresh nodes, kind after kind and again: medians, and the least and the most."""
    found: dict[str, dict[str, list[float]]] = {label: {} for label, _ in kinds}
    units = {}
    for acks, size in LOADS * turns:
        for label, make in kinds:
            cluster = BenchCluster(label, make)
            try:
                cluster.start()
                lines = rate(cluster, acks, size, seconds, warm, _JVM_SECONDS)
            finally:
                cluster.remove()
            for name, value, unit in lines:
                print(f"{label}: {name}: {value:,.4g} {unit}", file=sys.stderr, flush=True)
                found[label].setdefault(name, []).append(value)
                units[name] = unit
    return {
        label: {
            f"{name}{what}": (choose(values), units[name])
            for name, values in lines.items()
            for what, choose in (("", statistics.median), (", least", min), (", most", max))
        }
        for label, lines in found.items()
    }


def latency(cluster: BenchCluster, seconds: float) -> Iterator[Line]:
    """Produce with acks=all to consumed."""
    cluster.create("latency")
    p50, p99, _ = librdkafka.latency_us(cluster.bootstrap, "latency", 5000, seconds)
    yield "produce to consume, acks=all, p50", p50 / 1000, "ms"
    yield "produce to consume, acks=all, p99", p99 / 1000, "ms"


def measure(cluster: BenchCluster, kills: int, seconds: float, partitions: int, warm: bool) -> Results:
    """All lines."""
    results: Results = {}

    def note(lines: Iterator[Line] | Sequence[Line]) -> None:
        for name, value, unit in lines:
            results[name] = (value, unit)
            print(f"{cluster.label}: {name}: {value:,.4g} {unit}", file=sys.stderr, flush=True)

    note([("three nodes up", cluster.start(), "s")])
    time.sleep(2)
    note([("memory of a node, idle", cluster.memory_mb(), "MB")])
    note(latency(cluster, seconds * 2))
    for acks, size in LOADS:
        note(rate(cluster, acks, size, seconds, warm, seconds / 2))
    note([("memory of a node, after the load", cluster.memory_mb(), "MB")])
    if kills:
        note(outages(cluster, kills))
    if partitions:
        note(many_led_again(cluster, partitions))
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=20, help="0: rates and latencies only")
    parser.add_argument("--partitions", type=int, default=0, help="also kill a leader of a third of so many")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each load")
    parser.add_argument("--cold", action="store_true", help="leave the memory that is written to as it is")
    parser.add_argument("--turns", type=int, default=0, help="rates only, so often in turns on fresh nodes")
    asked = _asked(parser)
    kinds = _kinds(asked, (f"Kafka {KAFKA_VERSION}", KafkaNode))
    if asked.turns:
        return _report(asked, rates_in_turns(kinds, asked.turns, asked.seconds, not asked.cold))

    def run(cluster: BenchCluster) -> Results:
        return measure(cluster, asked.kills, asked.seconds, asked.partitions, not asked.cold)

    return _report(asked, _one_after_the_other(kinds, run, BenchCluster))


def compare(
    parser: argparse.ArgumentParser,
    kafka: tuple[str, Callable[[Path], BrokerProcess]],
    run: Callable[[BenchCluster, argparse.Namespace], Results],
    made: Callable[[str, Make, Path], BenchCluster],
    more: Callable[[dict[str, Results]], dict[str, Results]] = dict,
) -> int:
    """Run kbroker's cluster and Kafka's, one after the other, and print a table of the results.

    Args:
        kafka: how Kafka is called in the table, and what makes a node of it.
        made: makes a cluster of a label, of what makes a node, and of a folder of jars.
        more: adds columns.
    """
    asked = _asked(parser)
    cache = _cache()
    results = _one_after_the_other(
        _kinds(asked, kafka),
        lambda cluster: run(cluster, asked),
        lambda label, make: made(label, make, cache),
    )
    return _report(asked, results, more)


def _asked(parser: argparse.ArgumentParser) -> argparse.Namespace:
    parser.add_argument("--without-kafka", action="store_true")
    parser.add_argument("--without-kbroker", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def _cache() -> Path:
    return Path(os.environ.get("KBROKER_TEST_CACHE") or Path.home() / ".cache" / "kbroker-tests")


def _kinds(
    asked: argparse.Namespace, kafka: tuple[str, Callable[[Path], BrokerProcess]]
) -> list[tuple[str, Make]]:
    label, make = kafka
    ours: list[tuple[str, Make]] = [] if asked.without_kbroker else [("kbroker", KbrokerNode)]
    return ours if asked.without_kafka else [*ours, (label, lambda: make(_cache()))]


def _one_after_the_other(
    kinds: Sequence[tuple[str, Make]],
    run: Callable[[BenchCluster], Results],
    made: Callable[[str, Make], BenchCluster],
) -> dict[str, Results]:
    results: dict[str, Results] = {}
    for label, make in kinds:
        cluster = made(label, make)
        try:
            results[label] = run(cluster)
        finally:
            cluster.remove()
    return results


def _report(
    asked: argparse.Namespace,
    results: dict[str, Results],
    more: Callable[[dict[str, Results]], dict[str, Results]] = dict,
) -> int:
    if asked.json:
        Path(asked.json).write_text(json.dumps(results, indent=1) + "\n")
    print(table(more(results)))
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    return 0


def table(results: dict[str, Results]) -> str:
    """A row for each line, a column for each kind."""
    labels = list(results)
    names = list(dict.fromkeys(name for lines in results.values() for name in lines))
    rows = [["", *labels]]
    for name in names:
        cells = [results[label].get(name) for label in labels]
        rows.append([name, *(f"{cell[0]:,.4g} {cell[1]}" if cell else "" for cell in cells)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
