"""Real clients over every kind of listener, by every mechanism (docs/security.md has the table)."""

import asyncio
import contextlib
import os
import socket
import subprocess
import time
from pathlib import Path

import aiokafka
import confluent_kafka
import kafka
import kafka.net.sasl.oauth
import pytest
from aiokafka.abc import AbstractTokenProvider
from joserfc.jwk import RSAKey

from kbroker.client.cluster import Cluster
from kbroker.client.errors import NotTrusted
from tests.needs import need_command
from tests.security.all_mechanisms import fully_secured
from tests.security.certificates import pem_settings, trusting
from tests.security.kdc import REALM
from tests.security.logins import SCRAM_MODULE, client_jaas
from tests.security.secured import LISTENERS, MECHANISMS
from tests.security.test_oauth import signed

pytestmark = pytest.mark.compat
KEY = RSAKey.generate_key(2048, {"kid": "k"})
WAYS = [
    *((name, each) for name in LISTENERS[:2] for each in (*MECHANISMS, "OAUTHBEARER", "GSSAPI")),
    ("SSL", ""),
]


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    with fully_secured(tmp_path_factory.mktemp("stores"), KEY) as secured:
        yield secured


def need_mechanism(secured, mechanism):
    if mechanism == "GSSAPI" and secured.kdc is None:
        pytest.skip("python-gssapi or MIT's KDC is not installed")


def token():
    return signed(KEY, "RS256")


def rdkafka(secured, listener, mechanism, password="alice-secret"):
    settings = {"bootstrap.servers": secured.at(listener), "security.protocol": listener}
    if mechanism == "OAUTHBEARER":
        settings |= {
            "sasl.mechanism": mechanism,
            "oauth_cb": lambda _: (token(), time.time() + 3600),
        }
    elif mechanism:
        settings |= {
            "sasl.mechanism": mechanism,
            "sasl.username": "alice",
            "sasl.password": password,
        }
    if "SSL" in listener:
        settings["ssl.ca.location"] = secured.ca
    if listener == "SSL":
        settings |= {"ssl.certificate.location": secured.certificate, "ssl.key.location": secured.key}
    return settings


