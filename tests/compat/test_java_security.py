"""TLS, SASL, users and tokens with Apache Kafka's own client and tools of 4.4."""

from __future__ import annotations

import contextlib
import importlib.util
import re
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.users import list_users, set_user
from kbroker.testing import Broker
from tests.compat.javatools import JavaTools
from tests.security.certificates import write
from tests.security.kdc import REALM, Kdc, find
from tests.security.logins import PLAIN_MODULE, SCRAM_MODULE, client_jaas
from tests.security.secured import Secured
from tests.security.test_kerberos import JAAS as KERBEROS
from tests.security.test_oauth import url_of
from tests.security.test_token_endpoint import Provider

_OAUTH = "org.apache.kafka.common.security.oauthbearer"


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


@pytest.mark.jvm
def test_java_logs_in_by_tickets_and_tokens(
    java: JavaTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GSSAPI with a key, where there is a KDC; OAUTHBEARER with signed tokens of an endpoint."""
    has_kdc = find("krb5kdc") is not None and importlib.util.find_spec("gssapi") is not None
    common = {"security.protocol": "SASL_PLAINTEXT"}
    with Provider() as provider:
        keys = url_of(tmp_path, provider.key)
        config = {
            "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
            "sasl.enabled.mechanisms": "OAUTHBEARER,GSSAPI" if has_kdc else "OAUTHBEARER",
            "sasl.oauthbearer.jwks.endpoint.url": keys,
            "sasl.oauthbearer.expected.audience": "kafka",
            "sasl.oauthbearer.expected.issuer": "me",
            "kbroker.oauthbearer.allowed.urls": keys,
        }
        ways = {
            "token": {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.login.callback.handler.class": f"{_OAUTH}.OAuthBearerLoginCallbackHandler",
                "sasl.jaas.config": f"{_OAUTH}.OAuthBearerLoginModule required;",
                "system.org.apache.kafka.sasl.oauthbearer.allowed.urls": provider.url,
                **provider.settings(),
            }
        }
        if has_kdc:
            kdc = Kdc(tmp_path, ["kafka/localhost", "alice"])
            for name, value in kdc.environment.items():
                monkeypatch.setenv(name, value)
            module = f'{KERBEROS} keyTab="{kdc.keytab}" principal='
            config["sasl.jaas.config"] = f'{module}"kafka/localhost@{REALM}";'
            ways["ticket"] = {
                "sasl.mechanism": "GSSAPI",
                "sasl.kerberos.service.name": "kafka",
                "sasl.jaas.config": f'{module}"alice@{REALM}";',
                "system.java.security.krb5.conf": f"{tmp_path}/krb5.conf",
            }
        else:
            kdc = None
        with contextlib.ExitStack() as stack:
            if kdc is not None:
                kdc.start()
                stack.callback(kdc.stop)
            broker = stack.enter_context(Broker(config=config))
            broker.create_topic("t")
            common["bootstrap.servers"] = f"127.0.0.1:{broker.ports['SASL_PLAINTEXT']}"
            files = [
                write(tmp_path, way, "\n".join(f"{name}={value}" for name, value in (common | more).items()))
                for way, more in ways.items()
            ]
            assert java.run("logins", "t", *files).ok().strip() == "ok"
        provider.shutdown()
