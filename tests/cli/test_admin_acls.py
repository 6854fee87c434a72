"""`kbroker-admin acls`."""

from __future__ import annotations

import json

import pytest

from kbroker.cli.admin import main
from kbroker.testing import Broker

SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.fixture(scope="module")
def broker():
    with Broker(config=SETTINGS) as broker:
        yield broker


@pytest.fixture
def acls(broker, capsys):
    """`acls("list")` -> (exit code, what was printed, what was complained)."""

    def run(*arguments):
        code = main(["-b", broker.bootstrap, "acls", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_entries_come_are_shown_and_go(acls):
    pay = ("--topic", "pay-", "--prefix", "--principal", "ann")
    code, said, _ = acls("add", *pay, "--allow", "read,describe-configs", "--deny", "write", "--host", "::1")
    assert code == 0
    assert said.splitlines() == [
        "added: allow User:ann from ::1 read on topic pay-…",
        "added: allow User:ann from ::1 describe_configs on topic pay-…",
        "added: deny User:ann from ::1 write on topic pay-…",
    ]
    acls("add", "--cluster", "--allow", "create")
    _, table, _ = acls("list")
    assert [line.split()[0] for line in table.splitlines()] == [
        "RESOURCE",
        "topic",
        "topic",
        "topic",
        "cluster",
    ]
    _, found, _ = acls("list", "--topic", "pay-1", "--matching", "--operation", "write", "--json")
    assert json.loads(found) == [
        {
            "resource_type": "topic",
            "resource_name": "pay-",
            "pattern_type": "prefixed",
            "principal": "User:ann",
            "host": "::1",
            "operation": "write",
            "permission": "deny",
        }
    ]
    assert acls("list", "--topic", "pay-1", "--json")[1].strip() == "[]"
    code, said, _ = acls("remove", "--principal", "ann", "--yes")
    assert code == 0
    assert said.count("removed: ") == 3
    assert acls("remove", "--all", "--yes")[1] == "removed: allow User:* create on cluster kafka-cluster\n"
    code, _, complaint = acls("remove", "--all", "--yes")
    assert code == 1
    assert complaint == "kbroker-admin: there are no such entries\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("add", "--allow", "read"), "name a resource"),
        (("add", "--topic", "t"), "give --allow or --deny"),
        (("add", "--topic", "t", "--group", "g", "--allow", "read"), "one resource at a time"),
        (("add", "--topic", "t", "--allow", "fly"), "no operation 'fly'"),
        (("remove", "--yes"), "say which entries"),
        (("remove", "--topic", "t", "--all", "--yes"), "say which entries"),
    ],
)
def test_wrong_usage(acls, arguments, complaint):
    code, _, said = acls(*arguments)
    assert code == 2
    assert complaint in said


def test_what_the_broker_refuses(acls):
    code, _, said = acls("add", "--topic", "", "--allow", "read")
    assert code == 1
    assert "Invalid empty resource name" in said


def test_without_an_authorizer(capsys):
    with Broker() as broker:
        assert main(["-b", broker.bootstrap, "acls", "list"]) == 1
    assert "No Authorizer is configured" in capsys.readouterr().err


def test_the_audit_log(tmp_path, capsys):
    settings = {
        "authorizer.class.name": SETTINGS["authorizer.class.name"],
        "kbroker.audit.log.allowed": "ALL",
    }
    settings |= {"kbroker.audit.log": str(tmp_path / "audit.log"), "super.users": "User:ANONYMOUS"}
    with Broker(config=settings) as broker:
        at = ["-b", broker.bootstrap]
        assert main([*at, "topics", "create", "orders"]) == 0
        capsys.readouterr()
        assert main([*at, "audit", "tail", "-n", "1000", "--json", "--principal", "ANONYMOUS"]) == 0
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert any(line["api"] == "CreateTopics" and line["name"] == "orders" for line in lines)
        assert main([*at, "audit", "tail", "--denied"]) == 0
        assert not capsys.readouterr().out
        assert main([*at, "audit", "tail", "-n", "1"]) == 0
        assert "allowed" in capsys.readouterr().out
    written = [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]
    assert written[: len(lines)] == [{k: v for k, v in line.items() if k != "broker"} for line in lines]


def test_no_audit_log(broker, capsys):
    assert main(["-b", broker.bootstrap, "audit", "tail"]) == 1
    assert "kbroker.audit.log is not set" in capsys.readouterr().err


def test_a_user_as_a_resource_is_a_principal(acls):
    """Else the entry would be of nobody (KIP-373)."""
    code, said, _ = acls("add", "--user", "bob", "--allow", "create-tokens", "--principal", "ann")
    assert (code, said) == (0, "added: allow User:ann create_tokens on user User:bob\n")
    for name in ("bob", "User:bob"):
        assert "User:bob" in acls("list", "--user", name)[1]
    assert acls("add", "--user", "*", "--allow", "create-tokens")[1].endswith("on user *\n")
    assert acls("remove", "--user", "bob", "-y")[0] == 0
