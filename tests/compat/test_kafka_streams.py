"""Kafka Streams 4.4 on kbroker: what comes out, counted, over restarts, crashes and a broker's kill -9."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kbroker.testing import Broker, Cluster
from tests.compat.javatools import JavaTools
from tests.compat.streams_app import StreamsApp, StreamsProcess
from tests.needs import cache_folder, need_java

pytestmark = pytest.mark.jvm

KEYS, PARTITIONS = 7, 2
EXACTLY_ONCE = "processing.guarantee=exactly_once_v2"
QUICK = "consumer.session.timeout.ms=3000", "producer.transaction.timeout.ms=3000"
PATIENCE_S = 60.0


PROTOCOLS = pytest.mark.parametrize("protocol", ["classic", "streams"])


@pytest.fixture(scope="module")
def app() -> StreamsApp:
    need_java()
    return StreamsApp.compiled(cache_folder())


@pytest.fixture
def start(app: StreamsApp, tmp_path: Path) -> Iterator[Callable[..., StreamsProcess]]:
    """Starts an instance, each with a folder of its own."""
    running = []
    numbers = itertools.count()

    def one(bootstrap: str, name: str, *settings: str) -> StreamsProcess:
        process = app.start(bootstrap, name, *QUICK, *settings, state=tmp_path / f"state{next(numbers)}")
        running.append(process)
        return process

    yield one
    for process in running:
        process.kill()


class Pipeline:
    """The topics of one application: what went in, and what came out."""

    def __init__(self, broker: Broker | Cluster, name: str) -> None:
        self._broker = broker
        self.name = name
        self.sent: dict[str, list[int]] = defaultdict(list)
        self._numbers = itertools.count(1)
        #: Of all records: the beginning of a minute that is not too old to be retained.
        self._time_ms = int(time.time()) // 60 * 60_000
        for topic in ("in", "counts", "sums"):
            broker.create_topic(f"{name}-{topic}", PARTITIONS)

    def send(self, count: int) -> None:
        """Numbers into the first topic, all in one window."""
        producer = Producer({"bootstrap.servers": self._broker.bootstrap, "enable.idempotence": True})
        for number in itertools.islice(self._numbers, count):
            key = f"k{number % KEYS}"
            producer.produce(f"{self.name}-in", str(number), key, timestamp=self._time_ms)
            self.sent[key].append(number)
        assert producer.flush(PATIENCE_S) == 0

    def wait_for(self, done: Callable[[dict[str, list[int]]], bool], topic: str) -> dict[str, list[int]]:
        """What is committed of a topic, by key in its order, as soon as it is `done`."""
        consumer = Consumer(
            {
                "bootstrap.servers": self._broker.bootstrap,
                "group.id": "looks",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
            }
        )
        found: dict[str, list[int]] = defaultdict(list)
        places = [TopicPartition(f"{self.name}-{topic}", each, 0) for each in range(PARTITIONS)]
        consumer.assign(places)
        deadline = time.monotonic() + PATIENCE_S
        try:
            while not done(found) and time.monotonic() < deadline:
                for message in consumer.consume(500, 0.2):
                    assert message.error() is None, message.error()
                    found[message.key().decode()].append(int.from_bytes(message.value(), "big"))
            for message in consumer.consume(500, 0.3):  # more than there should be?
                found[message.key().decode()].append(int.from_bytes(message.value(), "big"))
        finally:
            consumer.close()
        return dict(found)

    def check_exactly_once(self) -> None:
        """Each record was counted and summed up once, in its order."""
        counts = {f"by-{key}": [*range(1, len(numbers) + 1)] for key, numbers in self.sent.items()}
        assert self.wait_for(_as_many_as(counts), "counts") == counts
        sums = {
            f"{key}@{self._time_ms}": [*itertools.accumulate(numbers)] for key, numbers in self.sent.items()
        }
        assert self.wait_for(_as_many_as(sums), "sums") == sums

    def check_at_least_once(self) -> None:
        """Nothing was lost."""
        wanted = {f"by-{key}": len(numbers) for key, numbers in self.sent.items()}

        def enough(found: dict[str, list[int]]) -> bool:
            return all(max(found.get(key, [0])) >= count for key, count in wanted.items())

        assert enough(self.wait_for(enough, "counts"))


def _as_many_as(wanted: dict[str, list[int]]) -> Callable[[dict[str, list[int]]], bool]:
    total = sum(map(len, wanted.values()))
    return lambda found: sum(map(len, found.values())) >= total


SETTINGS = {
    # A new application waits for its group, and one that follows on a crash for its transactions to end.
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1_000,
    "group.streams.initial.rebalance.delay.ms": 0,
    "group.streams.session.timeout.ms": 3_000,
    "group.streams.min.session.timeout.ms": 3_000,
    "group.streams.heartbeat.interval.ms": 500,
    "group.streams.min.heartbeat.interval.ms": 500,
    "group.streams.num.standby.replicas": 1,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
}


@pytest.fixture(scope="module")
def own() -> Iterator[Broker]:
    """A broker that may be killed."""
    with Broker(subprocess=True, config=SETTINGS) as broker:
        yield broker


@pytest.fixture(scope="module")
def three() -> Iterator[Cluster]:
    """Nodes that may be killed."""
    with Cluster(3, config=SETTINGS, links=False) as cluster:
        yield cluster


@PROTOCOLS
def test_exactly_once_over_a_restart_and_a_killed_broker(
    own: Broker, start, name: str, protocol: str
) -> None:
    settings = EXACTLY_ONCE, f"group.protocol={protocol}"
    line = Pipeline(own, name)
    one = start(own.bootstrap, name, *settings)
    one.wait_for("RUNNING")
    line.send(700)
    line.check_exactly_once()
    line.send(300)
    own.kill()
    own.restart()
    line.send(300)
    line.check_exactly_once()
    one.stop()
    line.send(200)
    # Its stores are in memory: it takes its counts from the changelogs.
    start(own.bootstrap, name, *settings)
    line.check_exactly_once()


@pytest.mark.slow
@PROTOCOLS
def test_exactly_once_while_a_node_of_three_is_killed(
    three: Cluster, start, name: str, protocol: str
) -> None:
    """The one that leads the first partition of the input."""
    line = Pipeline(three, name)
    one = start(three.bootstrap, name, EXACTLY_ONCE, f"group.protocol={protocol}")
    one.wait_for("RUNNING")
    line.send(300)
    killed = three.leader(f"{name}-in", 0)
    three.kill(killed)
    try:
        line.send(300)
        line.check_exactly_once()
    finally:
        three.restart(killed)


@PROTOCOLS
def test_two_instances_with_standbys_of_which_one_dies(own: Broker, start, name: str, protocol: str) -> None:
    """With the streams protocol the broker's settings say how many standbys there are."""
    settings = [EXACTLY_ONCE, f"group.protocol={protocol}"]
    if protocol == "classic":
        settings.append("num.standby.replicas=1")
    line = Pipeline(own, name)
    one = start(own.bootstrap, name, *settings)
    two = start(own.bootstrap, name, *settings)
    one.wait_for("RUNNING")
    two.wait_for("RUNNING")
    line.send(500)
    line.check_exactly_once()
    one.kill()
    line.send(500)
    line.check_exactly_once()


