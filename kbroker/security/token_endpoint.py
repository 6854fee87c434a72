"""Where a client gets its OAUTHBEARER token: an identity provider, or a file.

The provider wants credentials of a client (RFC 6749), by secret or signed assertion, or an assertion alone
(RFC 7523). Whoever asks does it in a thread: the provider may take its time.
"""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote_plus, unquote, urlencode, urlsplit

from kbroker.errors import ConfigError
from kbroker.security.oauth import TOKEN_CHARACTERS_MAX, InvalidToken, read_part
from kbroker.security.sasl import LoginFailed
from kbroker.security.token_assertion import PREFIX, assertions
from kbroker.security.token_keeper import Fetch, Token, whole

_URL = "sasl.oauthbearer.token.endpoint.url"
_CLASS = "sasl.oauthbearer.jwt.retriever.class"
#: Kafka's own classes, by which this is asked for (KIP-1139); nothing of them is loaded.
_PACKAGE = "org.apache.kafka.common.security.oauthbearer."
_BY_FILE, _BY_CLIENT, _BY_ASSERTION = (
    "FileJwtRetriever",
    "ClientCredentialsJwtRetriever",
    "JwtBearerJwtRetriever",
)
_RETRIEVERS = {
    "": ("file", "https", "http"),
    "DefaultJwtRetriever": ("file", "https", "http"),
    _BY_FILE: ("file",),
    _BY_CLIENT: ("https", "http"),
    _BY_ASSERTION: ("https", "http"),
}
_OAUTH = "urn:ietf:params:oauth:"
_FORM = "application/x-www-form-urlencoded"
_BYTES_MAX = TOKEN_CHARACTERS_MAX + 64 * 1024
_TIMEOUT_MS = 10_000
#: Settings of TLS, for options of the login module that begin with `ssl.`.
_TLS_DEFAULTS = {"ssl.enabled.protocols": "TLSv1.2,TLSv1.3", "ssl.endpoint.identification.algorithm": "https"}


def token_endpoint(
    options: Mapping[str, str],
    setting: Callable[[str], str],
    what: str,
    allowed: Sequence[str] | None,
    new_id: Callable[[], str] = str,
) -> Fetch:
    """As sasl.oauthbearer.token.endpoint.url wants it: https, http, or a file that others write anew.

    Args:
        options: of the login module: `clientId`, `clientSecret`, `scope` (before Kafka 4.1), and `ssl.…`.
        setting: sasl.oauthbearer.… by their names.
        what: whose settings they are, for errors.
        allowed: the URLs that may be asked; None: whatever is set.
        new_id: of an assertion.

    Raises:
        ConfigError: they do not do.
    """
    url, way = setting(_URL), setting(_CLASS).removeprefix(_PACKAGE)
    parts = urlsplit(url)
    if way not in _RETRIEVERS:
        raise ConfigError(f"{what}: {_CLASS}: {way} is none of Kafka's own, and no Java is loaded")
    if parts.scheme not in _RETRIEVERS[way]:
        raise ConfigError(f"{what}: {_URL} must be a URL of {' or '.join(_RETRIEVERS[way])}")
    if allowed is not None and url not in allowed:
        raise ConfigError(f"{what}: {_URL}: {url} is not among kbroker.oauthbearer.allowed.urls")
    if parts.scheme == "file":
        return lambda now_ms: _parsed(_file(unquote(parts.path)), None, now_ms)
    headers = {"Accept": "application/json", "Cache-Control": "no-cache", "Content-Type": _FORM}
    form = _form(way, options, setting, what, headers, new_id)
    connect_s = _limit_s(setting, "sasl.login.connect.timeout.ms", what)
    read_s = _limit_s(setting, "sasl.login.read.timeout.ms", what)
    tls = provider_tls(options, f"{what}: {_URL}") if parts.scheme == "https" else None

    def fetch(now_ms: int) -> Token:
        from kbroker.security.provider import token_answer

        body = urlencode(form(now_ms)).encode()
        return _found(url, token_answer(url, headers, body, tls, (connect_s, read_s), _BYTES_MAX), now_ms)

    return fetch


