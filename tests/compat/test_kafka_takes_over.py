"""Apache Kafka 4.4 starts on a folder that kbroker wrote, and serves what kbroker served; and back."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs, describe_configs
from kbroker.client.group_offsets import commit_offsets, committed_offsets
from kbroker.client.groups import describe_group, list_groups
from kbroker.client.records import produce
from kbroker.client.topics import delete_records, delete_topics
from kbroker.errors import ApiError
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.compat.data_folders import SETTINGS, kafka_told, served, unpack
from tests.compat.kafka_process import kafka_on
from tests.doubles import wait_until
from tests.needs import cache_folder, need_java

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

TOPICS = ["plain", "small-segments", "trimmed", "compacted", "empty"]
NOW_MS = 1_795_973_000_000


def fill(broker: Broker) -> None:
    """Topics of several kinds, records in every codec, a deleted topic, settings, groups."""
    broker.create_topic("plain", 3)
    broker.create_topic("small-segments", config={"segment.bytes": 1 << 20, "index.interval.bytes": 100})
    broker.create_topic("trimmed")
    broker.create_topic("compacted", config={"cleanup.policy": "compact"})
    broker.create_topic("gone")
    broker.create_topic("empty", 2)
    with Cluster(broker.bootstrap) as cluster:
        for number, codec in enumerate([*Codec, *Codec]):
            records = [
                Record(-1, NOW_MS + i, b"key-%d" % i, b"value" * i, (("h", b"x"), ("n", None)))
                for i in range(20)
            ]
            for topic in ("plain", "trimmed", "compacted", "gone"):
                tp = TopicPartition(topic, number % 3 if topic == "plain" else 0)
                produce(cluster, tp, records, codec=codec)
        for i in range(40):
            tp = TopicPartition("small-segments", 0)
            produce(cluster, tp, [Record(-1, NOW_MS + 1000 * i, None, b"x" * 60_000, ())])
        delete_records(cluster, {TopicPartition("trimmed", 0): 77})
        delete_topics(cluster, ["gone"])
        alter_configs(cluster, ResourceType.TOPIC, "plain", set_={"retention.ms": "987654321000"})
        for group in ("g1", "g2"):
            commit_offsets(cluster, group, {TopicPartition("plain", p): p + 5 for p in range(3)})


def settings_of(bootstrap: str) -> dict[str, str | None]:
    with Cluster(bootstrap) as cluster:
        entries = describe_configs(cluster, ResourceType.TOPIC, "plain")
        return {entry.name: entry.value for entry in entries if entry.source == "topic"}


def kbroker_on(data: Path) -> Broker:
    return Broker(data=str(data), subprocess=True, config=SETTINGS)


@pytest.mark.parametrize("end", ["clean stop", "kill -9"])
def test_there_and_back(tmp_path, end) -> None:
    need_java()
    data = tmp_path / "data"
    broker = kbroker_on(data).start()
    try:
        fill(broker)
        ours, settings = served(broker.bootstrap, TOPICS), settings_of(broker.bootstrap)
        assert ours["trimmed-0"][0] == 77
        if end == "kill -9":
            # Log starts are checkpointed beside the answer, as with Kafka.
            starts = data / "log-start-offset-checkpoint"
            wait_until(lambda: b"trimmed 0 77" in starts.read_bytes(), "a checkpoint of the log's start")
            broker.kill()
    finally:
        broker.stop()
    # Where nothing was ever written there are no files of a segment yet, which Kafka would have made.
    assert [path.name for path in (data / "empty-0").iterdir()] == ["partition.metadata"]
    with kafka_on(data, cache_folder(), **SETTINGS) as bootstrap:
        with Cluster(bootstrap) as cluster:
            loaded_groups(cluster, {"g1", "g2"})
        assert served(bootstrap, TOPICS) == ours
        assert settings_of(bootstrap) == settings
        with Cluster(bootstrap) as cluster:
            assert "gone" not in {topic.name for topic in cluster.metadata().topics}
            end_offset = ours["plain-0"][1]
            records = [Record(-1, NOW_MS, b"k", b"of Kafka", ())]
            assert produce(cluster, TopicPartition("plain", 0), records) == end_offset
            assert produce(cluster, TopicPartition("empty", 0), records) == 0
            commit_offsets(cluster, "g2", {TopicPartition("plain", 0): end_offset})
        theirs = served(bootstrap, TOPICS)
    with kbroker_on(data) as broker:
        assert served(broker.bootstrap, TOPICS) == theirs


def test_groups_of_kinds_that_kbroker_only_keeps(tmp_path) -> None:
    """Consumer-protocol and share groups of Kafka are there again after kbroker has worked on the folder."""
    need_java()
    data = unpack("kafka-4.4.0-single", tmp_path)
    told = kafka_told("kafka-4.4.0-single")["groups"]
    # The members that died there had sessions of half an hour.
    sessions = dict.fromkeys(
        ("group.consumer.session.timeout.ms", "group.consumer.max.session.timeout.ms"), "1800000"
    )
    settings = {**SETTINGS, **sessions, "log.cleaner.enable": "true", "log.cleaner.backoff.ms": "100"}
    with (
        Broker(data=str(data), config={**settings, "node.id": 1}) as broker,
        Cluster(broker.bootstrap) as cluster,
    ):
        before = cleaned_to(data)
        for number in range(200):
            commit_offsets(cluster, f"new-{number % 5}", {TopicPartition("plain", 0): number})
        deadline = time.monotonic() + 20
        while cleaned_to(data) == before and time.monotonic() < deadline:
            time.sleep(0.1)
        with contextlib.suppress(ApiError):
            commit_offsets(cluster, "kip848-live", {TopicPartition("plain", 0): 1})
    more = {"delegation.token.secret.key": "golden-secret-key", **sessions}
    with (
        kafka_on(data, cache_folder(), **SETTINGS, **more) as bootstrap,
        Cluster(bootstrap) as cluster,
    ):
        groups = loaded_groups(cluster, set(told))
        assert {name: groups.get(name) for name in told} == {n: g["type"].lower() for n, g in told.items()}
        assert {f"new-{number}" for number in range(5)} <= set(groups)
        for name, group in told.items():
            if group["type"] != "SHARE":
                found = {str(tp): each.offset for tp, each in committed_offsets(cluster, name).items()}
                assert found == {
                    partition: offset["offset"] for partition, offset in group["offsets"].items()
                }
        live = describe_group(cluster, "kip848-live")
        assert [member.instance_id for member in live.members] == ["static-2"]


def loaded_groups(cluster: Cluster, wanted: set[str]) -> dict[str, str]:
    """Types by group; a coordinator of Kafka that is still loading refuses, or lists nothing."""
    deadline = time.monotonic() + 20
    groups: dict[str, str] = {}
    while not wanted <= set(groups) and time.monotonic() < deadline:
        with contextlib.suppress(ApiError):
            groups = {group.id: group.type for group in list_groups(cluster)}
        time.sleep(0.05)
    return groups


def cleaned_to(data: Path) -> bytes:
    return (data / "cleaner-offset-checkpoint").read_bytes()
