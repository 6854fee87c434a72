"""kbroker starts on directories that Apache Kafka wrote and tells of them what Kafka told."""

from __future__ import annotations

from hashlib import sha256

import pytest

from kbroker.storage import log_manager
from kbroker.types import TopicPartition, uuid_to_string
from tests.storage.kafka_dirs import check, kafka_disk, kafka_says, load, read_all

CRASHED = "kafka-4.4.0-crashed"
SINGLE = "kafka-4.4.0-single"


def partitions(name: str, moment: str) -> list[str]:
    return sorted(name for name, says in kafka_says(name)[moment].items() if "batches" in says)


@pytest.mark.parametrize("name", partitions(SINGLE, "client.json"))
def test_a_cleanly_stopped_directory(name: str) -> None:
    says = kafka_says(SINGLE)["client.json"][name]
    topic, _, partition = name.rpartition("-")
    manager = load(kafka_disk(SINGLE))
    log = manager.get(TopicPartition(topic, int(partition)))
    assert manager.previous_broker_epoch == 271
    assert uuid_to_string(log.topic_id) == says["topicId"]
    assert log.recovery_point == log.log_end_offset
    check(log, says)


@pytest.mark.parametrize("variant", ["base", "torn", "zeroed-index"])
def test_a_crashed_directory(variant: str) -> None:
    moment = f"{variant}/after-recovery/client.json"
    manager = load(kafka_disk(CRASHED, variant))
    if variant == "zeroed-index":
        # Kafka does not miss a .txnindex that is gone and shows aborted records. Nothing in this variant is
        # lost that the log itself could not tell.
        moment = "base/after-recovery/client.json"
    assert manager.previous_broker_epoch == -1
    for name, says in kafka_says(CRASHED)[moment].items():
        topic, _, partition = name.rpartition("-")
        log = manager.get(TopicPartition(topic, int(partition)))
        # Kafka led in a new epoch when it was asked.
        log.assign_epoch(says["offsetForLeaderEpoch"][-1]["ask"], log.log_end_offset)
        check(log, says)


@pytest.mark.parametrize("variant", ["base", "torn"])
def test_recovery_writes_the_files_that_kafka_wrote(variant: str, monkeypatch) -> None:
    """Byte for byte: segments, indexes, snapshots, epochs after recovery and a clean stop."""
    disk = kafka_disk(CRASHED, variant)
    manager = load(disk)
    for name, says in kafka_says(CRASHED)[f"{variant}/after-recovery/client.json"].items():
        topic, _, partition = name.rpartition("-")
        log = manager.get(TopicPartition(topic, int(partition)))
        log.assign_epoch(says["offsetForLeaderEpoch"][-1]["ask"], log.log_end_offset)
    monkeypatch.setattr(log_manager, "MANY_LOGS", 1000)  # one by one, so with snapshots that tell nothing
    manager.close()
    expected = kafka_says(CRASHED)[f"{variant}/files"]
    for path, digest in expected.items():
        assert sha256(disk.read_file(f"/data/{path}")).hexdigest() == digest, path
    # A producer snapshot of an earlier stop goes when there is time.
    load(disk).tick_removals(2**62)
    for name in {path.partition("/")[0] for path in expected}:
        ours = {
            f"{name}/{e.name}"
            for e in disk.list_dir(f"/data/{name}")
            if not e.name.endswith((".deleted", ".stray"))
        }
        assert ours == {path for path in expected if path.startswith(name + "/")}


def test_a_start_and_stop_change_nothing() -> None:
    """A directory that Kafka stopped cleanly is the same after kbroker has been on it."""
    disk = kafka_disk(SINGLE)
    before = {path: bytes(inode.data) for path, inode in disk._files.items()}
    load(disk).close(271)
    for path, content in before.items():
        if path.endswith(".deleted") and not path.startswith("/data/doomed"):
            assert not disk.exists(path)
        elif path.endswith("offset-checkpoint"):
            assert sorted(disk.read_file(path).splitlines()) == sorted(content.splitlines())
        elif path.endswith(".snapshot") and not disk.exists(path):
            pass  # of an earlier boot; Kafka's next start would remove it, too
        else:
            assert disk.read_file(path) == content, path


@pytest.mark.parametrize("directory", ["d1", "d2"])
def test_a_broker_of_a_zookeeper_cluster(directory: str, caplog) -> None:
    """Two log directories of Kafka 3.9, with messages of formats 0 and 1."""
    told = kafka_says("kafka-3.9.2-zookeeper")["client.json"]
    manager = load(kafka_disk("kafka-3.9.2-zookeeper"), directory=f"/data/{directory}")
    assert manager.logs
    for tp, log in manager.logs.items():
        says = told[str(tp)]
        assert (log.log_start_offset, log.log_end_offset) == (says["earliest"], says["latest"])
        # What it calls the base offset of a compressed old message is that of the first one inside.
        found = [batch[1:] for batch in read_all(log, log.log_end_offset)]
        assert found == [batch[1:] for batch in says["batches"]]
    assert not caplog.messages
