"""`kbroker-admin metrics` end to end."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.cli.admin_metrics import summary
from kbroker.client.cluster import Cluster
from kbroker.client.records import produce
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker
from kbroker.types import TopicPartition


@pytest.fixture(scope="module")
def broker():
    with Broker() as broker:
        broker.create_topic("t")
        yield broker


@pytest.fixture
def admin(broker, capsys, monkeypatch):
    monkeypatch.setenv("KBROKER_BOOTSTRAP", broker.bootstrap)

    def run(*arguments, code=0):
        capsys.readouterr()
        assert main(["metrics", *arguments]) == code
        out, err = capsys.readouterr()
        return (
            [json.loads(line) for line in out.splitlines()]
            if "top" in arguments and "--json" in arguments
            else out + err
        )

    return run


def test_metrics_are_shown_by_name_though_nothing_listens_for_them(admin, broker):
    with Cluster(broker.bootstrap) as cluster:
        produce(cluster, TopicPartition("t", 0), [Record(-1, 0, None, b"v")] * 5)
    name = "kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec,topic=t"
    (found,) = json.loads(admin("show", name, "--attribute", "Count", "--json"))
    (values,) = found["beans"].values()
    assert values == {"Count": 5}
    assert "MessagesInPerSec,topic=t" in admin("show", name)
    assert "no object name" in admin("show", "nonsense", code=1)


def test_top_shows_what_goes_on(admin):
    text = admin("top", "--interval", "0.1", "--count", "1")
    assert "REQUESTS/s" in text
    assert "KbrokerCommand" in text
    (line,) = admin("top", "--interval", "0.1", "--count", "1", "--json")
    (row,) = line["brokers"]
    assert row["connections"] >= 1
    assert row["requests"] > 0
    assert row["PartitionCount"] == 1


def test_rates_are_those_between_two_answers():
    def answer(time_ms, count, cpu):
        topic = "kafka.server:name=BytesInPerSec,topic=t,type=BrokerTopicMetrics"
        api = "kafka.network:name=RequestsPerSec,request=Produce,type=RequestMetrics,version=9"
        took = "kafka.network:name=TotalTimeMs,request=Produce,type=RequestMetrics"
        beans = {
            topic: {"Count": count},
            "kafka.server:name=BytesInPerSec,type=BrokerTopicMetrics": {"Count": count},
            api: {"Count": count // 10},
            took: {"Count": count // 10, "99thPercentile": 1.5},
            "process:type=cpu_seconds": {"Value": cpu},
        }
        return {1: {"time_ms": time_ms, "beans": beans}}

    now = summary(answer(1000, 1000, 1.0), answer(3000, 5000, 1.5))
    assert now["brokers"] == [
        {"broker": 1, "requests": 200.0, "connections": 0, "cpu": 0.25, "BytesIn": 2000.0}
    ]
    assert now["topics"] == [{"topic": "t", "BytesIn": 2000.0}]
    assert now["requests"] == [{"request": "Produce", "rate": 200.0, "p99_ms": 1.5}]
