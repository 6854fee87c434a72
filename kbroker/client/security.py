"""TLS and SASL of the client: Kafka's client settings, as a `--command-config` file has them."""

from __future__ import annotations

import random
import secrets
import socket
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbroker.client.errors import NotConnected, NotTrusted, error_code
from kbroker.errors import ConfigError, ErrorCode, default_message
from kbroker.protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kbroker.protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kbroker.protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kbroker.protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kbroker.security.jaas import parse_jaas
from kbroker.security.sasl import LoginFailed
from kbroker.security.sasl_client import ClientLogins
from kbroker.security.token_keeper import Outside

if TYPE_CHECKING:
    import ssl

    from kbroker.client.connection import Address, Connection

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_DEFAULTS = {
    "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
    "ssl.endpoint.identification.algorithm": "https",
    "sasl.mechanism": "GSSAPI",
}
#: How a handshake ends with one who does not know TLS: closed, or answered in another protocol.
_NO_TLS = frozenset(("UNEXPECTED_EOF_WHILE_READING", "WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"))
#: OpenSSL's X509_V_ERR_… for a chain that ends with nobody whom we trust.
_NOBODY_TRUSTED = (18, 19, 20)
#: The part of a session after which a client logs in again.
_SESSION_SHARE = 0.85


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


#: A client renews a token when it logs in: it has no thread for that.
_OUTSIDE = Outside(
    now_ms=lambda: time.time_ns() // 1_000_000,
    clock_s=time.monotonic,
    sleep=_sleep,
    chance=random.random,
)


class ClientSecurity:
    """How to connect and log in.

    Args:
        settings: Kafka's client settings; others than those of security are left alone.

    Raises:
        ConfigError: they do not do.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = {**_DEFAULTS, **settings}
        protocol = self._settings.get("security.protocol", "PLAINTEXT").upper()
        if protocol not in _PROTOCOLS:
            raise ConfigError(f"security.protocol must be one of {', '.join(_PROTOCOLS)}, not {protocol}")
        mechanism = self._settings["sasl.mechanism"] if protocol.startswith("SASL_") else ""
        self._tls: ssl.SSLContext | None = None
        self._logins: ClientLogins | None = None
        if protocol in ("SSL", "SASL_SSL"):
            from kbroker.security.ssl_context import client_context

            self._tls = client_context(lambda name: self._settings.get(name, ""), "the client")
        if mechanism:
            text = self._settings.get("sasl.jaas.config", "")
            if not text:
                default = "" if "sasl.mechanism" in settings else " (it is the default of sasl.mechanism)"
                raise ConfigError(f"SASL {mechanism}{default} needs sasl.jaas.config")
            self._logins = ClientLogins(
                mechanism,
                parse_jaas(text),
                lambda name: self._settings.get(name, ""),
                lambda: secrets.token_urlsafe(24),
                _OUTSIDE,
                "the client",
            )

    @property
    def encrypts(self) -> bool:
        """Whether connections are made with TLS."""
        return self._tls is not None

    @property
    def logs_in(self) -> bool:
        """Whether it uses SASL."""
        return self._logins is not None

    @property
    def has_certificate(self) -> bool:
        """Whether there is one to show."""
        return any(self._settings.get(f"ssl.keystore.{name}") for name in ("location", "certificate.chain"))

    def secure(self, sock: socket.socket, address: Address) -> socket.socket:
        """The socket to use in place of one that is connected to `address`.

        Raises:
            NotTrusted: TLS fails.
            NotConnected: nothing answers.
        """
        if self._tls is None:
            return sock
        try:
            return self._tls.wrap_socket(sock, server_hostname=address.host)
        except TimeoutError:
            raise NotConnected(f"{address} does not answer the TLS handshake") from None
        except OSError as error:
            why = str(getattr(error, "verify_message", "") or getattr(error, "reason", "") or error)
            if isinstance(error, ConnectionError) or why in _NO_TLS:
                without = "SASL_PLAINTEXT" if self.logs_in else "PLAINTEXT"
                perhaps = f"perhaps it has none (security.protocol={without})"
                raise NotTrusted(f"{address} does not answer as TLS does: {perhaps}") from None
            trust = (
                " (ssl.truststore.location names whom to trust)"
                if getattr(error, "verify_code", 0) in _NOBODY_TRUSTED
                else ""
            )
            text = why.lower().replace("_", " ")
            raise NotTrusted(f"no TLS connection to {address}: {text}{trust}") from None

    def log_in(self, connection: Connection) -> float | None:
        """Log in over a connection that knows the versions.

        Returns:
            When to do it again, in seconds of `time.monotonic`; None: never.

        Raises:
            NotTrusted: the broker refuses, or is not who it says.
        """
        if self._logins is None:
            return None
        where, mechanism = str(connection.address), self._logins.mechanism
        agreed = connection.ask(SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse)
        if agreed.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            has = ", ".join(agreed.mechanisms)
            raise NotTrusted(f"{where} has no SASL mechanism {mechanism}, but {has}")
        if agreed.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            without = "SSL" if self.encrypts else "PLAINTEXT"
            raise NotTrusted(f"{where} takes no login (security.protocol={without})")
        if agreed.error_code:
            raise NotTrusted(f"{where} takes no login: {default_message(error_code(agreed.error_code))}")
        client = self._logins.new(connection.address.host)
        challenge: bytes | None = None
        while True:
            try:
                message = client.step(challenge)
            except LoginFailed as error:
                raise NotTrusted(f"{where}: {error.reason}") from None
            if challenge is not None and client.done and not message:
                break
            answer = connection.ask(SaslAuthenticateRequest(auth_bytes=message), SaslAuthenticateResponse)
            if answer.error_code:
                raise NotTrusted(f"{where}: {answer.error_message or f'error {answer.error_code}'}")
            challenge, lifetime_ms = bytes(answer.auth_bytes), answer.session_lifetime_ms
            if client.done:
                break
        return time.monotonic() + lifetime_ms / 1000 * _SESSION_SHARE if lifetime_ms > 0 else None
