"""TLS, SASL, users and tokens with Apache Kafka's own client and tools of 4.4."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.users import list_users, set_user
from tests.compat.javatools import JavaTools
from tests.security.certificates import write
from tests.security.logins import PLAIN_MODULE, SCRAM_MODULE, client_jaas
from tests.security.secured import Secured


def settings(secured: Secured, folder: Path, listener: str, mechanism: str = "", jaas: str = "") -> str:
    """A file of client settings."""
    lines = [f"bootstrap.servers={secured.at(listener)}", f"security.protocol={listener}"]
    if mechanism:
        lines += [f"sasl.mechanism={mechanism}", f"sasl.jaas.config={jaas}"]
    if "SSL" in listener:
        lines += ["ssl.truststore.type=PEM", f"ssl.truststore.location={secured.ca}"]
    if listener == "SSL":
        own = write(folder, "own-both.pem", secured.client.key_pem() + secured.client.pem)
        lines += ["ssl.keystore.type=PEM", f"ssl.keystore.location={own}"]
    return write(folder, f"{listener}-{mechanism}.properties", "\n".join(lines))


@pytest.mark.jvm
def test_java_logs_in_everywhere(java: JavaTools, tmp_path: Path) -> None:
    """Every listener; users by kafka-configs; a token by kafka-delegation-tokens, and a login with it."""
    secured = Secured(tmp_path)
    with secured.broker as broker, Cluster(broker.bootstrap) as cluster:
        broker.create_topic("t")
        user = ["--alter", "--entity-type", "users", "--entity-name", "bob", "--add-config"]
        java.run(
            "kafka-configs",
            "--bootstrap-server",
            broker.bootstrap,
            *user,
            "SCRAM-SHA-512=[password=bob-secret]",
        ).ok()
        assert [each.name for each in list_users(cluster)] == ["bob"]
        set_user(cluster, "alice", "alice-secret", "SCRAM-SHA-256")
        scram = settings(
            secured, tmp_path, "SASL_SSL", "SCRAM-SHA-512", client_jaas(SCRAM_MODULE, "bob", "bob-secret")
        )
        made = java.run(
            "kafka-delegation-tokens", "--bootstrap-server", secured.at("SASL_SSL"), "--create",
            "--max-life-time-period", "-1", "--command-config", scram, "--renewer-principal", "User:alice",
        ).ok()  # fmt: skip
        token = re.search(r"(?m)^(\S{22})\s+(\S{80,})\s+User:bob", made)
        assert token is not None, made
        by_token = client_jaas(SCRAM_MODULE, token[1], token[2], ' tokenauth="true"')
        files = [
            scram,
            settings(secured, tmp_path, "SASL_PLAINTEXT", "SCRAM-SHA-256", by_token),
            settings(
                secured,
                tmp_path,
                "SASL_PLAINTEXT",
                "PLAIN",
                client_jaas(PLAIN_MODULE, "alice", "alice-secret"),
            ),
            settings(secured, tmp_path, "SSL"),
        ]
        assert java.run("logins", "t", *files).ok().strip() == "ok"