@pytest.mark.parametrize(("listener", "mechanism"), [way for way in WAYS if way[1] != "GSSAPI"])
def test_librdkafka(secured, listener, mechanism):
    settings = rdkafka(secured, listener, mechanism)
    topic, errors = f"rd-{listener}-{mechanism}", []
    secured.broker.create_topic(topic)
    producer = confluent_kafka.Producer(settings)
    producer.poll(0)
    values = [b"x" * 100_000, b"y"] * 10
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(60) == 0
    assert errors == [None] * 20
    consumer = confluent_kafka.Consumer(
        {**settings, "group.id": topic, "auto.offset.reset": "earliest"},
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    found = []
    while len(found) < 20:
        found += [message.value() for message in consumer.consume(20, 60)]
    consumer.close()
    assert sorted(found) == sorted(values)


def test_librdkafka_with_a_wrong_password(secured):
    problems = []
    settings = rdkafka(secured, "SASL_SSL", "SCRAM-SHA-512", "wrong")
    consumer = confluent_kafka.Consumer({**settings, "group.id": "g", "error_cb": problems.append})
    while not any(error.code() == confluent_kafka.KafkaError._AUTHENTICATION for error in problems):
        consumer.poll(0.1)
    consumer.close()


@pytest.mark.parametrize("listener", LISTENERS[:2])
def test_librdkafka_by_tickets(secured, listener):
    """Debian's kcat, whose librdkafka has GSSAPI: that of confluent-kafka's wheel has none."""
    need_mechanism(secured, "GSSAPI")
    if not list(Path("/usr/lib").glob("*/sasl2/libgssapiv2.so*")):
        pytest.skip("libsasl2-modules-gssapi-mit is not installed")
    kdc = secured.kdc
    settings = {
        "security.protocol": listener,
        "ssl.ca.location": secured.ca,
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.keytab": kdc.keytab,
        "sasl.kerberos.principal": f"alice@{REALM}",
        "sasl.kerberos.kinit.cmd": f"kinit -k -t {kdc.keytab} alice@{REALM}",
    }
    environment = {**os.environ, **kdc.environment, "KRB5CCNAME": f"FILE:{kdc.folder}/kcat"}
    assert "1 brokers" in kcat(f"localhost:{secured.broker.ports[listener]}", settings, environment)


class Tokens(kafka.net.sasl.oauth.AbstractTokenProvider):
    def token(self):
        return token()


class TokensLater(AbstractTokenProvider):
    async def token(self):
        return token()


def python_settings(secured, listener, mechanism, tokens):
    """Of both clients in Python."""
    settings = {"bootstrap_servers": secured.at(listener), "security_protocol": listener}
    if mechanism:
        settings["sasl_mechanism"] = mechanism
    if mechanism == "OAUTHBEARER":
        settings["sasl_oauth_token_provider"] = tokens
    elif mechanism == "GSSAPI":
        need_mechanism(secured, mechanism)
        settings |= {"sasl_kerberos_service_name": "kafka", "sasl_kerberos_domain_name": "localhost"}
    elif mechanism:
        settings |= {"sasl_plain_username": "alice", "sasl_plain_password": "alice-secret"}
    return settings


@pytest.mark.parametrize(("listener", "mechanism"), WAYS)
def test_kafka_python(secured, listener, mechanism):
    settings = python_settings(secured, listener, mechanism, Tokens())
    settings["ssl_cafile"] = secured.ca
    if not mechanism:
        settings |= {"ssl_certfile": secured.certificate, "ssl_keyfile": secured.key}
    producer = kafka.KafkaProducer(**settings)
    assert producer.send("t", b"value").get(60).topic == "t"
    producer.close()


@pytest.mark.parametrize(("listener", "mechanism"), WAYS)
async def test_aiokafka(secured, listener, mechanism):
    settings = python_settings(secured, listener, mechanism, TokensLater())
    context = trusting(secured.authority.pem)
    if not mechanism:
        context.load_cert_chain(secured.certificate, secured.key)
    producer = aiokafka.AIOKafkaProducer(**settings, ssl_context=context)
    await asyncio.wait_for(producer.start(), 60)
    sent = await asyncio.wait_for(producer.send_and_wait("t", b"value"), 60)
    await producer.stop()
    assert sent.topic == "t"


def kcat(bootstrap, settings, environment=None):
    need_command("kcat")
    arguments = [part for name, value in settings.items() for part in ("-X", f"{name}={value}")]
    command = ["kcat", "-b", bootstrap, "-m", "60", *arguments, "-L"]
    listed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return listed.stdout + listed.stderr


def test_kcat(secured):
    settings = rdkafka(secured, "SASL_SSL", "SCRAM-SHA-256")
    assert "1 brokers" in kcat(settings.pop("bootstrap.servers"), settings)


def ours(secured, listener, authority=None, certificate=None):
    settings = {"security.protocol": listener, **pem_settings(authority or secured.authority, certificate)}
    settings["sasl.mechanism"] = "SCRAM-SHA-256"
    settings["sasl.jaas.config"] = client_jaas(SCRAM_MODULE, "alice", "alice-secret")
    return Cluster(secured.at(listener), settings=settings, timeout_s=60)


def test_our_own_client(secured):
    with ours(secured, "SASL_SSL") as cluster:
        assert cluster.brokers()
    with ours(secured, "SSL", certificate=secured.client) as cluster:
        assert cluster.brokers()


def test_certificates_that_are_not_good(secured):
    """An unknown authority, signed by itself, an expired one, none at all: nobody gets in."""
    good, other = secured.authority, secured.other
    for certificate in (other.sign("client"), other, good.sign("client", expired=True), None):
        with ours(secured, "SSL", certificate=certificate) as cluster, pytest.raises(Exception) as caught:
            cluster.brokers()
        assert not isinstance(caught.value, AssertionError)
    with (
        ours(secured, "SASL_SSL", secured.other) as cluster,
        pytest.raises(NotTrusted, match=r"self-signed|verify"),
    ):
        cluster.brokers()


def test_names_are_checked(secured):
    with ours(secured, "SASL_SSL") as cluster:
        cluster.bootstrap = [address._replace(host="127.0.0.2") for address in cluster.bootstrap]
        with pytest.raises(Exception) as caught:
            cluster.brokers()
    assert not isinstance(caught.value, AssertionError)


def test_text_and_nonsense_on_a_tls_port(secured):
    port = secured.broker.ports["SSL"]
    for data in (b"GET / HTTP/1.1\r\n\r\n", bytes(100), b"\x16\x03\x01\xff\xff" + bytes(200_000)):
        sock = socket.create_connection(("127.0.0.1", port), timeout=60)
        with sock, contextlib.suppress(ConnectionError):
            sock.sendall(data)
            while sock.recv(1000):
                pass


def test_a_new_certificate_is_used_without_a_restart(secured, tmp_path):
    """KIP-226: another key store at the same place."""
    port = secured.broker.ports["SASL_SSL"]
    context = trusting(secured.authority.pem)

    def shown():
        sock = socket.create_connection(("127.0.0.1", port), timeout=60)
        with context.wrap_socket(sock, server_hostname="localhost") as tls:
            return dict(pair for names in tls.getpeercert()["subject"] for pair in names)["commonName"]

    assert shown() == "node"
    renewed = secured.authority.sign("renewed").pkcs12(secured.authority.certificate)
    with open(secured.broker.config["ssl.keystore.location"], "wb") as file:
        file.write(renewed)
    while shown() != "renewed":
        pass
