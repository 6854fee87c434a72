"""Logins and TLS with a real ZooKeeper, and who may read and write what a broker makes there."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha1

import pytest

from kbroker.config.loading import load_config
from kbroker.errors import ConfigError
from kbroker.nodes import node_for
from kbroker.security.jaas import parse_jaas
from kbroker.server.zk_settings import zk_node_settings
from kbroker.testing.ports import free_ports
from tests.needs import need_java
from tests.security.certificates import Authority, write
from tests.server.zookeeper import ZooKeeperServer

JAAS = "kbroker.zookeeper.sasl.jaas.config"
LOGIN = 'org.apache.zookeeper.server.auth.DigestLoginModule required username="{}" password="{}";'
_SERVER_LOGINS = """Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required user_kafka="secret" user_other="other";
};
"""
_SASL = "authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n"
_TLS = """secureClientPort={port}
secureClientPortAddress=127.0.0.1
serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider
ssl.keyStore.location={own}
ssl.keyStore.type=PEM
ssl.trustStore.location={authority}
ssl.trustStore.type=PEM
"""
SECRETS = {"/config/users", "/config/brokers"}
#: Who may do all, with the password `super`.
_SUPER = "super:" + b64encode(sha1(b"super:super").digest()).decode()
_JVM = f"-Dzookeeper.DigestAuthenticationProvider.superDigest={_SUPER}"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Takes logins, and strangers."""
    need_java()
    pytest.importorskip("kazoo")
    pytest.importorskip("puresasl")
    folder = tmp_path_factory.mktemp("sasl")
    logins = write(folder, "logins", _SERVER_LOGINS)
    with ZooKeeperServer(folder, _SASL, [_JVM, f"-Djava.security.auth.login.config={logins}"]) as server:
        yield server


class Tls:
    """A server with a port for TLS, which wants certificates of clients."""

    def __init__(self, folder):
        self.folder, self.authority = folder, Authority()
        own = self.authority.sign("zookeeper")
        (self.port,) = free_ports(1)
        self.server = ZooKeeperServer(
            folder / "server",
            _TLS.format(
                port=self.port,
                own=write(folder, "server.pem", own.key_pem() + own.pem),
                authority=write(folder, "authority.pem", self.authority.pem),
            ),
            [_JVM],
        )

    def settings(self, own, authority="authority.pem"):
        """Of a broker with that certificate."""
        return {
            "zookeeper.connect": f"localhost:{self.port}",
            "zookeeper.ssl.client.enable": "true",
            "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
            "zookeeper.ssl.truststore.location": str(self.folder / authority),
            "zookeeper.ssl.truststore.type": "PEM",
            "zookeeper.ssl.keystore.location": write(self.folder, "own.pem", own.key_pem("word") + own.pem),
            "zookeeper.ssl.keystore.password": "word",
            "zookeeper.ssl.keystore.type": "PEM",
        }


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    tls = Tls(tmp_path_factory.mktemp("tls"))
    with tls.server:
        yield tls


async def started(folder, settings):
    """A node, which is stopped again when this ends."""
    assignments = {
        "broker.id": "1",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(folder / "data"),
        "zookeeper.session.timeout.ms": "6000",
        "zookeeper.connection.timeout.ms": "60000",
        **settings,
    }
    node = node_for(load_config(assignments=assignments.items()).config)
    await node.start()
    return node


def access(address, chroot):
    """Each znode's list: scheme, id and permissions; and what strangers cannot read."""
    from kazoo.client import KazooClient
    from kazoo.exceptions import NoAuthError

    client, stranger = KazooClient(address), KazooClient(address)
    client.start()
    client.add_auth("digest", "super:super")
    stranger.start()
    lists, secrets, ahead = {}, set(), [chroot]
    while ahead:
        path = ahead.pop()
        name = path.removeprefix(chroot) or "/"
        lists[name] = {(each.id.scheme, each.id.id, each.perms) for each in client.get_acls(path)[0]}
        ahead += [f"{path}/{child}" for child in client.get_children(path)]
        try:
            stranger.get(path)
        except NoAuthError:
            secrets.add(name)
    for each in (client, stranger):
        each.stop()
        each.close()
    return lists, secrets


def assert_brokers_only(found, scheme, who):
    lists, secrets = found
    own, readable = (scheme, who, 31), ("world", "anyone", 1)
    assert secrets == SECRETS
    assert lists.pop("/consumers") == {("world", "anyone", 31)}
    for path, entries in lists.items():
        assert entries == ({own} if path in SECRETS else {own, readable}), path
    assert {"/brokers/ids/1", "/controller", "/controller_epoch", "/cluster/id", "/feature"} <= lists.keys()


