"""Signed tokens: keys from a JWKS file or URL, which must be on a list of allowed ones, and their checks.

Everything here runs in threads of logins: fetching keys takes time. Only signatures by key pairs count:
`none` and HMACs, whose secret would be a public key, are refused whatever a key says.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.security.oauth import Bearer, InvalidToken, check_claims, read_part

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

    Raises:
        ConfigError: the URL is not allowed, or joserfc is not installed.
    """

    def __init__(self, rules: JwtRules, allowed: Sequence[str]) -> None:
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
        self._lock = threading.Lock()
        self._keys: dict[str, Any] = {}
        self._fetched_s = float("-inf")
        self._tried_s = float("-inf")

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
        return check_claims(claims, rules.name_claim, time.time_ns() // 1_000_000, rules.skew_ms)

    def _key(self, key_id: str) -> Any:
        with self._lock:
            now = time.monotonic()
            old = now - self._fetched_s > self._rules.refresh_ms / 1000
            if (old or key_id not in self._keys) and now - self._tried_s > _AGAIN_S:
                self._tried_s = now
                try:
                    self._keys, self._fetched_s = self._fetch(), now
                except (OSError, ValueError) as error:
                    _log.warning("keys for tokens cannot be read: %s", type(error).__name__)
            key = self._keys.get(key_id)
        if key is None:
            raise InvalidToken("a token with a key that is not known")
        return key

    def _fetch(self) -> dict[str, Any]:
        import json

        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        data = _read(self._rules.url, self._rules.connect_timeout_ms / 1000)
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


def _read(url: str, timeout_s: float) -> bytes:
    """What a URL holds. It was compared with the allowed ones: an answer that points elsewhere is none."""
    from urllib.request import HTTPRedirectHandler, build_opener

    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *arguments: Any) -> None:
            return None

    with build_opener(Stay).open(url, timeout=timeout_s) as answer:
        data: bytes = answer.read(_BYTES_MAX + 1)
    return data
