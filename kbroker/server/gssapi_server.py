"""SASL GSSAPI (RFC 4752) by python-gssapi: Kerberos tickets for the broker's own name, no security layer.

Every step runs in a thread of logins: the library reads files, and may ask the network.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kbroker.errors import ConfigError
from kbroker.security.jaas import GSSAPI, parse_jaas
from kbroker.security.kerberos_rules import KerberosRules, NoLocalName
from kbroker.security.sasl import Login, LoginFailed, SaslServer

if TYPE_CHECKING:
    from kbroker.config.security import ListenerSettings

#: What the server offers: no integrity, no secrecy (TLS is for that), and so no messages of any size.
_OFFER = b"\x01\0\0\0"


class GssapiServer:
    """The server's side.

    Args:
        context: accepts tokens.
        rules: for the names of those who come.
    """

    def __init__(self, context: Any, rules: KerberosRules) -> None:
        self.login: Login | None = None
        self._context = context
        self._rules = rules
        self._offered = False

    def step(self, message: bytes) -> Callable[[], bytes | None]:
        """See `SaslServer`."""
        return lambda: self._step(message)

    def _step(self, message: bytes) -> bytes | None:
        errors: Any = import_module("gssapi.exceptions")
        if self.login is not None:
            raise LoginFailed("a message after the last one")
        try:
            return self._next(message)
        except errors.GSSError as error:
            raise LoginFailed(f"Kerberos says {type(error).__name__}") from None
        except NoLocalName:
            raise LoginFailed("no rule of sasl.kerberos.principal.to.local.rules fits its name") from None

    def _next(self, message: bytes) -> bytes | None:
        context = self._context
        if not context.complete:
            token: bytes | None = context.step(message)
            if token or not context.complete:
                return token or b""
            message = b""
        if not self._offered:
            if message:
                raise LoginFailed("a message where an empty one should be")
            self._offered = True
            offer: bytes = context.wrap(_OFFER, False).message
            return offer
        chosen: bytes = context.unwrap(message).message
        if len(chosen) < 4 or not chosen[0] & 1:
            raise LoginFailed("it wants a security layer")
        # As in Kafka, who it wants to be does not count, only whose ticket it is.
        self.login = Login(f"User:{self._rules.name_of(str(context.initiator_name))}")
        return None


def gssapi_servers(settings: ListenerSettings, listener: str) -> Callable[[], SaslServer]:
    """Makes the server's side of logins.

    Raises:
        ConfigError: the settings do not do, or python-gssapi is missing.
    """
    try:
        gssapi: Any = import_module("gssapi")
    except (ImportError, OSError):
        raise ConfigError(
            f"{listener}: sasl.enabled.mechanisms has GSSAPI (its default), which needs the extra: "
            "pip install 'kbroker[gssapi]'; other mechanisms are PLAIN, SCRAM-SHA-512 and OAUTHBEARER"
        ) from None
    name = settings.name_of("sasl.jaas.config", GSSAPI)
    text = settings.text("sasl.jaas.config", GSSAPI)
    if not text:
        raise ConfigError(f"GSSAPI needs its key: {name}=…Krb5LoginModule required keyTab=… principal=…;")
    options = parse_jaas(text, name).options
    principal, keytab = options.get("principal", ""), options.get("keyTab", "")
    if not principal or not keytab:
        raise ConfigError(f"{name}: GSSAPI needs keyTab and principal")
    rules = KerberosRules(
        settings.words("sasl.kerberos.principal.to.local.rules"), principal.rpartition("@")[2]
    )
    owner = gssapi.Name(principal, gssapi.NameType.kerberos_principal)
    try:
        credentials = gssapi.Credentials(name=owner, usage="accept", store={"keytab": keytab})
    except gssapi.exceptions.GSSError:
        raise ConfigError(f"{name}: the key of {principal} cannot be read from {keytab}") from None
    return lambda: GssapiServer(gssapi.SecurityContext(creds=credentials, usage="accept"), rules)
