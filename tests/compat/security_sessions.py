"""Sessions with Kafka's tools about users, quotas, ACLs, tokens, loggers and telemetry, over SASL_SSL.

    python -m tests.compat.security_sessions

starts Apache Kafka and writes tests/data/tools/security/SESSION.txt.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from kbroker.testing import Broker
from tests.compat import tool_sessions
from tests.compat.javatools import JavaTools
from tests.compat.kafka_process import kafka_on
from tests.needs import cache_folder
from tests.security.certificates import PASSWORD, Authority, write
from tests.security.logins import PLAIN_MODULE, USERS, client_jaas
from tools.bench.brokers import free_port

RECORDED = tool_sessions.RECORDED / "security"
_HMAC = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{86}==")
#: In whose place we say what follows from the error's code.
_DUMP = re.compile(r"Request Request\(.*\) needs \w+ permission\.")
_CLIENT = re.compile(r"\S+/(\w+\.properties)")


class Node:
    """Settings of a broker that everybody logs in to by SASL_SSL, and files of those who do."""

    def __init__(self, folder: Path) -> None:
        authority = Authority()
        store = authority.sign("node").pkcs12(authority.certificate)
        ca = write(folder, "ca.pem", authority.pem)
        self.settings = {
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_ssl.plain.sasl.jaas.config": USERS,
            "ssl.keystore.location": write(folder, "node.p12", store),
            "ssl.keystore.password": PASSWORD,
            "ssl.keystore.type": "PKCS12",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:admin;User:ANONYMOUS",
            "delegation.token.secret.key": "shared",
        }
        self.clients = {
            user: write(
                folder,
                f"{user}.properties",
                f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
                f"sasl.jaas.config={client_jaas(PLAIN_MODULE, user, f'{user}-secret')}\n"
                f"ssl.truststore.type=PEM\nssl.truststore.location={ca}\n",
            )
            for user in ("admin", "bob")
        }


class Session(tool_sessions.Session):
    """Every tool logs in: as admin, who is a super user, or with `user=`."""

    clients: dict[str, str]

    def tool(self, name: str, *args: object, user: str = "admin") -> str:
        """Run one; its lines are written down sorted."""
        out = self.run(name, "--command-config", self.clients[user], *args, sort=True)
        # What command lines show that differs from run to run.
        self._lines = [_HMAC.sub("HMAC", _CLIENT.sub(r"\1", line)) for line in self._lines]
        return out

    def normal(self, text: str) -> list[str]:
        """Also without secrets, and without the requests that Kafka quotes."""
        # Before anything in one is taken for an id.
        lines = super().normal(_HMAC.sub("HMAC", text))
        lines = [re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d\b", "TIME", line) for line in lines]
        return [_DUMP.sub("Cluster authorization failed.", line) for line in lines]


def acls(session: Session) -> None:
    """kafka-acls: kinds of resources, prefixes, networks, conveniences, filters, refusals."""

    def run(*args: object, user: str = "admin") -> None:
        session.tool("kafka-acls", *args, user=user)

    allow, prefixed = ["--allow-principal", "User:ann"], ["--resource-pattern-type", "prefixed"]
    run("--add", *allow, "--producer", "--topic", "t", "--transactional-id", "x")
    run("--add", *allow, "--consumer", "--topic", "t", "--group", "g")
    run("--add", "--deny-principal", "User:eve", "--deny-host", "10.0.0.0/8", "--topic", "pay-", *prefixed)
    run("--add", "--allow-principal", "User:*", "--operation", "Describe", "--cluster")
    run("--add", *allow, "--operation", "CreateTokens", "--user-principal", "User:bob")
    session.settle()
    run("--list", user="bob")
    run("--list", "--topic", "pay-1", "--resource-pattern-type", "match")
    run("--add", *allow, "--allow-host", "/8", "--operation", "Read", "--topic", "t")
    run("--add", "--allow-principal", "User:bob", "--operation", "All", "--topic", "t", user="bob")
    run("--remove", "--force", "--topic", "pay-", *prefixed)
    run("--remove", "--force", "--topic", "t", "--group", "g", "--transactional-id", "x", "--cluster")
    run("--remove", "--force", "--user-principal", "User:bob")
    session.settle()
    run("--list")


def users(session: Session) -> None:
    """kafka-configs on users' SCRAM credentials and quotas, on client ids and addresses."""

    def alter(*args: object, add: str = "", delete: str = "", user: str = "admin") -> None:
        change = ["--add-config", add] if add else ["--delete-config", delete]
        session.tool("kafka-configs", "--alter", *args, *change, user=user)

    def describe(*args: object, user: str = "admin") -> None:
        session.tool("kafka-configs", "--describe", *args, user=user)

    ann, everybody = ["--entity-type", "users", "--entity-name", "ann"], ["--entity-type", "users"]
    some = ["--entity-type", "clients", "--entity-default"]
    address = ["--entity-type", "ips", "--entity-name"]
    describe(*ann)
    alter(*ann, add="SCRAM-SHA-256=[iterations=8192,password=secret]")
    alter(*ann, add="SCRAM-SHA-512=[iterations=10,password=secret]")
    alter(*ann, add="producer_byte_rate=1000,request_percentage=50.5")
    alter(*ann, *some, add="consumer_byte_rate=2000")
    alter(*everybody, "--entity-default", add="consumer_byte_rate=1")
    alter(*address, "127.0.0.1", add="connection_creation_rate=9")
    alter(*address, "host.invalid", add="connection_creation_rate=9")
    alter(*ann, add="nonsense=1")
    session.settle()
    describe(*everybody)
    describe(*ann, *some)
    describe("--entity-type", "ips")
    describe(*ann, user="bob")
    alter(*ann, add="producer_byte_rate=1", user="bob")
    alter(*ann, delete="SCRAM-SHA-512")
    alter(*ann, delete="SCRAM-SHA-256")
    alter(*ann, delete="producer_byte_rate,request_percentage")
    alter(*ann, *some, delete="consumer_byte_rate")
    alter(*everybody, "--entity-default", delete="consumer_byte_rate")
    alter(*address, "127.0.0.1", delete="connection_creation_rate")
    session.settle()
    describe(*everybody)


