"""Record batches whose records are encrypted (AES-256-GCM) while they lie on a disk.

A sealed batch is a whole batch of its own: the header is the same but for a bit of the attributes, the length
and the CRC, which is that of the bytes as they are. So offsets, times, producers and transactions, recovery,
truncation and copies on other brokers need no key; only who looks at records does.

In the place of the records:

    version:1  length of the key's id:1  key id  check of the key:4  salt:16  counter:8  ciphertext  tag:16

Each `Sealer` has a key of its own, derived from the named one and its salt, and counts its batches: no pair
of key and counter is ever used twice, however many brokers and restarts there are. Base offset, header and
what stands in front of the ciphertext are authenticated with it.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Protocol

from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.crc import crc32c
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    LOG_OVERHEAD,
    BatchHeader,
    Buffer,
    CorruptBatch,
    parse_batch_header,
)

#: In the attributes; Apache Kafka gives this bit no meaning.
SEALED_BIT = 0x4000
KEY_ID_BYTES_MAX = 64
NO_KEYS = "This broker has no data keys (kbroker.encryption.keys.file)"
CHECK_BYTES, SALT_BYTES, TAG_BYTES = 4, 16, 16
#: Batches sealed with one salt; far below what AES-GCM bears for a key.
BATCHES_MAX = 1 << 32

_VERSION = 1
_BASE_OFFSET = Struct(">q")
_COUNTER = Struct(">q")
_LENGTH = Struct(">i")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_LENGTH_AT, _MAGIC_AT, _CRC_AT, _ATTRIBUTES_AT = 8, 16, 17, 21
#: A nonce has 12 bytes: these, and the counter.
_NONCE_START = b"\0\0\0\0"


class CannotOpen(ApiError):
    """The key of a sealed batch is not here, or another one has its id: the batch itself is whole.

    KAFKA_STORAGE_ERROR, after which clients try again: once the key is there they get the records.
    """

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.KAFKA_STORAGE_ERROR, message)


class Aead(Protocol):
    """AES-256-GCM with one key, as `cryptography` has it."""

    def encrypt(self, nonce: bytes, data: Buffer, associated_data: Buffer | None) -> bytes:
        """Ciphertext and tag."""
        ...

    def decrypt(self, nonce: bytes, data: Buffer, associated_data: Buffer | None) -> bytes:
        """What `encrypt` was given; any exception if the tag is wrong."""
        ...


class Keys(Protocol):
    """The keys of this broker."""

    def check(self, key_id: bytes) -> bytes:
        """`CHECK_BYTES` that tell this key from another one of the same id. Raises CannotOpen."""
        ...

    def derived(self, key_id: bytes, salt: bytes) -> Aead:
        """The key of the one sealer that has this salt. Raises CannotOpen."""
        ...

    def known(self) -> dict[str, bytes]:
        """All that are in memory, by id: for processes of this broker."""
        ...


class Sealer:
    """Seals batches for one log.

    Args:
        keys: of this broker.
        key_id: the key for what is sealed from now on.
        new_salt: `SALT_BYTES` random ones.

    Raises:
        CannotOpen: the key is not here.
        ValueError: the id is empty or too long.
    """

    __slots__ = ("_aead", "_count", "_head", "_keys", "_new_salt", "key_id")

    def __init__(self, keys: Keys, key_id: str, new_salt: Callable[[], bytes]) -> None:
        if not 0 < len(key_id.encode()) <= KEY_ID_BYTES_MAX:
            raise ValueError(f"a key's id has 1 to {KEY_ID_BYTES_MAX} bytes")
        self.key_id = key_id
        self._keys = keys
        self._new_salt = new_salt
        self._count = 0
        self._begin()

    def _begin(self) -> None:
        name, salt = self.key_id.encode(), self._new_salt()
        if len(salt) != SALT_BYTES:
            raise ValueError(f"a salt has {SALT_BYTES} bytes")
        self._aead = self._keys.derived(name, salt)
        self._head = bytes((_VERSION, len(name))) + name + self._keys.check(name) + salt
        self._count = 0

    @property
    def overhead(self) -> int:
        """By how much a sealed batch is larger."""
        return len(self._head) + _COUNTER.size + TAG_BYTES

    def seal(self, records: Buffer, base_offset: int) -> bytearray:
        """The sealed form of one plain batch, which will have that base offset.

        All but base offset and leader epoch has to be final.

        Raises:
            ValueError: it is sealed already.
        """
        if self._count >= BATCHES_MAX:
            self._begin()
        counter = _COUNTER.pack(self._count)
        self._count += 1
        view = memoryview(records)
        (attributes,) = _ATTRIBUTES.unpack_from(view, _ATTRIBUTES_AT)
        if attributes & SEALED_BIT:
            raise ValueError("the batch is sealed already")
        sealed = bytearray(view[:BATCH_OVERHEAD])
        _BASE_OFFSET.pack_into(sealed, 0, base_offset)
        _ATTRIBUTES.pack_into(sealed, _ATTRIBUTES_AT, attributes | SEALED_BIT)
        sealed += self._head
        sealed += counter
        bound = sealed[:8] + sealed[_ATTRIBUTES_AT:]
        sealed += self._aead.encrypt(_NONCE_START + counter, view[BATCH_OVERHEAD:], bound)
        _finish(sealed)
        return sealed


def _finish(batch: bytearray) -> None:
    """Length and CRC of a batch whose other bytes are final."""
    _LENGTH.pack_into(batch, _LENGTH_AT, len(batch) - LOG_OVERHEAD)
    with memoryview(batch) as view, view[_ATTRIBUTES_AT:] as checked:
        _CRC.pack_into(batch, _CRC_AT, crc32c(checked))


def is_sealed(header: BatchHeader) -> bool:
    """Whether the records of a batch are encrypted."""
    return header.magic >= 2 and header.attributes & SEALED_BIT != 0


def key_id_of(buf: Buffer, header: BatchHeader) -> str:
    """Which key a sealed batch was sealed with. Raises CorruptBatch."""
    return _name(memoryview(buf), header)[0].decode("utf-8", "replace")


def _name(view: memoryview, header: BatchHeader) -> tuple[bytes, int]:
    """The key's id, and where what follows it begins."""
    start, end = header.position + BATCH_OVERHEAD, header.end
    if end > len(view) or end - start < 2:
        raise CorruptBatch("A sealed batch is cut short")
    version, length = view[start], view[start + 1]
    if version != _VERSION:
        raise CannotOpen(f"The batch at offset {header.base_offset} is sealed in version {version}")
    after = start + 2 + length
    if not 0 < length <= KEY_ID_BYTES_MAX or after + CHECK_BYTES + SALT_BYTES + 8 + TAG_BYTES > end:
        raise CorruptBatch("A sealed batch is cut short")
    return bytes(view[start + 2 : after]), after


