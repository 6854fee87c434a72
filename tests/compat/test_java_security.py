"""TLS, SASL, users and tokens with Apache Kafka's own client and tools of 4.4."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compat.javatools import JavaTools
from tests.security.all_mechanisms import KERBEROS, fully_secured
from tests.security.certificates import write
from tests.security.kdc import REALM
from tests.security.logins import PLAIN_MODULE, SCRAM_MODULE, client_jaas
from tests.security.secured import LISTENERS, MECHANISMS, Secured
from tests.security.test_token_endpoint import Provider

_OAUTH = "org.apache.kafka.common.security.oauthbearer"


def settings(secured: Secured, listener: str, mechanism: str = "", **more: str) -> dict[str, str]:
    """Of a client."""
    found = {"bootstrap.servers": secured.at(listener), "security.protocol": listener, **more}
    if mechanism:
        found["sasl.mechanism"] = mechanism
    if "SSL" in listener:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": secured.ca}
    return found


def properties(folder: Path, name: str, values: dict[str, str]) -> str:
    """A file of settings."""
    return write(folder, name, "\n".join(f"{name}={value}" for name, value in values.items()))


def by_token(java: JavaTools, secured: Secured, command_config: str) -> str:
    """A delegation token by Kafka's tool: the options of its login."""
    made = java.run(
        "kafka-delegation-tokens", "--bootstrap-server", secured.at("SASL_SSL"), "--create",
        "--max-life-time-period", "-1", "--command-config", command_config, "--renewer-principal", "User:bob",
    ).ok()  # fmt: skip
    token = re.search(r"(?m)^(\S{22})\s+(\S{80,})\s+User:alice", made)
    assert token is not None, made
    return client_jaas(SCRAM_MODULE, token[1], token[2], ' tokenauth="true"')


def logins(java: JavaTools, files: list[str]) -> None:
    """Records by the settings of these files."""
    assert java.run("logins", "t", *files).ok().strip() == "ok", files


@pytest.mark.jvm
def test_java_logs_in_everywhere(java: JavaTools, tmp_path: Path) -> None:
    """By every mechanism over every listener: a record there and back."""
    with Provider() as provider, fully_secured(tmp_path, provider.key) as secured:
        password = {"sasl.jaas.config": client_jaas(SCRAM_MODULE, "alice", "alice-secret")}
        scram = settings(secured, "SASL_SSL", "SCRAM-SHA-512", **password)
        token = {"sasl.jaas.config": by_token(java, secured, properties(tmp_path, "scram", scram))}
        own = write(tmp_path, "own-both.pem", secured.client.key_pem() + secured.client.pem)
        certificate = {"ssl.keystore.type": "PEM", "ssl.keystore.location": own}
        logins(java, [properties(tmp_path, "SSL", settings(secured, "SSL", **certificate))])
        ways = {
            "PLAIN": {"sasl.jaas.config": client_jaas(PLAIN_MODULE, "alice", "alice-secret")},
            "OAUTHBEARER": {
                "sasl.login.callback.handler.class": f"{_OAUTH}.OAuthBearerLoginCallbackHandler",
                "sasl.jaas.config": f"{_OAUTH}.OAuthBearerLoginModule required;",
                "system.org.apache.kafka.sasl.oauthbearer.allowed.urls": provider.url,
                **provider.settings(),
            },
        }
        # KIP-1139: as our own clients ask (tests/security/test_token_assertion.py).
        provider.signer = provider.key
        key = write(tmp_path, "own.key", provider.key.as_pem(private=True))
        ways["assertion OAUTHBEARER"] = {
            **ways["OAUTHBEARER"],
            "sasl.oauthbearer.jwt.retriever.class": f"{_OAUTH}.JwtBearerJwtRetriever",
            "sasl.oauthbearer.assertion.private.key.file": key,
            "sasl.oauthbearer.assertion.claim.iss": "node",
            "system.org.apache.kafka.sasl.oauthbearer.allowed.files": key,
        }
        for mechanism in MECHANISMS[1:]:
            ways |= {mechanism: password, f"token {mechanism}": token}
        if secured.kdc is not None:
            ways["GSSAPI"] = {
                "sasl.kerberos.service.name": "kafka",
                "sasl.jaas.config": f'{KERBEROS} keyTab="{secured.kdc.keytab}" principal="alice@{REALM}";',
                "system.java.security.krb5.conf": f"{tmp_path}/krb5.conf",
            }
        for way, more in ways.items():
            files = [
                properties(
                    tmp_path, f"{listener} {way}", settings(secured, listener, way.split()[-1], **more)
                )
                for listener in LISTENERS[:2]
            ]
            logins(java, [f"send:{files[0]}", files[1]])
        shapes = {tuple(sorted(form)) for _, form in provider.asked}
        assert shapes == {("grant_type",), ("assertion", "grant_type")}
        provider.shutdown()
