"""`kbroker-admin clients` end to end."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.client import Cluster
from kbroker.client.connection import Connection
from kbroker.protocol.generated.get_telemetry_subscriptions_request import GetTelemetrySubscriptionsRequest
from kbroker.protocol.generated.get_telemetry_subscriptions_response import GetTelemetrySubscriptionsResponse
from kbroker.protocol.generated.list_offsets_request import ListOffsetsRequest
from kbroker.protocol.generated.list_offsets_response import ListOffsetsResponse
from kbroker.protocol.generated.push_telemetry_request import PushTelemetryRequest
from kbroker.protocol.generated.push_telemetry_response import PushTelemetryResponse
from kbroker.testing import Broker
from tests.protocol.otlp_messages import gauge, message, number_point


@pytest.fixture(scope="module")
def broker():
    with Broker(config={"kbroker.client.metrics": "true"}) as broker:
        yield broker


@pytest.fixture
def admin(broker, capsys, monkeypatch):
    monkeypatch.setenv("KBROKER_BOOTSTRAP", broker.bootstrap)

    def run(*arguments, code=0):
        capsys.readouterr()
        assert main(["clients", *arguments]) == code
        out, err = capsys.readouterr()
        return json.loads(out) if "--json" in arguments else out + err

    return run


@pytest.fixture
def old(broker):
    """A connection that asks as clients of 0.9 did."""
    with Cluster(broker.bootstrap) as cluster:
        connection = Connection(cluster.bootstrap[0], client_id="old feed")
        connection.ask(ListOffsetsRequest(topics=[]), ListOffsetsResponse, version=0)
        yield connection
        connection.close()


def test_a_table_says_who_would_not_survive_kafka_4(admin, old):
    head, *lines = admin().splitlines()
    assert head.split()[-2:] == ["KAFKA", "4"]
    (line,) = [line for line in lines if line.startswith("old feed")]
    assert line.endswith("no: ListOffsets 0 (1)")
    assert any(line.startswith("kbroker-admin") and line.endswith("yes") for line in lines)
    assert len(admin("--old").splitlines()) == 2
    assert len(admin("--client", "nobody").splitlines()) == 1


def test_which_requests_a_client_uses(admin, old):
    rows = [line.split() for line in admin("--client", "old feed", "--apis").splitlines()[1:]]
    assert any("ListOffsets" in row and row[-2:] == ["from", "1"] for row in rows)


def test_json_has_all_of_it(admin, old):
    (client,) = admin("--client", "old feed", "--json")
    assert (client["software"], client["connections"], client["broker"]) == ("kbroker", 1, 1)
    assert client["dropped_by_kafka_4"] == [{"key": 2, "name": "ListOffsets", "used": 0, "needed": 1}]


def test_those_that_have_left(admin, old):
    old.close()
    for _ in range(100):
        if not admin("--client", "old feed", "--json"):
            break
    (client,) = admin("--client", "old feed", "--gone", "--json")
    assert (client["connections"], client["gone_ms"] >= client["since_ms"]) == (0, True)
    assert "GONE" in admin("--gone")


def test_what_clients_have_pushed(admin, broker):
    with Cluster(broker.bootstrap, client_id="pusher") as cluster:
        told = cluster.ask(GetTelemetrySubscriptionsRequest(), GetTelemetrySubscriptionsResponse)
        push = PushTelemetryRequest(
            client_instance_id=told.client_instance_id,
            subscription_id=told.subscription_id,
            metrics=message(gauge("the.metric", number_point(12, topic="t"))),
        )
        assert cluster.ask(push, PushTelemetryResponse).error_code == 0
    _, line = admin("--metrics", "--client", "pusher").splitlines()
    assert line.split()[-3:] == ["the.metric", "topic=t", "12"]
    (instance,) = admin("--metrics", "--client", "pusher", "--json")
    assert instance["metrics"][0]["value"] == 12
    assert "goes with --broker and --client only" in admin("--metrics", "--old", code=2)


def test_a_broker_that_keeps_no_metrics_says_so(admin, kafka):
    answer = admin("--metrics", "-b", kafka.bootstrap, code=1)
    assert "kbroker.client.metrics is false" in answer.splitlines()[-1]


def test_apache_kafka_cannot_tell(admin, broker, monkeypatch):
    # What tells our client that it is a kbroker is that ApiVersions names the request.
    monkeypatch.setattr(Connection, "has", lambda connection, key: key < 1000)
    assert admin(code=1) == (
        "kbroker-admin: broker 1 is no kbroker: Apache Kafka cannot tell who its clients are\n"
    )