def tokens(session: Session) -> None:
    """kafka-delegation-tokens; loggers and telemetry, which not everybody may look at."""

    def run(*args: object, user: str = "admin") -> str:
        return session.tool("kafka-delegation-tokens", *args, user=user)

    forever = ["--max-life-time-period", "-1"]
    made = run("--create", *forever, "--renewer-principal", "User:admin", user="bob")
    run("--create", "--max-life-time-period", "1000000", "--owner-principal", "User:ann")
    run("--create", *forever, "--owner-principal", "User:ann", user="bob")
    run("--create", *forever, "--renewer-principal", "Group:x")
    session.settle()
    run("--describe", "--owner-principal", "User:bob")
    hmac = _HMAC.search(made)
    assert hmac is not None, made
    run("--renew", "--renew-time-period", "-1", "--hmac", hmac[0])
    run("--renew", "--renew-time-period", "-1", "--hmac", "bm9uZQ==")
    run("--expire", "--expiry-time-period", "-1", "--hmac", hmac[0], user="bob")
    session.settle()
    run("--describe", "--owner-principal", "User:bob")
    logger = ["--entity-type", "broker-loggers", "--entity-name", 1]
    session.tool("kafka-configs", "--describe", *logger, user="bob")
    session.tool("kafka-configs", "--alter", *logger, "--add-config", "x=DEBUG", user="bob")
    watched = ["--name", "watched"]
    session.tool("kafka-client-metrics", "--alter", *watched, "--interval", 2000, user="bob")
    session.tool("kafka-client-metrics", "--list", user="bob")


SESSIONS: dict[str, Callable[[Session], None]] = {each.__name__: each for each in (acls, users, tokens)}


def hold(
    name: str, java: JavaTools, bootstrap: str, clients: dict[str, str], folder: Path, lag_s: float = 0
) -> str:
    """Hold one session; what was printed."""
    session = Session(java, bootstrap, folder, lag_s)
    session.clients = clients
    SESSIONS[name](session)
    return session.text()


def main() -> None:
    """Write the recordings."""
    RECORDED.mkdir(parents=True, exist_ok=True)
    with JavaTools.start(cache_folder()) as java, tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        node, port = Node(folder), free_port()
        data = folder / "data"
        with Broker(data=str(data)):
            pass  # a folder that is formatted
        listeners = f",SASL_SSL://127.0.0.1:{port}"
        with kafka_on(data, cache_folder(), more_listeners=listeners, **node.settings):
            for name in SESSIONS:
                told = hold(name, java, f"127.0.0.1:{port}", node.clients, folder, 3)
                (RECORDED / f"{name}.txt").write_text(told)


if __name__ == "__main__":
    main()
