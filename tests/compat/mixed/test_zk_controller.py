"""kbroker's controller in ZooKeeper over brokers of Apache Kafka 3.9.2: they do as it says."""

from __future__ import annotations

import asyncio
import subprocess

import pytest

from kbroker.broker.zk_channel import ZkChannel
from kbroker.controller.topics import TopicRef, create_topics, delete_topics
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kbroker.server.node_folders import new_uuid
from kbroker.server.peer_client import PeerClient
from kbroker.server.runtime import LoopTimer
from tests.controller.clusters import rules as topic_rules
from tests.needs import cache_folder, need_command, need_java
from tests.server.test_zk_controller import Broker, result
from tests.server.zookeeper import ZooKeeperServer
from tools.bench.brokers import free_port
from tools.kafka_jars import class_path

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(400)]
RELEASE = "3.9.2"


class Kafka:
    """A broker of 3.9.2 that lives in ZooKeeper."""

    def __init__(self, folder, broker_id, zookeeper):
        folder.mkdir()
        self.address = f"127.0.0.1:{free_port()}"
        properties = folder / "server.properties"
        properties.write_text(
            f"broker.id={broker_id}\nzookeeper.connect={zookeeper}\nlisteners=PLAINTEXT://{self.address}\n"
            f"log.dirs={folder / 'data'}\nzookeeper.session.timeout.ms=3000\n"
            "auto.create.topics.enable=false\n"
        )
        command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", class_path(cache_folder(), RELEASE)]
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "kafka.Kafka", str(properties)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def kill(self):
        self.process.kill()
        self.process.wait()


async def kcat(*arguments, data=None):
    process = await asyncio.create_subprocess_exec(
        "kcat", *arguments, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(data), 60)
    return out.decode()


async def until(look, patience_s=90):
    async with asyncio.timeout(patience_s):
        while not await look():
            await asyncio.sleep(0.1)


async def test_kafka_obeys_our_controller(tmp_path):
    need_java()
    need_command("kcat")
    pytest.importorskip("kazoo")
    kafkas = []
    with ZooKeeperServer(tmp_path / "zookeeper") as server:
        try:
            await obey(server, tmp_path, kafkas)
        finally:
            for kafka in kafkas:
                kafka.kill()


async def obey(server, folder, kafkas):
    controller = Broker(server, 7)
    driver = controller.driver

    async def active():
        return driver.active

    await until(active)
    timer = LoopTimer(asyncio.get_running_loop())
    peers = PeerClient("kbroker-7", timer)
    driver.watch(ZkChannel(7, peers, timer, "PLAINTEXT"))
    kafkas += [Kafka(folder / str(each), each, server.address) for each in (1, 2)]

    async def all_there():
        return len(driver.committed_image.live_brokers()) == 3

    await until(all_there)
    rules = topic_rules()
    topic_id = new_uuid()
    topic = CreatableTopic(
        name="t",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])],
    )
    rules = type(rules)(1, 1, rules.check_configs, lambda: topic_id, rules.random_below)
    (made,) = await result(driver.append_records(lambda image: create_topics(image, [topic], False, rules)))
    assert made.error_code == 0
    one, two = kafkas

    def sees(kafka, text):
        async def look():
            return text in await kcat("-b", kafka.address, "-L", "-m", "5")

        return look

    await until(sees(two, "leader 1, replicas: 1,2, isrs: 1,2"))
    await kcat("-b", two.address, "-P", "-t", "t", "-X", "acks=all", data=b"first\n")
    one.kill()
    await until(sees(two, "leader 2, replicas: 1,2, isrs: 2"))
    await kcat("-b", two.address, "-P", "-t", "t", "-X", "acks=all", data=b"second\n")
    assert await kcat("-b", two.address, "-C", "-t", "t", "-p", "0", "-e", "-q") == "first\nsecond\n"
    await result(driver.append_records(lambda image: delete_topics(image, [TopicRef("t", bytes(16))])))
    await until(sees(two, " 0 topics"))
    data = folder / "2" / "data"

    async def deleted():
        return not (data / "t-0").exists()

    await until(deleted)
    await result(controller.client.close())
    await peers.close()
