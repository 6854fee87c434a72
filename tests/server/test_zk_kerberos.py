"""A broker logs in to a real ZooKeeper with a ticket of a real KDC."""

from __future__ import annotations

import importlib.util

import pytest

from kbroker.errors import ConfigError
from tests.needs import need_java
from tests.security.certificates import write
from tests.security.kdc import REALM, Kdc, find
from tests.server.test_zk_security import JAAS, access, assert_brokers_only, started
from tests.server.zookeeper import ZooKeeperServer

_MODULE = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"
_SASL = """authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider
kerberos.removeHostFromPrincipal=true
kerberos.removeRealmFromPrincipal=true
"""
#: Who may do all, with the password `super`: sha1 and base64 of `super:super`.
_JVM = "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:gG7s8t3oDEtIqF6DM9LlI/R+9Ss="


@pytest.fixture(scope="module")
def kdc(tmp_path_factory):
    """Skipped without Debian's krb5-kdc and python-gssapi; `.ci/run` installs both where that is possible."""
    missing = [each for each in ("krb5kdc", "kadmin.local", "kdb5_util") if find(each) is None]
    if importlib.util.find_spec("gssapi") is None or missing:
        pytest.skip("python-gssapi or MIT's KDC is not installed")
    kdc = Kdc(tmp_path_factory.mktemp("kdc"), ["zookeeper/127.0.0.1", "kafka/broker-1", "other"])
    kdc.start()
    patch = pytest.MonkeyPatch()
    for name, value in kdc.environment.items():
        patch.setenv(name, value)
    yield kdc
    patch.undo()
    kdc.stop()


@pytest.fixture(scope="module")
def server(kdc, tmp_path_factory):
    need_java()
    pytest.importorskip("kazoo")
    pytest.importorskip("puresasl")
    folder = tmp_path_factory.mktemp("zookeeper")
    logins = write(folder, "logins", f"Server {{ {login(kdc, 'zookeeper/127.0.0.1')} }};\n")
    jvm = [
        _JVM,
        f"-Djava.security.auth.login.config={logins}",
        f"-Djava.security.krb5.conf={kdc.environment['KRB5_CONFIG']}",
    ]
    with ZooKeeperServer(folder / "server", _SASL, jvm) as server:
        yield server


def login(kdc, principal):
    return f'{_MODULE} keyTab="{kdc.keytab}" principal="{principal}@{REALM}";'


async def test_a_ticket_logs_in(kdc, server, tmp_path):
    settings = {
        "zookeeper.connect": f"{server.address}/kerberos",
        "zookeeper.set.acl": "true",
        JAAS: login(kdc, "kafka/broker-1"),
    }
    node = await started(tmp_path, settings)
    try:
        assert_brokers_only(access(server.address, "/kerberos"), "sasl", "kafka")
    finally:
        await node.stop()
    # Another principal may write nothing there.
    with pytest.raises(ConfigError, match="access denied"):
        await started(tmp_path, {**settings, JAAS: login(kdc, "other")})


async def test_no_ticket_is_one_line(kdc, server, tmp_path, caplog):
    settings = {
        "zookeeper.connect": f"{server.address}/kerberos",
        "zookeeper.connection.timeout.ms": "1500",
        JAAS: login(kdc, "nobody"),
    }
    with pytest.raises(ConfigError, match=r"within 1500 ms .*ZooKeeper does not accept the login"):
        await started(tmp_path, settings)
    told = [each for each in caplog.messages if "no login to ZooKeeper at 127.0.0.1: Kerberos says" in each]
    assert len(told) == 1
