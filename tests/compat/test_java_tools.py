"""Apache Kafka's own command-line tools, and its Java clients, against our broker."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from kbroker.testing import Broker
from tests.compat.javatools import JavaTools, Result, Running
from tests.compat.tool_sessions import RECORDED

pytestmark = pytest.mark.jvm

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


@pytest.fixture
def tool(java: JavaTools, bootstrap: str):
    """Runs a tool against the broker, to its end."""

    def run(name: str, *args: object, stdin: str = "") -> Result:
        return java.run(name, "--bootstrap-server", bootstrap, *args, stdin=stdin)

    return run


@pytest.fixture
def topic(tool, name: str) -> str:
    """A topic of two partitions."""
    created = tool("kafka-topics", "--create", "--topic", name, "--partitions", 2, "--replication-factor", 1)
    assert f"Created topic {name}." in created.ok()
    return name


def lines(prefix: str, count: int) -> str:
    return "".join(f"{prefix}{i}\n" for i in range(count))


def consume(tool, topic: str, count: int, *args: object) -> list[str]:
    arguments = ["--topic", topic, "--max-messages", count, "--timeout-ms", 30000, *args]
    return tool("kafka-console-consumer", *arguments).ok().splitlines()


def group_rows(tool, group: str) -> dict[tuple[str, int], tuple[str, str, str]]:
    """(topic, partition) -> committed offset, log end offset and lag as kafka-consumer-groups prints them."""
    out = tool("kafka-consumer-groups", "--describe", "--group", group).ok()
    rows = [line.split() for line in out.splitlines()]
    return {(r[1], int(r[2])): (r[3], r[4], r[5]) for r in rows if r and r[0] == group}


def test_java_clients(java: JavaTools, bootstrap: str, name: str) -> None:
    assert java.run("everyday", bootstrap, name).ok() == "ok"


def test_topics(tool, topic: str) -> None:
    assert topic in tool("kafka-topics", "--list").ok().splitlines()
    described = tool("kafka-topics", "--describe", "--topic", topic).ok()
    assert re.search(
        rf"Topic: {topic}\s+TopicId: \S{{22}}\s+PartitionCount: 2\s+ReplicationFactor: 1", described
    )
    again = tool("kafka-topics", "--create", "--topic", topic)
    assert again.code == 1
    assert f"Topic '{topic}' already exists." in again.out + again.err
    tool("kafka-topics", "--alter", "--topic", topic, "--partitions", 5).ok()
    assert "PartitionCount: 5" in tool("kafka-topics", "--describe", "--topic", topic).ok()
    tool("kafka-topics", "--delete", "--topic", topic).ok()
    assert topic not in tool("kafka-topics", "--list").ok().splitlines()
    assert tool("kafka-topics", "--describe", "--topic", topic).code == 1


@pytest.mark.parametrize("codec", CODECS)
def test_console_producer_and_consumer(tool, topic: str, codec: str) -> None:
    properties = ["--reader-property", "parse.key=true", "--reader-property", "key.separator=|"]
    text = "".join(f"k{i}|value {i} {'x' * 60}\n" for i in range(50))
    tool(
        "kafka-console-producer", "--topic", topic, "--compression-codec", codec, *properties, stdin=text
    ).ok()
    shown = ["--formatter-property", "print.key=true", "--formatter-property", "key.separator=|"]
    got = consume(tool, topic, 50, "--from-beginning", *shown)
    assert sorted(got) == sorted(text.splitlines())


def test_console_consumer_from_an_offset(tool, topic: str) -> None:
    tool("kafka-console-producer", "--topic", topic, stdin=lines("v", 1)).ok()
    for partition in (0, 1):
        offsets = tool("kafka-get-offsets", "--topic-partitions", f"{topic}:{partition}").ok()
        if offsets == f"{topic}:{partition}:1":
            assert consume(tool, topic, 1, "--partition", partition, "--offset", 0) == ["v0"]


def test_consumer_groups(tool, topic: str, name: str) -> None:
    tool("kafka-console-producer", "--topic", topic, stdin=lines("v", 10)).ok()
    first = consume(tool, topic, 4, "--group", name, "--from-beginning")
    rest = consume(tool, topic, 6, "--group", name)  # resumes behind what the first committed
    assert sorted(first + rest) == sorted(lines("v", 10).split())
    assert name in tool("kafka-consumer-groups", "--list").ok().split()
    rows = group_rows(tool, name)
    assert [lag for _, _, lag in rows.values()] == ["0"] * len(rows)
    assert sum(int(offset) for offset, _, _ in rows.values() if offset != "-") == 10
    state = tool("kafka-consumer-groups", "--describe", "--group", name, "--state").ok()
    assert "Empty" in state
    reset = ["--reset-offsets", "--group", name, "--topic", topic, "--to-earliest", "--execute"]
    tool("kafka-consumer-groups", *reset).ok()
    assert sorted(consume(tool, topic, 10, "--group", name)) == sorted(lines("v", 10).split())
    tool("kafka-consumer-groups", "--delete", "--group", name).ok()
    assert name not in tool("kafka-consumer-groups", "--list").ok().split()


def test_reset_offsets_by_time(tool, topic: str, name: str) -> None:
    tool("kafka-console-producer", "--topic", topic, stdin="early\n").ok()
    assert consume(tool, topic, 1, "--group", name, "--from-beginning") == ["early"]
    moment = time.time() + 0.001
    while time.time() < moment + 0.001:
        pass  # the next record must be younger by a millisecond
    tool("kafka-console-producer", "--topic", topic, stdin="late\n").ok()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}"
    reset = ["--reset-offsets", "--group", name, "--topic", topic, "--to-datetime", stamp, "--execute"]
    tool("kafka-consumer-groups", *reset).ok()
    assert consume(tool, topic, 1, "--group", name) == ["late"]


def test_configs(tool, topic: str) -> None:
    entity = ["--entity-type", "topics", "--entity-name", topic]
    tool(
        "kafka-configs",
        "--alter",
        *entity,
        "--add-config",
        "retention.ms=1000,cleanup.policy=[compact,delete]",
    ).ok()
    described = tool("kafka-configs", "--describe", *entity).ok()
    assert "retention.ms=1000" in described
    assert "cleanup.policy=compact,delete" in described
    tool("kafka-configs", "--alter", *entity, "--delete-config", "retention.ms").ok()
    assert "retention.ms=1000" not in tool("kafka-configs", "--describe", *entity).ok()
    everything = tool("kafka-configs", "--describe", "--all", *entity).ok()
    assert "retention.ms=604800000" in everything
    refused = tool("kafka-configs", "--alter", *entity, "--add-config", "retention.ms=soon")
    assert refused.code == 1
    assert "retention.ms" in refused.out + refused.err


def test_broker_configs(tool) -> None:
    entity = ["--entity-type", "brokers", "--entity-default"]
    tool("kafka-configs", "--alter", *entity, "--add-config", "log.retention.ms=86400000").ok()
    assert "log.retention.ms=86400000" in tool("kafka-configs", "--describe", *entity).ok()
    tool("kafka-configs", "--alter", *entity, "--delete-config", "log.retention.ms").ok()
    assert "log.retention.ms=86400000" not in tool("kafka-configs", "--describe", *entity).ok()


def test_get_offsets_and_delete_records(tool, topic: str, tmp_path: Path) -> None:
    tool("kafka-console-producer", "--topic", topic, stdin=lines("v", 30)).ok()

    def offsets(when: str) -> dict[int, int]:
        out = tool("kafka-get-offsets", "--topic", topic, "--time", when).ok()
        return {int(p): int(o) for _, p, o in (line.split(":") for line in out.splitlines())}

    ends = offsets("latest")
    assert sum(ends.values()) == 30
    assert offsets("earliest") == {0: 0, 1: 0}
    partition = max(ends, key=lambda p: ends[p])
    wanted = {"partitions": [{"topic": topic, "partition": partition, "offset": 3}], "version": 1}
    file = tmp_path / "records.json"
    file.write_text(json.dumps(wanted))
    out = tool("kafka-delete-records", "--offset-json-file", file).ok()
    assert f"partition: {topic}-{partition}\tlow_watermark: 3" in out
    assert offsets("earliest")[partition] == 3
    assert offsets("max-timestamp")[partition] < ends[partition]


def test_log_dirs(tool, topic: str) -> None:
    tool("kafka-console-producer", "--topic", topic, stdin=lines("v", 10)).ok()
    out = tool("kafka-log-dirs", "--describe", "--topic-list", topic).ok()
    described = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    [node] = described["brokers"]
    [folder] = node["logDirs"]
    assert folder["error"] is None
    sizes = {p["partition"]: p["size"] for p in folder["partitions"]}
    assert set(sizes) == {f"{topic}-0", f"{topic}-1"}
    assert sum(sizes.values()) > 0


def test_cluster_tools(tool, bootstrap: str) -> None:
    versions = tool("kafka-broker-api-versions").ok()
    assert f"{bootstrap.split(':')[1]} (id:" in versions
    assert re.search(r"Produce\(0\): .*\[usable: \d+\]", versions)
    assert "Feature: metadata.version" in tool("kafka-features", "describe").ok()
    quorum = tool("kafka-metadata-quorum", "describe", "--status").ok()
    assert re.search(r"LeaderEpoch:\s+\d+", quorum)


def test_api_versions_word_for_word(java: JavaTools) -> None:
    """Of a broker that serves what Kafka 4.4 serves."""
    with Broker(config={"kbroker.compatibility": "4.4"}, profile="production") as broker:
        printed = java.run("kafka-broker-api-versions", "--bootstrap-server", broker.bootstrap).ok()
        told = printed.replace(broker.bootstrap, "ADDRESS")
    assert told.splitlines() == (RECORDED / "api_versions.txt").read_text().splitlines()


def test_verifiable_producer_and_consumer(tool, java: JavaTools, bootstrap: str, topic: str) -> None:
    """The tools of Kafka's own system tests: two consumers share a topic, one leaves, no message is lost."""
    server = ["--bootstrap-server", bootstrap, "--topic", topic]
    keys = ["--acks", -1, "--repeating-keys", 10]  # without keys one batch fills one partition
    settings = ["--group-id", topic, "--session-timeout", 6000, "--reset-policy", "earliest"]

    def seen(consumer: Running) -> int:
        return sum(e["count"] for e in consumer.events() if e["name"] == "records_consumed")

    def assigned(consumer: Running) -> int:
        changes = [e for e in consumer.events() if e["name"] == "partitions_assigned"]
        return len(changes[-1]["partitions"]) if changes else 0

    first = java.spawn("kafka-verifiable-consumer", *server, *settings)
    first.wait_for(lambda: assigned(first) == 2, "both partitions")
    second = java.spawn("kafka-verifiable-consumer", *server, *settings)
    second.wait_for(lambda: assigned(second) == 1, "a share")
    first.wait_for(lambda: assigned(first) == 1, "the other share")
    producer = java.spawn("kafka-verifiable-producer", *server, *keys, "--max-messages", 1000)
    assert producer.wait().code == 0
    acknowledged = [e for e in producer.events() if e["name"] == "producer_send_success"]
    assert len(acknowledged) == 1000
    first.wait_for(lambda: seen(first) + seen(second) == 1000, "all messages")
    assert seen(first)
    assert seen(second)
    second.stop()
    first.wait_for(lambda: assigned(first) == 2, "both partitions back")
    more = ["--max-messages", 100, "--acks", 1, "--message-create-time", 1_700_000_000_000]
    assert java.run("kafka-verifiable-producer", *server, *more).code == 0
    first.wait_for(lambda: seen(first) + seen(second) == 1100, "the messages of the second round")
    first.stop()
    rows = group_rows(tool, topic)
    assert sum(int(offset) for offset, _, _ in rows.values()) == 1100
