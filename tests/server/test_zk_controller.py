"""Two controllers on a real ZooKeeper server: the first makes a topic and goes, the second goes on."""

import asyncio
import json

import pytest

from kbroker.broker.controller_driver import ControllerDriver
from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_controller import ZkController
from kbroker.broker.zk_election import ZkElection
from kbroker.broker.zk_memory import ZkMetadata
from kbroker.broker.zk_registration import ZkRegistration
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.topics import create_topics
from kbroker.controller.zookeeper.node_znodes import BrokerZnode
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.image import ClusterImage, Endpoint
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kbroker.server.runtime import LoopTimer, SystemClock
from kbroker.server.zk_client import ZkSettings, open_links
from tests.controller.clusters import rules as topic_rules
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer

SESSION_MS = 4000


class Broker:
    """What a node in ZooKeeper is made of, but for clients and logs."""

    def __init__(self, server, broker_id):
        clock, timer = SystemClock(), LoopTimer(asyncio.get_running_loop())
        links = open_links(ZkSettings(servers=server.address, session_ms=SESSION_MS))
        self.client = ZkClient(links, clock, timer, SESSION_MS)
        describe = lambda: BrokerZnode((Endpoint("PLAINTEXT", "h", 9090 + broker_id, 0),))  # noqa: E731
        self.registration = ZkRegistration(
            self.client, broker_id, describe, "the-cluster", timer, SESSION_MS * 2
        )
        self.metadata = ZkMetadata(MetadataCache("the-cluster"), ClusterImage("the-cluster"))
        self.driver = ControllerDriver(broker_id, timer, self.metadata)
        self.controller = ZkController(self.client, self.driver, self.metadata, timer, ElectionRules())
        self.election = ZkElection(self.client, broker_id, clock, timer, self.controller)
        self.controller.election = self.election
        self.client.listen(self)
        self.client.start()

    def session_began(self, session_id):
        self.registration.begin().then(lambda done: done.result() and self.election.begin())

    def session_over(self):
        self.registration.session_over()
        self.election.session_over()


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def result(deferred: Deferred):
    await until(lambda: deferred.done)
    return deferred.result()


async def test_a_topic_and_another_controller(tmp_path):
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path) as server:
        first = Broker(server, 1)
        await until(lambda: first.driver.active)
        second = Broker(server, 2)
        await until(lambda: len(first.driver.committed_image.live_brokers()) == 2)
        await until(lambda: second.metadata.image.controller_id == 1)
        topic = CreatableTopic(
            name="t",
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=at, broker_ids=ids)
                for at, ids in enumerate([[1, 2], [2, 1]])
            ],
        )
        rules = topic_rules()
        (made,) = await result(
            first.driver.append_records(lambda image: create_topics(image, [topic], False, rules))
        )
        assert made.error_code == 0
        await result(first.client.close())
        await until(lambda: second.driver.active)

        def led():
            topic = second.driver.committed_image.topics.get("t")
            return topic is not None and all(each.leader == 2 for each in topic.partitions)

        await until(led)
        state = await result(second.client.get("/brokers/topics/t/partitions/0/state"))
        assert json.loads(state.data) == {
            "controller_epoch": 2,
            "leader": 2,
            "version": 1,
            "leader_epoch": 1,
            "isr": [2],
        }
        assert state.stat.version == 1
        epoch = await result(second.client.get("/controller_epoch"))
        assert epoch.data == b"2"
        await result(second.client.close())
