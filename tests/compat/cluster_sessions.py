"""Sessions with Apache Kafka's tools and a cluster of three, and what they print.

    python -m tests.compat.cluster_sessions kafka FOLDER [SESSION...]

holds them with three nodes of Apache Kafka (`kbroker`: of kbroker) and writes FOLDER/SESSION.txt: how the
recordings in tests/data/tools/cluster were made that mixed/test_cluster_tools.py compares with.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka.admin import AdminClient

from tests.compat.javatools import JavaTools
from tests.compat.mixed.mixed_cluster import KAFKA, KBROKER, MixedCluster
from tests.compat.tool_sessions import RECORDED as RECORDED_ALONE, Session
from tests.needs import cache_folder

RECORDED = RECORDED_ALONE / "cluster"
SETTINGS = {"offsets.topic.replication.factor": 1, "auto.leader.rebalance.enable": "false"}
#: What differs from run to run besides the rest: who leads the quorum, and ports.
_VARYING = [
    (r"^\d ID \S+ \S+ (MILLIS|N ms ago) (MILLIS|N ms ago) (Leader|Follower)$", "VOTER"),
    (r"^2 ID \S+ \S+ \S+ \S+ Observer$", "OBSERVER"),
    (r"LeaderId: \d", "LeaderId: N"),
    (r"(Finalized\w+: \S+ Epoch:) \d+", r"\1 N"),
    (r"^(\d HOST) \d+ ", r"\1 PORT "),
    (r'"(size|offsetLag)":\d+', r'"\1":N'),
    (r"127\.0\.0\.1 \d+", "HOST PORT"),
    (r"BROKER(,BROKER)+", "BROKERS"),
    (r"(Local controller|Controller) \d", r"\1 N"),
    (r'"[^"]*/node-(\d)"', r'"NODE-\1"'),
    # In which order an in-sync set and a voter set are told, is chance with Kafka.
    (r"Isr: [\d,]+", lambda match: "Isr: " + ",".join(sorted(match[0][5:].split(",")))),
    (r"ReplicaKey\(id=(1|2|3), directoryId=ID\)(, ReplicaKey\(.*\))+", "VOTERS"),
]


class ClusterSession(Session):
    """A session with three brokers."""

    def normal(self, text: str) -> list[str]:
        """See there."""
        lines = []
        for line in super().normal(text):
            for pattern, instead in _VARYING:
                line = re.sub(pattern, instead, line)
            lines.append(line)
        return lines

    def plan(self, name: str, *parts: tuple[str, int, list[int]]) -> Path:
        """A file for kafka-reassign-partitions."""
        partitions = [{"topic": t, "partition": p, "replicas": replicas} for t, p, replicas in parts]
        return self.file(name, json.dumps({"version": 1, "partitions": partitions}))

    def create(self, name: str, assignment: str, *more: object, records: int = 0) -> None:
        """A topic on given brokers."""
        self.run("kafka-topics", "--create", "--topic", name, "--replica-assignment", assignment, *more)
        self.topics.append(name)
        self._known_everywhere(name)
        if records:
            text = "".join(f"v{i}\n" for i in range(records))
            settings = ["--command-property", "acks=all"]
            self.run("kafka-console-producer", "--topic", name, *settings, stdin=text, quiet=True)

    def _known_everywhere(self, topic: str) -> None:
        """A tool asks whichever broker it likes."""
        deadline = time.monotonic() + 60
        for bootstrap in self._bootstrap.split(","):
            while True:
                client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
                known = client.list_topics(topic, timeout=60).topics[topic]
                if known.error is None and all(each.leader >= 0 for each in known.partitions.values()):
                    break
                assert time.monotonic() < deadline, f"{bootstrap} does not know {topic}"
                time.sleep(0.1)

    def until(self, expected: str, tool: str, *args: object, never: str = "\0") -> None:
        """Run the tool until it prints that, and does not print what it is `never` to print."""
        deadline = time.monotonic() + 30
        while True:
            out = self._java.run(tool, "--bootstrap-server", self._bootstrap, *args).out
            if expected in out and never not in out:
                return
            assert time.monotonic() < deadline, f"never: {expected}"
            time.sleep(0.2)


def quorum(session: ClusterSession) -> None:
    """kafka-metadata-quorum, kafka-features, kafka-cluster: with fixed voters, and with those of KIP-853."""
    someone = ["--controller-id", 3, "--controller-directory-id", "AAAAAAAAAAAAAAAAAAAAAg"]

    def look() -> None:
        for form in (["--status"], ["--replication"], ["--replication", "--human-readable"]):
            session.run("kafka-metadata-quorum", "describe", *form, sort=True)

    def remove(*args: object) -> None:
        session.run("kafka-metadata-quorum", "remove-controller", *args)

    look()
    remove(*someone)
    session.run("kafka-features", "upgrade", "--feature", "kraft.version=2")
    session.until("can be upgraded", "kafka-features", "upgrade", "--feature", "kraft.version=1", "--dry-run")
    session.run("kafka-features", "upgrade", "--feature", "kraft.version=1", "--dry-run")
    session.run("kafka-features", "upgrade", "--feature", "kraft.version=1")
    session.run("kafka-features", "upgrade", "--feature", "kraft.version=1")
    session.run("kafka-features", "downgrade", "--feature", "kraft.version=0")
    session.run("kafka-features", "disable", "--feature", "kraft.version")
    session.settle()
    look()
    remove(*someone)
    remove(*someone, "--dry-run")
    remove("--controller-id", 9, "--controller-directory-id", "AAAAAAAAAAAAAAAAAAAAAg")
    remove("--controller-id", 3, "--controller-directory-id", "no-directory")
    session.run("kafka-cluster", "cluster-id")
    session.run("kafka-cluster", "list-endpoints", sort=True)
    session.run("kafka-cluster", "list-endpoints", "--include-fenced-brokers", sort=True)
    session.run("kafka-cluster", "unregister", "--id", 77)


def topics(session: ClusterSession) -> None:
    """kafka-topics where there are several brokers."""
    session.create("three", "1:2:3,2:3:1,3:1:2", records=10)
    session.create("one", "2,3")
    session.create("minimal", "1:2", "--config", "min.insync.replicas=2")
    for form in (
        [],
        ["--under-replicated-partitions"],
        ["--under-min-isr-partitions"],
        ["--at-min-isr-partitions"],
        ["--unavailable-partitions"],
        ["--topics-with-overrides"],
        ["--topic", "three"],
        ["--topic", "not-there"],
    ):
        session.run("kafka-topics", "--describe", *form)
    create = ["--create", "--topic", "refused"]
    for form in (
        ["--replication-factor", 4],
        ["--replication-factor", 0],
        ["--replica-assignment", "1:1"],
        ["--replica-assignment", "1:9"],
        ["--replica-assignment", "1:2,3"],
        ["--replica-assignment", "1,2", "--partitions", 2],
    ):
        session.run("kafka-topics", *create, *form)
    alter = ["--alter", "--topic", "one", "--partitions"]
    session.run("kafka-topics", *alter, 3, "--replica-assignment", "1,2,3")
    session.run("kafka-topics", *alter, 3, "--replica-assignment", "9,9,9")
    session.run("kafka-topics", *alter, 2)
    session.run("kafka-topics", "--describe", "--topic", "one")
    logs = ["--describe", "--broker-list", "1,2,3", "--topic-list"]
    session.run("kafka-log-dirs", *logs, "three,minimal")
    session.run("kafka-log-dirs", *logs, "not-there")


def reassignments(session: ClusterSession) -> None:
    """kafka-reassign-partitions."""
    session.create("moved", "1:2,2:3", records=10)
    session.create("stays", "3")

    def reassign(*args: object, sort: bool = True) -> None:
        session.run("kafka-reassign-partitions", *args, sort=sort)

    def execute(plan: Path, *args: object) -> None:
        reassign("--execute", "--reassignment-json-file", plan, *args)

    def done(plan: Path) -> None:
        verify = ["--verify", "--reassignment-json-file", plan, "--preserve-throttles"]
        session.until("is completed", "kafka-reassign-partitions", *verify, never="in progress")

    forth = session.plan("forth.json", ("moved", 0, [3, 1]), ("moved", 1, [1, 2, 3]))
    execute(forth, "--throttle", 10_000_000)
    done(forth)
    reassign("--verify", "--reassignment-json-file", forth, "--preserve-throttles")
    reassign("--verify", "--reassignment-json-file", forth)
    reassign("--list")
    session.run("kafka-topics", "--describe", "--topic", "moved")
    back = session.plan("back.json", ("moved", 0, [1, 2]), ("moved", 1, [2, 3]))
    reassign("--verify", "--reassignment-json-file", back)
    execute(back)
    done(back)
    reassign("--cancel", "--reassignment-json-file", back)
    for name, parts in {
        "no-broker": [("moved", 0, [1, 9])],
        "no-topic": [("not-there", 0, [1])],
        "no-partition": [("moved", 7, [1])],
        "twice": [("moved", 0, [1, 1])],
        "none": [("moved", 0, [])],
        "both": [("moved", 0, [1]), ("moved", 0, [2])],
        "empty": [],
    }.items():
        execute(session.plan(f"{name}.json", *parts))
    wanted = session.file("topics.json", '{"version":1,"topics":[{"topic":"stays"}]}')
    reassign("--generate", "--topics-to-move-json-file", wanted, "--broker-list", 2)
    reassign("--generate", "--topics-to-move-json-file", wanted, "--broker-list", 9)
    session.run("kafka-topics", "--describe", "--topic", "moved")


def elections(session: ClusterSession) -> None:
    """kafka-leader-election."""
    session.create("elected", "1:2,2:3", records=5)
    plan = session.plan("others.json", ("elected", 0, [2, 1]), ("elected", 1, [3, 2]))
    session.run("kafka-reassign-partitions", "--execute", "--reassignment-json-file", plan, quiet=True)
    session.until("Replicas: 2,1", "kafka-topics", "--describe", "--topic", "elected")
    session.until("Replicas: 3,2", "kafka-topics", "--describe", "--topic", "elected")
    session.run("kafka-topics", "--describe", "--topic", "elected")

    def elect(*args: object) -> None:
        session.run("kafka-leader-election", *args, sort=True)

    one = ["--topic", "elected", "--partition"]
    elect("--election-type", "preferred", *one, 0)
    elect("--election-type", "preferred", *one, 0)
    elect("--election-type", "preferred", *one, 9)
    elect("--election-type", "preferred", "--topic", "not-there", "--partition", 0)
    elect("--election-type", "unclean", *one, 0)
    both = '{"partitions":[{"topic":"elected","partition":0},{"topic":"elected","partition":1}]}'
    elect("--election-type", "preferred", "--path-to-json-file", session.file("both.json", both))
    elect("--election-type", "preferred", "--all-topic-partitions")
    # The broker that is asked may hear of it a moment later.
    session.until("Leader: 3", "kafka-topics", "--describe", "--topic", "elected")
    session.run("kafka-topics", "--describe", "--topic", "elected")


def voters(session: ClusterSession, cluster: MixedCluster) -> None:
    """kafka-metadata-quorum add-controller and remove-controller; node 1 is the quorum, node 2 joins."""
    node = cluster.nodes[2]

    def add(*args: object) -> None:
        settings = ["--command-config", node.properties]
        session.run("kafka-metadata-quorum", *settings, "add-controller", *args)

    def directory() -> str:
        text = (node.data / "meta.properties").read_text()
        return re.findall(r"directory\.id=(\S+)", text)[0]

    def remove(*args: object) -> None:
        who = ["--controller-id", 2, "--controller-directory-id", directory()]
        session.run("kafka-metadata-quorum", "remove-controller", *who, *args)

    def look() -> None:
        session.run("kafka-metadata-quorum", "describe", "--replication", sort=True)

    add()  # It does not run.
    cluster.restart(2)
    session.until("Observer", "kafka-metadata-quorum", "describe", "--replication")
    look()
    remove()
    add("--dry-run")
    add()
    add()
    session.until("Follower", "kafka-metadata-quorum", "describe", "--replication")
    look()
    remove("--dry-run")
    remove()
    session.until("Observer", "kafka-metadata-quorum", "describe", "--replication")
    look()


SESSIONS: dict[str, Callable[[ClusterSession], None]] = {
    each.__name__: each for each in (topics, reassignments, elections, quorum)
}


def hold(name: str, java: JavaTools, bootstrap: str, folder: Path, lag_s: float = 1) -> str:
    """Hold one session; what was printed. `quorum` last: it cannot be held twice with one cluster."""
    session = ClusterSession(java, bootstrap, folder, lag_s)
    try:
        SESSIONS[name](session)
    finally:
        for topic in session.topics:
            session.run("kafka-topics", "--delete", "--topic", topic, quiet=True)
    return session.text()


def hold_voters(java: JavaTools, release: str, folder: Path) -> str:
    """The session `voters`, with a cluster of its own."""
    with MixedCluster(folder, [release] * 2, settings=SETTINGS, made_by_kafka=True, dynamic=True) as cluster:
        # Node 2 comes later: clients would tell that it does not answer.
        session = ClusterSession(java, f"127.0.0.1:{cluster.nodes[1].port}", folder, 0)
        voters(session, cluster)
    shown = re.sub(r"(--controller-directory-id) \S+", r"\1 ID", session.text())
    return re.sub(r"CONTROLLER://HOST:\d+", "CONTROLLER://HOST:PORT", shown)


def main(kind: str, target: Path, names: list[str]) -> None:
    """Write the recordings."""
    target.mkdir(parents=True, exist_ok=True)
    release = {"kafka": KAFKA, "kbroker": KBROKER}[kind]
    if not names or names == ["voters"]:
        with tempfile.TemporaryDirectory() as folder, JavaTools.start(cache_folder()) as java:
            (target / "voters.txt").write_text(hold_voters(java, release, Path(folder)))
        if names:
            return
    with (
        tempfile.TemporaryDirectory() as folder,
        JavaTools.start(cache_folder()) as java,
        MixedCluster(Path(folder), [release] * 3, settings=SETTINGS, made_by_kafka=True) as cluster,
    ):
        for name in names or SESSIONS:
            (target / f"{name}.txt").write_text(hold(name, java, cluster.bootstrap, Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
