"""The client's side of a login: which mechanism with which options of a JAAS entry."""

from __future__ import annotations

from collections.abc import Callable

from kbroker.errors import ConfigError
from kbroker.security.jaas import OAUTHBEARER, PLAIN, JaasEntry
from kbroker.security.oauth import OAuthClient, write_unsecured
from kbroker.security.sasl import SaslClient
from kbroker.security.sasl_plain import PlainClient
from kbroker.security.scram import MECHANISMS as SCRAM, TOKEN_AUTH, ScramClient


def check_client(mechanism: str, entry: JaasEntry, what: str) -> None:
    """Whether `new_client` can be made of these.

    Args:
        what: whose settings they are, for the error.

    Raises:
        ConfigError: it cannot.
    """
    new_client(mechanism, entry, lambda: "nonce", 0, what)


def new_client(
    mechanism: str, entry: JaasEntry, nonce: Callable[[], str], now_ms: int, what: str = "the client"
) -> SaslClient:
    """A new exchange.

    Args:
        nonce: random text, never used before.
        now_ms: wall clock; for tokens that the client writes itself.

    Raises:
        ConfigError: the options lack something, or the mechanism is not supported.
    """
    if mechanism not in entry.mechanisms:
        raise ConfigError(
            f"{what}: the login module is that of {' or '.join(entry.mechanisms)}, not of {mechanism}"
        )
    options = entry.options
    if mechanism == OAUTHBEARER:
        return OAuthClient(write_unsecured(options, now_ms))
    if mechanism != PLAIN and mechanism not in SCRAM:
        raise ConfigError(f"{what}: SASL mechanism {mechanism} is not supported here")
    user, password = options.get("username", ""), options.get("password", "")
    if not user or not password:
        raise ConfigError(f"{what}: the login module needs username and password")
    if mechanism == PLAIN:
        return PlainClient(user, password)
    is_token = options.get(TOKEN_AUTH, "").lower() == "true"
    return ScramClient(mechanism, user, password, nonce(), {TOKEN_AUTH: "true"} if is_token else None)
