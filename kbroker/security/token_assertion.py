"""What a client shows an identity provider in place of a secret: a signed assertion (RFC 7521, 7523).

It lies ready in a file, or is signed here by a private key. It is the grant itself (KIP-1139), or stands for
the client's secret with the grant of client credentials (KIP-1258).
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from kbroker.errors import ConfigError
from kbroker.security.sasl import LoginFailed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

PREFIX = "sasl.oauthbearer.assertion."
_BYTES_MAX = 256 * 1024
_DEFAULTS = {"algorithm": "RS256", "claim.exp.seconds": "300", "claim.nbf.seconds": "60"}
#: As `kbroker.config` has them, for clients, whose settings nobody checks.
_SECONDS_MAX = {"claim.exp.seconds": 86_400, "claim.nbf.seconds": 3_600}

#: Makes an assertion, by the wall clock in ms; raises LoginFailed.
Assert: TypeAlias = Callable[[int], str]


def assertions(setting: Callable[[str], str], new_id: Callable[[], str], what: str) -> Assert:
    """As sasl.oauthbearer.assertion.… want it. Files are read for each assertion: others write them anew.

    Args:
        setting: text of a setting; empty where it is not set.
        new_id: for the claim `jti`.
        what: whose settings they are, for errors.

    Raises:
        ConfigError: something lacks, or the key cannot be used.
    """

    def text(name: str) -> str:
        return setting(f"sasl.oauthbearer.assertion.{name}") or _DEFAULTS.get(name, "")

    if text("file"):
        ready = text("file")
        return lambda now_ms: _read(ready).strip()
    algorithm, key_file = text("algorithm").upper(), text("private.key.file")
    if algorithm not in ("RS256", "ES256"):
        raise ConfigError(f"{what}: {PREFIX}algorithm must be RS256 or ES256")
    if not key_file:
        raise ConfigError(f"{what}: set {PREFIX}file or {PREFIX}private.key.file")
    seconds = {name: _seconds(text(name), most, name, what) for name, most in _SECONDS_MAX.items()}
    named = {name.removeprefix("claim."): text(name) for name in ("claim.aud", "claim.iss", "claim.sub")}
    fixed = {claim: value for claim, value in named.items() if value}
    template, passphrase = text("template.file"), text("private.key.passphrase") or None
    has_id = text("claim.jti.include").lower() == "true"

    def make(now_ms: int) -> str:
        now = now_ms // 1000
        headers, claims = _template(template) if template else ({}, {})
        own: dict[str, Any] = {
            "iat": now,
            "exp": now + seconds["claim.exp.seconds"],
            "nbf": now - seconds["claim.nbf.seconds"],
        }
        if has_id:
            own["jti"] = new_id()
        # As in Kafka the template goes before settings, and what is made here before both.
        parts = ({**headers, "alg": algorithm, "typ": "JWT"}, {**fixed, **claims, **own})
        start = ".".join(_base64(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        return f"{start}.{_base64(_signature(_key(key_file, passphrase), algorithm, start.encode()))}"

    try:
        # What is wrong with the key, or the template, is told at once.
        make(0)
    except LoginFailed as error:
        raise ConfigError(f"{what}: {error.reason}") from None
    return make


def _seconds(text: str, most: int, name: str, what: str) -> int:
    if not text.isdecimal() or int(text) > most:
        raise ConfigError(f"{what}: {PREFIX}{name} must be a number of 0 to {most}")
    return int(text)


def _template(path: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    try:
        found = json.loads(_read(path))
        headers, claims = found.get("header", {}), found.get("payload", {})
    except (ValueError, RecursionError, AttributeError):
        headers = claims = None
    if not isinstance(headers, dict) or not isinstance(claims, dict):
        raise LoginFailed(f"{path} is no template: it must be JSON with header and payload")
    return headers, claims


def _key(path: str, passphrase: str | None) -> PrivateKeyTypes:
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise LoginFailed("assertions need the extra: pip install 'kbroker[security]'") from None
    try:
        return load_pem_private_key(_read(path).encode(), passphrase.encode() if passphrase else None)
    except (ValueError, TypeError):
        raise LoginFailed(
            f"{path} holds no private key that can be read, or needs another passphrase"
        ) from None


def _signature(key: PrivateKeyTypes, algorithm: str, data: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    if algorithm == "RS256" and isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), SHA256())
    if algorithm == "ES256" and isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.key_size == 256:
        return b"".join(
            part.to_bytes(32, "big") for part in decode_dss_signature(key.sign(data, ec.ECDSA(SHA256())))
        )
    raise LoginFailed(f"the private key for assertions is none of {algorithm}")


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_BYTES_MAX)
    except (OSError, UnicodeDecodeError) as error:
        raise LoginFailed(f"{path} cannot be read: {type(error).__name__}") from None
