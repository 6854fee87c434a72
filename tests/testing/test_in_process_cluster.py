"""`Cluster(in_process=True)`: nodes as threads, and what can be done to them."""

from __future__ import annotations

import threading

import pytest

from kbroker.errors import ConfigError
from kbroker.testing import Cluster
from tests.testing.test_cluster import QUICK, end_offset, send

CONFIG = {**QUICK, "offsets.topic.num.partitions": 1}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(3, config=CONFIG, data=str(tmp_path_factory.mktemp("threads")), in_process=True) as cluster:
        yield cluster


@pytest.fixture
def whole(cluster):
    yield cluster
    cluster.mend()


@pytest.mark.parametrize("which", ["leader", "controller"])
def test_a_node_that_is_dropped_is_replaced_and_comes_back_with_its_data(whole, which):
    topic = whole.create_topic(f"dropped-{which}")
    send(whole, topic, b"before")
    victim = whole.leader(topic) if which == "leader" else whole.controller()
    whole.kill(victim)
    assert not whole.nodes[victim].running
    whole.wait_for(lambda: whole.leader(topic) not in (-1, victim))
    assert send(whole, topic, b"during") == 2
    whole.restart(victim)
    whole.wait_for(whole.all_in_sync)
    assert end_offset(whole, topic) == 2


def test_all_are_dropped_at_once_and_keep_what_was_acknowledged(whole, tmp_path):
    topic = whole.create_topic("all")
    assert send(whole, topic, b"kept") == 1
    for node_id in whole.nodes:
        whole.kill(node_id)
        # No clean stop: what a node holds it has to look through.
        assert not list(tmp_path.parent.glob(f"threads*/node-{node_id}/.kafka_cleanshutdown"))
    whole.start()
    whole.wait_for(whole.all_in_sync)
    assert end_offset(whole, topic) == 1


def test_a_paused_node_is_given_up_and_goes_on(whole):
    topic = whole.create_topic("paused")
    victim = whole.leader(topic)
    whole.pause(victim)
    whole.wait_for(lambda: whole.leader(topic) not in (-1, victim))
    assert send(whole, topic, b"during", avoid=[victim]) == 1
    whole.resume(victim)
    whole.wait_for(whole.all_in_sync)


def test_a_leader_that_is_cut_off_is_replaced(whole):
    topic = whole.create_topic("cut")
    victim = whole.leader(topic)
    whole.partition([victim])
    other = next(node_id for node_id in whole.nodes if node_id != victim)
    whole.wait_for(lambda: whole.describe(topic, 0, other).leader_id not in (-1, victim))
    assert send(whole, topic, b"during", avoid=[victim]) == 1
    whole.heal()
    whole.wait_for(whole.all_in_sync)


def test_each_stops_cleanly_and_says_what_it_did_in_a_log_of_its_own(whole):
    for node in whole.nodes.values():
        whole.stop_node(node.id)
    assert any("kbroker" in node.log for node in whole.nodes.values())
    whole.start()
    whole.wait_for(whole.all_in_sync)


def test_a_node_that_cannot_start_says_why(tmp_path):
    with (
        pytest.raises(ConfigError, match=r"compression\.type"),
        Cluster(1, config={"compression.type": "wind"}, data=str(tmp_path), in_process=True),
    ):
        pass  # pragma: no cover


def test_nothing_is_left_running(tmp_path):
    before = set(threading.enumerate())
    with Cluster(3, data=str(tmp_path), in_process=True, links=False) as cluster:
        cluster.kill(2)
    left = [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("kbroker")]
    assert not left
