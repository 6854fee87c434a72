"""`KBROKER_TEST_CONTROLLER=zookeeper pytest tests/testing`: the same tests with clusters in ZooKeeper."""

from __future__ import annotations

import hashlib
import itertools
import os

import pytest

from kbroker.testing.cluster import Cluster
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer

IN_ZOOKEEPER = os.environ.get("KBROKER_TEST_CONTROLLER") == "zookeeper"
#: What is about a quorum, or about what ZooKeeper's cluster has no place for.
_OF_KRAFT = {
    "test_cluster_bad_input.py": "lies to a quorum",
    "test_a_second_node_with_the_same_id_is_refused_in_one_line": "another way to be refused: test_zk_ids.py",
    "test_a_node_of_another_cluster_is_refused_in_one_line": "another way to be refused: test_zk_ids.py",
    "test_one_node_grows_to_three_without_a_stop": "voters are added",
    "test_an_unregistered_broker_comes_back_as_a_new_one": "brokers are not unregistered",
    "test_a_paused_node_is_given_up_and_goes_on": "the session of a paused thread goes on",
}


def pytest_collection_modifyitems(items):
    if IN_ZOOKEEPER:
        for item in items:
            why = _OF_KRAFT.get(item.path.name) or _OF_KRAFT.get(item.originalname)
            if why is not None:
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session", autouse=True)
def _clusters_are_in_zookeeper(tmp_path_factory):
    if not IN_ZOOKEEPER:
        yield
        return
    need_java()
    made, numbers = Cluster.__init__, itertools.count()
    with (
        ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")) as server,
        pytest.MonkeyPatch.context() as patch,
    ):

        def make(self, size=3, **options):
            if options.get("controller") is None and options.get("zookeeper") is None:
                place = hashlib.sha256((options.get("data") or str(next(numbers))).encode()).hexdigest()[:16]
                options["zookeeper"] = f"{server.address}/{place}"
                config = {"zookeeper.session.timeout.ms": 2000} | dict(options.get("config") or {})
                options["config"] = {
                    name: value for name, value in config.items() if not name.startswith("controller.quorum.")
                }
            made(self, size, **options)

        patch.setattr(Cluster, "__init__", make)
        yield
