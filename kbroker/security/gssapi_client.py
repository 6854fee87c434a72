"""SASL GSSAPI (RFC 4752), the client's side, by python-gssapi: no security layer.

Every step may read files and ask the KDC.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kbroker.errors import ConfigError
from kbroker.security.sasl import LoginFailed, SaslClient

#: What the client chooses: no integrity, no secrecy (TLS is for that), and whoever its ticket names.
_CHOICE = b"\x01\0\0\0"


class GssapiClient:
    """One exchange.

    Args:
        open_context: begins one with the service's name; called with the first step.
    """

    def __init__(self, open_context: Callable[[], Any]) -> None:
        self.done = False
        self._open = open_context
        self._context: Any = None

    def step(self, challenge: bytes | None) -> bytes:
        """See `SaslClient`."""
        errors: Any = import_module("gssapi.exceptions")
        try:
            return self._next(challenge)
        except errors.GSSError as error:
            # Two sentences, a general one and why. Neither holds a key.
            raise LoginFailed(f"Kerberos says {' '.join(str(error).split())[:300]}") from None

    def _next(self, challenge: bytes | None) -> bytes:
        if self._context is None:
            self._context = self._open()
        context = self._context
        if not context.complete:
            token: bytes | None = context.step(challenge)
            return token or b""
        offer: bytes = context.unwrap(challenge or b"").message
        if len(offer) < 4 or not offer[0] & 1:
            raise LoginFailed("it wants a security layer")
        self.done = True
        choice: bytes = context.wrap(_CHOICE, False).message
        return choice


def gssapi_clients(options: Mapping[str, str], service: str, what: str) -> Callable[[str], SaslClient]:
    """Makes exchanges with a host.

    Args:
        options: of Krb5LoginModule: `keyTab` and `principal`, or `useTicketCache=true` for what kinit got.
        service: the first part of the other side's principal; else `serviceName` of the options.
        what: whose settings they are, for errors.

    Raises:
        ConfigError: they do not do, or python-gssapi is missing.
    """
    try:
        gssapi: Any = import_module("gssapi")
    except (ImportError, OSError):
        raise ConfigError(f"{what}: GSSAPI needs the extra: pip install 'kbroker[gssapi]'") from None
    service = service or options.get("serviceName", "")
    if not service:
        raise ConfigError(f"{what}: GSSAPI needs sasl.kerberos.service.name")
    principal, keytab = options.get("principal", ""), options.get("keyTab", "")
    if not keytab and options.get("useTicketCache", "").lower() != "true":
        raise ConfigError(f"{what}: GSSAPI needs keyTab and principal, or useTicketCache=true")
    if keytab and not principal:
        raise ConfigError(f"{what}: GSSAPI needs the principal whose key is in keyTab")
    if keytab and not os.access(keytab, os.R_OK):
        raise ConfigError(f"{what}: the key of {principal} cannot be read from {keytab}")
    # Tickets of a key stay in memory: they are got anew when they end.
    store = {"client_keytab": keytab, "ccache": f"MEMORY:kbroker-{principal}"} if keytab else None

    def open_context(host: str) -> Any:
        name = gssapi.Name(principal, gssapi.NameType.kerberos_principal) if principal else None
        credentials = gssapi.Credentials(name=name, usage="initiate", store=store)
        target = gssapi.Name(f"{service}@{host}", gssapi.NameType.hostbased_service)
        return gssapi.SecurityContext(name=target, creds=credentials, usage="initiate")

    return lambda host: GssapiClient(lambda: open_context(host))
