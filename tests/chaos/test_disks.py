"""Real file systems that fill up, lose power or fail an fsync under a running broker."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kbroker.client.cluster import Cluster
from kbroker.client.describe import describe_log_dirs
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.produce_request import PartitionProduceData, ProduceRequest, TopicProduceData
from kbroker.protocol.generated.produce_response import ProduceResponse
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.storage.file_names import ROOM
from kbroker.testing import Broker
from tests.chaos.disks import loop_disk, tmpfs

WAIT_SECONDS = 60

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class Numbers:
    """Sends 0, 1, 2 … to partition 0 of a topic, and keeps what is acknowledged."""

    def __init__(self, bootstrap: str, topic: str, **settings: object) -> None:
        self.topic = topic
        self.sent = 0
        self.acknowledged: dict[int, int] = {}
        self.failures: list[KafkaError] = []
        self.producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 0,
                "message.timeout.ms": 60_000,
                "retry.backoff.ms": 50,
                "reconnect.backoff.max.ms": 200,
                "log_level": 0,
                **settings,
            }
        )

    def send(self, count: int, filler: int = 0) -> None:
        for _ in range(count):
            value = b"%d %s" % (self.sent, b"x" * filler)
            self.producer.produce(self.topic, value, partition=0, on_delivery=self._done)
            self.sent += 1
            self.producer.poll(0)

    def _done(self, error: KafkaError | None, message: object) -> None:
        if error is not None:
            self.failures.append(error)
        else:
            self.acknowledged[message.offset()] = int(message.value().split()[0])

    def wait(self) -> None:
        assert self.producer.flush(WAIT_SECONDS) == 0
        assert not self.failures, self.failures[0]


def read(bootstrap: str, topic: str) -> dict[int, int]:
    """offset -> number."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=WAIT_SECONDS)
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    found: dict[int, int] = {}
    deadline = time.monotonic() + WAIT_SECONDS
    while len(found) < end:
        assert time.monotonic() < deadline, f"read {len(found)} of {end} records"
        for message in consumer.consume(1000, timeout=0.5):
            assert message.error() is None, message.error()
            found[message.offset()] = int(message.value().split()[0])
    consumer.close()
    return found


def create(bootstrap: str, name: str, partitions: int = 1, **config: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    settings = {key.replace("_", "."): value for key, value in config.items()}
    admin.create_topics([NewTopic(name, partitions, 1, config=settings)])[name].result(WAIT_SECONDS)


def produce_once(bootstrap: str, topic: str, index: int = 0, size: int = 10) -> tuple[ErrorCode, str | None]:
    """One Produce without any retry."""
    records = build_batch([Record(-1, int(time.time() * 1000), None, b"x" * size)])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=index, records=records)])
    with Cluster(bootstrap) as cluster:
        request = ProduceRequest(acks=1, timeout_ms=5000, topic_data=[data])
        answer = cluster.any().ask(request, ProduceResponse, version=9)
        partition = answer.responses[0].partition_responses[0]
        return ErrorCode(partition.error_code), partition.error_message


