"""The folders of a broker whose cluster moves from ZooKeeper to KRaft, and back: either kind uses them."""

from __future__ import annotations

import pytest

from kbroker.config.loading import load_config
from kbroker.errors import ConfigError
from kbroker.server.node_folders import NodeFolders
from kbroker.server.os_disk import OsDisk
from kbroker.server.runtime import SystemClock
from kbroker.storage.log_config import LogConfig
from kbroker.storage.meta_properties import read_meta_properties

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
QUORUM = {"controller.quorum.voters": "3000@h:9093", "controller.listener.names": "CONTROLLER"}
KRAFT = {"process.roles": "broker", "node.id": "1", **QUORUM}
ZOOKEEPER = {"zookeeper.connect": "127.0.0.1:2181", "broker.id": "1"}
MIGRATING = {**ZOOKEEPER, **QUORUM, "zookeeper.metadata.migration.enable": "true"}


class Opened:
    """Folders that a node has opened."""

    def __init__(self, settings, *folders, is_controller=False):
        settings = {**settings, "log.dirs": ",".join(map(str, folders))}
        config = load_config(assignments=settings.items()).config
        zookeeper = CLUSTER if "zookeeper.connect" in settings else None
        self._undo = []
        self.folders = NodeFolders(
            config, OsDisk(), SystemClock(), self._undo, zookeeper, is_controller=is_controller
        )
        self.logs = self.folders.open(lambda topic: LogConfig(), lambda plan: plan)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        while self._undo:
            self._undo.pop()()


def meta(folder):
    return read_meta_properties(OsDisk(), str(folder))


def test_a_migrating_broker_names_its_directories_and_a_kraft_broker_goes_on_with_them(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    with Opened(ZOOKEEPER, one, two):
        assert meta(one).directory_id is None
    with Opened(MIGRATING, one, two) as opened:
        named = {path: meta(path) for path in (one, two)}
        assert len({each.directory_id for each in named.values()}) == 2
        assert [each.directory_id for each in opened.logs.dirs] == [
            named[one].directory_id,
            named[two].directory_id,
        ]
        assert opened.folders.metadata_directory_id() == named[one].directory_id
    for settings in (KRAFT, MIGRATING, ZOOKEEPER):
        with Opened(settings, one, two) as opened:
            assert opened.folders.cluster_id == CLUSTER
        # As Kafka's they stay of version 0: a broker without the migration may come back.
        assert {path: meta(path) for path in (one, two)} == named
        assert {each.version for each in named.values()} == {0}


def test_a_kraft_broker_names_the_directories_of_one_that_never_took_part(tmp_path):
    with Opened(ZOOKEEPER, tmp_path):
        pass
    with Opened(KRAFT, tmp_path):
        assert meta(tmp_path).directory_id is not None


def test_new_folders_of_a_migrating_broker(tmp_path):
    settings = {**MIGRATING, "metadata.log.dir": str(tmp_path / "metadata")}
    with Opened(settings, tmp_path / "logs") as opened:
        found = [meta(tmp_path / each) for each in ("logs", "metadata")]
        assert [(each.version, each.node_id, each.cluster_id) for each in found] == [(0, 1, CLUSTER)] * 2
        assert opened.folders.metadata_directory_id() == found[1].directory_id != found[0].directory_id


def test_a_controller_that_takes_over_thinks_of_no_cluster_id_by_itself(tmp_path):
    settings = {
        "process.roles": "controller",
        "node.id": "3000",
        "zookeeper.metadata.migration.enable": "true",
        "log.dirs": str(tmp_path),
        **QUORUM,
    }

    def opened(**more):
        config = load_config(assignments={**settings, **more}.items()).config
        return NodeFolders(config, OsDisk(), SystemClock(), [], is_controller=True)

    with pytest.raises(ConfigError, match="has an id already: give it that one, of ZooKeeper's /cluster/id"):
        opened()
    assert opened(**{"kbroker.cluster.id": CLUSTER}).cluster_id == CLUSTER


def test_a_migrating_broker_forgets_what_the_quorum_said(tmp_path):
    with Opened(MIGRATING, tmp_path):
        pass
    log = tmp_path / "__cluster_metadata-0" / "00000000000000000000.log"
    log.parent.mkdir()
    log.write_bytes(b"x")
    kept = tmp_path / "t-0" / "00000000000000000000.log"
    kept.parent.mkdir()
    kept.write_bytes(b"x")
    with Opened(MIGRATING, tmp_path) as opened:
        opened.folders.drop_metadata_log()
        assert not log.parent.exists()
        assert kept.exists()
        opened.folders.drop_metadata_log()


def test_a_folder_of_a_kraft_broker_is_taken_by_one_that_migrates_only(tmp_path):
    with Opened({**KRAFT, "kbroker.cluster.id": CLUSTER}, tmp_path):
        assert meta(tmp_path).version == 1
    before = meta(tmp_path)
    with Opened(MIGRATING, tmp_path):
        assert meta(tmp_path) == before
    with pytest.raises(ConfigError, match="not migrating only support version 0"):
        Opened(ZOOKEEPER, tmp_path)


def test_a_controller_does_not_begin_in_the_folder_of_a_broker_in_zookeeper(tmp_path):
    with Opened(ZOOKEEPER, tmp_path):
        pass
    for settings in (KRAFT, {**KRAFT, "process.roles": "broker,controller"}):
        with pytest.raises(ConfigError, match="belongs to broker 1 of a cluster that keeps its metadata"):
            Opened(settings, tmp_path, is_controller=True)
    assert meta(tmp_path).directory_id is None
