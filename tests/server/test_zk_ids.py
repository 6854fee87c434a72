"""Whose folders these are, and the ids of brokers that were set none, as Kafka 3.9.2 has it (asked)."""

from __future__ import annotations

import re

import pytest

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.loading import load_config
from kbroker.errors import ConfigError
from kbroker.nodes import node_for
from kbroker.server.zk_settings import zk_node_settings
from tests.needs import need_java
from tests.server.zookeeper import ZooKeeperServer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    with ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture
def settings(server, tmp_path):
    return {
        "zookeeper.connect": f"{server.address}/{tmp_path.name}",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "zookeeper.session.timeout.ms": "3000",
        "zookeeper.connection.timeout.ms": "60000",
    }


async def started(settings, *folders, **more):
    """The id of a node on these folders, which is stopped again."""
    dirs = ",".join(map(str, folders))
    assignments = {**settings, "log.dirs": dirs, **{k.replace("_", "."): v for k, v in more.items()}}
    node = node_for(load_config(assignments=assignments.items()).config)
    await node.start()
    await node.stop()
    return node.node_id


def meta(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "meta.properties").write_text(text)
    return folder


def lines(folder):
    return [each for each in (folder / "meta.properties").read_text().splitlines() if each[0] != "#"]


async def test_ids_are_given_above_the_reserved_ones_and_kept(settings, tmp_path):
    one, two, other = tmp_path / "one", tmp_path / "two", tmp_path / "other"
    assert await started(settings, one, two) == 1001
    assert "broker.id=1001" in lines(one)
    assert lines(one) == lines(two)
    assert lines(one)[0] == "version=0"
    assert await started(settings, other) == 1002
    assert await started(settings, one, two) == 1001
    # A folder that is new is one of this broker's.
    assert await started(settings, tmp_path / "new", two) == 1001
    assert lines(tmp_path / "new") == lines(two)
    assert await started(settings, tmp_path / "third", reserved_broker_max_id="5000") == 5003


async def test_an_id_that_is_stored_may_be_any(settings, tmp_path):
    folder = meta(tmp_path / "data", "broker.id=2005\n")
    assert await started(settings, folder, reserved_broker_max_id="10") == 2005
    assert lines(folder) == ["broker.id=2005"]


async def test_folders_of_others_are_refused(settings, tmp_path):
    mine = meta(tmp_path / "mine", "version=0\nbroker.id=5\n")
    other = meta(tmp_path / "other", "version=0\nbroker.id=6\n")
    text = "Stored node id {} doesn't match previous node id {} in {}/meta.properties. If you moved your"
    with pytest.raises(ConfigError, match=re.escape(text.format(5, 7, mine))):
        await started(settings, mine, broker_id="7")
    with pytest.raises(ConfigError, match=re.escape(text.format(6, 5, other))):
        await started(settings, mine, other)
    foreign = meta(tmp_path / "foreign", "version=0\nbroker.id=5\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\n")
    with pytest.raises(ConfigError, match=r"Invalid cluster\.id in: .*/foreign/meta\.properties\. Expected "):
        await started(settings, foreign)
    kraft = meta(tmp_path / "kraft", "version=1\nnode.id=5\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\n")
    with pytest.raises(
        ConfigError, match=r"Found unexpected version in .*/kraft/meta\.properties\. ZK-based"
    ):
        await started(settings, kraft)
    newer = meta(tmp_path / "newer", "version=3\nbroker.id=5\n")
    with pytest.raises(ConfigError, match="version 3 is unknown"):
        await started(settings, newer)


def checked(**settings):
    names = {name.replace("_", "."): value for name, value in settings.items()}
    loaded = load_config(assignments={"zookeeper.connect": "h:1", **names}.items())
    assert not loaded.warnings
    return loaded.config, zk_node_settings(loaded.config.static)


def test_which_ids_can_be_set():
    config, settings = checked()
    assert (config.node_id, settings.reserved_max) == (-1, 1000)
    assert checked(broker_id="-1")[0].node_id == -1
    assert checked(broker_id="1000")[0].node_id == 1000
    assert checked(node_id="0")[0].node_id == 0
    assert checked(broker_id="1001", broker_id_generation_enable="false")[0].node_id == 1001
    config.identify(1001)
    assert (config.node_id, config.get_int("broker.id")) == (1001, 1001)
    too_high = (
        r"broker\.id must be greater than or equal to -1 and not greater than reserved\.broker\.max\.id"
    )
    for refused in ({"broker_id": "1001"}, {"broker_id": "6", "reserved_broker_max_id": "5"}):
        with pytest.raises(ConfigError, match=too_high):
            checked(**refused)
    with pytest.raises(ConfigError, match=r"broker\.id must be greater than or equal to 0"):
        checked(broker_id_generation_enable="false")
    with pytest.raises(ConfigError, match=r"reserved\.broker\.max\.id must be a number of at least 0"):
        checked(reserved_broker_max_id="-1")


def test_a_node_of_a_quorum_needs_its_id():
    with pytest.raises(ConfigError, match=r"node\.id must be set"):
        BrokerConfig({"process.roles": "broker", "zookeeper.connect": "h:1"})
    with pytest.raises(ConfigError, match=r"node\.id must be set"):
        BrokerConfig({"broker.id": "-1", "process.roles": "broker"})


async def test_folders_of_lists_and_tokens_are_made_where_they_are_in_use(settings, tmp_path):
    """As Kafka's brokers do; its migration to KRaft counts on them."""
    from kazoo.client import KazooClient

    client = KazooClient(settings["zookeeper.connect"])
    await started(settings, tmp_path / "one", broker_id="1")
    client.start()
    try:
        folders = ("/kafka-acl/Topic", "/kafka-acl-extended/prefixed/Group", "/kafka-acl-changes")
        assert not any(client.exists(path) for path in (*folders, "/delegation_token/tokens"))
        security = {
            "authorizer_class_name": "kafka.security.authorizer.AclAuthorizer",
            "super_users": "User:ANONYMOUS",
            "delegation_token_secret_key": "secret",
        }
        await started(settings, tmp_path / "one", broker_id="1", **security)
        assert all(client.exists(path) for path in (*folders, "/delegation_token/tokens"))
    finally:
        client.stop()
        client.close()
