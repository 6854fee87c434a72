"""`kbroker.testing`'s own ZooKeeper: how it is found, and that it ends with us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kbroker.errors import ConfigError
from kbroker.testing import Broker, Cluster, zookeeper
from kbroker.testing.zookeeper import ZooKeeper, connect_pieces, find_java, find_server
from tests.doubles import wait_until
from tests.needs import cache_folder, need_java
from tools.kafka_jars import zookeeper_path


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An unpacked release, as far as it is needed, that is named as users name it."""
    need_java()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "lib").symlink_to(Path(zookeeper_path(cache_folder())).parent)
    monkeypatch.setenv("ZOOKEEPER_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.parametrize(("variable", "folder"), [("ZOOKEEPER_HOME", "lib"), ("KAFKA_HOME", "libs")])
def test_a_release_that_a_variable_names_is_found(tmp_path, variable, folder):
    jars = tmp_path / "a [1]" / folder
    jars.mkdir(parents=True)
    (jars / "zookeeper-3.8.4.jar").touch()
    assert find_server({variable: str(jars.parent)}) == str(jars / "*")


def test_debians_package_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(zookeeper, "_DEBIAN", str(tmp_path / "zookeeper.jar"))
    with pytest.raises(ConfigError):
        find_server({})
    (tmp_path / "zookeeper.jar").touch()
    assert find_server({}) == str(tmp_path / "zookeeper.jar")


def test_what_is_missing_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(zookeeper, "_DEBIAN", str(tmp_path / "none"))
    (tmp_path / "libs").mkdir()  # Kafka 4 has no ZooKeeper
    for environment in ({}, {"KAFKA_HOME": str(tmp_path)}, {"ZOOKEEPER_HOME": ""}):
        with pytest.raises(ConfigError, match=r"no ZooKeeper is found.*ZOOKEEPER_HOME") as caught:
            find_server(environment)
        assert "\n" not in str(caught.value)
    with pytest.raises(ConfigError, match="no java on the PATH, nor a JAVA_HOME"):
        find_java({"PATH": str(tmp_path)})
    with pytest.raises(ConfigError, match="no java in JAVA_HOME"):
        find_java({"JAVA_HOME": str(tmp_path)})
    monkeypatch.delenv("ZOOKEEPER_HOME", raising=False)
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    with pytest.raises(ConfigError, match="no ZooKeeper is found"):
        Broker(controller="zookeeper").start()
    with pytest.raises(ConfigError, match="no ZooKeeper is found"):
        Cluster(3, controller="zookeeper").start()


def test_addresses():
    assert connect_pieces("a:1,b,[::1]:3/c/d") == ([("a", 1), ("b", 2181), ("::1", 3)], "/c/d")
    with pytest.raises(AssertionError, match="kraft or zookeeper, not zk"):
        Cluster(3, controller="zk")


def test_a_broker_and_a_cluster_start_one_of_their_own(home):
    with Broker(controller="zookeeper") as broker:
        folder = broker.data
        broker.create_topic("t")
        broker.restart()
        assert os.path.exists(f"{folder}.zookeeper")
    assert not os.path.exists(f"{folder}.zookeeper")
    assert not os.path.exists(folder)
    # One that was killed comes back when its session is over.
    quick = {"zookeeper.session.timeout.ms": 2000}
    with Cluster(3, controller="zookeeper", config=quick, in_process=True) as cluster:
        cluster.create_topic("t")
        victim = cluster.controller()
        cluster.kill(victim)
        cluster.wait_for(lambda: cluster.controller() not in (-1, victim))
        cluster.mend()
        pid = cluster.zookeeper_server.pid
    wait_until(lambda: not runs(pid), "the end of ZooKeeper")


def test_a_server_ends_with_whoever_started_it(home, tmp_path):
    code = (
        "import sys, time; from kbroker.testing.zookeeper import ZooKeeper; "
        f"print(ZooKeeper({str(tmp_path / 'server')!r}).start().pid, flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(starter.stdout.readline())
    assert runs(pid)
    starter.send_signal(signal.SIGKILL)
    starter.communicate()
    wait_until(lambda: not runs(pid), "the end of ZooKeeper")


def test_a_server_that_cannot_start_says_why(home, tmp_path):
    server = ZooKeeper(str(tmp_path / "server"), class_path=str(tmp_path))
    with pytest.raises(ConfigError, match="ZooKeeper ended: "):
        server.start()
    assert not server.running


def runs(pid):
    """Whether the process is there, and no zombie."""
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
