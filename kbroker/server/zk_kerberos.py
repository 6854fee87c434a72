"""Kerberos logins to ZooKeeper.

kazoo's SASL is that of pure-sasl, whose Kerberos needs yet another library; here it does what brokers do with
each other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kbroker.security.gssapi_client import gssapi_clients
from kbroker.security.sasl import LoginFailed

if TYPE_CHECKING:
    from kbroker.security.sasl import SaslClient

_log = logging.getLogger(__name__)

#: Under this name pure-sasl finds it; nobody else hears the name.
_MECHANISM = "kbroker-GSSAPI"
#: The first part of the servers' principals, as Kafka has it (zookeeper.sasl.client.username).
_SERVICE = "zookeeper"


def kerberos_options(options: Mapping[str, str], what: str) -> dict[str, Any]:
    """kazoo's `sasl_options` for a login with a key or tickets.

    Args:
        options: of Krb5LoginModule; `serviceName` where servers are called otherwise.
        what: whose they are, for errors.

    Raises:
        ConfigError: they do not do, or python-gssapi is missing.
    """
    from puresasl import mechanisms

    clients = gssapi_clients({"serviceName": _SERVICE, **options}, "", what)
    mechanisms.mechanisms.setdefault(_MECHANISM, _mechanism(mechanisms.Mechanism))
    return {"mechanism": _MECHANISM, "clients": clients, "told": set()}


def _mechanism(base: Any) -> Any:
    class Kerberos(base):  # type: ignore[misc]
        """One exchange; in kazoo's thread, which may wait for the KDC."""

        name = _MECHANISM

        def __init__(self, sasl: Any, clients: Callable[[str], SaslClient], told: set[str]) -> None:
            super().__init__(sasl)
            self._client = clients(sasl.host)
            self._told = told

        @property
        def complete(self) -> bool:
            return self._client.done

        def process(self, challenge: bytes | None = None) -> bytes:
            try:
                return self._client.step(challenge)
            except LoginFailed as error:
                # kazoo only says that it is not accepted.
                if str(error) not in self._told:
                    self._told.add(str(error))
                    _log.warning("no login to ZooKeeper at %s: %s", self.sasl.host, error)
                raise

    return Kerberos
