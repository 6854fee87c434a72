"""Many who begin and do not finish, and settings that change while the broker runs."""

import contextlib
import socket
import struct

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.server.newcomers import EarlyBytes, Newcomers
from kbroker.testing import Broker
from tests.metrics.scrape import Scraped
from tests.security.certificates import Authority, pem_settings, trusting
from tests.security.logins import CLOSED, PLAIN_MODULE, USERS, Raw


def test_the_oldest_has_to_go():
    gone = []
    newcomers = Newcomers(2)
    numbers = [newcomers.add(lambda n=n: gone.append(n)) for n in range(4)]
    assert gone == [0, 1]
    newcomers.done(numbers[2])
    newcomers.add(lambda: gone.append(4))
    assert (gone, len(newcomers), newcomers.dropped) == ([0, 1], 2, 2)


def test_bytes_of_all_that_are_not_in():
    gone = []
    early = EarlyBytes(100)
    first = early.take(60, lambda: gone.append(1))
    second = early.take(40, lambda: gone.append(2))
    assert not gone
    early.give(second)
    early.give(second)
    third = early.take(50, lambda: gone.append(3))
    assert (gone, early.total, early.dropped) == ([1], 50, 1)
    early.give(first)
    # Alone, one may have more than the budget.
    early.take(1000, lambda: gone.append(4))
    assert (gone, early.total) == ([1, 3], 1000)
    early.give(third)


@pytest.fixture(scope="module")
def broker():
    authority = Authority()
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
        "connection.failed.authentication.delay.ms": "1",
        "kbroker.metrics.listener": "127.0.0.1:0",
        **pem_settings(authority, authority.sign("node")),
    }
    with Broker(config=config) as broker:
        broker.authority = authority
        yield broker


@pytest.mark.parametrize("listener", ["SSL", "SASL_PLAINTEXT"])
def test_127_slow_loris(broker, listener):
    """1,200 half-open handshakes or logins: the first 200 are dropped, and others are served as ever."""
    port, half = broker.ports[listener], []
    start = b"\x16\x03\x01\x02\x00\x01" if listener == "SSL" else b"\0\0\x04\0\0\x11"
    context = trusting(broker.authority.pem)

    def wrap(sock):
        return context.wrap_socket(sock, server_hostname="localhost")

    try:
        for _ in range(1_200):
            half.append(socket.create_connection(("127.0.0.1", port), timeout=60))
            half[-1].sendall(start)
        for sock in half[:200]:
            with contextlib.suppress(ConnectionError):
                assert sock.recv(1) == b""
        with Raw(port, wrap if listener == "SSL" else None) as raw:
            if listener != "SSL":
                assert raw.plain("alice", "alice-secret").error_code == 0
            assert raw.ask(MetadataRequest(topics=[]), 9).brokers
        # The younger ones may still come in.
        half[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            half[-1].recv(1)
    finally:
        for sock in half:
            sock.close()


def test_large_logins_share_a_budget(broker):
    """200 who promise 512 KiB each and send half: the oldest go, the newest gets in with a large message."""
    port, half = broker.ports["SASL_PLAINTEXT"], []
    start = struct.pack(">i", 512 * 1024) + bytes(10_000)
    try:
        for _ in range(200):
            half.append(socket.create_connection(("127.0.0.1", port), timeout=60))
            half[-1].sendall(start)
        for sock in half[:60]:
            with contextlib.suppress(ConnectionError):
                assert sock.recv(1) == b""
        with Raw(port) as raw:
            raw.handshake("PLAIN")
            answer = raw.token(b"\0alice\0" + b"x" * 100_000)
            assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        with Raw(port) as raw:
            assert raw.plain("alice", "alice-secret").error_code == 0
            # In, it may send frames as large as others.
            raw.send(raw.encode(MetadataRequest(topics=[]), 9) + bytes(600_000))
            assert raw.frame() != CLOSED
    finally:
        for sock in half:
            sock.close()


def test_users_and_mechanisms_change_live(broker):
    """KIP-226: the next login counts; settings that do not do leave what was."""
    name = "listener.name.sasl_plaintext.plain.sasl.jaas.config"

    def logs_in(user):
        with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
            answer = raw.plain(user, "new-secret")
            return answer != CLOSED and answer.error_code == 0

    assert not logs_in("new")
    with Cluster(broker.bootstrap) as cluster:
        users = f'{PLAIN_MODULE} required user_new="new-secret";'
        alter_configs(cluster, ResourceType.BROKER, "1", set_={name: users})
        while not logs_in("new"):
            pass
        with pytest.raises(ApiError, match="jaas") as refused:
            alter_configs(cluster, ResourceType.BROKER, "1", set_={name: "nonsense"})
        assert refused.value.code == ErrorCode.INVALID_REQUEST
        assert logs_in("new")
        alter_configs(cluster, ResourceType.BROKER, "1", delete=[name])
        while logs_in("new"):
            pass


def test_a_new_key_store_is_tried_first(broker):
    """KIP-226: what cannot be used, or bears other names, is refused and leaves what was."""
    authority = broker.authority
    port = broker.ports["SSL"]
    prefix = "listener.name.ssl."

    def stores(certificate, **more):
        return {prefix + name: text for name, text in pem_settings(authority, certificate).items()} | more

    def shown():
        context = trusting(authority.pem)
        sock = socket.create_connection(("127.0.0.1", port), timeout=60)
        with context.wrap_socket(sock, server_hostname="localhost") as tls:
            return tls.getpeercert()["serialNumber"]

    before = shown()
    node = authority.sign("node")
    other_key = stores(node, **{f"{prefix}ssl.keystore.key": authority.sign("node").key_pem()})
    refused = (
        ({f"{prefix}ssl.truststore.certificates": "nonsense"}, "ssl.truststore"),
        (stores(authority.sign("somebody")), "DistinguishedName"),
        (stores(authority.sign("node", ["localhost"])), "SubjectAltNames"),
        (other_key, "do not fit"),
    )
    with Cluster(broker.bootstrap) as cluster:
        for settings, why in refused:
            with pytest.raises(ApiError, match=why) as caught:
                alter_configs(cluster, ResourceType.BROKER, "1", set_=settings)
            assert caught.value.code == ErrorCode.INVALID_REQUEST
            assert "PRIVATE" not in str(caught.value)
        assert shown() == before
        alter_configs(cluster, ResourceType.BROKER, "1", set_=stores(node))
        while shown() == before:
            pass


def test_figures(broker):
    with Raw(broker.ports["SASL_PLAINTEXT"]) as raw:
        raw.handshake("PLAIN")
        figures = Scraped(broker)
        assert figures.value("kbroker_server_logins_underway", listener="SASL_PLAINTEXT") >= 1
        assert figures.value("kbroker_server_logins_crowdedout", listener="SASL_PLAINTEXT") >= 0
        assert figures.value("kbroker_server_tls_certificatesecondsleft", listener="SSL") > 3600
