"""Keys for record batches on disk (protocol/sealed_batch.py): by id, 32 bytes each.

A file of keys has one a line: id, space, the key in base64 or hexadecimal digits. Empty lines and those that
begin with `#` do not count. Rotation is a further line, and the new id in the settings; the old line stays as
long as batches of that key do. Keys are never in a message or a `repr`.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b64decode
from collections.abc import Callable, Mapping

from kbroker.protocol.sealed_batch import CHECK_BYTES, KEY_ID_BYTES_MAX, Aead, CannotOpen

KEY_BYTES = 32
#: Derived keys that are kept; making one anew costs some 10 µs.
_DERIVED_MAX = 1024
_CHECK_LABEL = b"kbroker check of a data key"
_DERIVE_LABEL = b"kbroker key of one sealer"


class BadKeys(ValueError):
    """A file or an answer with keys cannot be understood; the text does not name what is secret."""


class KeyRing:
    """The keys of a broker.

    Args:
        keys: by id.
        make_aead: AES-256-GCM with a key; `aes_gcm`, except in tests.
    """

    def __init__(self, keys: Mapping[str, bytes], make_aead: Callable[[bytes], Aead] | None = None) -> None:
        self._make_aead = make_aead or aes_gcm
        self._keys: dict[bytes, bytes] = {}
        self._checks: dict[bytes, bytes] = {}
        self._derived: dict[tuple[bytes, bytes], Aead] = {}
        for key_id, key in keys.items():
            self.add(key_id, key)

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(self.ids)})"

    @property
    def ids(self) -> list[str]:
        """What it has."""
        return sorted(key_id.decode() for key_id in self._keys)

    def known(self) -> dict[str, bytes]:
        """See `Keys.known`."""
        return {key_id.decode(): key for key_id, key in self._keys.items()}

    def add(self, key_id: str, key: bytes) -> None:
        """Take one more key. Raises BadKeys, also if the id is known and the key is another one."""
        name = key_id.encode()
        if not 0 < len(name) <= KEY_ID_BYTES_MAX or any(each.isspace() for each in key_id):
            raise BadKeys(f"a key's id has 1 to {KEY_ID_BYTES_MAX} bytes, and no spaces")
        if len(key) != KEY_BYTES:
            raise BadKeys(f"key {key_id} has {len(key)} bytes in place of {KEY_BYTES}")
        if not hmac.compare_digest(self._keys.setdefault(name, key), key):
            raise BadKeys(f"there are two keys of the id {key_id}: what is sealed with one needs that one")
        self._checks[name] = hmac.digest(key, _CHECK_LABEL, "sha256")[:CHECK_BYTES]

    def check(self, key_id: bytes) -> bytes:
        """See `Keys.check`."""
        found = self._checks.get(key_id)
        if found is None:
            raise _missing(key_id)
        return found

    def derived(self, key_id: bytes, salt: bytes) -> Aead:
        """See `Keys.derived`."""
        aead = self._derived.get((key_id, salt))
        if aead is None:
            key = self._keys.get(key_id)
            if key is None:
                raise _missing(key_id)
            # HKDF-SHA256 (RFC 5869), one block of output.
            extracted = hmac.digest(salt, key, "sha256")
            aead = self._make_aead(hmac.digest(extracted, _DERIVE_LABEL + b"\x01", "sha256"))
            if len(self._derived) >= _DERIVED_MAX:
                del self._derived[next(iter(self._derived))]
            self._derived[key_id, salt] = aead
        return aead


def _missing(key_id: bytes) -> CannotOpen:
    return CannotOpen(f"The data key {key_id.decode('utf-8', 'replace')} is not here")


def aes_gcm(key: bytes) -> Aead:
    """AES-256-GCM of `cryptography` (extra `kbroker[security]`)."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)


def parse_keys(text: str) -> dict[str, bytes]:
    """What a file of keys holds. Raises BadKeys with the number of the line."""
    found: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2:
            raise BadKeys(f"line {number} is not an id and a key")
        if words[0] in found:
            raise BadKeys(f"line {number}: there is a key {words[0]} already")
        try:
            found[words[0]] = parse_key(words[1])
        except BadKeys as error:
            raise BadKeys(f"line {number}: {error}") from None
    return found


def parse_key(text: str) -> bytes:
    """A key from base64 or hexadecimal digits, as a file has it or a command prints it. Raises BadKeys."""
    text = text.strip()
    try:
        key = bytes.fromhex(text) if len(text) == 2 * KEY_BYTES else b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadKeys("a key is neither base64 nor hexadecimal digits") from None
    if len(key) != KEY_BYTES:
        raise BadKeys(f"a key has {len(key)} bytes in place of {KEY_BYTES}")
    return key
