"""Nodes in a real ZooKeeper that end without a word: others go on long before the session ends."""

import threading

import pytest
from confluent_kafka import Producer

from kbroker.client.cluster import Cluster as Client
from kbroker.client.offsets import list_offsets
from kbroker.client.records import produce
from kbroker.protocol.record_batch import Record
from kbroker.testing import Broker, Cluster
from kbroker.types import TopicPartition
from tests.doubles import wait_until
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer
from tests.testing.test_cluster import end_offset

SESSION_MS = 45_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    folder = tmp_path_factory.mktemp("nodes")
    settings = {"zookeeper.session.timeout.ms": SESSION_MS}
    with ZooKeeperServer(folder / "zookeeper") as server:
        cluster = Cluster(
            4,
            controller="zookeeper",
            zookeeper=server.address,
            data=str(folder / "data"),
            config=settings,
            in_process=True,
            links=False,
        )
        with cluster:
            cluster.create_topic("t", 4, replication_factor=4)
            yield cluster


def registered(cluster):
    from kazoo.client import KazooClient

    client = KazooClient(cluster.zookeeper)
    client.start()
    try:
        return {int(each) for each in client.get_children("/brokers/ids")}, client.get("/controller_epoch")[0]
    finally:
        client.stop()
        client.close()


def without(cluster, gone):
    """Whether nobody counts on that broker any more."""

    def look():
        partitions = [cluster.describe("t", each) for each in range(4)]
        return all(each.leader_id not in (-1, gone) and gone not in each.isr_nodes for each in partitions)

    return look


def test_a_killed_leader_is_followed_before_its_session_ends(cluster):
    controller = cluster.controller()
    gone = next(each for each in cluster.nodes if each != controller)
    cluster.kill(gone)
    cluster.wait_for(without(cluster, gone), SESSION_MS / 2000)
    assert registered(cluster) == ({1, 2, 3, 4}, b"1")
    assert cluster.controller() == controller


def test_a_killed_controller_is_followed_before_its_session_ends(cluster):
    gone = cluster.controller()
    cluster.kill(gone)
    cluster.wait_for(lambda: cluster.controller() not in (-1, gone), SESSION_MS / 2000)
    cluster.wait_for(without(cluster, gone), SESSION_MS / 2000)
    assert registered(cluster) == ({1, 2, 3, 4}, b"2")


def test_killed_ones_are_back_before_their_sessions_end(cluster, caplog):
    caplog.set_level("INFO")
    killed = [node_id for node_id, node in cluster.nodes.items() if node._runner is None]
    assert killed
    for node_id in killed:
        cluster.restart(node_id)
        assert f"the registration of broker {node_id} from before is removed" in caplog.text
    cluster.wait_for(cluster.all_in_sync)
    assert "waiting for an earlier session" not in caplog.text


def test_a_second_broker_with_an_id_is_refused_at_once(cluster):
    (taken, *_) = cluster.nodes
    settings = {"broker.id": taken, "zookeeper.session.timeout.ms": SESSION_MS}
    text = f"another broker with broker.id {taken} is registered, and answers at 127.0.0.1:"
    with pytest.raises(Exception, match=text), Broker(zookeeper=cluster.zookeeper, config=settings):
        pass
    assert registered(cluster)[0] == {1, 2, 3, 4}


# -- log directories -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def disks(tmp_path_factory):
    """Three nodes with two log directories each."""
    need_java()
    pytest.importorskip("kazoo")
    folder = tmp_path_factory.mktemp("disks")
    with ZooKeeperServer(folder / "zookeeper") as server:
        cluster = Cluster(
            3,
            controller="zookeeper",
            zookeeper=server.address,
            data=str(folder / "data"),
            in_process=True,
            links=False,
        )
        cluster._plan()
        for node in cluster.nodes.values():
            node.settings["log.dirs"] = f"{node.data}/one,{node.data}/two"
        with cluster:
            cluster.create_topic("t", 6)
            cluster.wait_for(cluster.all_in_sync)
            yield cluster


def inside(cluster, node_id):
    """The node itself, and its event loop."""
    runner = cluster.nodes[node_id]._runner
    return runner._node, runner._loop


def lost_by(cluster, victim, asked):
    """The partitions of which a node says that this replica is offline."""
    return {each for each in range(6) if victim in cluster.describe("t", each, asked).offline_replicas}


@pytest.mark.parametrize("which", ["another", "the controller"])
def test_what_lies_in_a_failed_directory_is_led_by_others(disks, which):
    controller = disks.controller()
    victim = (
        controller if which == "the controller" else next(each for each in disks.nodes if each != controller)
    )
    node, loop = inside(disks, victim)
    # The first one is that of the metadata in KRaft, where there is no going on without it.
    failed = node._logs.dirs[0]
    there = {
        tp.partition for tp, log in node._logs.logs.items() if log.directory is failed and tp.topic == "t"
    }
    assert 0 < len(there) < 6
    loop.call_soon_threadsafe(failed.fail_for_good, OSError(5, "Input/output error"))

    def moved():
        found = {each: disks.describe("t", each) for each in range(6)}
        return all(found[each].leader_id not in (-1, victim) for each in there) and all(
            (victim in partition.isr_nodes) == (index not in there) for index, partition in found.items()
        )

    disks.wait_for(moved)
    for asked in disks.nodes:
        disks.wait_for(lambda asked=asked: lost_by(disks, victim, asked) == there)
    disks.wait_for(lambda: not children(disks.zookeeper, "/log_dir_event_notification"))
    assert disks.controller() == controller
    assert not node.failed.is_set()


