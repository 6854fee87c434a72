from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from kbroker.cli import cluster, start
from kbroker.cli.main import main
from kbroker.client.cluster import Cluster as Client
from kbroker.client.errors import ClientError
from kbroker.client.topics import create_topic, list_topics
from kbroker.config.local_cluster import consecutive_ports
from kbroker.raft.election_state import ElectionState, encode_election_state
from kbroker.testing.ports import free_ports
from tests.doubles import wait_until
from tests.security.certificates import Authority, pem_settings
from tests.security.logins import PLAIN_MODULE, USERS, client_jaas

_BETWEEN = "security.inter.broker.protocol"


class Started:
    """`kbroker start --cluster 3`, until the banner is there."""

    def __init__(self, data, port, *arguments):
        command = [sys.executable, "-m", "kbroker.cli.main", "start", "--cluster", "3"]
        command += ["--data", str(data), "--port", str(port), "--host", "127.0.0.1", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.banner = []
        for line in self.process.stdout:
            self.banner.append(line.rstrip("\n"))
            if line.startswith("stop with"):
                break

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.communicate()

    @property
    def bootstrap(self):
        (line,) = (line for line in self.banner if line.startswith("reach it at "))
        return line.removeprefix("reach it at ")

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(60), self.process.stderr.read()


@pytest.fixture
def port():
    """Three free ones in a row, with those of their controllers."""
    while True:
        first = free_ports(1)[0]
        if all(is_free(each) for pair in consecutive_ports(first, 3) for each in pair):
            return first


def is_free(number):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return False
    return True


def test_three_nodes_that_keep_their_data(tmp_path, port):
    data = tmp_path / "data"
    with Started(data, port) as started:
        assert started.bootstrap == ",".join(f"127.0.0.1:{port + number}" for number in range(3))
        assert started.banner[0].startswith("kbroker 0.")
        assert "a cluster of 3 nodes" in started.banner[0]
        with Client(started.bootstrap) as client:
            wait_until(
                lambda: sorted(client.brokers(refresh=True)) == [1, 2, 3], "a node that has heard of all"
            )
            create_topic(client, "kept", partitions=1)
            wait_until(lambda: list_topics(client), "the topic on the broker that is asked")
            (topic,) = list_topics(client)
            assert len(topic.partitions[0].replicas) == 3
        assert started.stop()[0] == 0
    assert sorted(os.listdir(data)) == ["node-1", "node-2", "node-3"]
    with Started(data, port) as started:
        with Client(started.bootstrap) as client:
            assert [topic.name for topic in list_topics(client)] == ["kept"]
        assert started.stop(signal.SIGTERM)[0] == 0


def created(bootstrap):
    try:
        with Client(bootstrap, timeout_s=5) as client:
            create_topic(client, "still", partitions=1, replication_factor=2)
    except ClientError:
        return False
    return True


def test_a_node_that_dies_is_told_and_the_others_go_on_and_it_can_be_brought_back(tmp_path, port):
    with Started(tmp_path / "data", port) as started:
        children = subprocess.run(
            ["ps", "--ppid", str(started.process.pid), "-o", "pid="],
            capture_output=True,
            text=True,
            check=True,
        )
        os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
        wait_until(lambda: created(started.bootstrap.split(",")[1]), "a topic on the others")
        with Started(tmp_path / "data", port, "--node", "1") as back:
            assert f"listens on 127.0.0.1:{port}" in back.banner[0]
            # Whoever runs the tests may have had SIGINT ignored, and a node then ignores it, too.
            assert back.stop(signal.SIGTERM)[0] == 0
        code, said = started.stop()
    assert code == 0
    assert "has ended (SIGKILL); the others go on. Bring it back with" in said


def test_nodes_that_show_themselves_to_each_other_and_to_clients(tmp_path, port):
    """TLS and PLAIN on all listeners from one file, with no password on a command line."""
    authority = Authority()
    settings = {
        _BETWEEN: "SASL_SSL",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": USERS,
        **pem_settings(authority, authority.sign("node")),
    }
    file = tmp_path / "all.toml"
    file.write_text(
        "".join(f"{json.dumps(name)} = {json.dumps(value)}\n" for name, value in settings.items())
    )
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": client_jaas(PLAIN_MODULE, "alice", "alice-secret"),
        **pem_settings(authority, None),
    }
    with Started(tmp_path / "data", port, "--config", str(file)) as started:
        assert any("security.protocol=SASL_SSL" in line for line in started.banner)
        with Client(started.bootstrap, settings=client) as asked:
            wait_until(lambda: len(asked.brokers(refresh=True)) == 3, "a node that has heard of all")
            create_topic(asked, "t", replication_factor=3)
        # Nobody gets in as he likes, at the controllers neither.
        for address in (started.bootstrap, f"127.0.0.1:{consecutive_ports(port, 3)[0][1]}"):
            with pytest.raises(ClientError), Client(address, timeout_s=5) as stranger:
                stranger.brokers()
        assert started.stop()[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cluster", "0"], "--cluster must be between 1 and 9"),
        (["--cluster", "3", "--port", "65534"], "--port must be between 0 and 65533 for 3 nodes, not 65534"),
        (["--cluster", "3", "--port", "287212"], "--port must be between 0 and 65533 for 3 nodes"),
        (["--cluster", "3", "--port", "-1"], "--port must be between 0 and 65533 for 3 nodes"),
        (["--cluster", "3", "--config", "none.properties"], "cannot read none.properties"),
        (["--cluster", "3", "--set", f"{_BETWEEN}=TLS"], "must be one of PLAINTEXT, SSL"),
        (
            ["--cluster", "3", "--set", f"{_BETWEEN}=SASL_SSL"],
            "needs sasl.mechanism.inter.broker.protocol=PLAIN",
        ),
        (["--cluster", "3", "--host", "0.0.0.0"], "needs a name or an IPv4 address"),
        (["--cluster", "3", "--set", "node.id=7"], "gives each node a node.id of its own"),
        (["--cluster", "3", "--set", "process.roles=broker"], "gives each node a process.roles of its own"),
        (["--node", "2"], "--node goes with --cluster"),
        (["--cluster", "3", "--node", "4"], "--node must be between 1 and 3"),
        (["--cluster", "3", "--node", "2", "--port", "0"], "--node needs the --port"),
        (["--cluster", "3", "--node", "2"], "start all its nodes first"),
        (["--cluster", "3", "--node", "2", "--zookeeper", "localhost:1"], "start all its nodes first"),
        (["--cluster", "3", "--zookeeper", "localhost:port"], "is not host:port,host:port/chroot"),
        (["--cluster", "3", "--set", "zookeeper.connect="], "is not host:port,host:port/chroot"),
        (["--zookeeper", "localhost:2181//a//b"], "has an empty part"),
        (["--zookeeper", ""], "is not host:port,host:port/chroot"),
        (["--zookeeper", "localhost:1", "--set", "process.roles=broker"], "--zookeeper goes without process"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path, capsys, arguments, words):
    assert main(["start", "--data", str(tmp_path / "data"), *arguments]) == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_folders_of_something_else_are_left_alone(tmp_path, capsys):
    (tmp_path / "meta.properties").write_text("version=1\n")
    assert main(["start", "--data", str(tmp_path), "--cluster", "3"]) == 1
    assert "has the data of a single broker" in capsys.readouterr().err
    (tmp_path / "meta.properties").unlink()
    for number in range(1, 6):
        (tmp_path / f"node-{number}").mkdir()
    assert main(["start", "--data", str(tmp_path), "--cluster", "3"]) == 1
    assert "has the data of a cluster of more than 3 nodes" in capsys.readouterr().err


def test_a_cluster_of_another_size_is_refused_before_anything_is_made(tmp_path, capsys):
    metadata = tmp_path / "node-1" / "__cluster_metadata-0"
    metadata.mkdir(parents=True)
    (metadata / "quorum-state").write_bytes(encode_election_state(ElectionState(1, 1), [1, 2, 3]))
    assert main(["start", "--data", str(tmp_path), "--cluster", "4"]) == 1
    assert "cluster of 3 nodes: start it with --cluster 3" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["node-1"]


def test_a_node_that_cannot_start_ends_the_start_though_others_wait_for_it(tmp_path):
    for number in (2, 3):
        (tmp_path / f"node-{number}").write_text("no folder")
    command = [sys.executable, "-m", "kbroker.cli.main", "start", "--cluster", "3", "--port", "0"]
    done = subprocess.run(
        [*command, "--data", str(tmp_path)], stderr=subprocess.PIPE, text=True, timeout=40, check=False
    )
    assert done.returncode == 1
    assert "is no folder" in done.stderr


def started_settings(arguments):
    """What `kbroker start` makes of them: of one node, or of each node of a cluster."""
    options = start._parser().parse_args(arguments)
    if options.cluster is None:
        return [start.load(options).config.static]
    nodes, cluster_id = cluster._plan(options)
    return [cluster._settings(options, node, nodes, cluster_id) for node in nodes]


def test_zookeeper_is_where_the_option_says(tmp_path):
    (lone,) = started_settings(["--zookeeper", "a:1,b:2/c", "--set", "broker.id=7"])
    assert (lone["zookeeper.connect"], lone["broker.id"], lone["process.roles"]) == ("a:1,b:2/c", "7", "")
    where = ["--cluster", "3", "--data", str(tmp_path)]
    three = started_settings([*where, "--zookeeper", "a:1/c"])
    assert [(each["broker.id"], each["zookeeper.connect"]) for each in three] == [
        ("1", "a:1/c"),
        ("2", "a:1/c"),
        ("3", "a:1/c"),
    ]
    assert not any("quorum" in name or name == "kbroker.cluster.id" for name in three[0])
    assert three == started_settings([*where, "--set", "zookeeper.connect=a:1/c"])


@pytest.mark.parametrize("first", [1024, 9092, 22_768, 32_768, 49_152, 60_000, 65_500])
def test_no_controller_listens_where_outgoing_connections_may_be(first):
    for client, controller in consecutive_ports(first, 9):
        assert 1024 <= controller <= 32_767
        assert controller != client
