"""Whether a new key store does, before it is taken (KIP-226).

It has to be readable, its key has to fit, and the certificate should bear the names of the one before, unless
`ssl.allow.dn.changes` and `ssl.allow.san.changes` say otherwise: else nodes and clients would no longer trust
a broker that cannot be asked to go back.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import Any, NamedTuple

from kbroker.errors import ConfigError
from kbroker.security.ssl_context import Settings, load_own, server_context

#: X509_V_FLAG_NO_CHECK_TIME: also the names of a certificate that is over can be read.
_NO_CHECK_TIME = 0x200000
#: Messages of a handshake in memory, at most.
_STEPS_MAX = 20


class Identity(NamedTuple):
    """Who a certificate says that it is."""

    subject: Any
    names: frozenset[tuple[str, str]]
    ends_s: float


def identity_of(setting: Settings, where: str) -> Identity | None:
    """That of a key store; found by shaking hands with it, as the library shows no certificate of its own.

    Raises:
        ConfigError: the store cannot be read, or does not hold what is needed.
    """
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    chain = load_own(server, setting, where)
    if not chain:
        return None
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    client.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    try:
        client.load_verify_locations(cadata=chain)
        shown = _shake(client, server)
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or "it cannot be read"
        raise ConfigError(f"{where}: no handshake is possible with the certificate: {reason}") from None
    ends_s = ssl.cert_time_to_seconds(shown["notAfter"])
    return Identity(shown.get("subject"), frozenset(shown.get("subjectAltName", ())), ends_s)


def _shake(client: ssl.SSLContext, server: ssl.SSLContext) -> dict[str, Any]:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(to_client, to_server)
    there = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(_STEPS_MAX):
        try:
            here.do_handshake()
            return here.getpeercert() or {}
        except ssl.SSLWantReadError:
            pass
        with suppress(ssl.SSLWantReadError):
            there.do_handshake()
    raise ssl.SSLError("no end")


def check_key_store(old: Identity | None, setting: Settings, where: str, *, asks_clients: bool) -> None:
    """Whether a listener could go on with these settings.

    Args:
        old: of the certificate in use; None: unknown.

    Raises:
        ConfigError: it could not, or its names may not change.
    """
    server_context(setting, where, asks_clients=asks_clients)
    new = identity_of(setting, where)
    if old is None or new is None:
        return
    if new.subject != old.subject and setting("ssl.allow.dn.changes") != "true":
        raise ConfigError(
            f"{where}: the DistinguishedName of the certificate changes; ssl.allow.dn.changes would allow it"
        )
    if not new.names >= old.names and setting("ssl.allow.san.changes") != "true":
        raise ConfigError(
            f"{where}: the certificate lacks SubjectAltNames of the one before; ssl.allow.san.changes would "
            "allow it"
        )
