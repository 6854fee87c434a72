"""SASL OAUTHBEARER (RFC 7628, KIP-255): the client shows a token, somebody says what it is worth."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kbroker.errors import ConfigError
from kbroker.plain import plain
from kbroker.security.sasl import Login, LoginFailed

#: Longer tokens are not looked at.
TOKEN_CHARACTERS_MAX = 128 * 1024
_FIRST = re.compile(
    r"n,(?:a=([^,\x01]*))?,\x01auth=[Bb]earer +([-_.a-zA-Z0-9]+)\x01"
    r"((?:[A-Za-z]+=[\x21-\x7e \t\r\n]*\x01)*)\x01"
)
_UNIT = 1000


class InvalidToken(Exception):
    """A token that is worth nothing; the text is for the log and holds nothing of it."""


@plain(frozen=True)
class Bearer:
    """What a token says: a name, and when it ends (wall clock, ms)."""

    name: str
    ends_ms: int


#: Raises InvalidToken. May take long: it is called in a thread.
Validate: TypeAlias = Callable[[str], Bearer]


class OAuthServer:
    """The server's side.

    Args:
        validate: of tokens.
        refusal: what a client gets to know beside the status: scope, and where to get tokens (RFC 7628).
    """

    def __init__(self, validate: Validate, refusal: Mapping[str, str] | None = None) -> None:
        self.login: Login | None = None
        self._validate = validate
        self._refusal = refusal or {}
        self._problem = ""
        self._told = ""

    def step(self, message: bytes) -> bytes | Callable[[], bytes]:
        """See `SaslServer`."""
        if self._problem:
            # Whatever it says now (it should be one byte 1), it knows why.
            raise LoginFailed(self._problem, self._told)
        if self.login is not None:
            raise LoginFailed("a second message")
        match = _FIRST.fullmatch(message.decode("latin-1"))
        if match is None or len(match[2]) > TOKEN_CHARACTERS_MAX:
            raise LoginFailed("malformed message")
        authorization_id, token, extensions = match.groups()
        if any(each.startswith("auth=") for each in extensions.split("\x01")):
            raise LoginFailed("an extension named auth")
        return lambda: self._verify(token, authorization_id or "")

    def _verify(self, token: str, authorization_id: str) -> bytes:
        try:
            bearer = self._validate(token)
        except InvalidToken as error:
            self._problem = str(error)
            self._told = json.dumps({"status": "invalid_token", **self._refusal}, separators=(",", ":"))
            return self._told.encode()
        if authorization_id not in ("", bearer.name):
            raise LoginFailed(
                "wants to be somebody else",
                "Authentication failed: Client requested an authorization id that is different from the "
                "token's principal name",
            )
        self.login = Login(f"User:{bearer.name}", False, bearer.ends_ms)
        return b""


class OAuthClient:
    """The client's side.

    Args:
        token: asked for when the exchange begins; it may take long, and raise LoginFailed.
    """

    def __init__(self, token: Callable[[], str], extensions: Mapping[str, str] | None = None) -> None:
        self._token = token
        self._more = "".join(f"{name}={value}\x01" for name, value in (extensions or {}).items())
        self.done = False
        self._refused = False

    def step(self, challenge: bytes | None) -> bytes:
        """See `SaslClient`."""
        if challenge is None:
            return f"n,,\x01auth=Bearer {self._token()}\x01{self._more}\x01".encode()
        if self._refused:
            raise LoginFailed("the server goes on after it has refused the token")
        # Nothing is a yes, anything a no, which one has heard before it is told as an error.
        self._refused = bool(challenge)
        self.done = not challenge
        return b"\x01" if challenge else b""


def extensions_of(options: Mapping[str, str]) -> dict[str, str]:
    """What options `extension_NAME` add to a login (KIP-342).

    Raises:
        ConfigError: a name or value that cannot be sent.
    """
    prefix = "extension_"
    found = {name[len(prefix) :]: text for name, text in options.items() if name.startswith(prefix)}
    for name, text in found.items():
        if (
            not re.fullmatch("[A-Za-z]+", name)
            or name == "auth"
            or not re.fullmatch(r"[\x21-\x7e \t\r\n]*", text)
        ):
            raise ConfigError(f"{prefix}{name}: names of extensions are letters, values can be printed")
    return found


# -- tokens without a signature, for tests -------------------------------------------------------------------


@plain(frozen=True)
class UnsecuredRules:
    """Options `unsecuredValidator…` of the login module, by Kafka's defaults."""

    name_claim: str = "sub"
    scope_claim: str = "scope"
    required_scope: tuple[str, ...] = ()
    skew_ms: int = 0


