"""The settings of a node whose cluster is kept in ZooKeeper, as Kafka 3.9 named and checked them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.security.jaas import GSSAPI, ZOOKEEPER_MODULES, parse_jaas
from kbroker.server.zk_client import ZkSettings, split_connect

if TYPE_CHECKING:
    from collections.abc import Mapping

_SSL = "zookeeper.ssl"
#: What the section `Client` of a file of logins is for Kafka.
JAAS = "kbroker.zookeeper.sasl.jaas.config"
#: What can be left at these values only.
_REFUSED = {
    "zookeeper.ssl.crl.enable": "false",
    "zookeeper.ssl.ocsp.enable": "false",
    "zookeeper.ssl.cipher.suites": "",
    "zookeeper.ssl.enabled.protocols": "",
    "zookeeper.ssl.truststore.password": "",
    "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
}
#: Kafka's 10 holds up who reads 10,000 partitions.
_AT_ONCE = 500


@plain(frozen=True)
class ZkNodeSettings:
    """`link` is how ZooKeeper is reached; `connect_ms` how long a start waits for it; `at_once`: so many
    requests are under way while everything is read; above `reserved_max` are ids that brokers are given.
    """

    link: ZkSettings
    connect_ms: int
    at_once: int
    reserved_max: int


def zk_node_settings(static: Mapping[str, str]) -> ZkNodeSettings:
    """Read the settings.

    Raises:
        ConfigError: one is malformed, or is not supported.
    """
    for name, only in _REFUSED.items():
        if static.get(name, only).strip() not in ("", only):
            raise ConfigError(f"{name} is not supported")
    servers, chroot = split_connect(static["zookeeper.connect"].strip())
    session_ms = _number(static, "zookeeper.session.timeout.ms", 18_000, 1)
    tls = _switch(static, "zookeeper.ssl.client.enable")
    ca_file = _pem(static, "truststore") if tls else None
    key_file = _pem(static, "keystore") if tls else None
    set_acl = _switch(static, "zookeeper.set.acl")
    user, password, kerberos = _login(static)
    if set_acl and key_file is None and not user and kerberos is None:
        raise ConfigError(
            f"zookeeper.set.acl needs {JAAS}, or zookeeper.ssl.client.enable and "
            "zookeeper.ssl.keystore.location: ZooKeeper has to know who this broker is"
        )
    algorithm = static.get(f"{_SSL}.endpoint.identification.algorithm", "HTTPS").strip().upper()
    if algorithm not in ("", "HTTPS"):
        raise ConfigError(f"{_SSL}.endpoint.identification.algorithm must be HTTPS or empty")
    link = ZkSettings(
        servers=servers,
        chroot=chroot,
        session_ms=session_ms,
        set_acl=set_acl,
        tls=tls,
        ca_file=ca_file,
        cert_file=key_file,
        key_file=key_file,
        key_password=static.get(f"{_SSL}.keystore.password") or None,
        check_hostname=algorithm == "HTTPS",
        user=user,
        password=password,
        kerberos=kerberos,
    )
    return ZkNodeSettings(
        link,
        _number(static, "zookeeper.connection.timeout.ms", session_ms, 1),
        _number(static, "zookeeper.max.in.flight.requests", _AT_ONCE, 1),
        _reserved_max(static),
    )


def _login(static: Mapping[str, str]) -> tuple[str, str, Mapping[str, str] | None]:
    """User and password of SASL, empty: none; or the options of a login with Kerberos."""
    text = static.get(JAAS, "").strip()
    if not text:
        return "", "", None
    entry = parse_jaas(text, JAAS, ZOOKEEPER_MODULES)
    options = entry.options
    if GSSAPI in entry.mechanisms:
        return "", "", options
    user, password = options.get("username", ""), options.get("password", "")
    if not user or not password:
        raise ConfigError(f"{JAAS} needs username and password")
    return user, password, None


def _reserved_max(static: Mapping[str, str]) -> int:
    """reserved.broker.max.id, when the broker's own id has been checked against it."""
    broker_id = int(static.get("broker.id", "-1"))
    reserved = _number(static, "reserved.broker.max.id", 1000, 0)
    if not _switch(static, "broker.id.generation.enable", "true"):
        if broker_id < 0:
            raise ConfigError("broker.id must be greater than or equal to 0")
    elif not -1 <= broker_id <= reserved:
        raise ConfigError(
            "broker.id must be greater than or equal to -1 and not greater than reserved.broker.max.id"
        )
    return reserved


def _number(static: Mapping[str, str], name: str, default: int, least: int) -> int:
    text = static.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit()) or not least <= int(text) < 1 << 31:
        raise ConfigError(f"{name} must be a number of at least {least}, not {text}")
    return int(text)


def _switch(static: Mapping[str, str], name: str, default: str = "false") -> bool:
    text = static.get(name, default).strip().lower()
    if text not in ("true", "false"):
        raise ConfigError(f"{name} must be true or false, not {text}")
    return text == "true"


def _pem(static: Mapping[str, str], store: str) -> str | None:
    location = static.get(f"{_SSL}.{store}.location", "").strip()
    if not location:
        return None
    kind = static.get(f"{_SSL}.{store}.type", "").strip().upper()
    if kind != "PEM" and not (not kind and location.endswith(".pem")):
        raise ConfigError(f"{_SSL}.{store}.type must be PEM")
    try:
        with open(location, "rb"):
            return location
    except OSError as error:
        raise ConfigError(f"{_SSL}.{store}.location: {location}: {error.strerror}") from None
