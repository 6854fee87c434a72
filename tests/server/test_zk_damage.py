"""A real ZooKeeper that has lost what it had, or what somebody has damaged by hand: one line, and no harm."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from itertools import count

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import ClientError
from kbroker.client.records import fetch, produce
from kbroker.client.topics import list_topics
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker
from kbroker.types import TopicPartition
from tests.doubles import wait_until
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer

PLACE = TopicPartition("t", 0)


@pytest.fixture
def server(tmp_path):
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path / "zookeeper") as server:
        yield server


@pytest.fixture
def broker(server):
    config = {"zookeeper.session.timeout.ms": 2000}
    with Broker(zookeeper=server.address, config=config) as broker:
        yield broker


def edit(server, change):
    from kazoo.client import KazooClient

    client = KazooClient(server.address)
    client.start()
    try:
        return change(client)
    finally:
        client.stop()
        client.close()


@pytest.mark.parametrize("migrated", [True, False])
def test_what_a_quorum_may_know_of_is_not_set_aside(server, tmp_path, migrated):
    """Started once more by ZooKeeper after the cluster has moved, a broker leaves alone what KRaft has."""
    where = {"zookeeper": server.address, "data": str(tmp_path / "data")}
    with Broker(**where) as broker:
        broker.create_topic("t")
        with Client(broker.bootstrap) as client:
            produce(client, PLACE, [Record(value=b"v")])
    edit(server, lambda client: client.delete("/brokers/topics/t", recursive=True))
    if migrated:
        edit(server, lambda client: client.create("/migration", b"{}"))
    with Broker(**where):
        assert (tmp_path / "data" / "t-0").exists() == migrated


def assert_goes_on(broker):
    """It takes a moment until the controller has read the cluster, and seen that the broker is back."""
    numbers = count()

    def created():
        with suppress(ApiError, ClientError):
            broker.create_topic(f"after-{next(numbers)}")
            return True
        return False

    wait_until(created, "a controller that decides")


def test_a_zookeeper_that_has_lost_its_data_takes_nothing_from_this_broker(server, broker, caplog):
    broker.create_topic("t")
    with Client(broker.bootstrap) as client:
        produce(client, PLACE, [Record(-1, 0, b"k", b"v")])
    server.stop()
    data = os.path.join(server.folder, "data")
    shutil.move(data, f"{data}-before")
    server.start()
    wait_until(lambda: "has lost its data: there is no /cluster/id" in caplog.text, "a line")
    with Client(broker.bootstrap) as client:
        produce(client, PLACE, [Record(-1, 0, b"k", b"still led")])
    edit(
        server,
        lambda client: client.create(
            "/cluster/id", b'{"version":"1","id":"b3RoZXItY2x1c3Rlci0wMQ"}', makepath=True
        ),
    )
    wait_until(lambda: "is that of cluster b3RoZXItY2x1c3Rlci0wMQ" in caplog.text, "another line")
    assert edit(server, lambda client: sorted(client.get_children("/"))) == ["cluster", "zookeeper"]
    server.stop()
    shutil.rmtree(data)
    shutil.move(f"{data}-before", data)
    server.start()

    assert_goes_on(broker)
    with Client(broker.bootstrap) as client:
        assert produce(client, PLACE, [Record(-1, 0, b"k", b"all is there")]) == 2


def test_a_topic_taken_away_by_hand_keeps_its_log(server, broker, tmp_path, caplog):
    broker.create_topic("t")
    with Client(broker.bootstrap) as client:
        produce(client, PLACE, [Record(-1, 0, b"k", b"v")])
    data = edit(server, lambda client: client.get("/brokers/topics/t")[0])
    edit(server, lambda client: client.delete("/brokers/topics/t", recursive=True))
    wait_until(lambda: "topic t is gone from ZooKeeper, and was not deleted" in caplog.text, "a line")
    with Client(broker.bootstrap) as client:
        assert list_topics(client) == []

    edit(server, lambda client: client.create("/brokers/topics/t", data))
    assert_goes_on(broker)
    with Client(broker.bootstrap) as client:
        assert produce(client, PLACE, [Record(-1, 0, b"k", b"w")]) == 1
        found = fetch(client, {PLACE: 0})[PLACE].records
    assert [bytes(each.value) for each in found] == [b"v", b"w"]


def test_a_folder_taken_away_by_hand_is_made_again(server, broker, caplog):
    before = edit(server, lambda client: client.get("/brokers/ids/1")[1].czxid)
    edit(server, lambda client: client.delete("/brokers/ids", recursive=True))

    def registered():
        found = edit(server, lambda client: client.exists("/brokers/ids/1"))
        return found is not None and found.czxid > before

    wait_until(registered, "a registration")

    assert_goes_on(broker)
    broker.create_topic("t")
    state = edit(server, lambda client: json.loads(client.get("/brokers/topics/t/partitions/0/state")[0]))
    assert state["leader"] == 1
