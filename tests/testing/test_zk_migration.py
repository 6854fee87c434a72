"""A small cluster moves from ZooKeeper to KRaft, its nodes in this process; `kbroker-admin migrate` watches.

With processes, clients all the while, and Apache Kafka's nodes: `tests/compat/mixed/test_zk_migration.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import time

import pytest

from kbroker.cli.admin import main
from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, describe_configs
from kbroker.client.errors import ClientError
from kbroker.client.records import fetch, produce
from kbroker.client.topics import create_topic, describe_topics, list_topics
from kbroker.config.loading import load_config
from kbroker.errors import ApiError
from kbroker.nodes import node_for
from kbroker.protocol.record_batch import Record
from kbroker.testing.ports import free_ports
from kbroker.types import TopicPartition
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer

BROKERS, CONTROLLER = (1, 2), 3001
ZOOKEEPER, MIGRATING, KRAFT = "zookeeper", "migrating", "kraft"
TP = TopicPartition("t", 0)
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
#: All log in to each other, and without a list nobody but the nodes may do anything.
SECURED = {
    "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    **{
        f"listener.name.{name}.plain.sasl.jaas.config": (
            f'{_MODULE} required username="node" password="s" user_node="s";'
        )
        for name in ("plaintext", "controller")
    },
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:node",
}
CLIENT = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{_MODULE} required username="node" password="s";',
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


class Moving:
    """Two brokers and a controller, in this process's loop; what asks them runs in a thread."""

    def __init__(self, server, folder, security=None, session_ms=6000):
        self.session_ms = session_ms
        #: The controller is a broker, too.
        self.is_combined = False
        self.folder, self.security = folder, security or {}
        self.client = CLIENT if security else {}
        self.command_config = folder / "client.properties"
        self.command_config.write_text("".join(f"{name}={value}\n" for name, value in self.client.items()))
        self.connect = f"{server.address}/{folder.name}"
        self.ports = dict(zip((*BROKERS, CONTROLLER), free_ports(3)))
        self.nodes = {}
        self.cluster_id = ""
        self.sent = 0

    async def start(self, node_id, mode):
        """In that mode; of the controller: MIGRATING, or KRAFT when it is over."""
        name = "CONTROLLER" if node_id == CONTROLLER else "PLAINTEXT"
        listeners = [f"{name}://127.0.0.1:{self.ports[node_id]}"]
        if node_id == CONTROLLER and self.is_combined:
            listeners.append("PLAINTEXT://127.0.0.1:0")
        settings = {
            "listeners": ",".join(listeners),
            "log.dirs": ",".join(str(self.folder / f"node-{node_id}" / each) for each in ("a", "b")),
            "offsets.topic.replication.factor": "2",
            **self.security,
        }
        zookeeper = {
            "zookeeper.connect": self.connect,
            "zookeeper.session.timeout.ms": str(self.session_ms),
            "zookeeper.connection.timeout.ms": "60000",
        }
        quorum = {
            "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{self.ports[CONTROLLER]}",
            "controller.listener.names": "CONTROLLER",
        }
        controller = "broker,controller" if self.is_combined else "controller"
        role = {"process.roles": controller if node_id == CONTROLLER else "broker", "node.id": str(node_id)}
        if node_id == CONTROLLER:
            settings |= {**role, "kbroker.cluster.id": self.cluster_id}
        elif mode == KRAFT:
            settings |= role
        else:
            settings["broker.id"] = str(node_id)
        if mode != ZOOKEEPER:
            settings |= quorum
        if mode != KRAFT:
            settings |= zookeeper
        if mode == MIGRATING:
            settings["zookeeper.metadata.migration.enable"] = "true"
        node = self.nodes[node_id] = node_for(load_config(assignments=settings.items()).config)
        await node.start()
        self.cluster_id = node.cluster_id

    async def restart(self, node_id, mode):
        await self.nodes.pop(node_id).stop()
        await self.start(node_id, mode)

    async def stop(self):
        while self.nodes:
            await self.nodes.popitem()[1].stop()

    async def ask(self, question, *arguments):
        """`question(client, …)`, until it is answered without an error."""

        def attempt():
            with Cluster(self.bootstrap, timeout_s=20, settings=self.client) as client:
                return question(client, *arguments)

        deadline = time.monotonic() + 60
        while True:
            try:
                return await asyncio.to_thread(attempt)
            except (ApiError, ClientError, OSError):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.1)

    @property
    def bootstrap(self):
        return ",".join(f"127.0.0.1:{self.ports[each]}" for each in BROKERS if each in self.nodes)

    async def send(self):
        """A record that both brokers have."""
        await self.until(lambda client: len(describe_topics(client, ["t"])[0].partitions[0].isr) == 2)
        record = Record(-1, int(time.time() * 1000), b"k", b"%d" % self.sent)
        await self.ask(produce, TP, [record])
        self.sent += 1

    async def check(self):
        """All that was sent is there, once."""
        found = (await self.ask(fetch, {TP: 0}))[TP].records
        assert [bytes(each.value) for each in found] == [b"%d" % n for n in range(self.sent)]

    async def until(self, test):
        """Until a question is answered with yes."""
        deadline = time.monotonic() + 60
        while not await self.ask(test):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.1)

    async def migrate(self, bootstrap=""):
        """What `kbroker-admin migrate --json` prints."""

        def run():
            with contextlib.redirect_stdout(io.StringIO()) as said:
                where = ["-b", bootstrap or self.bootstrap, "--command-config", str(self.command_config)]
                assert main([*where, "migrate", "--json"]) == 0
            return json.loads(said.getvalue())

        return await asyncio.to_thread(run)

    async def until_phase(self, phase):
        """Until it says so; what it says then."""
        deadline = time.monotonic() + 60
        while (found := await self.migrate())["phase"] != phase:
            assert time.monotonic() < deadline, found
            await asyncio.sleep(0.2)
        return found

    async def znode(self, path):
        """What ZooKeeper has there."""

        def look(client):
            return client.get(path)[0] if client.exists(path) else None

        return await asyncio.to_thread(at_zookeeper, self.connect, look)

    async def delete(self, path):
        """Take a znode away."""
        await asyncio.to_thread(at_zookeeper, self.connect, lambda client: client.delete(path))


