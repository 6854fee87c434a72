"""What `kbroker-admin` does about security, told by a login: the same with kbroker and with Apache Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbroker.cli.admin import main
from tests.security.certificates import write
from tests.security.logins import PLAIN_MODULE, USERS, client_jaas

#: Of the broker: everybody who logs in by PLAIN, an authorizer, tokens.
SETTINGS = {
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
    "listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin;User:ANONYMOUS",
    "delegation.token.secret.key": "shared",
}
_WAIT_S = 60


class Admin:
    """`admin("users", "list")` -> what was printed; `complaint=` is part of the one line that it says then.

    As `user`, who is a super user or not.
    """

    def __init__(self, port: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._port, self._folder, self._capsys = port, folder, capsys

    def __call__(self, *arguments: str, user: str = "admin", complaint: str = "", jaas: str = "") -> str:
        mechanism = "SCRAM-SHA-512" if jaas else "PLAIN"
        config = (
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
            f"sasl.jaas.config={jaas or client_jaas(PLAIN_MODULE, user, f'{user}-secret')}\n"
        )
        file = write(self._folder, "client.properties", config)
        self._capsys.readouterr()
        code = main(["-b", f"127.0.0.1:{self._port}", "--command-config", file, *arguments])
        said = self._capsys.readouterr()
        assert (code, said.err.count("\n")) == ((1, 1) if complaint else (0, 0)), (arguments, said)
        assert complaint in said.err, said.err
        return said.out

    def json(self, *arguments: str, **more: str) -> Any:
        """The document that is printed."""
        return json.loads(self(*arguments, "--json", **more))

    def soon(self, found: Callable[[Any], object], *arguments: str) -> Any:
        """The document that does: a broker of Kafka hears of changes after its controller has answered."""
        end = time.monotonic() + _WAIT_S
        while not found(document := self.json(*arguments)):
            assert time.monotonic() < end, document
        return document


def acls(admin: Admin) -> None:
    """Entries come, are found, and go; who may not, is told."""
    admin(
        "acls", "add", "--topic", "pay-", "--prefix", "--principal", "ann", "--allow", "read,describe_configs"
    )
    admin("acls", "add", "--topic", "pay-x", "--principal", "ann", "--deny", "read", "--host", "10.0.0.0/8")
    admin("acls", "add", "--cluster", "--principal", "ann", "--allow", "alter")
    admin("acls", "add", "--user", "bob", "--principal", "ann", "--allow", "create_tokens")
    admin(
        "acls",
        "add",
        "--topic",
        "t",
        "--deny",
        "read",
        "--host",
        "/8",
        complaint="Invalid CIDR notation '/8'",
    )
    admin.soon(lambda found: len(found) == 5, "acls", "list", "--principal", "ann")
    found = admin.json("acls", "list", "--topic", "pay-x", "--matching")
    assert [(each["resource_name"], each["operation"], each["permission"]) for each in found] == [
        ("pay-", "read", "allow"),
        ("pay-", "describe_configs", "allow"),
        ("pay-x", "read", "deny"),
    ]
    assert (
        admin("acls", "remove", "--principal", "ann", "--operation", "alter", "--yes").count("removed") == 1
    )
    assert admin("acls", "remove", "--principal", "ann", "--yes").count("removed") == 4
    admin.soon(lambda found: not found, "acls", "list")
    admin("acls", "remove", "--principal", "ann", "--yes", complaint="there are no such entries")
    admin("acls", "list", user="bob", complaint="uthoriz")
    admin("acls", "add", "--topic", "t", "--allow", "read", user="bob", complaint="uthoriz")


def users(admin: Admin, folder: Path) -> None:
    """SCRAM: a user comes, is listed, logs in, and goes."""
    password = write(folder, "password", "carl-secret\n")
    admin("users", "set", "carl", "--password-file", password)
    admin(
        "users",
        "set",
        "carl",
        "--password-file",
        password,
        "--mechanism",
        "SCRAM-SHA-256",
        "--iterations",
        "8192",
    )
    wanted = [{"name": "carl", "mechanisms": {"SCRAM-SHA-256": 8192, "SCRAM-SHA-512": 4096}}]
    admin.soon(lambda found: found == wanted, "users", "list")
    jaas = client_jaas("org.apache.kafka.common.security.scram.ScramLoginModule", "carl", "carl-secret")
    assert admin("topics", "list", jaas=jaas).count("\n") == 1
    assert admin("users", "delete", "carl", "--yes").count("cannot log in") == 2
    admin.soon(lambda found: not found, "users", "list")
    admin("users", "list", "carl", complaint="user carl: ")
    admin("users", "delete", "carl", "--yes", complaint="user carl: ")
    admin("users", "list", user="bob", complaint="uthoriz")


def tokens(admin: Admin) -> None:
    """Tokens come, log their owner in, are renewed, and end."""
    made = admin.json("tokens", "create", "--renewer", "bob", "--hours", "1", user="alice")
    assert (made["owner"], made["renewers"]) == ("User:alice", ["User:bob"])
    admin.soon(
        lambda found: [each["id"] for each in found] == [made["id"]], "tokens", "list", "--owner", "alice"
    )
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    jaas = client_jaas(module, made["id"], made["hmac"], " tokenauth=true")
    assert admin("topics", "list", jaas=jaas).count("\n") == 1
    admin("tokens", "create", jaas=jaas, complaint="elegation")
    admin("tokens", "create", "--owner", "bob", user="alice", complaint="uthoriz")
    assert admin.json("tokens", "renew", made["id"], user="bob")["expiry_ms"] == made["max_ms"]
    admin("tokens", "renew", "nosuch", complaint="there is no token nosuch")
    admin("tokens", "expire", made["id"], "--yes", user="alice")
    admin.soon(lambda found: not found, "tokens", "list")


def quotas(admin: Admin, *, is_kafka: bool) -> None:
    """Quotas are set, listed, explained (of Kafka's brokers by what is set alone), and removed."""
    admin("quotas", "set", "--user", "ann", "--client-id", "<default>", "producer_byte_rate=1000")
    admin("quotas", "set", "--user", "<default>", "producer_byte_rate=5000", "request_percentage=50")
    admin("quotas", "set", "--ip", "127.0.0.1", "connection_creation_rate=1000")
    admin.soon(lambda found: len(found) == 3, "quotas", "list")
    found = admin.json("quotas", "explain", "--user", "ann", "--client-id", "c", "--ip", "127.0.0.1")
    assert [(each["key"], each["limit"], each["level"]) for each in found] == [
        ("producer_byte_rate", 1000, 2),
        ("request_percentage", 50, 6),
        ("connection_creation_rate", 1000, None),
    ]
    assert not is_kafka or {each["observed"] for each in found} == {None}
    admin("quotas", "set", "--user", "ann", "producer_byte_rate=0", complaint="must be greater than 0")
    for who in (("--user", "ann", "--client-id", "<default>"), ("--user", "<default>")):
        admin("quotas", "set", *who, "producer_byte_rate=", "request_percentage=")
    admin("quotas", "set", "--ip", "127.0.0.1", "connection_creation_rate=")
    admin.soon(lambda found: not found, "quotas", "list")
    admin("quotas", "list", user="bob", complaint="uthoriz")


def what_only_kbroker_has(admin: Admin) -> None:
    """One clear line, and nothing else, where Kafka's protocol has no such question."""
    for arguments, says in (
        (("limits",), "Apache Kafka has no such limits"),
        (("audit", "tail"), "to a file only"),
        (("metrics", "top", "--count", "1"), "by JMX only"),
        (("metrics", "show"), "by JMX only"),
        (("drain", "1", "--disconnect", "1"), "its connections stay"),
    ):
        out = admin(*arguments, complaint=f"broker 1 is no kbroker: {says}" if says[0] == "A" else says)
        assert out in ("", "broker 1 leads nothing\n")
