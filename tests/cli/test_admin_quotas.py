"""`kbroker-admin quotas` end to end."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.testing import Broker


@pytest.fixture(scope="module")
def broker():
    with Broker() as broker:
        yield broker


@pytest.fixture
def admin(broker, capsys, monkeypatch):
    monkeypatch.setenv("KBROKER_BOOTSTRAP", broker.bootstrap)

    def run(*arguments, code=0):
        capsys.readouterr()
        assert main(["quotas", *arguments]) == code
        out, err = capsys.readouterr()
        return json.loads(out) if "--json" in arguments else out + err

    return run


def test_set_list_explain_remove(admin):
    admin("set", "--user", "u", "producer_byte_rate=1000", "request_percentage=12.5")
    admin("set", "--client-id", "<default>", "consumer_byte_rate=500")
    admin("set", "--ip", "10.0.0.1", "connection_creation_rate=5")
    assert admin("list", "--json") == [
        {"entity": {"user": "u"}, "quotas": {"producer_byte_rate": 1000.0, "request_percentage": 12.5}},
        {"entity": {"client-id": None}, "quotas": {"consumer_byte_rate": 500.0}},
        {"entity": {"ip": "10.0.0.1"}, "quotas": {"connection_creation_rate": 5.0}},
    ]
    assert "<default>" in admin("list")
    found = {each["key"]: each for each in admin("explain", "--user", "u", "--client-id", "c", "--json")}
    assert found["producer_byte_rate"]["level"] == 3
    assert found["consumer_byte_rate"]["level"] == 8
    assert "all clients of user u" in admin("explain", "--user", "u", "--client-id", "c")
    assert admin("explain", "--user", "v", "--ip", "10.0.0.1", "--json")[0]["limit"] == 5.0
    admin("set", "--user", "u", "producer_byte_rate=", "request_percentage=")
    assert len(admin("list", "--json")) == 2


def test_where_no_quota_holds(admin):
    """The others are of client ids and addresses, and those who come without have none."""
    assert admin("explain", "--json", "--user", "nobody") == []
    said = admin("explain")
    assert said.startswith("no quota holds for user ANONYMOUS (there may be others with --client-id, --ip); ")
    assert "quotas list" in said
    assert "user w, ip 10.9.9.9 (" in admin("explain", "--user", "w", "--ip", "10.9.9.9")


@pytest.mark.parametrize(
    "arguments",
    [("x=1",), ("--user", "u", "x=1"), ("--user", "u", "producer_byte_rate=x"), ("--user", "u", "y")],
)
def test_what_is_no_quota_is_a_usage_error(admin, arguments):
    admin("set", *arguments, code=2)


def test_what_the_cluster_refuses_is_told(admin):
    assert "greater than 0" in admin("set", "--user", "u", "producer_byte_rate=-1", code=1)


def test_limits_shows_switches_that_hold_at_once(broker, capsys, monkeypatch):
    monkeypatch.setenv("KBROKER_BOOTSTRAP", broker.bootstrap)
    assert main(["configs", "set", "broker", "", "kbroker.read.only.topics=frozen"]) == 0
    capsys.readouterr()
    assert main(["limits", "--json"]) == 0
    (limits,) = json.loads(capsys.readouterr().out).values()
    assert limits["read_only_topics"] == ["frozen"]
    assert limits["figures"]["memory"] > 0
    assert main(["limits"]) == 0
    assert "read-only topics frozen" in capsys.readouterr().out
