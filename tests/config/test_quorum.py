"""controller.quorum.voters and its like: what is understood, and typing errors that must not pass."""

from __future__ import annotations

import pytest

from kbroker.config.loading import load_config
from kbroker.config.quorum import quorum_config
from kbroker.errors import ConfigError


def quorum(name, value):
    settings = {"node.id": "1", "controller.listener.names": "CONTROLLER", name: value}
    return quorum_config(load_config(assignments=list(settings.items())).config)


def test_voters():
    found = quorum("controller.quorum.voters", "1@a-b.example:9093,2@[::1]:9093,3@10.0.0.3:9093")
    assert [tuple(voter) for voter in found.voters] == [
        (1, "a-b.example", 9093),
        (2, "::1", 9093),
        (3, "10.0.0.3", 9093),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1@a:9093;2@b:9093",
        "1@a:9093 2@b:9093",
        "1@a@b:9093",
        "1@a:70000",
        "1@a",
        "1:a:9093",
        "1@:9093",
        "-1@a:9093",
    ],
)
def test_wrong_voters(text):
    with pytest.raises(ConfigError, match=r"controller\.quorum\.voters must be a list of id@host:port"):
        quorum("controller.quorum.voters", text)


@pytest.mark.parametrize("text", ["a:9093;b:9093", "1@a:9093", "a", "a:70000", "http://a:9093"])
def test_wrong_bootstrap_servers(text):
    with pytest.raises(ConfigError, match=r"bootstrap\.servers must be a list of host:port"):
        quorum("controller.quorum.bootstrap.servers", text)


def test_two_voters_at_one_address_are_a_typing_error():
    with pytest.raises(ConfigError, match="gives nodes 1 and 3 the same address, h:9093"):
        quorum("controller.quorum.voters", "1@h:9093,2@g:9093,3@h:9093")


MIGRATING = {
    "broker.id": "1",
    "zookeeper.connect": "127.0.0.1:2181",
    "zookeeper.metadata.migration.enable": "true",
    "controller.quorum.voters": "3000@h:9093",
    "controller.listener.names": "CONTROLLER",
}


def of_zookeeper(**changes):
    settings = {**MIGRATING, **{name.replace("_", "."): value for name, value in changes.items()}}
    found = [(name, value) for name, value in settings.items() if value is not None]
    return quorum_config(load_config(assignments=found).config)


def test_a_broker_in_zookeeper_that_moves_to_kraft_knows_the_quorum():
    found = of_zookeeper()
    assert (found.is_broker, found.is_controller, found.controller_listener) == (True, False, "CONTROLLER")
    assert [voter.id for voter in found.voters] == [3000]
    found = of_zookeeper(
        controller_quorum_voters=None, controller_quorum_bootstrap_servers="h:9093", broker_id="0"
    )
    assert found.bootstrap == (("h", 9093),)
    plain = of_zookeeper(
        zookeeper_metadata_migration_enable="false",
        controller_quorum_voters=None,
        controller_listener_names=None,
    )
    assert (plain.voters, plain.controller_listener) == ((), "PLAINTEXT")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"broker_id": None}, "broker.id generation is incompatible with ZooKeeper migration"),
        ({"broker_id": "-1"}, "broker.id generation is incompatible with ZooKeeper migration"),
        ({"controller_quorum_voters": None}, "If using zookeeper.metadata.migration.enable, either"),
        ({"controller_listener_names": None}, "must not be empty when running in ZooKeeper migration mode"),
        ({"zookeeper_metadata_migration_enable": "false"}, "must be empty when not running in KRaft mode"),
        ({"zookeeper_metadata_migration_enable": "yes"}, "must be true or false"),
        ({"broker_id": "3000"}, "must not contain this node, 3000"),
    ],
)
def test_what_a_migrating_broker_cannot_do_without(changes, why):
    with pytest.raises(ConfigError, match=why):
        of_zookeeper(**changes)


@pytest.mark.parametrize("roles", ["controller", "broker,controller"])
def test_what_a_controller_that_is_to_migrate_cannot_do_without(roles):
    settings = {
        "process.roles": roles,
        "node.id": "3000",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "3000@h:9093",
        "zookeeper.connect": "h:2181",
        "zookeeper.metadata.migration.enable": "true",
    }
    assert quorum_config(load_config(assignments=list(settings.items())).config).is_controller
    del settings["zookeeper.connect"]
    with pytest.raises(ConfigError, match=r"`zookeeper\.connect` must also be set"):
        quorum_config(load_config(assignments=list(settings.items())).config)
