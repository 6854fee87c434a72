"""SCRAM (RFC 5802, RFC 7677) as Kafka speaks it: no channel binding, and `tokenauth` for delegation tokens.

The server checks the whole of the final message: its header, the combined nonce (CVE-2024-56128), the proof
in constant time. An unknown user gets a salt like those of others (`scram_nobody.py`) and fails where a wrong
password does.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from kbroker.security.sasl import Login, LoginFailed
from kbroker.security.scram_nobody import Nobodies

#: By mechanism: Kafka's number and the hash's name.
MECHANISMS = {"SCRAM-SHA-256": (1, "sha256"), "SCRAM-SHA-512": (2, "sha512")}
NAMES = {number: name for name, (number, _) in MECHANISMS.items()}
ITERATIONS_MIN, ITERATIONS_MAX = 4096, 16384
#: The extension that says: this is a token.
TOKEN_AUTH = "tokenauth"

_FIRST = re.compile(r"n,(?:a=([^,\0]+))?,(n=([^,\0]+),r=([\x21-\x2b\x2d-\x7e]+)((?:,[A-Za-z]+=[^,\0]*)*))")
_FINAL = re.compile(
    r"(c=([A-Za-z0-9+/=]+),r=([\x21-\x2b\x2d-\x7e]+)(?:,[A-Za-z]=[^,\0]*)*),p=([A-Za-z0-9+/=]+)"
)
_SERVER_FIRST = re.compile(r"r=([\x21-\x2b\x2d-\x7e]+),s=([A-Za-z0-9+/=]*),i=([1-9][0-9]{0,8})(?:,.*)?")
_BAD_ESCAPE = re.compile(r"=(?!2C|3D)")


class ScramCredential(NamedTuple):
    """What a server keeps of a password."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class TokenCredential(NamedTuple):
    """What a delegation token is to a login: its HMAC is the password, its owner logs in."""

    hmac: bytes
    owner: str
    ends_ms: int


