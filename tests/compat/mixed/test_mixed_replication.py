"""A kbroker and an Apache Kafka broker copy from each other: logs byte-equal, either may fail."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.compat.mixed.quorum_nodes import _JAVA, CLUSTER_ID
from tests.doubles import wait_until
from tests.needs import cache_folder, need_java
from tools.bench.brokers import free_port
from tools.kafka_jars import class_path

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(300)]


class Broker:
    """A broker of one kind; number 1 is the controller, too."""

    def __init__(self, folder, kind, node_id, controller_port, classes):
        self.kind, self.node_id, self.port = kind, node_id, free_port()
        self.data, self.log = folder / f"data-{node_id}", folder / f"{node_id}.log"
        self._properties = folder / f"{node_id}.properties"
        self._classes, self._process = classes, None
        own = f",CONTROLLER://127.0.0.1:{controller_port}" if node_id == 1 else ""
        values = {
            "process.roles": "broker,controller" if node_id == 1 else "broker",
            "node.id": node_id,
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port}{own}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.data,
            "offsets.topic.replication.factor": 1,
        }
        self._properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
        command = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self._properties)]
        subprocess.run([*_JAVA, "-cp", classes, *command], check=True, capture_output=True)

    def start(self):
        if self.kind == "kafka":
            command = [*_JAVA, "-cp", self._classes, "kafka.Kafka", str(self._properties)]
        else:
            command = [sys.executable, "-m", "kbroker.cli.main", "start", "--profile", "production"]
            command += ["--config", str(self._properties)]
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def end(self, number=signal.SIGTERM):
        if self._process is not None:
            self._process.send_signal(number)
            try:
                self._process.wait(40)
            finally:
                self._process.kill()
                self._process.wait()
            self._process = None

    def segment(self, topic):
        return b"".join(path.read_bytes() for path in sorted((self.data / f"{topic}-0").glob("*.log")))


@pytest.mark.parametrize("kinds", [("kbroker", "kafka"), ("kafka", "kbroker")], ids="-controls-".join)
def test_they_copy_from_each_other(tmp_path, kinds):
    need_java()
    classes, controller_port = class_path(cache_folder()), free_port()
    brokers = [Broker(tmp_path, kind, i, controller_port, classes) for i, kind in enumerate(kinds, 1)]
    bootstrap = ",".join(f"127.0.0.1:{broker.port}" for broker in brokers)
    client = {"bootstrap.servers": bootstrap, "log_level": 0}
    admin = AdminClient(client)

    def both():
        try:
            return len(admin.list_topics(timeout=10).brokers) == 2
        except KafkaException:
            return False

    def in_sync(topic):
        found = admin.list_topics(topic, timeout=10).topics[topic].partitions
        return bool(found) and len(found[0].isrs) == 2

    def send(topic, count):
        producer = Producer({**client, "acks": "all", "enable.idempotence": True})
        failed = []
        for number in range(count):
            value = b"%06d" % number * 50
            producer.produce(topic, value, partition=0, on_delivery=lambda e, _: e and failed.append(e))
            producer.poll(0)
        assert producer.flush(60) == 0
        assert failed == []

    try:
        for broker in brokers:
            broker.start()
        wait_until(both, "both brokers", 90)
        config = {"min.insync.replicas": "1", "segment.bytes": "1048576"}
        topics = {1: "led-by-1", 2: "led-by-2"}
        wanted = [
            NewTopic(topics[i], replica_assignment=[[i, 3 - i]], num_partitions=1, config=config)
            for i in topics
        ]
        for done in admin.create_topics(wanted, operation_timeout=30).values():
            done.result(60)
        for topic in topics.values():
            wait_until(lambda topic=topic: in_sync(topic), f"{topic} in sync", 60)
            send(topic, 3000)
        brokers[1].end(signal.SIGKILL)
        for topic in topics.values():
            send(topic, 1000)
        brokers[1].start()
        for topic in topics.values():
            wait_until(lambda topic=topic: in_sync(topic), f"{topic} in sync again", 90)
            send(topic, 500)
        for topic in topics.values():
            first, second = (broker.segment(topic) for broker in brokers)
            # What Kafka has preallocated or we write behind each other's back would show here.
            assert first.rstrip(b"\0") == second.rstrip(b"\0"), topic
            assert len(first) > 4500 * 300
    except BaseException:
        for broker in brokers:
            print(broker.kind, broker.log.read_text(errors="replace")[-3000:])
        raise
    finally:
        for broker in reversed(brokers):
            broker.end()
