"""Client metrics (KIP-714): kafka-client-metrics, and clients of today that push."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from kbroker.client import Cluster
from kbroker.client.own import command
from kbroker.testing import Broker
from tests.compat.javatools import JavaTools
from tests.doubles import wait_until

pytestmark = pytest.mark.jvm


@pytest.fixture
def tool(java: JavaTools, bootstrap: str):
    """Runs kafka-client-metrics; exit code and output."""

    def run(*arguments: str) -> tuple[int, str]:
        result = java.run("kafka-client-metrics", "--bootstrap-server", bootstrap, *arguments)
        return result.code, result.out.strip()

    return run


def test_subscriptions_are_made_shown_and_deleted(tool, name: str) -> None:
    """The same words as from Apache Kafka 4.4: KBROKER_TEST_BOOTSTRAP compares."""
    shown = f"Client metrics configs for {name} are:\n  interval.ms={{}}\n  match={{}}\n  metrics={{}}"
    altered = (0, f"Altered client metrics config for {name}.")
    metrics = "org.apache.kafka.consumer.,org.apache.kafka.producer."
    assert tool("--describe", "--name", name) == (
        0,
        f"The client metric resource {name} doesn't exist and doesn't have dynamic config.",
    )
    arguments = ["--metrics", metrics, "--interval", "60000", "--match", "client_id=app.*"]
    assert tool("--alter", "--name", name, *arguments) == altered
    assert tool("--describe", "--name", name) == (0, shown.format(60000, "client_id=app.*", metrics))
    assert tool("--alter", "--name", name, "--interval", "30000") == altered
    assert tool("--alter", "--name", name, "--match", "") == altered
    assert tool("--describe", "--name", name) == (0, shown.format(30000, "", metrics))
    assert name in tool("--list")[1].splitlines()
    assert shown.format(30000, "", metrics) in tool("--describe")[1]
    for _ in range(2):
        assert tool("--delete", "--name", name) == (0, f"Deleted client metrics config for {name}.")
    assert name not in tool("--list")[1].splitlines()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["--interval", "5"],
            "Invalid value 5 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
        ),
        (["--match", "foo=bar"], "Illegal client matching pattern: foo=bar"),
        (["--match", "client_id=["], "Illegal client matching pattern: client_id=["),
    ],
)
def test_what_is_no_subscription_is_refused(tool, name: str, arguments: list[str], why: str) -> None:
    code, text = tool("--alter", "--name", name, *arguments)
    assert (code, text.splitlines()[0]) == (1, f"Error while executing client metrics command : {why}")


def test_a_name_is_made_up(tool) -> None:
    code, text = tool("--alter", "--generate-name", "--metrics", "x")
    made = text.removeprefix("Altered client metrics config for ").removesuffix(".")
    assert (code, len(made)) == (0, 22)
    assert tool("--delete", "--name", made)[0] == 0


@pytest.fixture(scope="module")
def keeping(java: JavaTools) -> Iterator[str]:
    """Of a broker that keeps what is pushed, with a subscription to everything."""
    with Broker(config={"kbroker.client.metrics": "true"}) as broker:
        arguments = ["--alter", "--name", "all", "--metrics", "*", "--interval", "100"]
        java.run("kafka-client-metrics", "--bootstrap-server", broker.bootstrap, *arguments).ok()
        yield broker.bootstrap


def pushed(bootstrap: str, client_id: str) -> set[str]:
    """Names of the metrics that clients have pushed whose id begins like that."""
    with Cluster(bootstrap) as cluster:
        (node_id,) = cluster.brokers()
        found = command(cluster, node_id, "client_metrics")["instances"]
    ours = [instance for instance in found if instance["client_id"].startswith(client_id)]
    return {metric["name"] for instance in ours for metric in instance["metrics"]}


def test_librdkafka_pushes(keeping: str) -> None:
    settings = {"bootstrap.servers": keeping, "client.id": "lrk", "enable.metrics.push": True}
    producer = Producer(settings)
    consumer = Consumer({**settings, "group.id": "lrk", "auto.offset.reset": "earliest"})
    consumer.subscribe(["lrk"])
    wanted = {
        "org.apache.kafka.producer.node.request.latency.avg",
        "org.apache.kafka.consumer.connection.creation.total",
    }

    def has_pushed() -> bool:
        producer.produce("lrk", b"x")
        producer.flush()
        consumer.poll(0.01)
        return wanted <= pushed(keeping, "lrk")

    wait_until(has_pushed, "a push", 30)
    consumer.close()


def test_java_pushes(java: JavaTools, keeping: str) -> None:
    arguments = [
        "--bootstrap-server",
        keeping,
        "--topic",
        "java",
        "--max-messages",
        "-1",
        "--throughput",
        "5",  # each line asks the broker, which shares a process with us
    ]
    producer = java.spawn("kafka-verifiable-producer", *arguments)
    producer.wait_for(
        lambda: any(
            "producer.topic.record.send.total" in n for n in pushed(keeping, "producer-")
        ),  # the n-th of its JVM
        "its metrics came",
    )
    producer.stop()


def test_clients_that_do_not_push_are_not_disturbed(keeping: str) -> None:
    producer = Producer({"bootstrap.servers": keeping, "client.id": "quiet", "enable.metrics.push": False})
    producer.produce("lrk", b"x")
    assert producer.flush(20) == 0
    assert pushed(keeping, "quiet") == set()