@lru_cache(maxsize=64)
def salted_password(mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
    """PBKDF2; takes milliseconds, without the interpreter's lock. Who logs in often does it once."""
    return hashlib.pbkdf2_hmac(MECHANISMS[mechanism][1], password.encode(), salt, iterations)


def credential_of(mechanism: str, salted: bytes, salt: bytes, iterations: int) -> ScramCredential:
    """What to keep, from the salted password."""
    name = MECHANISMS[mechanism][1]
    client_key = hmac.digest(salted, b"Client Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    return ScramCredential(salt, stored_key, hmac.digest(salted, b"Server Key", name), iterations)


class ScramServer:
    """The server's side.

    Args:
        mechanism: its name.
        lookup: the credential of a user.
        tokens: that of a delegation token by its id; None: there are none.
        nonce: random text, never used before.
        nobodies: what users who do not exist get.
    """

    def __init__(
        self,
        mechanism: str,
        lookup: Callable[[str], ScramCredential | None],
        tokens: Callable[[str], TokenCredential | None] | None,
        *,
        nonce: str,
        nobodies: Nobodies,
    ) -> None:
        self.login: Login | None = None
        #: Who the client says that it is; of a token, its id.
        self.claimed = ""
        self._mechanism = mechanism
        self._hash = MECHANISMS[mechanism][1]
        self._lookup = lookup
        self._tokens = tokens
        self._server_nonce = nonce
        self._nobodies = nobodies
        self._credential: ScramCredential | None = None
        #: Whether the credential is that of somebody.
        self._is_real = False
        self._would_be: Login | None = None
        self._nonce = self._first_bare = self._server_first = ""
        self._header = b""

    def step(self, message: bytes) -> bytes | Callable[[], bytes]:
        """See `SaslServer`."""
        try:
            text = message.decode()
        except UnicodeDecodeError:
            raise LoginFailed("no UTF-8") from None
        if self.login is not None:
            raise LoginFailed("a message after the last one")
        return self._first(text) if self._credential is None else self._final(text)

    def _first(self, text: str) -> bytes | Callable[[], bytes]:
        match = _FIRST.fullmatch(text)
        if match is None:
            raise LoginFailed("malformed first message")
        authorization_id, self._first_bare, name, nonce, extensions = match.groups()
        if _BAD_ESCAPE.search(name):
            raise LoginFailed("malformed user name")
        user = self.claimed = _unescape(name)
        if authorization_id is not None and _unescape(authorization_id) != user:
            raise LoginFailed(
                "wants to be somebody else",
                "Authentication failed: Client requested an authorization id that is different from username",
            )
        self._header = text[: -len(self._first_bare)].encode()
        self._nonce = nonce + self._server_nonce
        if f",{TOKEN_AUTH}=true" in extensions.lower() and self._tokens is not None:
            return lambda: self._first_of_token(user)
        found = self._lookup(user)
        self._is_real = found is not None and found.iterations >= ITERATIONS_MIN
        self._would_be = Login(f"User:{user}")
        return self._challenge(found if found is not None and self._is_real else self._nobody(user))

    def _first_of_token(self, token_id: str) -> bytes:
        """Derives the credential: to be called in a thread."""
        assert self._tokens is not None
        token = self._tokens(token_id)
        self._is_real = token is not None
        if token is not None:
            self._would_be = Login(token.owner, True, token.ends_ms)
        password = b64encode(b"" if token is None else token.hmac).decode()
        salt = self._nobodies.salt(self._mechanism, token_id)
        salted = salted_password(self._mechanism, password, salt, ITERATIONS_MIN)
        return self._challenge(credential_of(self._mechanism, salted, salt, ITERATIONS_MIN))

    def _nobody(self, user: str) -> ScramCredential:
        """A credential that nothing fits; its salt is as steady as a real one."""
        shape = self._nobodies.shape(self._mechanism, user)
        salt = self._nobodies.salt(self._mechanism, user, shape)
        key = bytes(hashlib.new(self._hash).digest_size)
        return ScramCredential(salt, key, key, shape.iterations)

    def _challenge(self, credential: ScramCredential) -> bytes:
        self._credential = credential
        salt = b64encode(credential.salt).decode()
        self._server_first = f"r={self._nonce},s={salt},i={credential.iterations}"
        return self._server_first.encode()

    def _final(self, text: str) -> bytes:
        credential = self._credential
        assert credential is not None
        match = _FINAL.fullmatch(text)
        if match is None:
            raise LoginFailed("malformed final message")
        without_proof, binding, nonce, proof_text = match.groups()
        if _decode(binding) != self._header:
            raise LoginFailed("another channel binding than in the first message")
        # librdkafka before 2.6.1 puts its own part in front once more. The proof covers that, and
        # the part of this server is as fresh: harmless, though Kafka 4 refuses it.
        client_part = self._nonce.removesuffix(self._server_nonce)
        if nonce not in (self._nonce, client_part + self._nonce):
            raise LoginFailed("another nonce than in the first message")
        message = f"{self._first_bare},{self._server_first},{without_proof}".encode()
        signature = hmac.digest(credential.stored_key, message, self._hash)
        proof = _decode(proof_text)
        if len(proof) != len(signature):
            proof = bytes(len(signature))
        client_key = _xor(proof, signature)
        right = hmac.compare_digest(hashlib.new(self._hash, client_key).digest(), credential.stored_key)
        if not (right and self._is_real):
            raise LoginFailed("wrong user or password")
        self.login = self._would_be
        return b"v=" + b64encode(hmac.digest(credential.server_key, message, self._hash))


class ScramClient:
    """The client's side.

    Args:
        nonce: random text, never used before.
        extensions: `tokenauth` "true" for a delegation token.
    """

    def __init__(
        self,
        mechanism: str,
        user: str,
        password: str,
        nonce: str,
        extensions: Mapping[str, str] | None = None,
    ) -> None:
        self.done = False
        self._mechanism = mechanism
        self._hash = MECHANISMS[mechanism][1]
        self._password = password
        self._nonce = nonce
        more = "".join(f",{key}={value}" for key, value in (extensions or {}).items())
        self._first_bare = f"n={_escape(user)},r={nonce}{more}"
        self._signature = b""

    def step(self, challenge: bytes | None) -> bytes:
        """See `SaslClient`."""
        if challenge is None:
            return f"n,,{self._first_bare}".encode()
        text = challenge.decode("utf-8", "replace")
        return self._check(text) if self._signature else self._final(text)

    def _final(self, server_first: str) -> bytes:
        match = _SERVER_FIRST.fullmatch(server_first)
        if match is None or not match[1].startswith(self._nonce) or match[1] == self._nonce:
            raise LoginFailed("the server's challenge makes no sense")
        iterations = int(match[3])
        if not ITERATIONS_MIN <= iterations <= 1_000_000:
            raise LoginFailed(f"the server asks for {iterations} iterations")
        salted = salted_password(self._mechanism, self._password, _decode(match[2]), iterations)
        without_proof = f"c=biws,r={match[1]}"
        message = f"{self._first_bare},{server_first},{without_proof}".encode()
        client_key = hmac.digest(salted, b"Client Key", self._hash)
        signature = hmac.digest(hashlib.new(self._hash, client_key).digest(), message, self._hash)
        self._signature = hmac.digest(hmac.digest(salted, b"Server Key", self._hash), message, self._hash)
        proof = b64encode(_xor(client_key, signature)).decode()
        return f"{without_proof},p={proof}".encode()

    def _check(self, server_final: str) -> bytes:
        if server_final.startswith("e="):
            raise LoginFailed(f"the server refuses: {server_final[2:60]}")
        if not hmac.compare_digest(_decode(server_final[2:]), self._signature):
            raise LoginFailed("the server does not know the password")
        self.done = True
        return b""


def _xor(one: bytes, other: bytes) -> bytes:
    both = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
    return both.to_bytes(len(one), "big")


def _decode(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise LoginFailed("no base64") from None


def _escape(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def _unescape(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")