def fill(folder: Path) -> Path:
    """Take all the room that there is."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        chunk = b"x" * (1 << 20)
        while len(chunk):
            try:
                file.write(chunk)
            except OSError:
                chunk = chunk[: len(chunk) // 2]
    return ballast


def test_a_full_disk_refuses_and_recovers_by_itself(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "data", "48m") as folder, Broker(subprocess=True, data=str(folder)) as broker:
        create(broker.bootstrap, "t", segment_bytes="1048576")
        create(broker.bootstrap, "once")
        numbers = Numbers(broker.bootstrap, "t")
        numbers.send(200)
        numbers.wait()
        group = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "log_level": 0})
        group.commit(offsets=[TopicPartition("t", 0, 7)], asynchronous=False)
        ballast = fill(folder)
        deadline = time.monotonic() + WAIT_SECONDS
        while (refused := produce_once(broker.bootstrap, "once"))[0] is ErrorCode.NONE:
            assert time.monotonic() < deadline  # what a page that was taken before has room for
        assert refused[0] is ErrorCode.KAFKA_STORAGE_ERROR
        assert "full" in (refused[1] or "")
        numbers.send(300, filler=2000)
        numbers.producer.poll(1)
        assert read(broker.bootstrap, "t") == numbers.acknowledged
        with suppress(KafkaException):
            create(broker.bootstrap, "many", partitions=50)
        ballast.unlink()
        numbers.wait()
        group.commit(offsets=[TopicPartition("t", 0, 8)], asynchronous=False)
        create(broker.bootstrap, "after")
        assert produce_once(broker.bootstrap, "after")[0] is ErrorCode.NONE
        broker.kill()
        broker.start()
        found = read(broker.bootstrap, "t")
        assert list(found.values()) == list(range(500))
        assert found == numbers.acknowledged
        [committed] = group.committed([TopicPartition("t", 0)], timeout=WAIT_SECONDS)
        assert committed.offset == 8
        group.close()


def test_a_full_disk_has_room_again_when_a_topic_is_deleted(tmp_path: Path) -> None:
    """Also where the metadata have no disk of their own: with them, the deletion itself is written there."""
    with tmpfs(tmp_path / "data", "48m") as folder, Broker(subprocess=True, data=str(folder)) as broker:
        create(broker.bootstrap, "heap", file_delete_delay_ms="0")
        create(broker.bootstrap, "once")
        numbers = Numbers(broker.bootstrap, "heap")
        numbers.send(400, filler=30_000)
        numbers.wait()
        deadline = time.monotonic() + WAIT_SECONDS
        while not (folder / ROOM).exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        fill(folder)
        while produce_once(broker.bootstrap, "once", size=1000)[0] is ErrorCode.NONE:
            assert time.monotonic() < deadline
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        admin.delete_topics(["heap"])["heap"].result(WAIT_SECONDS)
        while produce_once(broker.bootstrap, "once", size=1000)[0] is not ErrorCode.NONE:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_minimum_of_free_bytes_leaves_room_for_offsets(tmp_path: Path) -> None:
    with (
        tmpfs(tmp_path / "data", "48m") as folder,
        Broker(
            subprocess=True, data=str(folder), config={"kbroker.log.dir.min.free.bytes": 16 << 20}
        ) as broker,
    ):
        create(broker.bootstrap, "t")
        assert produce_once(broker.bootstrap, "t")[0] is ErrorCode.NONE
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(36 << 20))
        deadline = time.monotonic() + WAIT_SECONDS
        while (refused := produce_once(broker.bootstrap, "t"))[0] is ErrorCode.NONE:
            assert time.monotonic() < deadline
        assert "kbroker.log.dir.min.free.bytes" in (refused[1] or "")
        group = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "g", "log_level": 0})
        group.commit(offsets=[TopicPartition("t", 0, 1)], asynchronous=False)
        group.close()
        ballast.unlink()
        numbers = Numbers(broker.bootstrap, "t")
        numbers.send(1)
        numbers.wait()


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_power_cuts_take_nothing_that_was_acknowledged_after_fsync(kind: str, tmp_path: Path) -> None:
    with loop_disk(kind, tmp_path / "image", tmp_path / "data", 400) as disk:
        broker = Broker(subprocess=True, data=str(disk.folder), profile="production")
        with broker:
            create(broker.bootstrap, "synced", flush_messages="1", segment_bytes="1048576")
            create(broker.bootstrap, "written")
            synced = Numbers(broker.bootstrap, "synced")
            written = Numbers(broker.bootstrap, "written")
            for _ in range(3):
                before = len(synced.acknowledged)
                deadline = time.monotonic() + WAIT_SECONDS
                while len(synced.acknowledged) < before + 1500:
                    assert time.monotonic() < deadline
                    synced.send(20, filler=300)
                    written.send(5)
                    synced.producer.poll(0.01)
                # Nobody hears of what ends meanwhile: Linux says of some syncs then that they were done.
                broker.pause()
                disk.cut_power()
                broker.kill()
                disk.mount_again()
                broker.start()
                certain = dict(synced.acknowledged)
                found = read(broker.bootstrap, "synced")
                assert certain.items() <= found.items()
                assert list(found.values()) == list(range(len(found)))
                assert list(read(broker.bootstrap, "written")) == list(
                    range(len(read(broker.bootstrap, "written")))
                )
            synced.wait()
            assert list(read(broker.bootstrap, "synced").values()) == list(range(synced.sent))


def test_a_directory_whose_fsync_fails_goes_offline_alone(tmp_path: Path) -> None:
    """The disk below is too small for what the file system promised: the first fsync fails, and a second one
    would say that all is well.
    """
    with (
        tmpfs(tmp_path / "small", "20m") as small,
        loop_disk("ext4", small / "image", tmp_path / "bad", 200) as disk,
    ):
        good = tmp_path / "good"
        broker = Broker(subprocess=True, data=str(good), config={"log.dirs": f"{good},{disk.folder}"})
        with broker:
            create(broker.bootstrap, "t", partitions=4, flush_messages="1")
            with Cluster(broker.bootstrap) as cluster:
                where = {
                    replica.partition: log_dir.path
                    for log_dir in describe_log_dirs(cluster)
                    for replica in log_dir.replicas
                    if replica.topic == "t"
                }
            assert Counter(where.values()) == {str(good): 2, str(disk.folder): 2}
            fill(small)
            codes: set[ErrorCode] = set()
            deadline = time.monotonic() + WAIT_SECONDS
            partitions = [index for index, path in where.items() if path == str(disk.folder)]
            while ErrorCode.KAFKA_STORAGE_ERROR not in codes:
                assert time.monotonic() < deadline
                codes.add(produce_once(broker.bootstrap, "t", partitions[0], 500_000)[0])
            assert codes <= {ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR}
            for index, path in where.items():
                expected = ErrorCode.NONE if path == str(good) else ErrorCode.KAFKA_STORAGE_ERROR
                assert produce_once(broker.bootstrap, "t", index)[0] is expected
            with Cluster(broker.bootstrap) as cluster:
                errors = {log_dir.path: log_dir.error for log_dir in describe_log_dirs(cluster)}
            assert errors[str(good)] is None
            assert errors[str(disk.folder)] is not None
            create(broker.bootstrap, "new", partitions=2)
            assert produce_once(broker.bootstrap, "new", 1)[0] is ErrorCode.NONE
