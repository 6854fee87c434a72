"""How long a cluster of three is silent when one of its nodes is killed, stopped or paused."""

from __future__ import annotations

import math
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException, Producer

from kbroker.client.cluster import Cluster
from kbroker.client.describe import describe_quorum
from kbroker.client.errors import ClientError
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from tools.bench.bench_cluster import BenchCluster
    from tools.bench.brokers import BrokerProcess

_NODES = 3
_WAIT_SECONDS = 60.0
_PARTITIONS_AT_ONCE = 200

Line = tuple[str, float, str]


class Silence:
    """A producer with acks=all that notes when each record was acknowledged.

    It is connected with all brokers from the beginning: librdkafka else connects with a new leader only when
    it next looks, up to a second later; and it gives up a request after a second, not after sixty.
    """

    def __init__(self, bootstrap: str, topic: str) -> None:
        settings = {
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "linger.ms": 0,
            "retry.backoff.ms": 5,
            "retry.backoff.max.ms": 20,
            "topic.metadata.refresh.fast.interval.ms": 10,
            "reconnect.backoff.ms": 5,
            "reconnect.backoff.max.ms": 50,
            "enable.sparse.connections": False,
            "socket.timeout.ms": 1000,
            "log_level": 0,
            "enable.idempotence": True,
        }
        self._producer = Producer(settings)
        self._topic = topic
        self._stop = False
        self.failed = 0
        self.acknowledged: list[float] = []
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Silence:
        self._thread.start()
        deadline = time.perf_counter() + _WAIT_SECONDS
        while not self.acknowledged and time.perf_counter() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop = True
        self._thread.join()
        self._producer.flush(_WAIT_SECONDS)

    def _run(self) -> None:
        while not self._stop:
            self._producer.produce(self._topic, b"x", partition=0, callback=self._told)
            self._producer.poll(0.002)

    def _told(self, error: object, message: object) -> None:
        if error is None:
            self.acknowledged.append(time.perf_counter())
        else:
            self.failed += 1

    def after(self, instant: float) -> float:
        """The longest time without an acknowledgement from `instant` on, once there are some again."""
        deadline = time.perf_counter() + _WAIT_SECONDS
        while time.perf_counter() < deadline:
            time.sleep(0.3)
            later = [at for at in list(self.acknowledged) if at > instant]
            if later and time.perf_counter() - later[0] > 1 and time.perf_counter() - later[-1] < 0.3:
                return max(b - a for a, b in zip([instant, *later], later))
        raise RuntimeError("nothing was acknowledged any more")


