"""The client's side of a login: which mechanism with which options of a JAAS entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbroker.errors import ConfigError
from kbroker.security.jaas import GSSAPI, OAUTHBEARER, PLAIN, JaasEntry
from kbroker.security.oauth import OAuthClient, extensions_of, write_unsecured
from kbroker.security.sasl import SaslClient
from kbroker.security.sasl_plain import PlainClient
from kbroker.security.scram import MECHANISMS as SCRAM, TOKEN_AUTH, ScramClient

if TYPE_CHECKING:
    from kbroker.security.token_keeper import Outside

_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"


class ClientLogins:
    """Logs in, again and again, as the same user.

    Args:
        mechanism: of the listener.
        entry: who this is.
        setting: text of a setting beside the entry; empty where it is not set.
        nonce: random text, never used before.
        outside: for tokens.
        what: whose settings they are, for errors.
        allowed: the URLs that may be asked for tokens; None: whatever is set.

    Attributes:
        slow: steps ask others (a KDC, a token endpoint), so they are for a thread, one at a time.

    Raises:
        ConfigError: the options lack something, or the mechanism is not supported.
    """

    def __init__(
        self,
        mechanism: str,
        entry: JaasEntry,
        setting: Callable[[str], str],
        nonce: Callable[[], str],
        outside: Outside,
        what: str,
        allowed: Sequence[str] | None = None,
    ) -> None:
        if mechanism not in entry.mechanisms:
            raise ConfigError(
                f"{what}: the login module is that of {' or '.join(entry.mechanisms)}, not of {mechanism}"
            )
        self.mechanism = mechanism
        self._options = entry.options
        self._nonce, self._outside, self._what = nonce, outside, what
        self.slow = mechanism == GSSAPI or (mechanism == OAUTHBEARER and bool(setting(_ENDPOINT)))
        self._make: Callable[[str], SaslClient]
        if mechanism == GSSAPI:
            from kbroker.security.gssapi_client import gssapi_clients

            self._make = gssapi_clients(entry.options, setting("sasl.kerberos.service.name"), what)
        elif mechanism == OAUTHBEARER:
            self._make = self._by_token(setting, allowed)
        elif mechanism == PLAIN or mechanism in SCRAM:
            self._make = self._by_password()
        else:
            raise ConfigError(f"{what}: SASL mechanism {mechanism} is not supported here")

    def new(self, host: str) -> SaslClient:
        """A new exchange with that host, as it was asked for."""
        return self._make(host)

    def _by_password(self) -> Callable[[str], SaslClient]:
        options, mechanism = self._options, self.mechanism
        user, password = options.get("username", ""), options.get("password", "")
        if not user or not password:
            raise ConfigError(f"{self._what}: the login module needs username and password")
        if mechanism == PLAIN:
            return lambda host: PlainClient(user, password)
        is_token = options.get(TOKEN_AUTH, "").lower() == "true"
        more = {TOKEN_AUTH: "true"} if is_token else None
        return lambda host: ScramClient(mechanism, user, password, self._nonce(), more)

    def _by_token(
        self, setting: Callable[[str], str], allowed: Sequence[str] | None
    ) -> Callable[[str], SaslClient]:
        options, more = self._options, extensions_of(self._options)
        if not setting(_ENDPOINT):
            write_unsecured(options, 0)
            return lambda host: OAuthClient(lambda: write_unsecured(options, self._outside.now_ms()), more)
        from kbroker.security.token_endpoint import token_endpoint
        from kbroker.security.token_keeper import TokenKeeper, refresh_of, retry_of

        what = self._what
        fetch = token_endpoint(options, setting, what, allowed, self._nonce)
        refresh_of(setting, what)
        keeper = TokenKeeper(fetch, retry_of(setting, what), lambda: refresh_of(setting, what), self._outside)
        return lambda host: OAuthClient(keeper.token, more)
