"""What `kbroker-admin` says to somebody who may not: the missing permission, and it is the right one."""

from __future__ import annotations

import re

import pytest

from kbroker.cli.admin import main
from kbroker.testing import Broker
from tests.security.certificates import write
from tests.security.logins import PLAIN_MODULE, USERS, client_jaas

SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
    "sasl.enabled.mechanisms": "PLAIN",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "delegation.token.secret.key": "shared",
}
_MISSING = re.compile(r"it needs ([A-Z_]+) permission on (Cluster|([A-Za-z]+) \"(.*)\")\n")
_OPTIONS = {"Topic": "--topic", "Group": "--group", "TransactionalId": "--transactional-id", "User": "--user"}


@pytest.fixture(scope="module")
def broker():
    with Broker(config=SETTINGS) as broker:
        for line in (
            "topics create t gone",
            "topics produce t --value v",
            "groups reset-offsets g --to-latest --topic t --execute",
        ):
            assert main(["-b", broker.bootstrap, *line.split()]) == 0
        yield broker


@pytest.fixture
def alice(broker, tmp_path, capsys):
    """`alice("topics", "list")` -> (exit code, what was complained)."""
    login = client_jaas(PLAIN_MODULE, "alice", "alice-secret")
    config = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n"
    file = write(tmp_path, "alice.properties", config)

    def run(*arguments):
        port = broker.ports["SASL_PLAINTEXT"]
        code = main(["-b", f"127.0.0.1:{port}", "--command-config", file, *arguments])
        return code, capsys.readouterr().err

    yield run
    assert main(["-b", broker.bootstrap, "acls", "remove", "--all", "-y"]) == 0


@pytest.mark.parametrize(
    ("command", "permissions"),
    [
        ("topics describe t", {"DESCRIBE Topic t", "DESCRIBE_CONFIGS Topic t"}),
        ("topics create new", {"CREATE Topic new"}),
        ("topics alter t -p 2", {"ALTER Topic t"}),
        ("topics alter t -c retention.ms=9", {"ALTER_CONFIGS Topic t"}),
        ("topics produce t --value v", {"DESCRIBE Topic t", "WRITE Topic t"}),
        ("topics tail t --last 1 -n 1", {"DESCRIBE Topic t", "READ Topic t"}),
        ("topics delete-records t:0 --before 0", {"DESCRIBE Topic t", "DELETE Topic t"}),
        ("topics delete gone", {"DELETE Topic gone"}),
        ("configs describe topic t", {"DESCRIBE_CONFIGS Topic t"}),
        ("configs describe broker-default", {"DESCRIBE_CONFIGS Cluster"}),
        ("configs set topic t retention.ms=9", {"ALTER_CONFIGS Topic t"}),
        ("configs set broker-default log.cleaner.threads=1", {"ALTER_CONFIGS Cluster"}),
        ("groups describe g", {"DESCRIBE Group g"}),
        ("groups delete h", {"DESCRIBE Group h", "DELETE Group h"}),
        ("transactions describe x", {"DESCRIBE TransactionalId x"}),
        ("transactions producers t:0", {"DESCRIBE Topic t", "READ Topic t"}),
        ("cluster describe", {"DESCRIBE Cluster"}),
        ("cluster features kraft.version=1", {"ALTER Cluster"}),
        ("brokers unregister 9", {"ALTER Cluster"}),
        ("reassign list", {"DESCRIBE Cluster"}),
        ("elect t:0", {"ALTER Cluster"}),
        ("clients", {"DESCRIBE Cluster"}),
        ("audit tail", {"ALTER Cluster"}),
        ("quotas list", {"DESCRIBE_CONFIGS Cluster"}),
        ("quotas set --user u request_percentage=5", {"ALTER_CONFIGS Cluster"}),
        ("users list", {"DESCRIBE Cluster"}),
        ("users delete u --mechanism SCRAM-SHA-256", {"ALTER Cluster"}),
        ("acls list", {"DESCRIBE Cluster"}),
        ("acls add --cluster --allow alter --principal bob", {"ALTER Cluster"}),
        ("tokens create --owner User:bob", {"CREATE_TOKENS User User:bob"}),
        ("logs dirs", {"DESCRIBE Cluster"}),
        ("migrate", {"DESCRIBE Cluster"}),
    ],
)
def test_the_missing_permission_is_named(alice, broker, command, permissions):
    """Given to her, it is not missed again; until nothing is forbidden any more."""
    given = set()
    while True:
        code, complaint = alice(*command.split())
        if "authorization failed" not in complaint.lower():
            break
        assert code == 1
        found = _MISSING.search(complaint)
        assert found is not None, complaint
        operation, _, kind, name = found.groups()
        permission = f"{operation} {kind} {name}" if kind else f"{operation} Cluster"
        assert permission not in given
        given.add(permission)
        resource = [_OPTIONS[kind], name] if kind else ["--cluster"]
        grant = [*resource, "--allow", operation.lower(), "--principal", "alice"]
        assert main(["-b", broker.bootstrap, "acls", "add", *grant]) == 0
    assert given == permissions
