"""Clusters of three processes: what the faults do, and that the cluster comes back from them."""

from __future__ import annotations

import pytest

from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import ClientError
from kbroker.client.offsets import list_offsets
from kbroker.client.records import produce
from kbroker.client.topics import create_topic
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import Record
from kbroker.testing import Cluster
from kbroker.types import TopicPartition

pytest_plugins = ["pytester"]

QUICK = {
    "broker.heartbeat.interval.ms": 200,
    "broker.session.timeout.ms": 1500,
    "controller.quorum.fetch.timeout.ms": 500,
    "controller.quorum.election.timeout.ms": 300,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    data = tmp_path_factory.mktemp("cluster")
    with Cluster(3, config=QUICK, data=str(data)) as cluster:
        yield cluster


@pytest.fixture
def whole(cluster):
    """The cluster, mended after each test."""
    yield cluster
    cluster.mend()


def send(cluster, topic, *values, avoid=()):
    """Produce with acks=all by brokers that are there; tried again as producers do."""
    where = ",".join(
        node.bootstrap for node in cluster.nodes.values() if node.id not in avoid and node.running
    )

    def attempt():
        with Client(where, timeout_s=3) as client:
            records = [Record(offset=-1, timestamp=1, key=None, value=value, headers=[]) for value in values]
            return produce(client, TopicPartition(topic, 0), records) + 1

    return cluster.wait_for(attempt)


def end_offset(cluster, topic):
    with Client(cluster.bootstrap, timeout_s=5) as client:
        return list_offsets(client, {TopicPartition(topic, 0): -1})[TopicPartition(topic, 0)].offset


def test_any_node_creates_topics_on_three_nodes(whole):
    for node in whole.nodes.values():
        with Client(node.bootstrap) as client:
            whole.wait_for(lambda client=client: len(client.brokers(refresh=True)) == 3)
    whole.create_topic("first", 3)
    for node_id in whole.nodes:
        assert {whole.describe("first", index, node_id).leader_id for index in range(3)} == {1, 2, 3}
    assert send(whole, "first", b"x") == 1


@pytest.mark.parametrize("which", ["leader", "controller"])
def test_a_killed_node_is_replaced_at_once_and_comes_back(whole, which):
    topic = whole.create_topic(f"killed-{which}")
    send(whole, topic, b"before")
    victim = whole.leader(topic) if which == "leader" else whole.controller()
    whole.kill(victim)
    whole.wait_for(lambda: whole.leader(topic) not in (-1, victim))
    assert send(whole, topic, b"during") == 2
    whole.restart(victim)
    whole.wait_for(whole.all_in_sync)
    assert send(whole, topic, b"after") == 3


def test_a_paused_leader_loses_its_session(whole):
    topic = whole.create_topic("paused")
    victim = whole.leader(topic)
    whole.pause(victim)
    whole.wait_for(lambda: whole.leader(topic) not in (-1, victim))
    send(whole, topic, b"x", avoid=[victim])
    whole.resume(victim)
    whole.wait_for(whole.all_in_sync)


def test_a_node_that_is_cut_off_is_replaced_and_follows_when_the_link_is_back(whole):
    topic = whole.create_topic("cut")
    victim = whole.leader(topic)
    others = [node for node in whole.nodes if node != victim]
    whole.partition([victim])
    whole.wait_for(lambda: whole.describe(topic, 0, others[0]).leader_id in others)
    send(whole, topic, b"x", avoid=[victim])
    whole.heal()
    whole.wait_for(whole.all_in_sync)
    assert whole.describe(topic, 0, victim).leader_id in others


def test_one_of_three_has_no_quorum_and_three_have_one_again(whole):
    first, *others = whole.nodes
    for node_id in others:
        whole.kill(node_id)
    client = Client(whole.nodes[first].bootstrap, timeout_s=1)
    with client, pytest.raises((ApiError, ClientError)):
        create_topic(client, "nobody-decides", partitions=1, replication_factor=1)
    whole.start()
    whole.wait_for(whole.all_in_sync)
    whole.create_topic("somebody-decides")


def test_033_a_rolling_restart_loses_no_send(whole):
    from confluent_kafka import Producer

    topic = whole.create_topic("rolling")
    failed = []
    producer = Producer(
        {"bootstrap.servers": whole.bootstrap, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
    )
    sent = 0

    def tick():
        nonlocal sent
        producer.produce(
            topic, str(sent).encode(), on_delivery=lambda error, _: error and failed.append(error)
        )
        sent += 1
        producer.poll(0)
        return whole.all_in_sync()

    for node_id in whole.nodes:
        whole.stop_node(node_id)
        for _ in range(5):
            whole.wait_for(lambda: tick() or True)
        whole.restart(node_id)
        whole.wait_for(tick)
    assert producer.flush(20) == 0
    assert failed == []
    assert end_offset(whole, topic) == sent


@pytest.mark.parametrize("which", ["broker", "controller"])
def test_a_second_node_with_the_same_id_is_refused_in_one_line(whole, tmp_path, which):
    from kbroker.errors import ConfigError
    from kbroker.testing.process import ProcessRunner

    active = whole.controller()
    taken = active if which == "controller" else active % 3 + 1
    original = whole.nodes[taken]
    voters = original.settings["controller.quorum.voters"].replace(f"{taken}@", "9@")
    settings = {
        **original.settings,
        "process.roles": "broker",
        "controller.quorum.voters": voters,
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(tmp_path / "copy"),
        "broker.session.timeout.ms": "2000",
    }
    with pytest.raises(ConfigError, match=rf"another (broker|node) with node\.id {taken} is running"):
        ProcessRunner(settings, "dev").start()


def test_a_node_of_another_cluster_is_refused_in_one_line(whole, tmp_path):
    from kbroker.errors import ConfigError
    from kbroker.testing.process import ProcessRunner

    settings = {
        **whole.nodes[2].settings,
        "node.id": "8",
        "process.roles": "broker",
        "kbroker.cluster.id": "ZZZZZZZZZZZZZZZZZZZZZg",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(tmp_path / "other"),
        "initial.broker.registration.timeout.ms": "3000",
    }
    with pytest.raises(ConfigError, match="cluster"):
        ProcessRunner(settings, "dev").start()


def test_the_data_stay_where_they_are_told_to_stay(tmp_path):
    data = str(tmp_path / "data")
    with Cluster(1, data=data, links=False) as cluster:
        cluster.create_topic("kept")
        send(cluster, "kept", b"x")
    with Cluster(1, data=data, links=False) as cluster:
        assert end_offset(cluster, "kept") == 1


def test_one_node_grows_to_three_without_a_stop(tmp_path, capsys):
    """docs/cluster.md, step by step: format, start, add; then the first node may even go."""
    from kbroker.cli.admin import main as admin
    from kbroker.cli.main import main as kbroker
    from kbroker.config.local_cluster import plan_nodes
    from kbroker.testing.cluster_node import ClusterNode
    from kbroker.testing.ports import free_ports

    ports = free_ports(6)
    plans = plan_nodes(str(tmp_path), "127.0.0.1", list(zip(ports[::2], ports[1::2])))
    bootstrap = ",".join(f"{plan.host}:{plan.controller_port}" for plan in plans)
    nodes = []
    for plan in plans:
        settings = {
            **{name: str(value) for name, value in QUICK.items()},
            "process.roles": "broker,controller",
            "node.id": str(plan.id),
            "listeners": f"PLAINTEXT://{plan.bootstrap},CONTROLLER://{plan.host}:{plan.controller_port}",
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": bootstrap,
            "kbroker.cluster.id": "AAAAAAAAAAAAAAAAAAAAAg",
            "log.dirs": plan.folder,
        }
        nodes.append(ClusterNode(plan, settings, "dev"))
    settings = [f"--set={name}={value}" for name, value in nodes[0].settings.items()]
    assert kbroker(["storage", "format", "-t", "AAAAAAAAAAAAAAAAAAAAAg", "-s", *settings]) == 0
    try:
        nodes[0].spawn()
        nodes[0].wait_ready()
        with Client(nodes[0].bootstrap) as client:
            create_topic(client, "grown", partitions=1, replication_factor=1)
            produce(
                client, TopicPartition("grown", 0), [Record(offset=-1, timestamp=1, key=None, value=b"x")]
            )
        for node in nodes[1:]:
            node.spawn()
            node.wait_ready()
            address = f"{node.plan.host}:{node.plan.controller_port}"
            assert admin(["-b", nodes[0].bootstrap, "quorum", "add", str(node.id), address]) == 0
        file = tmp_path / "plan.json"
        capsys.readouterr()
        assert admin(["-b", nodes[0].bootstrap, "reassign", "generate", "grown", "-r", "3"]) == 0
        file.write_text(capsys.readouterr().out)
        assert admin(["-b", nodes[0].bootstrap, "reassign", "execute", str(file), "--wait"]) == 0
        nodes[0].kill()

        def read():
            with Client(nodes[1].bootstrap, timeout_s=5) as client:
                return list_offsets(client, [TopicPartition("grown", 0)], -1)

        helper = Cluster(1, links=False)
        assert helper.wait_for(read)[TopicPartition("grown", 0)].offset == 1
    finally:
        for node in nodes:
            if node.running:
                node.kill()


SUITE = """
    def test_a_node_may_die(kafka_cluster):
        kafka_cluster.create_topic("t", 1)
        victim = kafka_cluster.leader("t")
        kafka_cluster.kill(victim)
        kafka_cluster.wait_for(lambda: kafka_cluster.leader("t") not in (-1, victim))

    def test_the_next_one_finds_it_mended(kafka_cluster):
        assert kafka_cluster.all_in_sync()
"""


def test_the_plugin_has_a_cluster(pytester):
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=2)
