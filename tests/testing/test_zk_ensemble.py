"""Three ZooKeeper servers: when one of them dies, clients do not notice."""

from __future__ import annotations

import socket

import pytest
from confluent_kafka import Producer

from kbroker.client.cluster import Cluster as Client
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.testing import Cluster
from kbroker.testing.ports import free_ports
from tests.doubles import wait_until
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer
from tests.testing.test_cluster import end_offset

_OVER = "the session with ZooKeeper is over"


def ask(server, word):
    with socket.create_connection(("127.0.0.1", server.port), 5) as connection:
        connection.sendall(word)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def leads(server):
    try:
        return b"Mode: leader" in ask(server, b"srvr")
    except OSError:
        return False


@pytest.fixture
def ensemble(tmp_path):
    """By their ports."""
    need_java()
    ports = free_ports(6)
    members = "".join(
        f"server.{number}=127.0.0.1:{peer}:{election}\n"
        for number, (peer, election) in enumerate(zip(ports[::2], ports[1::2]), 1)
    )
    servers = []
    for number in (1, 2, 3):
        folder = tmp_path / f"zookeeper-{number}"
        (folder / "data").mkdir(parents=True)
        (folder / "data" / "myid").write_text(str(number))
        servers.append(ZooKeeperServer(folder, config=f"initLimit=50\nsyncLimit=20\n{members}"))
    try:
        for server in servers:
            server.start()
        wait_until(lambda: any(map(leads, servers)), "a leader")
        yield servers
    finally:
        for server in servers:
            server.stop()


def test_the_servers_that_are_left_go_on(ensemble, tmp_path):
    where = ",".join(server.address for server in ensemble)
    config = {"zookeeper.session.timeout.ms": 30_000}
    with Cluster(3, zookeeper=f"{where}/three", config=config, data=str(tmp_path / "data")) as cluster:
        topic = cluster.create_topic("t")
        cluster.wait_for(cluster.all_in_sync)
        controller = cluster.controller()
        failed = []
        producer = Producer(
            {"bootstrap.servers": cluster.bootstrap, "enable.idempotence": True, "log_level": 0}
        )
        (leader,) = filter(leads, ensemble)
        leader.stop()
        left = [server for server in ensemble if server is not leader]
        sent = 0

        def tick():
            nonlocal sent
            producer.produce(topic, b"x", on_delivery=lambda error, _: error and failed.append(error))
            sent += 1
            producer.poll(0)

        cluster.wait_for(lambda: tick() or any(map(leads, left)))
        with Client(cluster.bootstrap, timeout_s=30) as client:
            alter_configs(client, ResourceType.TOPIC, topic, set_={"retention.ms": "1234567"})
        cluster.create_topic("made")
        assert producer.flush(20) == 0
        assert failed == []
        assert end_offset(cluster, topic) == sent
        assert cluster.controller() == controller
        assert not any(_OVER in node.log for node in cluster.nodes.values())
