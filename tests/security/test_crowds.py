"""Many who begin and do not finish, and settings that change while the broker runs."""

import contextlib
import socket
import ssl

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.protocol.generated.metadata_request import MetadataRequest
from kbroker.server.newcomers import Newcomers
from kbroker.testing import Broker
from tests.security.certificates import Authority, pem_settings
from tests.security.logins import CLOSED, PLAIN_MODULE, USERS, Raw


def test_the_oldest_has_to_go():
    gone = []
    newcomers = Newcomers(2)
    numbers = [newcomers.add(lambda n=n: gone.append(n)) for n in range(4)]
    assert gone == [0, 1]
    newcomers.done(numbers[2])
    newcomers.add(lambda: gone.append(4))
    assert (gone, len(newcomers), newcomers.dropped) == ([0, 1], 2, 2)


@pytest.fixture(scope="module")
def broker():
    authority = Authority()
    config = {
        "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
        "connection.failed.authentication.delay.ms": "1",
        **pem_settings(authority, authority.sign("node")),
    }
    with Broker(config=config) as broker:
        broker.authority = authority
        yield broker


@pytest.mark.parametrize("listener", ["SSL", "SASL_PLAINTEXT"])
def test_slow_loris(broker, listener):
    """1,200 half-open handshakes or logins: the first 200 are dropped, and others are served as ever."""
    port, half = broker.ports[listener], []
    start = b"\x16\x03\x01\x02\x00\x01" if listener == "SSL" else b"\0\0\x04\0\0\x11"
    context = ssl.create_default_context(cadata=broker.authority.pem)

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
        alter_configs(cluster, ResourceType.BROKER, "1", set_={name: "nonsense"})
        assert logs_in("new")
        alter_configs(cluster, ResourceType.BROKER, "1", delete=[name])
        while logs_in("new"):
            pass
