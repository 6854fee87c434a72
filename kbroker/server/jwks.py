"""Signed tokens: keys from a JWKS file or URL, which must be on a list of allowed ones, and their checks.

Everything here runs in threads of logins: fetching keys takes time. Only signatures by key pairs count:
`none` and HMACs, whose secret would be a public key, are refused whatever a key says.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.security.oauth import Bearer, InvalidToken, check_claims, check_scopes, read_part

if TYPE_CHECKING:
    import ssl

_log = logging.getLogger(__name__)
ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
)
_BYTES_MAX = 1024 * 1024
#: How soon keys are fetched again because a token names one that is unknown.
_AGAIN_S = 10.0


@plain(frozen=True, kw_only=True)
class JwtRules:
    """The settings sasl.oauthbearer.… of a listener."""

    url: str
    refresh_ms: int = 3_600_000
    retry_ms: int = 100
    retry_max_ms: int = 10_000
    name_claim: str = "sub"
    scope_claim: str = "scope"
    skew_ms: int = 30_000
    audiences: Sequence[str] = ()
    issuer: str = ""
    connect_timeout_ms: int = 10_000


class JwksValidator:
    """Checks signed tokens.

    Args:
        rules: see there.
        allowed: the URLs that may be asked.
        tls: for an https one; None: by the authorities that the system trusts.
        clock_s: never goes back.

    Raises:
        ConfigError: the URL is not allowed, or joserfc is not installed.
    """

    def __init__(
        self,
        rules: JwtRules,
        allowed: Sequence[str],
        tls: ssl.SSLContext | None = None,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            import joserfc.jws  # noqa: F401
        except ImportError:
            raise ConfigError("signed tokens need the extra: pip install 'kbroker[security]'") from None
        if urlsplit(rules.url).scheme not in ("file", "https", "http"):
            raise ConfigError("sasl.oauthbearer.jwks.endpoint.url must be a URL of file, https or http")
        if rules.url not in allowed:
            raise ConfigError(
                f"sasl.oauthbearer.jwks.endpoint.url: {rules.url} is not among "
                "kbroker.oauthbearer.allowed.urls"
            )
        self._rules = rules
        self._tls, self._clock_s = tls, clock_s
        self._fetching = threading.Lock()
        self._keys: dict[str, Any] = {}
        self._fetched_s = float("-inf")
        #: After failures in a row: not before.
        self._again_s = float("-inf")
        self._pause_s = 0.0

    def validate(self, token: str) -> Bearer:
        """What the token says.

        Raises:
            InvalidToken: wrong signature, unknown key, other issuer or audience, or not its time.
        """
        from joserfc import jws
        from joserfc.errors import JoseError

        parts = token.split(".")
        if len(parts) != 3:
            raise InvalidToken("no signed token")
        header = read_part(parts[0])
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise InvalidToken("a token whose algorithm is not allowed")
        if not isinstance(key_id, str) or "crit" in header:
            raise InvalidToken("a token that names no key")
        key = self._key(key_id)
        try:
            jws.deserialize_compact(token, key, algorithms=[algorithm])
        except (JoseError, ValueError, TypeError):
            raise InvalidToken("a token with a wrong signature") from None
        return self._check(read_part(parts[1]))

    def _check(self, claims: dict[str, Any]) -> Bearer:
        rules = self._rules
        if rules.issuer and claims.get("iss") != rules.issuer:
            raise InvalidToken("a token of another issuer")
        if rules.audiences:
            audience = claims.get("aud")
            named = {audience} if isinstance(audience, str) else set(audience or ())
            if named.isdisjoint(rules.audiences):
                raise InvalidToken("a token for another audience")
        # As in Kafka: the claim counts for nobody here, but must make sense.
        check_scopes(claims.get(rules.scope_claim))
        return check_claims(claims, rules.name_claim, time.time_ns() // 1_000_000, rules.skew_ms, signed=True)

    def _key(self, key_id: str) -> Any:
        # Who has a key need not wait for a provider that takes its time, if another asks already.
        if self._is_time(key_id) and self._fetching.acquire(blocking=key_id not in self._keys):
            try:
                if self._is_time(key_id):
                    self._refresh()
            finally:
                self._fetching.release()
        key = self._keys.get(key_id)
        if key is None:
            raise InvalidToken("a token with a key that is not known")
        return key

    def _is_time(self, key_id: str) -> bool:
        now, rules = self._clock_s(), self._rules
        wait_s = rules.refresh_ms / 1000
        if key_id not in self._keys:
            wait_s = min(wait_s, _AGAIN_S)
        return now >= self._again_s and now - self._fetched_s >= wait_s

    def _refresh(self) -> None:
        rules = self._rules
        try:
            self._keys = self._fetch()
        except (OSError, ValueError) as error:
            _log.warning("keys for tokens cannot be read: %s", type(error).__name__)
            self._pause_s = min(max(self._pause_s * 2, rules.retry_ms / 1000), rules.retry_max_ms / 1000)
            self._again_s = self._clock_s() + self._pause_s
        else:
            self._fetched_s, self._pause_s = self._clock_s(), 0.0

    def _fetch(self) -> dict[str, Any]:
        import json

        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        data = _read(self._rules.url, self._rules.connect_timeout_ms / 1000, self._tls)
        if len(data) > _BYTES_MAX:
            raise ValueError("too many keys")
        found = {}
        for each in json.loads(data).get("keys", ()):
            if not isinstance(each, dict) or each.get("kty") not in ("RSA", "EC", "OKP") or "kid" not in each:
                continue
            try:
                found[str(each["kid"])] = KeySet.import_key_set({"keys": [each]}).keys[0]
            except (JoseError, ValueError, KeyError):
                _log.warning("a key for tokens cannot be read, the others are")
        return found


def _read(url: str, timeout_s: float, tls: ssl.SSLContext | None) -> bytes:
    """What a URL holds; it was compared with the allowed ones."""
    from http.client import HTTPException
    from urllib.request import Request

    from kbroker.security.provider import opened

    try:
        with opened(Request(url), tls, timeout_s, timeout_s) as answer:
            return answer.read(_BYTES_MAX + 1)
    except HTTPException as error:
        raise ValueError(f"no answer of HTTP: {type(error).__name__}") from None