def outages(cluster: BenchCluster, kills: int) -> Iterator[Line]:
    """How long nothing is acknowledged, or changed, after the end of a node."""
    cluster.create("outage")
    few = max(kills // 4, 1)
    hows: list[tuple[str, Callable[[BrokerProcess], None], int]]
    hows = [("killed", _kill, kills), ("stopped", _stop, kills), ("paused", _pause, max(kills // 8, 1))]
    for name, how, times in hows:
        silences, failed = [], 0
        for _ in range(times):
            leader = cluster.leader_of("outage")
            with Silence(cluster.bootstrap, "outage") as silence:
                instant = time.perf_counter()
                how(leader)
                silences.append(silence.after(instant))
            failed += silence.failed
            _bring_back(cluster, leader)
        yield f"leader {name}: silence, p50 of {times}", statistics.median(silences), "s"
        yield f"leader {name}: silence, p99 of {times}", _p99(silences), "s"
        yield f"leader {name}: sends that failed", failed, ""
    times_s = [_controller_killed(cluster, number) for number in range(few)]
    yield f"controller killed: until a topic is made, p50 of {few}", statistics.median(times_s), "s"
    yield f"controller killed: until a topic is made, p99 of {few}", _p99(times_s), "s"


def _p99(values: list[float]) -> float:
    """The nearest that was measured: of 100 and fewer the worst."""
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def many_led_again(cluster: BenchCluster, count: int) -> Iterator[Line]:
    """A third of many partitions loses its leader."""
    began = time.perf_counter()
    topics = [f"many-{number}" for number in range(max(count // _PARTITIONS_AT_ONCE, 1))]
    for topic in topics:
        _create(cluster, topic, count // len(topics))
    yield f"{count:,} partitions made, on three nodes each", time.perf_counter() - began, "s"
    _until_led(cluster, topics, count, without=-1)
    yield "memory of a node with them", cluster.memory_mb(), "MB"
    for name, how in (("killed", _kill), ("stopped", _stop)):
        leads = _until_led(cluster, topics, count, without=-1)
        number, led = max(leads.items(), key=lambda each: each[1])
        victim = cluster.nodes[number - 1]
        began = time.perf_counter()
        how(victim)
        _until_led(cluster, topics, count, without=number)
        yield f"leader of {led:,} of them {name}: until all are led", time.perf_counter() - began, "s"
        began = time.perf_counter()
        _bring_back(cluster, victim)
        _until_in_sync(cluster, topics)
        yield "back, and all in sync again", time.perf_counter() - began, "s"


def _create(cluster: BenchCluster, topic: str, partitions: int) -> None:
    """Again where the controller has changed: on a machine that is full of work that happens."""
    deadline = time.perf_counter() + _WAIT_SECONDS
    while True:
        try:
            cluster.create(topic, partitions)
            return
        except KafkaException as error:
            if error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                return
            if time.perf_counter() > deadline:
                raise
            time.sleep(0.1)


def _until_led(cluster: BenchCluster, topics: list[str], count: int, *, without: int) -> dict[int, int]:
    """How many each node leads, once every partition has a leader that is not `without`."""
    deadline = time.perf_counter() + 5 * _WAIT_SECONDS
    while time.perf_counter() < deadline:
        with (
            suppress(ApiError, ClientError, OSError),
            Cluster(_others(cluster, without), timeout_s=30) as client,
        ):
            found = client.metadata(topics).topics
            leaders = [p.leader_id for topic in found for p in topic.partitions]
            if len(leaders) >= count and -1 not in leaders and without not in leaders:
                return {node: leaders.count(node) for node in range(1, _NODES + 1)}
        time.sleep(0.05)
    raise RuntimeError(f"{cluster.label}: some partitions stay without a leader")


def _until_in_sync(cluster: BenchCluster, topics: list[str]) -> None:
    deadline = time.perf_counter() + 5 * _WAIT_SECONDS
    while time.perf_counter() < deadline:
        with Cluster(cluster.bootstrap, timeout_s=30) as client:
            found = client.metadata(topics).topics
            if all(len(p.isr_nodes) == _NODES for topic in found for p in topic.partitions):
                return
        time.sleep(0.2)
    raise RuntimeError(f"{cluster.label}: some replicas do not catch up")


def _others(cluster: BenchCluster, without: int) -> str:
    return ",".join(node.bootstrap for number, node in enumerate(cluster.nodes, 1) if number != without)


def _controller_killed(cluster: BenchCluster, number: int) -> float:
    with Cluster(cluster.bootstrap) as client:
        quorum = describe_quorum(client)
    assert quorum is not None
    victim = cluster.nodes[quorum.leader - 1]
    began = time.perf_counter()
    victim.kill()
    attempt = 0
    while True:
        attempt += 1
        try:
            with Cluster(_others(cluster, quorum.leader), timeout_s=1) as client:
                create_topic(client, f"after-{number}-{attempt}", partitions=1, replication_factor=2)
            break
        except (ApiError, ClientError, OSError) as error:
            if isinstance(error, ApiError) and error.code is ErrorCode.TOPIC_ALREADY_EXISTS:
                break
            if time.perf_counter() - began > _WAIT_SECONDS:
                raise
            time.sleep(0.01)
    took = time.perf_counter() - began
    _bring_back(cluster, victim)
    return took


def _bring_back(cluster: BenchCluster, node: BrokerProcess) -> None:
    if node._process is not None and _is_paused(node._process.pid):
        os.kill(node._process.pid, signal.SIGCONT)
    else:
        if node._process is not None:
            node._process.wait(_WAIT_SECONDS)
        node.start()
    cluster.wait_for(_NODES)


def _is_paused(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


def _kill(node: BrokerProcess) -> None:
    node.kill()


def _stop(node: BrokerProcess) -> None:
    assert node._process is not None
    node._process.send_signal(signal.SIGTERM)
    threading.Thread(target=node._process.wait).start()


def _pause(node: BrokerProcess) -> None:
    assert node._process is not None
    os.kill(node._process.pid, signal.SIGSTOP)