def test_at_least_once(own: Broker, start, name: str) -> None:
    line = Pipeline(own, name)
    one = start(own.bootstrap, name)
    one.wait_for("RUNNING")
    line.send(500)
    line.check_exactly_once()
    one.kill()
    line.send(500)
    start(own.bootstrap, name)
    line.check_at_least_once()


def test_the_tool_for_streams_groups(own: Broker, java: JavaTools, start, name: str) -> None:
    """What kafka-streams-groups prints with Apache Kafka 4.4, but for widths and the order of rows."""

    def tool(*arguments: str) -> list[list[str]]:
        done = java.run("kafka-streams-groups", "--bootstrap-server", own.bootstrap, *arguments)
        first, *rows = [line.split() for line in done.ok().splitlines() if line] or [[]]
        return [first, *sorted(rows)]

    line = Pipeline(own, name)
    one = start(own.bootstrap, name, EXACTLY_ONCE, "group.protocol=streams")
    one.wait_for("RUNNING")
    line.send(100)
    line.check_exactly_once()
    again = f"{name}-counts-repartition"
    tasks = [[name, topic, f"{each}", "0"] for topic in (again, f"{name}-in") for each in range(PARTITIONS)]
    described: list[list[str]] = []
    deadline = time.monotonic() + PATIENCE_S
    while described[1:] != tasks and time.monotonic() < deadline:  # until it has committed
        described = tool("--describe", "--group", name)
    assert described == [["GROUP", "TOPIC", "PARTITION", "OFFSET-LAG"], *tasks]
    [_, state] = tool("--describe", "--group", name, "--state")
    assert state == [name, own.bootstrap, "(1)", "sticky", "Stable", "1"]
    [_, member] = tool("--describe", "--group", name, "--members")
    assert member[4:] == ["ACTIVE:", "0:[0,1];", "1:[0,1];"]
    assert tool("--list", "--state")[0] == ["GROUP", "STATE"]
    assert [name, "Stable"] in tool("--list", "--state")
    one.stop()
    from_5 = "--input-topic", f"{name}-in:0", "--to-offset", "5"
    plan = [["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"], [name, f"{name}-in", "0", "5"]]
    for how in ("--dry-run", "--execute"):
        assert tool("--reset-offsets", "--group", name, *from_5, how) == plan
    assert tool("--delete-offsets", "--group", name, "--input-topic", f"{name}-in")[1:] == [
        ["TOPIC", "PARTITION", "STATUS"],
        *([f"{name}-in", f"{each}", "Successful"] for each in range(PARTITIONS)),
    ]
    tool("--delete", "--group", name)
    assert [name] not in tool("--list")
