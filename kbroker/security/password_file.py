"""Users and hashes of passwords, a line each: `name:$scrypt$…` or `name:$pbkdf2-sha256$…`, as of passlib."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from hmac import compare_digest
from typing import NamedTuple

from kbroker.errors import ConfigError

_PBKDF2 = re.compile(r"\$pbkdf2-(sha256|sha512)\$([1-9][0-9]{0,6})\$([A-Za-z0-9./]+)\$([A-Za-z0-9./]+)")
_SCRYPT = re.compile(
    r"\$scrypt\$ln=([0-9]{1,2}),r=([0-9]{1,2}),p=([0-9]{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)"
)
#: What one login may cost: a second, 64 MiB.
_ROUNDS_MAX, _MEMORY_MAX = 4_000_000, 64 * 1024 * 1024
_ROUNDS, _LOG_N = 300_000, 15


class PasswordHash(NamedTuple):
    """A hash and how it was made.

    Attributes:
        kind: of PBKDF2 the hash function; "scrypt".
        cost: rounds of PBKDF2; of scrypt n, r and p.
    """

    kind: str
    cost: tuple[int, ...]
    salt: bytes
    digest: bytes

    def fits(self, password: str) -> bool:
        """Whether it is that password's; takes long, without the interpreter's lock."""
        return compare_digest(
            _digest(self.kind, self.cost, self.salt, password, len(self.digest)), self.digest
        )


def _digest(kind: str, cost: tuple[int, ...], salt: bytes, password: str, size: int) -> bytes:
    data = password.encode("utf-8", "surrogatepass")
    if kind == "scrypt":
        n, r, p = cost
        return hashlib.scrypt(data, salt=salt, n=n, r=r, p=p, dklen=size, maxmem=2 * _MEMORY_MAX)
    return hashlib.pbkdf2_hmac(kind, data, salt, cost[0], size)


def hash_password(password: str, salt: bytes, kind: str = "scrypt") -> str:
    """What to write behind the user's name.

    Args:
        kind: scrypt, sha256 or sha512 (PBKDF2).
    """
    if kind == "scrypt":
        digest = _digest(kind, (1 << _LOG_N, 8, 1), salt, password, 32)
        return f"$scrypt$ln={_LOG_N},r=8,p=1${_text(salt)}${_text(digest)}"
    digest = _digest(kind, (_ROUNDS,), salt, password, 32 if kind == "sha256" else 64)
    adapted = f"{_text(salt)}${_text(digest)}".replace("+", ".")
    return f"$pbkdf2-{kind}${_ROUNDS}${adapted}"


def parse_hash(text: str) -> PasswordHash:
    """Read one.

    Raises:
        ValueError: it is none, or too costly.
    """
    if match := _PBKDF2.fullmatch(text):
        kind, rounds, salt, digest = match.groups()
        found = PasswordHash(kind, (int(rounds),), _bytes(salt), _bytes(digest))
        costs_too_much = int(rounds) > _ROUNDS_MAX
    elif match := _SCRYPT.fullmatch(text):
        log_n, r, p = (int(each) for each in match.groups()[:3])
        found = PasswordHash("scrypt", (1 << log_n, r, p), _bytes(match[4]), _bytes(match[5]))
        costs_too_much = not r or not p or not log_n or 128 * r * (1 << log_n) * p > _MEMORY_MAX
    else:
        raise ValueError("no hash of PBKDF2 or scrypt")
    if costs_too_much or not found.digest:
        raise ValueError("a hash that would take too long")
    return found


def _text(data: bytes) -> str:
    return b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return b64decode(text.replace(".", "+") + "=" * (-len(text) % 4))


def parse_password_file(text: str, where: str) -> dict[str, PasswordHash]:
    """The users of a file; empty lines and those with # in front say nothing.

    Raises:
        ConfigError: a line is none; it tells which, not what is in it.
    """
    users: dict[str, PasswordHash] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, hashed = line.strip().rpartition(":")
        try:
            if not colon or not name or name in users:
                raise ValueError("a user comes twice" if name in users else "no `name:hash`")
            users[name] = parse_hash(hashed)
        except ValueError as error:
            raise ConfigError(f"{where}, line {number}: {error}") from None
    return users


def decoy(users: dict[str, PasswordHash]) -> Callable[[str], object]:
    """Takes as long as a look at a user of the file, for those who are not in it."""
    some = next(iter(users.values()), None)
    return (lambda password: None) if some is None else some.fits