def open_batch(keys: Keys, buf: Buffer, header: BatchHeader) -> bytearray:
    """The plain batch, byte for byte as it was sealed but for its leader epoch, which is that of `buf`.

    Raises:
        CannotOpen: the key is not here, or another one.
        CorruptBatch: the bytes are not those that were sealed.
    """
    view = memoryview(buf)
    name, at = _name(view, header)
    if view[at : at + CHECK_BYTES] != keys.check(name):
        shown = name.decode("utf-8", "replace")
        raise CannotOpen(
            f"The batch at offset {header.base_offset} was sealed with another key of the id {shown}"
        )
    at += CHECK_BYTES
    salt = bytes(view[at : at + SALT_BYTES])
    at += SALT_BYTES
    body = at + _COUNTER.size
    start = header.position
    bound = bytes(view[start : start + 8]) + bytes(view[start + _ATTRIBUTES_AT : body])
    aead = keys.derived(name, salt)
    try:
        records = aead.decrypt(_NONCE_START + bytes(view[at:body]), view[body : header.end], bound)
    except Exception as error:
        raise CorruptBatch(
            f"The sealed batch at offset {header.base_offset} is not the one that was sealed"
        ) from error
    plain = bytearray(view[start : start + BATCH_OVERHEAD])
    _ATTRIBUTES.pack_into(plain, _ATTRIBUTES_AT, header.attributes & ~SEALED_BIT)
    plain += records
    _finish(plain)
    return plain


def open_all(keys: Keys | None, data: bytes) -> bytes:
    """What a consumer gets of a stretch of a log: sealed batches plain, others as they are.

    A batch that is cut short at the end is left out if it is sealed: nobody can use its beginning.

    Raises:
        CannotOpen, CorruptBatch: of the first batch; others end what is given before them.
    """
    view = memoryview(data)
    parts: list[Buffer] = []
    position = kept = 0
    while position + BATCH_OVERHEAD <= len(view):
        (length,) = _LENGTH.unpack_from(view, position + _LENGTH_AT)
        end = position + LOG_OVERHEAD + length
        if length <= 0:
            raise CorruptBatch("The bytes are no batch")
        if view[position + _MAGIC_AT] < 2 or not (
            _ATTRIBUTES.unpack_from(view, position + _ATTRIBUTES_AT)[0] & SEALED_BIT
        ):
            position = end
            continue
        parts.append(view[kept:position])
        kept = len(view)
        if end > len(view):
            break
        try:
            if keys is None:
                raise CannotOpen(NO_KEYS)
            parts.append(open_batch(keys, view, parse_batch_header(view, position)))
        except ApiError:
            if position == 0:
                raise
            break
        position = kept = end
    if not parts:
        return data
    parts.append(view[kept:])
    return b"".join(parts)
