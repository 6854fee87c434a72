"""Sessions with Apache Kafka's command-line tools, and what they print without what differs each time.

    python -m tests.compat.tool_sessions 127.0.0.1:9092 [SESSION...]

holds them with a broker and writes tests/data/tools/SESSION.txt: how the recordings of Apache Kafka were made
that test_tool_sessions.py compares with.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer

from tests.compat.javatools import JavaTools
from tests.needs import cache_folder

RECORDED = Path(__file__).parents[1] / "data" / "tools"


class Session:
    """Runs tools and writes down what they print."""

    def __init__(self, java: JavaTools, bootstrap: str, folder: Path, lag_s: float) -> None:
        self.folder = folder
        self._lag_s = lag_s
        self._java = java
        self._bootstrap = bootstrap
        self.topics: list[str] = []
        self._lines: list[str] = []

    def file(self, name: str, text: str) -> Path:
        """A file for a tool to read."""
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, tool: str, *args: object, stdin: str = "", quiet: bool = False, sort: bool = False) -> str:
        """Run a tool; unless `quiet`, its command line, output and exit code are written down."""
        server = ["--bootstrap-server", self._bootstrap]
        command = [*args, *server] if tool == "kafka-cluster" else [*server, *args]
        done = self._java.run(tool, *command, stdin=stdin)
        if quiet:
            return done.ok()
        shown = " ".join([tool, *map(str, args)]).replace(str(self.folder), "FOLDER")
        out = self.normal(done.out)
        self._lines += [f"$ {shown}", *(sorted(out) if sort else out)]
        self._lines += [f"! {line}" for line in sorted(self.normal(done.err))]
        self._lines += [f"= {done.code}", ""]
        return done.out

    def normal(self, text: str) -> list[str]:
        """Lines without addresses, ids, times and padding; a stack trace is its first line."""
        lines = []
        for line in text.splitlines():
            if re.match(r"Option +Description", line):
                break  # the tool explains itself
            if re.match(r"\s+at |\s+\.\.\. \d+ more", line) or not line.strip():
                continue
            line = line.replace(self._bootstrap, "BROKER").replace(str(self.folder), "FOLDER")
            for pattern, instead in _VARYING:
                line = re.sub(pattern, instead, line)
            lines.append(re.sub(r"\s+", " ", line).strip())
        return lines

    @contextmanager
    def consumer(self, group: str, topic: str) -> Iterator[None]:
        """A living member of a group of the new protocol, meanwhile."""
        settings = {
            "bootstrap.servers": self._bootstrap,
            "group.id": group,
            "client.id": "alive",
            "group.protocol": "consumer",
            "enable.auto.commit": False,
        }
        member = Consumer(settings)
        member.subscribe([topic])
        while not member.assignment():
            member.poll(0.1)
        stop = threading.Event()

        def live() -> None:
            while not stop.is_set():
                member.poll(0.1)

        thread = threading.Thread(target=live)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            member.close()

    def settle(self) -> None:
        """Apache Kafka obeys a changed setting a little later than it answers."""
        time.sleep(self._lag_s)

    def text(self) -> str:
        """All that was written down."""
        return "\n".join(self._lines) + "\n"


_VARYING = [
    # librdkafka's own member ids, before the host.
    (r"(?<= )[A-Za-z0-9+/_-]{22}(?= +/)", "ID"),
    (r"\[tool-\d+\]", "[tool]"),
    (r"(Valid (states|types) are: ).*", r"\1…"),
    (r'"logDir":"[^"]*"', '"logDir":"FOLDER"'),
    (r"\d+ ms ago", "N ms ago"),
    (r"(\bEpoch:) \d+", r"\1 N"),
    (r"(kraft\.version.*FinalizedVersionLevel:) \d+", r"\1 N"),  # by the kind of the voters
    (r"adminclient-\d+", "adminclient-N"),
    (r"((HighWatermark|LeaderEpoch|MaxFollowerLag|MaxFollowerLagTimeMs):) .*", r"\1 N"),
    (r"(CurrentVoters:) .*", r"\1 …"),
    (r"^(1\s+[\w-]{22}\s+)\d+", r"\1N"),
    (r"^(1\s+)(127\.0\.0\.1|localhost)(\s+)\d+", r"\1HOST\3PORT"),
    (
        r"\b(console-consumer|perf-consumer|consumer-[\w.-]*?|\w+)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{21,22}",
        "MEMBER",
    ),
    (r"\[?\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d[,:.]\d{3}Z?\]?", "TIME"),
    (r"\b1[6-9]\d{11}\b", "MILLIS"),
    (r"(?<![\w-])(?=[\w-]*[A-Z0-9])[A-Za-z0-9_-]{22}(?![\w-])", "ID"),
    (r"/127\.0\.0\.1\b", "/HOST"),
    (r"(localhost|127\.0\.0\.1):\d+", "BROKER"),
]


def _topic(session: Session, name: str, partitions: int, records: int = 0) -> None:
    session.run("kafka-topics", "--create", "--topic", name, "--partitions", partitions, quiet=True)
    session.topics.append(name)
    if records:
        keys = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=|"]
        text = "".join(f"k{i % 7}|v{i}\n" for i in range(records))
        session.run("kafka-console-producer", "--topic", name, *keys, stdin=text, quiet=True)


def _group(session: Session, group: str, topic: str, count: int) -> None:
    """A group that has read `count` records of a topic and is empty."""
    args = ["--topic", topic, "--group", group, "--from-beginning", "--max-messages", count]
    session.run("kafka-console-consumer", *args, "--timeout-ms", 30000, quiet=True)


def reset_offsets(session: Session) -> None:
    """kafka-consumer-groups --reset-offsets in all its forms."""
    _topic(session, "reset-a", 2, 20)
    _topic(session, "reset-b", 1, 5)
    _group(session, "resetting", "reset-a", 20)
    _group(session, "resetting", "reset-b", 5)

    def reset(*args: object, group: str = "resetting") -> str:
        return session.run("kafka-consumer-groups", "--reset-offsets", "--group", group, *args, sort=True)

    everything = "--all-topics"
    for form in (
        ["--to-earliest"],
        ["--to-latest"],
        ["--to-current"],
        ["--to-offset", 3],
        ["--to-offset", 1000],
        ["--shift-by", -2],
        ["--shift-by", 2],
        ["--shift-by", -1000],
        ["--by-duration", "PT1H"],
        ["--by-duration", "PT0S"],
        ["--to-datetime", "2020-01-01T00:00:00.000"],
        ["--to-datetime", "2999-01-01T00:00:00.000"],
    ):
        reset(*form, everything)
        reset(*form, "--topic", "reset-a:1", "--dry-run")
    reset("--to-offset", 1, "--topic", "reset-b", "--execute")
    reset("--to-current", everything, "--execute")
    exported = reset("--to-current", everything, "--export")
    reset("--to-latest", "--topic", "reset-a", "--topic", "reset-b", "--execute", "--export")
    plan = session.file("plan.csv", exported)
    reset("--from-file", plan, "--dry-run")
    reset("--from-file", plan, "--execute")
    reset("--from-file", session.file("wrong.csv", '"reset-a",0\n'), "--execute")
    reset("--to-earliest", "--topic", "reset-a:0,1", "--execute")
    reset("--to-earliest", "--topic", "not-there", "--execute")
    reset("--to-earliest", "--topic", "reset-a", "--execute", group="a-new-group")
    session.run(
        "kafka-consumer-groups",
        "--reset-offsets",
        "--all-groups",
        "--to-earliest",
        everything,
        "--dry-run",
        sort=True,
    )
    reset("--to-earliest")
    reset("--shift-by", "x", everything)
    session.run("kafka-consumer-groups", "--describe", "--group", "resetting", sort=True)
    session.run("kafka-consumer-groups", "--describe", "--group", "a-new-group", "--offsets", sort=True)
    for group in ("resetting", "a-new-group"):
        session.run("kafka-consumer-groups", "--delete", "--group", group)


def consumer_groups(session: Session) -> None:
    """kafka-consumer-groups and kafka-groups: lists, descriptions, deletions."""
    _topic(session, "described", 2, 10)
    _group(session, "describing", "described", 10)

    def groups(*args: object) -> str:
        return session.run("kafka-consumer-groups", *args, sort=True)

    one = ["--describe", "--group", "describing"]
    for form in ([], ["--offsets"], ["--members"], ["--members", "--verbose"], ["--state"]):
        groups(*one, *form)
    groups("--describe", "--group", "nobody")
    groups("--describe", "--group", "nobody", "--state")
    groups("--describe", "--group", "nobody", "--members")
    groups("--list", "--state")
    groups("--list", "--state", "Empty")
    groups("--list", "--state", "nonsense")
    groups("--list", "--type")
    groups("--list", "--type", "classic")
    groups("--list", "--type", "nonsense")
    groups("--delete-offsets", "--group", "describing", "--topic", "described:0")
    groups("--delete-offsets", "--group", "describing", "--topic", "described:9")
    groups("--delete-offsets", "--group", "describing", "--topic", "not-there")
    groups("--delete-offsets", "--group", "nobody", "--topic", "described")
    groups("--delete-offsets", "--group", "describing", "--topic", "described")
    groups("--delete", "--group", "nobody")
    for form in (
        [],
        ["--consumer"],
        ["--share"],
        ["--group-type", "classic"],
        ["--group-type", "nonsense"],
        ["--protocol", "consumer"],
        ["--protocol", "other"],
        ["--group-type", "classic", "--protocol", "consumer"],
    ):
        session.run("kafka-groups", "--list", *form, sort=True)
    groups("--delete", "--group", "describing", "--group", "nobody")


def new_groups(session: Session) -> None:
    """kafka-consumer-groups and kafka-groups on a group of the new protocol (KIP-848), living and empty."""
    _topic(session, "lively", 2, 10)
    session.run("kafka-console-consumer", "--topic", "lively", "--group", "living", "--from-beginning",
                "--max-messages", 10, "--timeout-ms", 30000, "--command-property", "group.protocol=consumer",
                quiet=True)  # fmt: skip

    def groups(*args: object) -> str:
        return session.run("kafka-consumer-groups", *args, sort=True)

    one = ["--describe", "--group", "living"]
    forms: tuple[list[str], ...] = ([], ["--offsets"], ["--members"], ["--members", "--verbose"], ["--state"])
    with session.consumer("living", "lively"):
        for form in forms:
            groups(*one, *form)
        groups("--list", "--state", "--type")
        groups("--delete", "--group", "living")
        groups("--delete-offsets", "--group", "living", "--topic", "lively:0")
    for form in forms:
        groups(*one, *form)
    groups("--list", "--type", "consumer")
    session.run("kafka-groups", "--list", "--group-type", "consumer", sort=True)
    groups("--reset-offsets", "--group", "living", "--topic", "lively", "--to-earliest", "--execute")
    groups("--delete-offsets", "--group", "living", "--topic", "lively:0")
    groups("--delete", "--group", "living")


def cluster(session: Session) -> None:
    """The tools that ask about the cluster."""
    session.run("kafka-cluster", "cluster-id")
    session.run("kafka-cluster", "list-endpoints")
    session.run("kafka-cluster", "unregister", "--id", 77)
    for form in (["--status"], ["--replication"], ["--replication", "--human-readable"]):
        session.run("kafka-metadata-quorum", "describe", *form)


def records(session: Session) -> None:
    """The tools that look at what lies in partitions."""
    _topic(session, "offsets-a", 3, 30)
    _topic(session, "offsets-b", 1, 3)
    a = ["--topic", "offsets-a"]
    # Not -3, the largest timestamp: which record has it is chance.
    for when in (-1, -2, -4, -5, -6, -7, "latest", "earliest", "earliest-local", "latest-tiered"):
        session.run("kafka-get-offsets", *a, "--time", when)
    for when in (0, 9999999999999, "soon"):
        session.run("kafka-get-offsets", *a, "--time", when)
    session.run("kafka-get-offsets", *a, "--partitions", "0,2")
    session.run("kafka-get-offsets", *a, "--partitions", "7")
    session.run("kafka-get-offsets", "--topic-partitions", "offsets-a:1,offsets-b:0-1")
    session.run("kafka-get-offsets", "--topic-partitions", "offsets-[ab]:1-3")
    session.run("kafka-get-offsets", "--topic", "not-there")
    session.run("kafka-get-offsets", "--topic", "offsets-.*", "--exclude-internal-topics")

    def delete(*wanted: tuple[str, int, int]) -> None:
        items = ",".join(f'{{"topic":"{t}","partition":{p},"offset":{o}}}' for t, p, o in wanted)
        file = session.file("delete.json", f'{{"partitions":[{items}],"version":1}}')
        session.run("kafka-delete-records", "--offset-json-file", file, sort=True)

    delete(("offsets-b", 0, 2))
    delete(("offsets-b", 0, 1), ("offsets-a", 0, 0))
    delete(("offsets-b", 0, -1))
    delete(("offsets-b", 0, 1000))
    session.run("kafka-get-offsets", "--topic", "offsets-b", "--time", -2)
    session.run("kafka-log-dirs", "--describe", "--topic-list", "offsets-b")
    session.run("kafka-log-dirs", "--describe", "--topic-list", "not-there")
    session.run("kafka-log-dirs", "--describe", "--broker-list", "9", "--topic-list", "offsets-b")


def configs(session: Session) -> None:
    """kafka-configs: synonyms, precedence, dynamic broker configs, refusals, all kinds of entities."""
    _topic(session, "configured", 1)

    def run(verb: str, *args: object) -> str:
        return session.run("kafka-configs", f"--{verb}", *args, sort=True)

    topic = ["--entity-type", "topics", "--entity-name", "configured"]
    default = ["--entity-type", "brokers", "--entity-default"]
    broker = ["--entity-type", "brokers", "--entity-name", 1]
    for entity, settings in (
        (default, "log.retention.ms=86400000,log.cleaner.threads=2"),
        (broker, "log.retention.ms=3600000"),
        (topic, "retention.ms=60000,cleanup.policy=[compact,delete]"),
    ):
        run("describe", *entity)
        run("alter", *entity, "--add-config", settings)
        session.settle()
        run("describe", *entity)
    run("describe", *topic, "--all")
    for entity, settings in (
        (topic, "retention.ms=soon"),
        (topic, "no.such.config=1"),
        (topic, "cleanup.policy=[shred]"),
        (topic, "min.insync.replicas=0"),
        (default, "log.retention.ms=soon"),
        (default, "no.such.config=1"),
        (default, "log.dirs=/elsewhere"),
        (broker, "node.id=3"),
        (broker, "log.cleaner.threads=1000"),
        (broker, "log.cleaner.threads=100"),
        (broker, "num.io.threads=0"),
        (["--entity-type", "brokers", "--entity-name", 9], "log.retention.ms=1"),
        (["--entity-type", "topics", "--entity-name", "not-there"], "retention.ms=1"),
    ):
        run("alter", *entity, "--add-config", settings)
    run("alter", *topic, "--delete-config", "retention.ms,cleanup.policy")
    run("alter", *topic, "--delete-config", "flush.ms")
    run("alter", *broker, "--delete-config", "log.retention.ms")
    run("alter", *default, "--delete-config", "log.retention.ms,log.cleaner.threads,no.such.config")
    session.settle()
    run("describe", *broker)
    run("describe", "--entity-type", "groups", "--entity-name", "grouped")
    group = ["--entity-type", "groups", "--entity-name", "grouped"]
    run("alter", *group, "--add-config", "consumer.session.timeout.ms=50000")
    run("alter", *group, "--add-config", "consumer.session.timeout.ms=1")
    run("describe", *group)
    run("describe", "--entity-type", "groups")
    run("alter", *group, "--delete-config", "consumer.session.timeout.ms")
    logger = ["--entity-type", "broker-loggers", "--entity-name", 1]
    run("alter", *logger, "--add-config", "kafka.no.such=LOUD")


def performance(session: Session) -> None:
    """The tools that measure; figures are taken out."""
    _topic(session, "measured", 2)

    def measure(tool: str, *args: object) -> None:
        out = session.run(tool, *args, quiet=True)
        figures = re.sub(r"-?\d+([.,]\d+)?(E-?\d+)?|NaN", "N", "\n".join(session.normal(out)))
        shown = list(dict.fromkeys(figures.splitlines()))
        session._lines += [f"$ {tool}", *shown, ""]

    settings = ["--num-records", 500, "--record-size", 100, "--throughput", -1]
    measure("kafka-producer-perf-test", "--topic", "measured", *settings)
    measure("kafka-consumer-perf-test", "--topic", "measured", "--num-records", 400, "--group", "perf")
    measure(
        "kafka-e2e-latency",
        "--topic",
        "measured",
        "--num-records",
        50,
        "--producer-acks",
        "all",
        "--record-size",
        20,
    )
    session.run("kafka-consumer-groups", "--delete", "--group", "perf")


def topics(session: Session) -> None:
    """kafka-topics: made, listed, described, enlarged, deleted; and what is refused."""

    def run(*args: object) -> None:
        session.run("kafka-topics", *args, sort=True)

    def create(name: str, *args: object) -> None:
        run("--create", "--topic", name, *args)

    create("topics-a", "--partitions", 3, "--replication-factor", 1, "--config", "retention.ms=100000")
    create("topics-b", "--replica-assignment", "1,1", "--config", "cleanup.policy=compact")
    create("topics_c")
    session.topics += ["topics-a", "topics-b", "topics_c"]
    create("topics-a")
    create("topics-a", "--if-not-exists")
    create("topics.c")
    create("bad name")
    create("x" * 250)
    create("topics-d", "--partitions", 0)
    create("topics-d", "--replication-factor", 0)
    create("topics-d", "--replication-factor", 3)
    create("topics-d", "--replica-assignment", "9")
    create("topics-d", "--replica-assignment", "1:1")
    create("topics-d", "--replica-assignment", "1", "--partitions", 2)
    create("topics-d", "--config", "retention.ms=soon")
    create("topics-d", "--config", "no.such.config=1")
    create("topics-d", "--config", "min.insync.replicas=0")
    run("--list", "--exclude-internal")
    run("--list", "--topic", "topics-.*")
    run("--list", "--topic", "not-there")
    for form in (
        ["--topic", "topics-a"],
        ["--topic", "topics.*"],
        ["--topic", "topics-a", "--partition-size-limit-per-response", 1],
        ["--topic", "not-there"],
        ["--topic", "not-there", "--if-exists"],
        ["--topic-id", "AAAAAAAAAAAAAAAAAAAAAQ"],
        ["--topic-id", "nonsense"],
        ["--topic", "topics.*", "--topics-with-overrides"],
        ["--topic", "topics.*", "--under-replicated-partitions"],
        ["--topic", "topics.*", "--unavailable-partitions"],
        ["--topic", "topics.*", "--under-min-isr-partitions"],
        ["--topic", "topics.*", "--at-min-isr-partitions"],
    ):
        run("--describe", *form)
    run("--alter", "--topic", "topics-a", "--partitions", 5)
    run("--alter", "--topic", "topics-a", "--partitions", 5)
    run("--alter", "--topic", "topics-a", "--partitions", 2)
    run("--alter", "--topic", "topics-a", "--partitions", 0)
    run("--alter", "--topic", "topics_c", "--partitions", 3, "--replica-assignment", "1,1,1")
    run("--alter", "--topic", "topics_c", "--partitions", 4, "--replica-assignment", "1,1,1,9")
    run("--alter", "--topic", "not-there", "--partitions", 5)
    run("--alter", "--topic", "not-there", "--partitions", 5, "--if-exists")
    session.settle()
    run("--describe", "--topic", "topics.*")
    run("--delete", "--topic", "not-there")
    run("--delete", "--topic", "not-there", "--if-exists")
    run("--delete", "--topic", "topics-.*")
    session.topics = ["topics_c"]
    session.settle()
    run("--list", "--exclude-internal")


def features(session: Session) -> None:
    """kafka-features without changing anything, and kafka-client-metrics."""

    def run(*args: object) -> None:
        session.run("kafka-features", *args, sort=True)

    run("describe")
    for version in ("4.4", "4.0-IV0", "3.9", "3.3", "2.8", "nonsense"):
        run("version-mapping", "--release-version", version)
    for feature in (
        "metadata.version=30",
        "group.version=1",
        "nonsense=1",
        "group.version=77",
        "group.version",
    ):
        run("feature-dependencies", "--feature", feature)
    for verb, *form in (
        ("upgrade", "--metadata", "4.4"),
        ("upgrade", "--release-version", "4.4"),
        ("upgrade", "--feature", "group.version=1"),
        ("upgrade", "--feature", "group.version=77"),
        ("upgrade", "--feature", "nonsense=1"),
        ("upgrade", "--metadata", "3.3"),
        ("downgrade", "--metadata", "3.3"),
        ("downgrade", "--metadata", "3.9", "--unsafe"),
        ("downgrade", "--feature", "group.version=0"),
        ("disable", "--feature", "group.version"),
        ("disable", "--feature", "metadata.version"),
        ("disable", "--feature", "nonsense"),
    ):
        run(verb, *form, "--dry-run")

    def metrics(*args: object) -> None:
        session.run("kafka-client-metrics", *args, sort=True)

    one = ["--name", "watched"]
    metrics("--list")
    metrics("--describe", *one)
    wanted = ["--metrics", "org.apache.kafka.producer.,org.apache.kafka.consumer.", "--interval", 30000]
    metrics("--alter", *one, *wanted, "--match", "client_id=c[0-9]+,client_software_name=apache-kafka-java")
    session.settle()
    metrics("--list")
    metrics("--describe", *one)
    metrics("--describe")
    metrics("--alter", *one, "--interval", 5)
    metrics("--alter", *one, "--match", "nonsense=x")
    metrics("--alter", *one, "--match", "client_id=[")
    metrics("--delete", *one)
    session.settle()
    metrics("--delete", "--name", "not-there")
    metrics("--list")


_ALL = (reset_offsets, consumer_groups, new_groups, cluster, records, configs, performance, topics, features)
SESSIONS: dict[str, Callable[[Session], None]] = {each.__name__: each for each in _ALL}


def hold(name: str, java: JavaTools, bootstrap: str, folder: Path, lag_s: float = 1) -> str:
    """Hold one session; what was printed. `lag_s`: see `Session.settle`."""
    session = Session(java, bootstrap, folder, lag_s)
    try:
        SESSIONS[name](session)
    finally:
        for topic in session.topics:
            session.run("kafka-topics", "--delete", "--topic", topic, quiet=True)
    return session.text()


def main(bootstrap: str, names: list[str], target: Path = RECORDED) -> None:
    """Write the recordings."""
    target.mkdir(parents=True, exist_ok=True)
    with JavaTools.start(cache_folder()) as java, tempfile.TemporaryDirectory() as folder:
        for name in names or SESSIONS:
            (target / f"{name}.txt").write_text(hold(name, java, bootstrap, Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