def expire(node):
    """End the session of a node by its own number and password, as the servers do when its time is over."""
    from kazoo.client import KazooClient

    link = node._zk.client._link._client
    session = link._session_id
    # The node may have it back before the other has said that it ends.
    while link._session_id == session:
        other = KazooClient(
            node.config.static["zookeeper.connect"], client_id=(session, link._session_passwd)
        )
        other.start()
        other.stop()
        other.close()


class Producing:
    """An idempotent producer of a thread; `acknowledged` counts its records."""

    def __init__(self, bootstrap, topic):
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
        )
        self._topic, self._over = topic, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.acknowledged, self.errors = 0, []

    def _run(self):
        while not self._over.is_set():
            self._producer.produce(self._topic, b"x", on_delivery=self._told)
            self._producer.poll(0.005)

    def _told(self, error, message):
        if error is None:
            self.acknowledged += 1
        else:
            self.errors.append(error)

    def goes_on(self):
        before = self.acknowledged
        wait_until(lambda: self.acknowledged > before + 50, "more that is acknowledged")

    def __enter__(self):
        self._thread.start()
        self.goes_on()
        return self

    def __exit__(self, *exception):
        self._over.set()
        self._thread.join()
        assert self._producer.flush(60) == 0


@pytest.mark.parametrize("which", ["another", "the controller"])
def test_115_a_session_that_expires_under_load(disks, which):
    """The node registers anew; as the controller it resigns, and there is an election."""
    controller = disks.controller()
    victim = next(each for each in disks.nodes if (each == controller) == (which == "the controller"))
    node, _ = inside(disks, victim)
    before, epoch = node._zk.broker_epoch, registered(disks)[1]
    load = f"load-{which.replace(' ', '-')}"
    disks.create_topic(load, 1, config={"min.insync.replicas": 2})
    with Producing(disks.bootstrap, load) as producer:
        expire(node)
        disks.wait_for(lambda: node._zk.broker_epoch > before)
        producer.goes_on()
    assert not producer.errors
    disks.wait_for(lambda: end_offset(disks, load) == producer.acknowledged)
    disks.wait_for(lambda: registered(disks)[0] == {1, 2, 3})
    disks.wait_for(lambda: (registered(disks)[1] > epoch) == (which == "the controller"))
    name = which.replace(" ", "-")
    disks.wait_for(lambda: len(disks.metadata(victim).brokers) == 3)
    disks.create_topic(name, 3, config={"min.insync.replicas": 3})
    disks.wait_for(lambda: all(len(disks.describe(name, each).isr_nodes) == 3 for each in range(3)))
    with Client(disks.bootstrap) as client:
        for each in range(3):
            produce(client, TopicPartition(name, each), [Record(-1, 0, b"k", b"v")])
    assert not node.failed.is_set()


def test_a_partition_whose_only_log_is_out_of_reach_is_led_by_nobody(tmp_path):
    """Not by a new, empty one."""
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path / "zookeeper") as server:
        one, two = tmp_path / "one", tmp_path / "two"
        settings = {"log.dirs": f"{one},{two}"}
        with Broker(zookeeper=server.address, config=settings) as broker, Client(broker.bootstrap) as client:
            broker.create_topic("t", partitions=4)
            there = {int(each.name[2:]) for each in two.glob("t-*")}
            for each in there:
                produce(client, TopicPartition("t", each), [Record(-1, 0, b"k", b"v")])
        assert 0 < len(there) < 4
        two.rename(tmp_path / "away")
        two.write_text("no folder")
        with Broker(zookeeper=server.address, config=settings) as broker, Client(broker.bootstrap) as client:

            def leaders():
                (topic,) = client.metadata(["t"]).topics
                return {each.partition_index: each.leader_id for each in topic.partitions}

            wait_until(
                lambda: leaders() == {each: -1 if each in there else 1 for each in range(4)}, "leaders"
            )
        two.unlink()
        (tmp_path / "away").rename(two)
        with Broker(zookeeper=server.address, config=settings) as broker, Client(broker.bootstrap) as client:
            wait_until(lambda: leaders() == dict.fromkeys(range(4), 1), "leaders")
            ends = list_offsets(client, [TopicPartition("t", each) for each in there])
            assert {each.offset for each in ends.values()} == {1}


def children(address, path):
    from kazoo.client import KazooClient

    client = KazooClient(address)
    client.start()
    try:
        return client.get_children(path)
    finally:
        client.stop()
        client.close()
