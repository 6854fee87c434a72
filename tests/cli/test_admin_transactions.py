"""`kbroker-admin transactions` against a running broker, ours or (as in test_admin.py) Apache Kafka."""

from __future__ import annotations

import json
import os
import time
import uuid

import pytest
from confluent_kafka import Producer

from kbroker.cli.admin import main
from kbroker.client import Cluster
from kbroker.protocol.generated.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from kbroker.protocol.generated.produce_response import ProduceResponse
from kbroker.protocol.record_batch import Record, build_batch

HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def bootstrap(request):
    return os.environ.get("KBROKER_TEST_BOOTSTRAP") or request.getfixturevalue("kafka").bootstrap


@pytest.fixture
def admin(bootstrap, capsys, monkeypatch):
    """Runs a command; with json_ stdout is the parsed document."""
    monkeypatch.setenv("KBROKER_BOOTSTRAP", bootstrap)

    def run(*arguments, json_=False, code=0):
        capsys.readouterr()
        got = main([*arguments, "--json"] if json_ else list(arguments))
        out, err = capsys.readouterr()
        assert got == code, err
        assert "Traceback" not in err
        return json.loads(out) if json_ else out + err

    return run


@pytest.fixture
def topic(admin):
    name = f"txn-{uuid.uuid4().hex[:10]}"
    admin("topics", "create", name, "-p", "2")
    return name


def test_list_and_describe(admin, bootstrap, topic):
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"a", partition=1)
    assert producer.flush(30) == 0
    (listed,) = admin("transactions", "list", "--pattern", f"{topic[:-1]}.", json_=True)
    assert (listed["id"], listed["state"]) == (topic, "Ongoing")
    assert admin("transactions", "list", "--pattern", topic, "--state", "Empty", json_=True) == []
    assert topic in admin("transactions", "list", "--state", "Ongoing")
    (described,) = admin("transactions", "describe", topic, json_=True)
    assert described["partitions"] == [f"{topic}-1"]
    assert described["producer_id"] == listed["producer_id"]
    assert "Ongoing" in admin("transactions", "describe", topic)
    (open_,) = admin("transactions", "producers", f"{topic}:1", json_=True)
    assert (open_["start_offset"], open_["producer_id"]) == (0, listed["producer_id"])
    assert admin("transactions", "find-hanging", "--topic", topic, "--silent-for", "-1", json_=True) == []
    producer.commit_transaction(30)
    assert admin("transactions", "producers", topic).endswith(" -\n")


def test_an_id_that_nobody_has(admin):
    assert "unheard-of" in admin("transactions", "describe", "unheard-of", code=1)


def test_one_that_hangs_is_found_and_aborted(admin, bootstrap, topic):
    setting = "transaction.partition.verification.enable"
    admin("configs", "set", "broker", "1", f"{setting}=false")
    time.sleep(0.5)
    try:
        _hang(bootstrap, topic)
    finally:
        admin("configs", "delete", "broker", "1", setting)
    (found,) = admin("transactions", "find-hanging", "--topic", topic, json_=True)
    assert (found["producer_id"], found["start_offset"], found["transactional_id"]) == (4343, 0, None)
    assert topic in admin("transactions", "find-hanging")
    assert "no open transaction begins" in admin("transactions", "abort", f"{topic}:0", "7", "--yes", code=1)
    assert "aborted" in admin("transactions", "abort", f"{topic}:0", "0", "--yes")
    assert admin("transactions", "find-hanging", "--topic", topic, json_=True) == []


def _hang(bootstrap, topic):
    """Write as a producer whose transaction nobody began, two hours ago."""
    ago = int(time.time() * 1000) - 2 * HOUR_MS
    records = build_batch(
        [Record(timestamp=ago, value=b"open")],
        producer_id=4343,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
    )
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=records)])
    request = ProduceRequest(transactional_id="nobody", acks=-1, timeout_ms=5000, topic_data=[data])
    with Cluster(bootstrap) as cluster:
        answer = cluster.any().ask(request, ProduceResponse, version=9)
    assert answer.responses[0].partition_responses[0].error_code == 0