async def test_a_broker_logs_in_and_keeps_what_it_makes(server, tmp_path):
    settings = {
        "zookeeper.connect": f"{server.address}/sasl",
        "zookeeper.set.acl": "true",
        JAAS: LOGIN.format("kafka", "secret"),
    }
    node = await started(tmp_path, settings)
    try:
        assert_brokers_only(access(server.address, "/sasl"), "sasl", "kafka")
    finally:
        await node.stop()
    # Another user may read most of it, and write nothing.
    with pytest.raises(ConfigError, match="access denied"):
        await started(tmp_path, {**settings, JAAS: LOGIN.format("other", "other")})
    again = await started(tmp_path, settings)
    await again.stop()


async def test_without_lists_everybody_may(server, tmp_path):
    settings = {"zookeeper.connect": f"{server.address}/open", JAAS: LOGIN.format("kafka", "secret")}
    node = await started(tmp_path, settings)
    try:
        lists, secrets = access(server.address, "/open")
        assert all(each == {("world", "anyone", 31)} for each in lists.values())
        assert not secrets
    finally:
        await node.stop()


async def test_a_wrong_password_is_one_line(server, tmp_path):
    settings = {
        "zookeeper.connect": f"{server.address}/sasl",
        "zookeeper.connection.timeout.ms": "1500",
        JAAS: LOGIN.format("kafka", "wrong"),
    }
    with pytest.raises(ConfigError, match=r"within 1500 ms .*ZooKeeper does not accept the login"):
        await started(tmp_path, settings)


async def test_tls_with_a_certificate_and_lists(tls, tmp_path):
    settings = {**tls.settings(tls.authority.sign("broker")), "zookeeper.set.acl": "true"}
    settings["zookeeper.connect"] += "/tls"
    node = await started(tmp_path, settings)
    try:
        name = "CN=broker,OU=brokers,O=Tests\\, Inc.,C=DE"
        assert_brokers_only(access(tls.server.address, "/tls"), "x509", name)
    finally:
        await node.stop()


@pytest.mark.parametrize("wrong", ["authority", "name"])
async def test_tls_with_a_server_that_is_not_trusted(tls, tmp_path, caplog, wrong):
    write(tls.folder, "another.pem", Authority().pem)
    authority = "another.pem" if wrong == "authority" else "authority.pem"
    settings = tls.settings(tls.authority.sign("broker"), authority)
    settings["zookeeper.connection.timeout.ms"] = "1500"
    if wrong == "name":
        settings["zookeeper.connect"] = f"127.0.0.2:{tls.port}"
    with pytest.raises(ConfigError, match=r"no session with ZooKeeper at .* within 1500 ms"):
        await started(tmp_path, settings)
    told = [each for each in caplog.messages if "no TLS with ZooKeeper" in each]
    if wrong == "authority":
        assert len(told) == 1
        assert "certificate verify failed" in told[0]


def checked(**settings):
    names = {name.replace("_", "."): value for name, value in settings.items()}
    assignments = {"zookeeper.connect": "h:1", "broker.id": "1", **names}
    return zk_node_settings(load_config(assignments=assignments.items()).config.static).link


def test_settings_of_logins():
    login = {JAAS: LOGIN.format("u", "p")}
    assert (checked(**login).user, checked(**login).password) == ("u", "p")
    assert checked(**login, zookeeper_set_acl="true").set_acl
    with pytest.raises(ConfigError, match=r"zookeeper\.set\.acl needs"):
        checked(zookeeper_set_acl="true")
    with pytest.raises(ConfigError, match="needs username and password"):
        checked(**{JAAS: "org.apache.zookeeper.server.auth.DigestLoginModule required username=u;"})
    with pytest.raises(ConfigError, match="only these login modules are known"):
        checked(**{JAAS: 'org.apache.kafka.common.security.plain.PlainLoginModule required username="p";'})
    kerberos = checked(**{JAAS: 'com.sun.security.auth.module.Krb5LoginModule required principal="p";'})
    assert (kerberos.user, kerberos.kerberos) == ("", {"principal": "p"})
    # It is for clients of ZooKeeper only.
    with pytest.raises(ConfigError, match="only these login modules are known"):
        parse_jaas(LOGIN.format("u", "p"))
