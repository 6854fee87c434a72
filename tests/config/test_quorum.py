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