def unsecured_rules(options: Mapping[str, str]) -> UnsecuredRules:
    """Raises ConfigError."""
    prefix = "unsecuredValidator"
    skew = options.get(f"{prefix}AllowableClockSkewMs", "0")
    if not skew.isdecimal():
        raise ConfigError(f"{prefix}AllowableClockSkewMs must be a number of ms")
    return UnsecuredRules(
        options.get(f"{prefix}PrincipalClaimName", "sub"),
        options.get(f"{prefix}ScopeClaimName", "scope"),
        tuple(options.get(f"{prefix}RequiredScope", "").split()),
        int(skew),
    )


def validate_unsecured(token: str, rules: UnsecuredRules, now_ms: int) -> Bearer:
    """A token of algorithm `none`.

    Raises:
        InvalidToken: it is none, or not valid now.
    """
    parts = token.split(".")
    if len(parts) != 3 or parts[2]:
        raise InvalidToken("a token with a signature where none is expected")
    if read_part(parts[0]).get("alg") != "none":
        raise InvalidToken("a token of another algorithm than none")
    claims = read_part(parts[1])
    scope = claims.get(rules.scope_claim, "")
    has = set(scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else ())
    if not has.issuperset(rules.required_scope):
        raise InvalidToken("the scope is not wide enough")
    return check_claims(claims, rules.name_claim, now_ms, rules.skew_ms)


def check_scopes(scopes: Any) -> None:
    """What a claim of scopes says must be text, each once (KIP-768); none at all is fine.

    Raises:
        InvalidToken: it is not so.
    """
    listed = scopes if isinstance(scopes, list) else [scopes] if isinstance(scopes, str) else []
    if any(not isinstance(each, str) or not each.strip() for each in listed):
        raise InvalidToken("a scope that is empty")
    if len({each.strip() for each in listed}) < len(listed):
        raise InvalidToken("a scope that is there twice")


def check_claims(
    claims: Mapping[str, Any], name_claim: str, now_ms: int, skew_ms: int, *, signed: bool = False
) -> Bearer:
    """Name and times.

    Args:
        signed: by a provider: `iat` must be there, but may be ahead of our clock, as in Kafka.

    Raises:
        InvalidToken: one is missing, or it is not the time of the token.
    """
    made = claims.get("iat")
    name, ends, begins = (
        claims.get(name_claim),
        claims.get("exp"),
        claims.get("nbf", None if signed else made),
    )
    if not isinstance(name, str) or not name:
        raise InvalidToken(f"no claim {name_claim}")
    if ends is None or not _is_time(ends):
        raise InvalidToken("no claim exp")
    if signed and not _is_time(made):
        raise InvalidToken("no claim iat")
    ends_ms = int(ends * _UNIT)
    if ends_ms + skew_ms <= now_ms:
        raise InvalidToken("the token has expired")
    if begins is not None and (not _is_time(begins) or begins * _UNIT - skew_ms > now_ms):
        raise InvalidToken("the token is not valid yet")
    return Bearer(name, ends_ms)


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**53


def read_part(part: str) -> dict[str, Any]:
    """Header or claims of a token, not verified.

    Raises:
        InvalidToken: it is no JSON object.
    """
    try:
        value = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        raise InvalidToken("a token that is not made of JSON") from None
    if not isinstance(value, dict):
        raise InvalidToken("a token that is not made of JSON objects")
    return value


def write_unsecured(options: Mapping[str, str], now_ms: int) -> str:
    """The token that the options `unsecuredLogin…` describe.

    Raises:
        ConfigError: they name no user, or a number is none.
    """
    claims: dict[str, Any] = {}
    prefix = "unsecuredLogin"
    try:
        lifetime = float(options.get(f"{prefix}LifetimeSeconds", "3600"))
        for name, value in options.items():
            if name.startswith(f"{prefix}StringClaim_"):
                claims[name.partition("_")[2]] = value
            elif name.startswith(f"{prefix}NumberClaim_"):
                claims[name.partition("_")[2]] = float(value)
            elif name.startswith(f"{prefix}ListClaim_") and value:
                claims[name.partition("_")[2]] = value[1:].split(value[0])
    except ValueError:
        raise ConfigError(f"an option {prefix}… must be a number") from None
    if options.get(f"{prefix}PrincipalClaimName", "sub") not in claims:
        raise ConfigError(f"{prefix}StringClaim_sub must name the user of a token without a signature")
    claims.setdefault("iat", now_ms / 1000)
    claims.setdefault("exp", now_ms / 1000 + lifetime)
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _part(value: Mapping[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