async def test_there(server, tmp_path):
    cluster = Moving(server, tmp_path, SECURED)
    try:
        for broker in BROKERS:
            await cluster.start(broker, ZOOKEEPER)
        await cluster.ask(lambda client: create_topic(client, "t", assignment=[[1, 2]]))
        await cluster.send()
        assert "start a quorum" in (await cluster.migrate())["next"]

        await cluster.start(CONTROLLER, MIGRATING)
        await cluster.restart(1, MIGRATING)
        await cluster.send()
        found = await cluster.until_phase("PRE_MIGRATION")
        assert found["next"].startswith("restart broker 2 with zookeeper.metadata.migration.enable=true")
        assert await cluster.znode("/migration") is None
        await cluster.restart(2, MIGRATING)
        found = await cluster.until_phase("MIGRATION")
        assert found["in_zookeeper_mode"] == [1, 2]
        assert json.loads(await cluster.znode("/controller"))["brokerid"] == CONTROLLER
        await cluster.send()
        await cluster.ask(
            lambda client: create_topic(client, "u", assignment=[[2, 1]], configs={"retention.ms": "77000"})
        )
        assert json.loads(await cluster.znode("/brokers/topics/u"))["partitions"] == {"0": [2, 1]}

        await cluster.restart(2, KRAFT)
        await cluster.send()
        found = await cluster.migrate()
        assert found["next"].startswith("restart broker 1, one by one, with process.roles=broker")
        assert [each["mode"] for each in found["brokers"]] == ["zookeeper", "kraft"]
        alone = await cluster.migrate(f"127.0.0.1:{cluster.ports[CONTROLLER]}")
        assert (alone["source"], alone["in_kraft_mode"]) == (CONTROLLER, [2])
        await cluster.restart(1, KRAFT)
        await cluster.send()
        found = await cluster.migrate()
        assert found["next"].startswith("restart the controllers one by one without")

        await cluster.restart(CONTROLLER, KRAFT)
        assert (await cluster.until_phase("POST_MIGRATION"))["next"] == "nothing"
        await cluster.send()
        await cluster.ask(lambda client: create_topic(client, "v", assignment=[[1, 2]]))
        assert await cluster.znode("/brokers/topics/v") is None
        assert {each.name for each in await cluster.ask(list_topics)} >= {"t", "u", "v"}
        configs = await cluster.ask(describe_configs, ResourceType.TOPIC, "u")
        assert {each.name: each.value for each in configs}["retention.ms"] == "77000"
        await cluster.check()
    finally:
        await cluster.stop()


async def test_and_back(server, tmp_path):
    """A migration that is called off while a broker is in KRaft's mode already."""
    cluster = Moving(server, tmp_path)
    try:
        for broker in BROKERS:
            await cluster.start(broker, MIGRATING)
        await cluster.ask(lambda client: create_topic(client, "t", assignment=[[1, 2]]))
        await cluster.start(CONTROLLER, MIGRATING)
        await cluster.until_phase("MIGRATION")
        await cluster.restart(1, KRAFT)
        await cluster.send()
        await cluster.restart(1, MIGRATING)
        await cluster.send()
        await cluster.nodes.pop(CONTROLLER).stop()
        for path in ("/controller", "/migration"):
            await cluster.delete(path)
        await cluster.send()
        for broker in BROKERS:
            await cluster.restart(broker, ZOOKEEPER)
            await cluster.send()
        assert json.loads(await cluster.znode("/controller"))["brokerid"] in BROKERS
        await cluster.ask(lambda client: create_topic(client, "u", assignment=[[2, 1]]))
        assert await cluster.znode("/brokers/topics/u")
        await cluster.check()
    finally:
        await cluster.stop()