def _limit_s(setting: Callable[[str], str], name: str, what: str) -> float:
    # 0 means as much as in Java, no limit, and nobody waits for ever here.
    return (whole(setting, name, 0, what) or _TIMEOUT_MS) / 1000


def _form(
    way: str,
    options: Mapping[str, str],
    setting: Callable[[str], str],
    what: str,
    headers: dict[str, str],
    new_id: Callable[[], str],
) -> Callable[[int], dict[str, str]]:
    """What the provider is asked, by the wall clock in ms; a secret goes into `headers`."""
    scope = setting("sasl.oauthbearer.scope") or options.get("scope", "")
    more = {"scope": scope} if scope else {}
    client = setting("sasl.oauthbearer.client.credentials.client.id") or options.get("clientId", "")
    if way == _BY_ASSERTION:
        show = assertions(setting, new_id, what)
        return lambda now_ms: {
            "grant_type": f"{_OAUTH}grant-type:jwt-bearer",
            "assertion": show(now_ms),
            **more,
        }
    form = {"grant_type": "client_credentials", **more}
    if setting(f"{PREFIX}file") or setting(f"{PREFIX}claim.iss"):
        show = assertions(setting, new_id, what)
        form["client_assertion_type"] = f"{_OAUTH}client-assertion-type:jwt-bearer"
        if client:
            form["client_id"] = client
        return lambda now_ms: {**form, "client_assertion": show(now_ms)}
    secret = setting("sasl.oauthbearer.client.credentials.client.secret") or options.get("clientSecret", "")
    if not client or not secret:
        raise ConfigError(f"{what}: {_URL} needs sasl.oauthbearer.client.credentials.client.id and .secret")
    if setting("sasl.oauthbearer.header.urlencode") == "true":
        client, secret = quote_plus(client), quote_plus(secret)
    headers["Authorization"] = "Basic " + b64encode(f"{client}:{secret}".encode()).decode()
    return lambda now_ms: form


def provider_tls(options: Mapping[str, str], what: str) -> ssl.SSLContext:
    """TLS with an identity provider, by the options `ssl.…` of the login module.

    Raises:
        ConfigError: they do not do.
    """
    from kbroker.security.ssl_context import client_context

    settings = _TLS_DEFAULTS | {name: text for name, text in options.items() if name.startswith("ssl.")}
    return client_context(lambda name: settings.get(name, ""), what)


def _file(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read(_BYTES_MAX).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise LoginFailed(f"no token in {path}: {type(error).__name__}") from None


def _found(url: str, data: bytes, now_ms: int) -> Token:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LoginFailed(f"no token from {url}: {type(error).__name__}") from None
    token = found.get("access_token") or found.get("id_token") if isinstance(found, dict) else None
    if not isinstance(token, str) or not token:
        raise LoginFailed(f"no token from {url}: its answer has no access_token")
    return _parsed(token, found.get("expires_in"), now_ms)


def _parsed(text: str, expires_in: object, now_ms: int) -> Token:
    if not text.isascii() or len(text) > TOKEN_CHARACTERS_MAX or not text.isprintable() or " " in text:
        raise LoginFailed("what should be a token is none")
    try:
        claims = read_part(text.split(".")[1]) if text.count(".") == 2 else {}
    except InvalidToken:
        claims = {}
    starts_ms, ends_ms = (_time_ms(claims.get(name), 2**53) for name in ("iat", "exp"))
    if ends_ms is None:
        lifetime_ms = _time_ms(expires_in, 2**40)
        ends_ms = None if lifetime_ms is None else now_ms + lifetime_ms
    return Token(text, ends_ms, starts_ms)


def _time_ms(seconds: object, most: int) -> int | None:
    return int(seconds * 1000) if isinstance(seconds, int | float) and 0 < seconds < most else None
