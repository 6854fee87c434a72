"""Key stores and trust stores as Java has them, into PEM: JKS, PKCS12 (both are called .jks) and PEM itself.

Everything that is read stays in memory; errors never show more than the name of the setting.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64encode
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

_JKS_MAGIC = 0xFEEDFEED
_INT, _SHORT, _LONG = Struct(">I"), Struct(">H"), Struct(">q")
#: Java's own way of hiding keys in a JKS.
_SUN_KEY_PROTECTOR = bytes.fromhex("060a2b060104012a02110101")
_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_ENTRIES_MAX = 10_000


class StoreContent(NamedTuple):
    """What lies in a store, in PEM. A key is unencrypted, except in a PEM store with a password for it."""

    key: str = ""
    chain: str = ""
    trusted: str = ""


def read_store(
    data: bytes,
    kind: str,
    password: str | None,
    key_password: str | None,
    what: str,
    *,
    wants_key: bool = True,
) -> StoreContent:
    """The content of a store's file.

    Args:
        kind: JKS, PKCS12 or PEM; as in Java, the bytes decide between the first two.
        password: of the store.
        key_password: of the key in it, if it has another one.
        what: its name, for errors.
        wants_key: False leaves keys alone, which may have passwords of their own.

    Raises:
        ConfigError: not of that kind, or a wrong password.
    """
    if kind.upper() == "PEM":
        try:
            return split_pem(data.decode("ascii"), what)
        except UnicodeDecodeError:
            raise ConfigError(f"{what} is no PEM file") from None
    if kind.upper() not in ("JKS", "PKCS12"):
        raise ConfigError(f"{what}: stores of type {kind} are not known, only JKS, PKCS12 and PEM")
    try:
        if data[:4] == _INT.pack(_JKS_MAGIC):
            key_password = (key_password or password or "") if wants_key else None
            return _read_jks(data, password or "", key_password, what)
        return _read_pkcs12(data, password, what)
    except ImportError:
        raise ConfigError(f"{what}: {kind} stores need the extra: pip install 'kbroker[security]'") from None


def split_pem(text: str, what: str) -> StoreContent:
    """The key and the certificates of PEM text; certificates count as chain and as trusted ones."""
    keys, certificates = [], []
    for match in _PEM.finditer(text):
        if match[1].endswith("PRIVATE KEY"):
            keys.append(match[0])
        elif match[1] == "CERTIFICATE":
            certificates.append(match[0])
    if not keys and not certificates:
        raise ConfigError(f"{what} holds neither a private key nor a certificate in PEM")
    if len(keys) > 1:
        raise ConfigError(f"{what} holds more than one private key")
    chain = "\n".join(certificates)
    return StoreContent("".join(keys), chain, chain)


# -- PKCS12 --------------------------------------------------------------------------------------------------


def _read_pkcs12(data: bytes, password: str | None, what: str) -> StoreContent:
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise ConfigError(f"{what} is no PKCS12 or JKS store, or its password is wrong") from None
    others = [each.certificate.public_bytes(Encoding.PEM).decode() for each in store.additional_certs]
    if store.key is None:
        return StoreContent(trusted="".join(others))
    own = [] if store.cert is None else [store.cert.certificate.public_bytes(Encoding.PEM).decode()]
    return StoreContent(_pem_key(store.key), "".join(own + others), "".join(others))


def _pem_key(key: PrivateKeyTypes) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


# -- JKS -----------------------------------------------------------------------------------------------------


class _Reader:
    def __init__(self, data: bytes, what: str) -> None:
        self._data = data
        self._position = 0
        self._what = what

    def take(self, size: int) -> bytes:
        end = self._position + size
        if size < 0 or end > len(self._data):
            raise ConfigError(f"{self._what} is cut short")
        part = self._data[self._position : end]
        self._position = end
        return part

    def number(self, kind: Struct) -> int:
        value: int = kind.unpack(self.take(kind.size))[0]
        return value

    def text(self) -> str:
        return self.take(self.number(_SHORT)).decode("utf-8", "replace")

    def blob(self) -> bytes:
        return self.take(self.number(_INT))


def _read_jks(data: bytes, password: str, key_password: str | None, what: str) -> StoreContent:
    body, digest = data[:-20], data[-20:]
    keyed = hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()
    if password and not hmac.compare_digest(keyed, digest):
        raise ConfigError(f"{what}: its password is wrong, or it is damaged")
    reader = _Reader(body, what)
    reader.take(4)
    version, count = reader.number(_INT), reader.number(_INT)
    if count > _ENTRIES_MAX:
        raise ConfigError(f"{what} has {count} entries, more than {_ENTRIES_MAX}")
    key, chain, trusted = "", "", []
    for _ in range(count):
        tag = reader.number(_INT)
        reader.text()
        reader.number(_LONG)
        if tag == 1:
            protected = reader.blob()
            certificates = [_jks_certificate(reader, version) for _ in range(min(reader.number(_INT), 100))]
            # Java takes the first one too, where no alias is named.
            if not key and key_password is not None:
                key, chain = _der_key(_unprotect(protected, key_password, what)), "".join(certificates)
        elif tag == 2:
            trusted.append(_jks_certificate(reader, version))
        else:
            raise ConfigError(f"{what} is no JKS that can be read: an entry of kind {tag}")
    return StoreContent(key, chain, "".join(trusted))


def _jks_certificate(reader: _Reader, version: int) -> str:
    if version >= 2:
        reader.text()
    return _pem("CERTIFICATE", reader.blob())


def _unprotect(protected: bytes, password: str, what: str) -> bytes:
    """Undo Java's KeyProtector: a stream of SHA-1 over password and the block before."""
    start = protected.find(_SUN_KEY_PROTECTOR)
    if not 0 < start < 32:
        raise ConfigError(f"{what}: its key is protected in a way that is not known")
    # After the algorithm and its NULL comes an OCTET STRING.
    position = start + len(_SUN_KEY_PROTECTOR)
    if protected[position : position + 2] == b"\x05\x00":
        position += 2
    secret = _octets(protected, position, what)
    salt, hidden, check = secret[:20], secret[20:-20], secret[-20:]
    block, stream = salt, bytearray()
    phrase = password.encode("utf-16-be")
    while len(stream) < len(hidden):
        block = hashlib.sha1(phrase + block).digest()
        stream += block
    plain = bytes(a ^ b for a, b in zip(hidden, stream))
    if not hmac.compare_digest(hashlib.sha1(phrase + plain).digest(), check):
        raise ConfigError(f"{what}: the password of its key is wrong")
    return plain


def _octets(der: bytes, position: int, what: str) -> bytes:
    head = der[position : position + 2]
    if len(head) < 2 or head[0] != 4:
        raise ConfigError(f"{what}: its key cannot be read")
    size, position = head[1], position + 2
    if size & 0x80:
        count = size & 0x7F
        size, position = int.from_bytes(der[position : position + count], "big"), position + count
    return der[position : position + size]


def _der_key(pkcs8: bytes) -> str:
    return _pem("PRIVATE KEY", pkcs8)


def _pem(kind: str, der: bytes) -> str:
    text = b64encode(der).decode()
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"
