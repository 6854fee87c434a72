"""kbroker starts on the data folders of Apache Kafka and serves what is in them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, describe_configs
from kbroker.client.group_offsets import committed_offsets
from kbroker.client.groups import list_groups
from kbroker.client.offsets import EARLIEST, LATEST, list_offsets
from kbroker.client.records import produce
from kbroker.client.transactions import describe_transaction, list_transactions
from kbroker.errors import ConfigError
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.compat.data_folders import SETTINGS, batches, committed_records, kafka_told, raw_fetch, unpack
from tests.storage.kafka_dirs import kafka_says

FOLDERS = [
    ("kafka-4.4.0-single", "base", 1, "client.json"),
    ("kafka-3.9.2-kraft", "base", 5, "client.json"),
    ("kafka-4.4.0-crashed", "base", 1, "base/after-recovery/client.json"),
    ("kafka-4.4.0-crashed", "torn", 1, "torn/after-recovery/client.json"),
    # Kafka itself shows aborted records there: kbroker does as if the lost index were whole.
    ("kafka-4.4.0-crashed", "zeroed-index", 1, "base/after-recovery/client.json"),
]
#: No settings of ours: internal ones of Kafka, and what Kafka 4 has outlawed (segments below 1 MiB).
NOT_OURS = {("internal.segment.bytes", "*"), ("segment.bytes", "16384")}


def broker_on(data: Path, node_id: int, **config: str) -> Broker:
    return Broker(data=str(data), config={**SETTINGS, "node.id": node_id, **config})


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda p: f"{p[0]}-{p[1]}")
def folder(request, tmp_path_factory):
    """(cluster, what Kafka said by partition, what it said of groups and settings)."""
    name, variant, node_id, moment = request.param
    data = unpack(name, tmp_path_factory.mktemp("data"), variant)
    with broker_on(data, node_id) as broker, Cluster(broker.bootstrap) as cluster:
        yield cluster, kafka_says(name)[moment], kafka_told(name)


def partitions(says: dict) -> list[tuple[TopicPartition, dict]]:
    found = []
    for name, told in says.items():
        topic, _, number = name.rpartition("-")
        if "batches" in told:
            found.append((TopicPartition(topic, int(number)), told))
    return found


def test_records_and_offsets(folder) -> None:
    cluster, says, _ = folder
    for tp, told in partitions(says):
        start, end = (list_offsets(cluster, [tp], at)[tp].offset for at in (EARLIEST, LATEST))
        stable = list_offsets(cluster, [tp], LATEST, read_committed=True)[tp].offset
        assert (start, end, stable) == (told["earliest"], told["latest"], told["lastStable"]), tp
        assert batches(cluster, tp, start, end) == told["batches"], tp


def test_aborted_records_stay_hidden(folder) -> None:
    cluster, says, _ = folder
    for tp, told in partitions(says):
        for fetch in told["readCommitted"]:
            part = raw_fetch(cluster, tp, fetch["fetchOffset"], committed=True)
            found = [(each.producer_id, each.first_offset) for each in part.aborted_transactions or ()]
            assert found == [(each["producerId"], each["firstOffset"]) for each in fetch["aborted"]], tp
        committed_records(cluster, tp)


def test_groups_and_their_offsets(folder) -> None:
    cluster, _, told = folder
    listed = {group.id: (group.type, group.state.upper()) for group in list_groups(cluster)}
    assert listed == {name: (g["type"].lower(), g["state"]) for name, g in told["groups"].items()}
    for name, group in told["groups"].items():
        if group["type"] == "SHARE":
            continue  # their offsets lie in __share_group_state, which this release does not read
        stable = {
            partition: offset["offset"]
            for partition, offset in group["offsets"].items()
            if partition in group["offsetsRequireStable"]
        }
        found = {str(tp): each.offset for tp, each in committed_offsets(cluster, name).items()}
        assert {name: offset for name, offset in found.items() if name in stable} == stable
        assert found == {partition: offset["offset"] for partition, offset in group["offsets"].items()}


def test_transactional_ids_go_on(tmp_path) -> None:
    """One is open in Kafka's folder: its successor aborts it, and readers get on."""
    data = unpack("kafka-4.4.0-single", tmp_path)
    with broker_on(data, 1) as broker, Cluster(broker.bootstrap) as cluster:
        states = {each.id: each.state for each in list_transactions(cluster)}
        assert (states["txn-A"], states["txn-B"], states["txn-open"]) == (
            "CompleteCommit",
            "CompleteAbort",
            "Ongoing",
        )
        open_ = describe_transaction(cluster, "txn-open")
        places = [tp for tp in open_.partitions if tp.topic == "txn"]
        assert len(places) == 2
        before = list_offsets(cluster, places, LATEST, read_committed=True)
        producer = Producer({"bootstrap.servers": broker.bootstrap, "transactional.id": "txn-open"})
        producer.init_transactions(30)
        after = describe_transaction(cluster, "txn-open")
        assert (after.state, after.producer_id) == ("Empty", open_.producer_id)
        assert after.producer_epoch == open_.producer_epoch + 2
        stable = list_offsets(cluster, places, LATEST, read_committed=True)
        ends = list_offsets(cluster, places, LATEST)
        for tp in places:
            assert before[tp].offset < stable[tp].offset == ends[tp].offset


