"""`Broker` in a thread and as a process, and the pytest plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.client.topics import list_topics
from kbroker.errors import ApiError, ConfigError
from kbroker.testing import Broker
from tests.doubles import wait_until

pytest_plugins = ["pytester"]


def topic_names(broker):
    with Cluster(broker.bootstrap) as cluster:
        return [topic.name for topic in list_topics(cluster)]


@pytest.mark.parametrize("as_process", [False, True])
def test_a_broker_lives_as_long_as_its_block(as_process):
    with Broker(subprocess=as_process, config={"auto.create.topics.enable": False}) as broker:
        assert broker.bootstrap.startswith("127.0.0.1:")
        assert broker.running
        assert broker.create_topic("t", 2, config={"retention.ms": 5000}) == "t"
        assert topic_names(broker) == ["t"]
        with pytest.raises(ApiError):
            broker.create_topic("t")
        data = broker.data
        assert os.path.isdir(data)
    assert not os.path.exists(data)
    assert not os.path.exists(f"{data}.log")
    assert not broker.running


async def test_a_broker_in_async_code():
    async with Broker() as broker:
        assert broker.port > 0


@pytest.mark.parametrize("as_process", [False, True])
def test_a_restart_keeps_port_and_data(as_process):
    with Broker(subprocess=as_process) as broker:
        broker.create_topic("t")
        address = broker.bootstrap
        broker.restart()
        assert broker.bootstrap == address
        assert topic_names(broker) == ["t"]


def test_a_killed_broker_comes_back_with_what_it_had():
    with Broker(subprocess=True) as broker:
        broker.create_topic("t")
        broker.kill()
        assert not broker.running
        broker.start()
        assert topic_names(broker) == ["t"]
        data = broker.data
        broker.kill()
    assert not os.path.exists(data)
    assert not os.path.exists(f"{data}.log")


def test_a_paused_broker_answers_later(tmp_path):
    with Broker(subprocess=True, data=tmp_path / "data") as broker:
        broker.pause()
        with pytest.raises(ClientError), Cluster(broker.bootstrap, timeout_s=0.2) as cluster:
            list_topics(cluster)
        broker.resume()
        assert topic_names(broker) == []
        assert (tmp_path / "data" / "meta.properties").exists()


def test_pytest_does_not_rewrite_the_asserts_of_the_broker():
    import kbroker.main

    assert type(kbroker.main.__spec__.loader) is SourceFileLoader


def test_a_broker_process_does_not_outlive_its_tests(tmp_path):
    code = (
        "import os, sys; from kbroker.testing import Broker;"
        f"broker = Broker(subprocess=True, data={str(tmp_path / 'data')!r}).start();"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    wait_until((tmp_path / "data" / ".kafka_cleanshutdown").exists, "a clean end")


def test_data_of_ones_own_stay(tmp_path):
    with Broker(data=str(tmp_path / "data")):
        pass
    assert (tmp_path / "data" / "meta.properties").exists()


def test_the_metadata_may_lie_in_a_folder_of_their_own(tmp_path):
    settings = {"metadata.log.dir": tmp_path / "metadata"}
    for names in ([], ["t"]):
        with Broker(config=settings, data=str(tmp_path / "data")) as broker:
            assert topic_names(broker) == names
            if not names:
                broker.create_topic("t")
            with pytest.raises(ConfigError, match="in use by another broker"):
                Broker(config=settings).start()
    assert (tmp_path / "metadata" / "__cluster_metadata-0").is_dir()
    assert not (tmp_path / "data" / "__cluster_metadata-0").exists()


@pytest.mark.parametrize("as_process", [False, True])
def test_a_start_that_cannot_be_tells_why(as_process):
    broker = Broker(subprocess=as_process, config={"num.partitions": 0})
    with pytest.raises(ConfigError, match="Value must be at least 1"):
        broker.start()
    assert not broker.data


def test_two_brokers_of_one_process_do_not_meet():
    with Broker() as one, Broker() as other:
        one.create_topic("t")
        assert topic_names(other) == []


def test_importing_costs_nothing():
    code = (
        "import sys, kbroker.testing, kbroker.testing.plugin;"
        "print([m for m in sys.modules if m.startswith('kbroker')], 'asyncio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules, asyncio_loaded = done.stdout.rsplit(" ", 1)
    assert "kbroker.main" not in modules
    assert "kbroker.config" not in modules
    del asyncio_loaded  # pytest itself may load it


SUITE = """
    import pytest
    from kbroker.client.cluster import Cluster

    @pytest.mark.parametrize("number", range(4))
    def test_topic(kafka, topic, number, record_property):
        assert topic.startswith("test_topic-")
        with Cluster(kafka.bootstrap) as cluster:
            assert topic in [found.name for found in cluster.metadata([topic]).topics]
        with open("addresses", "a") as file:
            print(kafka.bootstrap, topic, file=file)
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_the_plugin_starts_one_broker_a_run(pytester, options):
    pytester.makepyfile(SUITE)
    pytester.makeini("[pytest]\nkbroker_config =\n    num.partitions=3\n")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
    result.assert_outcomes(passed=4)
    lines = (pytester.path / "addresses").read_text().split("\n")[:-1]
    assert len({line.split()[0] for line in lines}) == 1
    assert len({line.split()[1] for line in lines}) == 4