async def test_a_controller_that_is_a_broker_too(server, tmp_path):
    cluster = Moving(server, tmp_path)
    cluster.is_combined = True
    try:
        await cluster.start(1, MIGRATING)
        await cluster.ask(lambda client: create_topic(client, "u", assignment=[[1]]))
        # It serves when the cluster is its own.
        starting = asyncio.ensure_future(cluster.start(CONTROLLER, MIGRATING))
        await cluster.until_phase("MIGRATION")
        await starting
        await cluster.ask(lambda client: create_topic(client, "t", assignment=[[1, CONTROLLER]]))
        await cluster.send()
        for node, mode in ((1, KRAFT), (CONTROLLER, KRAFT)):
            await cluster.restart(node, mode)
            await cluster.send()
        assert (await cluster.until_phase("POST_MIGRATION"))["in_kraft_mode"] == [1, CONTROLLER]
        await cluster.check()
    finally:
        await cluster.stop()


async def test_zookeeper_is_killed_while_both_are_written(server, tmp_path):
    """Records and new topics go on; ZooKeeper, and brokers in its mode, hear of these when it is back."""
    cluster = Moving(server, tmp_path, session_ms=2000)
    try:
        for broker in BROKERS:
            await cluster.start(broker, MIGRATING)
        await cluster.ask(lambda client: create_topic(client, "t", assignment=[[1, 2]]))
        await cluster.start(CONTROLLER, MIGRATING)
        await cluster.until_phase("MIGRATION")
        await cluster.send()
        await asyncio.to_thread(server.stop)
        try:
            await cluster.send()
            deadline = time.monotonic() + 60
            while not (found := await cluster.migrate())["next"].startswith("bring ZooKeeper back"):
                assert time.monotonic() < deadline, found
                await asyncio.sleep(0.1)
            # The sessions are over, and nobody gives up what it leads.
            await cluster.send()
            await cluster.ask(lambda client: create_topic(client, "u", assignment=[[2, 1]]))
        finally:
            await asyncio.to_thread(server.start)
        await cluster.until(lambda client: describe_topics(client, ["u"])[0].partitions[0].leader == 2)
        assert json.loads(await cluster.znode("/brokers/topics/u"))["partitions"] == {"0": [2, 1]}
        await cluster.send()
        await cluster.ask(produce, TopicPartition("u", 0), [Record(-1, 0, b"k", b"v")])
        await cluster.check()
    finally:
        await cluster.stop()


async def test_a_broker_that_starts_waits_for_the_quorum(server, tmp_path, caplog):
    """Kafka's says meanwhile that there are no topics."""
    cluster = Moving(server, tmp_path)
    caplog.set_level("INFO")
    try:
        await cluster.start(1, MIGRATING)
        await cluster.ask(lambda client: create_topic(client, "t", assignment=[[1]]))
        await cluster.start(CONTROLLER, MIGRATING)
        await cluster.until_phase("MIGRATION")
        for node in (1, CONTROLLER):
            await cluster.nodes.pop(node).stop()
        starting = asyncio.ensure_future(cluster.start(1, MIGRATING))
        deadline = time.monotonic() + 60
        while "waiting for a controller of the KRaft quorum" not in caplog.text:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
        assert not starting.done()
        await cluster.start(CONTROLLER, MIGRATING)
        await starting
        await cluster.until(lambda client: describe_topics(client, ["t"])[0].partitions[0].leader == 1)
        # The controllers end it, and have forgotten this broker.
        await cluster.restart(CONTROLLER, KRAFT)
        deadline = time.monotonic() + 60
        while "the migration to KRaft is over, and nobody tells this broker anything" not in caplog.text:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    finally:
        await cluster.stop()


async def test_a_broker_that_does_not_take_part_says_what_it_lacks(server, tmp_path, caplog):
    cluster = Moving(server, tmp_path)
    data = b'{"version":2,"brokerid":3001,"timestamp":"1","kraftControllerEpoch":5}'
    await asyncio.to_thread(at_zookeeper, cluster.connect, lambda client: client.create("/controller", data))
    starting = asyncio.ensure_future(cluster.start(1, ZOOKEEPER))
    try:
        deadline = time.monotonic() + 60
        while "it needs zookeeper.metadata.migration.enable=true" not in caplog.text:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    finally:
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await starting


def at_zookeeper(connect, do):
    from kazoo.client import KazooClient

    client = KazooClient(connect)
    client.start()
    try:
        client.ensure_path("/")
        return do(client)
    finally:
        client.stop()
        client.close()