def test_settings(folder) -> None:
    cluster, _, told = folder
    for resource, settings in told["configs"].items():
        kind, _, name = resource.partition(" ")
        if kind not in ("TOPIC", "BROKER"):
            continue
        found = {entry.name: entry for entry in describe_configs(cluster, ResourceType[kind], name)}
        for setting, entry in settings.items():
            if not {(setting, "*"), (setting, entry["value"])} & NOT_OURS:
                assert found[setting].value == entry["value"], (resource, setting)


def test_no_feature_of_a_default_kafka_is_done_without(tmp_path, caplog) -> None:
    data = unpack("kafka-4.4.0-single", tmp_path)
    with caplog.at_level(logging.WARNING), broker_on(data, 1):
        pass
    assert [r.getMessage() for r in caplog.records if "features" in r.getMessage()] == []


def test_a_folder_that_was_only_formatted(tmp_path) -> None:
    unpack("kafka-3.9.2-kraft", tmp_path)
    with broker_on(tmp_path / "formatted-only", 5) as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("t")
        assert produce(cluster, TopicPartition("t", 0), [Record(-1, 0, None, b"v", ())]) == 0


def test_what_is_appended_follows_on(tmp_path) -> None:
    """And groups of kinds that are only kept are the same after work, a clean stop and a second start."""
    data = unpack("kafka-4.4.0-single", tmp_path)
    tp = TopicPartition("plain", 0)
    with broker_on(data, 1) as broker, Cluster(broker.bootstrap) as cluster:
        groups = list_groups(cluster)
        end = list_offsets(cluster, [tp])[tp].offset
        assert produce(cluster, tp, [Record(-1, 0, None, b"ours", ())]) == end
    with broker_on(data, 1) as broker, Cluster(broker.bootstrap) as cluster:
        assert list_groups(cluster) == groups
        assert raw_fetch(cluster, tp, end).high_watermark == end + 1


def test_one_node_of_a_quorum_has_to_know_where_the_others_are(tmp_path) -> None:
    data = unpack("kafka-4.4.0-cluster", tmp_path)
    before = sorted(path for path in data.rglob("*") if path.parent.name != "__cluster_metadata-0")
    with pytest.raises(ConfigError, match=r"^the metadata quorum is 1, 2, 3: controller.quorum.voters"):
        broker_on(data, 1).start()
    with pytest.raises(ConfigError, match=r"names 1, but the metadata .* the quorum of 1, 2, 3$"):
        broker_on(data, 1, **{"controller.quorum.voters": "1@localhost:9"}).start()
    after = (path for path in data.rglob("*") if path.parent.name != "__cluster_metadata-0")
    assert sorted(path for path in after if path.name != ".lock") == before


def test_a_broker_of_a_zookeeper_cluster_is_refused(tmp_path) -> None:
    data = unpack("kafka-3.9.2-zookeeper", tmp_path) / "d1"
    before = sorted(path for path in data.rglob("*"))
    with pytest.raises(ConfigError, match=r"broker 1 of a cluster that keeps its metadata in ZooKeeper"):
        broker_on(data, 1).start()
    assert sorted(path for path in data.rglob("*")) == before
