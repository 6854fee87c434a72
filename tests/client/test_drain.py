from __future__ import annotations

import pytest

from kbroker.cli.admin import main
from kbroker.client import Cluster as Client
from kbroker.client.drain import load_order, plan_drain, save_order
from kbroker.client.errors import ClientError
from kbroker.testing import Cluster
from kbroker.types import TopicPartition


def leaders(client, topic):
    (found,) = client.metadata([topic]).topics
    return {each.leader_id for each in found.partitions}


def test_a_broker_loses_its_leaders_and_gets_them_back(tmp_path, monkeypatch, capsys):
    with Cluster(2, in_process=True) as cluster, Client(cluster.bootstrap) as client:
        cluster.create_topic("t", partitions=4, replication_factor=2)
        cluster.create_topic("alone", partitions=2, replication_factor=1)
        cluster.wait_for(cluster.all_in_sync)
        monkeypatch.setenv("KBROKER_BOOTSTRAP", cluster.bootstrap)
        before = {tp: order for tp, order in plan_drain(client, 1).before.items() if tp.topic == "t"}
        file = str(tmp_path / "before.json")
        assert (
            main(["drain", "1", "--save", file, "--disconnect", "0"]) == 1
        )  # what has no other replica stays
        assert "alone-" in capsys.readouterr().err
        cluster.wait_for(lambda: leaders(client, "t") == {2})
        assert load_order(file).items() >= before.items()
        assert main(["drain", "1", "--undo", file]) == 0
        cluster.wait_for(lambda: leaders(client, "t") == {1, 2})


def test_files(tmp_path):
    path = str(tmp_path / "f")
    order = {TopicPartition("t", 1): [2, 1]}
    save_order(path, order)
    assert load_order(path) == order
    with pytest.raises(ClientError, match="cannot write"):
        save_order(path, order)
    (tmp_path / "g").write_text("{}")
    with pytest.raises(ClientError, match="no file of"):
        load_order(str(tmp_path / "g"))
    with pytest.raises(ClientError, match="cannot read"):
        load_order(str(tmp_path / "none"))
