"""Clusters whose nodes are kbroker's or Apache Kafka's, each as a process, for any release of the latter."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from kbroker.cli.storage import storage
from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.client.reassignments import alter_reassignments, elect_leaders, list_reassignments
from kbroker.client.topics import Partition, create_topic, describe_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.record_batch import iter_batches
from kbroker.types import TopicPartition
from tests.doubles import wait_until
from tests.needs import cache_folder
from tools.bench.brokers import free_port
from tools.kafka_jars import class_path

KBROKER, KAFKA, KAFKA_39 = "kbroker", "4.4.0", "3.9.2"
CLUSTER_ID = "a2Jyb2tlci1taXhlZC0wMQ"
PATIENCE_S = 90.0
JAVA = ["java", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
_TROUBLE = (ApiError, ClientError, OSError)


class Node:
    """One node; `release` is KBROKER or the version of an Apache Kafka."""

    def __init__(self, folder: Path, node_id: int, release: str, roles: str) -> None:
        self.id, self.release, self.roles = node_id, release, roles
        self.data = folder / f"node-{node_id}"
        self.log = folder / f"node-{node_id}.log"
        self.properties = folder / f"node-{node_id}.properties"
        self.port, self.controller_port = free_port(), 0
        self.process: subprocess.Popen[bytes] | None = None

    def __repr__(self) -> str:
        return f"node {self.id} ({self.release})"

    @property
    def is_broker(self) -> bool:
        """Whether it holds partitions."""
        return "broker" in self.roles

    @property
    def is_kbroker(self) -> bool:
        """Whether it is ours."""
        return self.release == KBROKER

    def configure(self, settings: Mapping[str, object]) -> None:
        """Write its properties."""
        listeners = []
        if self.is_broker:
            listeners.append(f"PLAINTEXT://127.0.0.1:{self.port}")
        if "controller" in self.roles:
            listeners.append(f"CONTROLLER://127.0.0.1:{self.controller_port}")
        values = {
            "process.roles": self.roles,
            "node.id": self.id,
            "listeners": ",".join(listeners),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.data,
            **settings,
        }
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))

    def format(self, *arguments: str, cluster_id: str = CLUSTER_ID, as_kafka: bool = False) -> None:
        """By `kbroker storage`, which is faster; `as_kafka`: by Kafka's own tool, if it is a Kafka."""
        command = ["format", "-t", cluster_id, "-c", str(self.properties), *arguments]
        if as_kafka and not self.is_kbroker:
            tool = [*self._java(), "kafka.tools.StorageTool", *command]
            done = subprocess.run(tool, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        else:
            assert storage(command) == 0

    def _java(self) -> list[str]:
        return [*JAVA, "-cp", class_path(cache_folder(), self.release)]

    def start(self) -> None:
        """Start it; does not wait."""
        if self.is_kbroker:
            command = [sys.executable, "-m", "kbroker.cli.main", "start", "--profile", "production"]
            command += ["--config", str(self.properties)]
        else:
            command = [*self._java(), "kafka.Kafka", str(self.properties)]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
            )

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Stop it, or kill it."""
        if self.process is None:
            return
        self.process.send_signal(number)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self.process.wait()
            self.process = None

    def told(self) -> str:
        """The end of what it printed."""
        return f"--- {self}\n{self.log.read_text(errors='replace')[-2500:]}"

    def batches(self, topic: str, partition: int = 0) -> dict[int, bytes]:
        """The bytes of each batch of its replica, by base offset; also of `__cluster_metadata`."""
        found = {}
        for path in sorted((self.data / f"{topic}-{partition}").glob("*.log")):
            content = path.read_bytes()
            for batch in iter_batches(content):
                found[batch.base_offset] = content[batch.position : batch.position + batch.size]
        return found


class MixedCluster:
    """Nodes 1, 2, ... of these releases; a context manager that starts them and ends them.

    Args:
        folder: for their data.
        releases: of each node.
        roles: of each node; all are brokers and controllers if left out.
        settings: of all nodes.
        format_arguments: for `kbroker storage format`, say the release whose features the cluster has.
        made_by_kafka: Apache Kafka's nodes are formatted by its own tool, with all of its features.
        dynamic: node 1 is the whole quorum and the only one that is started; others may join (KIP-853).
        late: nodes that are not started.
    """

    def __init__(
        self,
        folder: Path,
        releases: Sequence[str],
        roles: Sequence[str] = (),
        settings: Mapping[str, object] | None = None,
        format_arguments: Sequence[str] = (),
        made_by_kafka: bool = False,
        dynamic: bool = False,
        late: Sequence[int] = (),
    ) -> None:
        roles = roles or ["broker,controller"] * len(releases)
        self.nodes = {
            node_id: Node(folder, node_id, release, role)
            for node_id, (release, role) in enumerate(zip(releases, roles), start=1)
        }
        controllers = [node for node in self.nodes.values() if "controller" in node.roles]
        for node in controllers:
            node.controller_port = free_port()
        places = [(node.id, f"127.0.0.1:{node.controller_port}") for node in controllers]
        if dynamic:
            quorum = {"controller.quorum.bootstrap.servers": ",".join(place for _, place in places)}
        else:
            quorum = {"controller.quorum.voters": ",".join(f"{node_id}@{place}" for node_id, place in places)}
        self._dynamic = dynamic
        self._late = set(range(2, len(releases) + 1)) if dynamic else set(late)
        self.settings = {
            **quorum,
            "offsets.topic.num.partitions": 3,
            "transaction.state.log.num.partitions": 3,
            "group.initial.rebalance.delay.ms": 0,
            "broker.session.timeout.ms": 6000,
            **(settings or {}),
        }
        self._format_arguments, self._made_by_kafka = tuple(format_arguments), made_by_kafka

    def __enter__(self) -> MixedCluster:
        try:
            for node in self.nodes.values():
                node.configure(self.settings)
                arguments = list(self._format_arguments)
                if self._dynamic:
                    arguments.append("--standalone" if node.id == 1 else "--no-initial-controllers")
                node.format(*arguments, as_kafka=self._made_by_kafka and (node.id == 1 or not self._dynamic))
            for node in self.nodes.values():
                if node.id not in self._late:
                    node.start()
            self.wait_for_brokers()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def _end(self) -> None:
        for node in self.nodes.values():
            node.end(signal.SIGKILL)

    @property
    def bootstrap(self) -> str:
        """All brokers."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes.values() if node.is_broker)

    def client(self) -> Cluster:
        """Ask it."""
        return Cluster(self.bootstrap, timeout_s=20)

    # -- waiting ---------------------------------------------------------------------------------------------

    def wait(self, test, what: str, patience_s: float = PATIENCE_S):
        """Until `test(client)` is true; errors of the way there do not count."""
        found = []

        def passed():
            ended = [node for node in self.nodes.values() if node.process and node.process.poll() is not None]
            assert not ended, f"{ended} ended:\n{''.join(node.told() for node in ended)}"
            try:
                with self.client() as client:
                    found[:] = [test(client)]
            except _TROUBLE:
                return False
            return bool(found[0])

        try:
            wait_until(passed, what, patience_s)
        except AssertionError as error:
            told = "\n".join(node.told() for node in self.nodes.values())
            raise AssertionError(f"{error}; last: {found}\n{told}") from None
        return found[0]

    def wait_for_brokers(self) -> None:
        """All that run are in the cluster, and each broker says so."""
        running = {node.id for node in self.nodes.values() if node.process and node.is_broker}
        for node_id in running:
            bootstrap = f"127.0.0.1:{self.nodes[node_id].port}"

            def all_there(_: Cluster, bootstrap: str = bootstrap) -> bool:
                with Cluster(bootstrap, timeout_s=5) as client:
                    return set(client.brokers()) == running

            self.wait(all_there, f"brokers {running} known to node {node_id}")

    def partition(self, client: Cluster, topic: str, partition: int = 0) -> Partition:
        """What the cluster says of it."""
        return describe_topics(client, [topic])[0].partitions[partition]

    def wait_in_sync(self, *topics: str) -> None:
        """Every replica of these topics is in sync."""

        def all_in_sync(client: Cluster) -> bool:
            parts = [part for topic in describe_topics(client, topics) for part in topic.partitions]
            return bool(parts) and all(
                part.leader >= 0 and set(part.isr) == set(part.replicas) for part in parts
            )

        self.wait(all_in_sync, f"all replicas of {topics} in sync")

    def wait_quiet(self, *topics: str) -> None:
        """The replicas of these topics end at the same batch: nobody writes, all have everything."""

        def same(client: Cluster) -> bool:
            for topic in describe_topics(client, topics):
                for part in topic.partitions:
                    logs = [
                        self.nodes[node_id].batches(topic.name, part.partition) for node_id in part.replicas
                    ]
                    if len({max(log, default=-1) for log in logs}) > 1:
                        return False
            return True

        self.wait(same, f"no more records of {topics}")

    # -- changes ---------------------------------------------------------------------------------------------

    def create(self, topic: str, assignment: Sequence[Sequence[int]], **configs: str) -> None:
        """A topic on these brokers."""
        with self.client() as client:
            create_topic(client, topic, assignment=assignment, configs=configs)
        self.wait_in_sync(topic)

    def kill(self, node_id: int) -> None:
        """kill -9."""
        self.nodes[node_id].end(signal.SIGKILL)

    def restart(self, node_id: int) -> None:
        """Start it again and wait until it is back."""
        self.nodes[node_id].start()
        self.wait_for_brokers()

    def lead(self, node_id: int, topics: Iterable[str]) -> None:
        """Let that broker lead all partitions of these topics."""
        topics = list(topics)
        self.move(
            {topic: lambda replicas: [node_id, *(r for r in replicas if r != node_id)] for topic in topics}
        )
        self.wait_in_sync(*topics)

        def led(client: Cluster) -> bool:
            parts = [
                (topic.name, part) for topic in describe_topics(client, topics) for part in topic.partitions
            ]
            wrong = [TopicPartition(name, part.partition) for name, part in parts if part.leader != node_id]
            if wrong:
                results = elect_leaders(client, wrong)
                for error in results.values():
                    assert error is None or error.code in (
                        ErrorCode.ELECTION_NOT_NEEDED,
                        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
                    ), error
            return not wrong

        self.wait(led, f"node {node_id} leads {topics}")

    def move(self, plans) -> None:
        """Reassign: for each topic a function from its replicas to those wanted; waits for the end."""
        with self.client() as client:
            wanted = {
                TopicPartition(topic.name, part.partition): plans[topic.name](part.replicas)
                for topic in describe_topics(client, plans)
                for part in topic.partitions
            }
        missing = dict(wanted)

        def begun(client: Cluster) -> bool:
            for tp, error in alter_reassignments(client, missing).items():
                if error is None:
                    del missing[tp]
            return not missing

        self.wait(begun, f"reassignment {wanted}")
        self.wait(lambda client: not list_reassignments(client), "the end of the reassignment")

        def there(client: Cluster) -> bool:
            now = {
                TopicPartition(topic.name, part.partition): part.replicas
                for topic in describe_topics(client, plans)
                for part in topic.partitions
            }
            return all(now[tp] == replicas for tp, replicas in wanted.items())

        self.wait(there, f"replicas as in {wanted}")


def assert_same_logs(nodes: Iterable[Node], topic: str, partitions: int = 1, upto: int | None = None) -> int:
    """All have the same batches, byte by byte, as far as the shortest goes; how many batches were compared.

    Args:
        upto: the high watermark: every node has all before it. None: all have the same to the very end.
    """
    compared = 0
    for partition in range(partitions):
        logs = {node: node.batches(topic, partition) for node in nodes}
        first = max(min(batches, default=0) for batches in logs.values())
        ends = {node: max(batches, default=0) for node, batches in logs.items()}
        if upto is None:
            assert len(set(ends.values())) == 1, f"{topic}-{partition} ends at batches {ends}"
        last = min(ends.values())
        views = {
            node: {base: data for base, data in batches.items() if first <= base <= last}
            for node, batches in logs.items()
        }
        one, *others = views.items()
        for other in others:
            assert other[1].keys() == one[1].keys(), (
                f"{topic}-{partition}: {one[0]} and {other[0]} cut batches differently"
            )
            different = [base for base, data in one[1].items() if other[1][base] != data]
            assert not different, f"{topic}-{partition}: {one[0]} and {other[0]} differ at {different[:5]}"
        compared += len(one[1])
    return compared
