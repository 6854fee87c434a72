"""Kafka's primitive types: what the generated codecs share.

Readers take a buffer and a position and return the value and the next position. They may run past the end of
the buffer only by slicing (a short slice takes no memory); `Message.decode_from` refuses such a message at
its end, and turns the `IndexError`, `struct.error` and `UnicodeDecodeError` of malformed bytes into
`ProtocolError`.
Whatever sizes an allocation is compared with the bytes that are there before anything is allocated.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Self, TypeAlias

from kbroker.errors import ProtocolError

Buffer: TypeAlias = bytes | bytearray | memoryview
#: Tagged fields that our schemas do not know (KIP-482): kept, and written again.
UnknownTags: TypeAlias = list[tuple[int, bytes]] | None

#: Kafka's own limits for a reader; the elements are those of one array.
ELEMENTS_MAX: Final = 1_000_000
MAX_TAGGED_FIELDS: Final = 10_000
MAX_STRING_BYTES: Final = 0x7FFF

#: Stands for "argument not given" where None is a value.
UNSET: Any = object()

ZERO_UUID: Final = bytes(16)


class Struct:
    """A part of a message. Slots, equality and text come from the fields."""

    __slots__: tuple[str, ...] = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in self.__slots__)
        shown = ", ".join(f"{k}={v!r}" for k, v in values if k != "unknown_tags" or v)
        return f"{type(self).__name__}({shown})"


class Message(Struct):
    """A request, response, header or record that goes over the wire by itself."""

    __slots__ = ()
    NAME: ClassVar[str]
    #: The request's key, or the type id of a metadata or coordinator record; None for other data.
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int]
    MAX_VERSION: ClassVar[int]
    FLEXIBLE_SINCE: ClassVar[int | None] = None
    DECODERS: ClassVar[Mapping[int, Callable[[Buffer, int], tuple[Any, int]]]]
    ENCODERS: ClassVar[Mapping[int, Callable[[bytearray, Any], None]]]

    @classmethod
    def decode(cls, buf: Buffer, version: int, pos: int = 0) -> Self:
        """Read one message that starts at `pos`; bytes after it are left alone.

        Raises:
            ProtocolError: malformed bytes, or a version that does not exist.
        """
        return cls.decode_from(buf, version, pos)[0]

    @classmethod
    def decode_from(cls, buf: Buffer, version: int, pos: int) -> tuple[Self, int]:
        """Like `decode`; also tells where the message ends."""
        decoder = cls.DECODERS.get(version)
        if decoder is None:
            raise ProtocolError(f"{cls.NAME} has no version {version}")
        try:
            message, pos = decoder(buf, pos)
        except (IndexError, struct.error, UnicodeDecodeError) as error:
            raise ProtocolError(f"malformed {cls.NAME} v{version}: {error}") from None
        except ProtocolError as error:
            raise ProtocolError(f"malformed {cls.NAME} v{version}: {error}") from None
        if pos > len(buf):
            raise ProtocolError(f"malformed {cls.NAME} v{version}: {pos - len(buf)} bytes are missing")
        return message, pos

    def encode(self, version: int) -> bytes:
        """The message's bytes in `version`.

        Raises:
            ValueError: no such version, a value out of range, or one that this version cannot carry.
        """
        out = bytearray()
        self.encode_into(out, version)
        return bytes(out)

    def encode_into(self, out: bytearray, version: int) -> None:
        """Append what `encode` returns; after an error `out` holds a useless part of it."""
        encoder = self.ENCODERS.get(version)
        if encoder is None:
            raise ValueError(f"{self.NAME} has no version {version}")
        try:
            encoder(out, self)
        except (ValueError, TypeError, AttributeError, struct.error) as error:
            raise ValueError(f"cannot write {self.NAME} v{version}: {error}") from error


# --- errors of the generated code, built out of line ---


def too_many(count: int) -> ProtocolError:
    """An array claims more elements than the limit or the bytes left allow."""
    return ProtocolError(f"an array of {count} elements does not fit")


def null_field(name: str) -> ProtocolError:
    """A null came in where the field cannot be null."""
    return ProtocolError(f"null in {name}")


def bad_tag(tag: int) -> ProtocolError:
    """A tag of another version of the message; Kafka refuses those as well."""
    return ProtocolError(f"tag {tag} is not valid in this version")


def bad_tag_size(tag: int) -> ProtocolError:
    """The size before a tagged field is not the size of the field."""
    return ProtocolError(f"tagged field {tag} does not have the size it claims")


def null_value(name: str) -> ValueError:
    """None was given where this version has no null."""
    return ValueError(f"{name} cannot be None")


def not_in_version(name: str) -> ValueError:
    """A value was given that this version cannot carry."""
    return ValueError(f"{name} has a value that this version cannot carry")


# --- variable-length integers ---


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """An unsigned varint of at most five bytes, as Kafka reads it: 32 bits, the result is signed."""
    byte = buf[pos]
    pos += 1
    if byte < 0x80:
        return byte, pos
    value = byte & 0x7F
    for shift in (7, 14, 21, 28):
        byte = buf[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= 0xFFFFFFFF
            return (value if value < 0x80000000 else value - 0x100000000), pos
    raise ProtocolError("a varint is longer than five bytes")


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned varint; negative values are written as their 32-bit pattern."""
    value &= 0xFFFFFFFF
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


# --- arrays of numbers ---

#: Lengths up to which an array has a precompiled layout; replica lists are this short.
_SHORT = 9


def _array_functions(
    code: str,
) -> tuple[Callable[[list[int]], bytes], Callable[[Buffer, int, int], list[int]]]:
    """Writer and reader of arrays of one format character; the count is not part of either."""
    layouts = [struct.Struct(f">{count}{code}") for count in range(_SHORT)]
    short_pack = [layout.pack for layout in layouts]
    short_unpack = [layout.unpack_from for layout in layouts]

    def pack(values: list[int]) -> bytes:
        count = len(values)
        return short_pack[count](*values) if count < _SHORT else struct.pack(f">{count}{code}", *values)

    def unpack(buf: Buffer, pos: int, count: int) -> list[int]:
        if count < _SHORT:
            return list(short_unpack[count](buf, pos))
        return list(struct.unpack_from(f">{count}{code}", buf, pos))

    return pack, unpack


pack_int8s, unpack_int8s = _array_functions("b")
pack_int16s, unpack_int16s = _array_functions("h")
pack_int32s, unpack_int32s = _array_functions("i")
pack_int64s, unpack_int64s = _array_functions("q")


# --- compact strings ---


def read_compact_string(buf: Buffer, pos: int) -> tuple[str, int]:
    """A string with a varint length plus one (KIP-482).

    Raises:
        ProtocolError: null, or longer than Kafka allows.
    """
    text, pos = read_compact_nullable_string(buf, pos)
    if text is None:
        raise ProtocolError("null in a string that cannot be null")
    return text, pos


def read_compact_nullable_string(buf: Buffer, pos: int) -> tuple[str | None, int]:
    """Like `read_compact_string`, but null is legal."""
    size, pos = read_uvarint(buf, pos)
    if size <= 0:
        return None, pos
    end = pos + size - 1
    if size - 1 > MAX_STRING_BYTES:
        raise ProtocolError(f"a string of {size - 1} bytes is too long")
    return str(buf[pos:end], "utf-8"), end


def write_compact_string(out: bytearray, text: str) -> None:
    """Append a string with a varint length plus one.

    Raises:
        ValueError: it has more than 32767 bytes.
    """
    raw = text.encode()
    size = len(raw) + 1
    if size < 0x80:
        out.append(size)
    elif size - 1 > MAX_STRING_BYTES:
        raise ValueError(f"a string of {size - 1} bytes is too long")
    else:
        write_uvarint(out, size)
    out += raw


def write_compact_nullable_string(out: bytearray, text: str | None) -> None:
    """Like `write_compact_string`; None is written as null."""
    if text is None:
        out.append(0)
    else:
        write_compact_string(out, text)


# --- tag sections ---


def read_tag_count(buf: Buffer, pos: int) -> tuple[int, int]:
    """How many tagged fields follow.

    Raises:
        ProtocolError: more than Kafka reads.
    """
    count, pos = read_uvarint(buf, pos)
    if count > MAX_TAGGED_FIELDS:
        raise ProtocolError(f"{count} tagged fields")
    return count, pos


def read_tag(buf: Buffer, pos: int) -> tuple[int, int, int]:
    """A tag, the position behind its field, and where the field starts.

    Raises:
        ProtocolError: the field runs past the end of the buffer.
    """
    tag, pos = read_uvarint(buf, pos)
    size, pos = read_uvarint(buf, pos)
    if size < 0 or size > len(buf) - pos:
        raise ProtocolError(f"tagged field {tag} runs past the end")
    return tag, pos + size, pos


def read_unknown_tags(buf: Buffer, pos: int) -> tuple[UnknownTags, int]:
    """A whole tag section of a struct that has no tagged fields of its own."""
    count, pos = read_tag_count(buf, pos)
    tags: list[tuple[int, bytes]] = []
    for _ in range(count):
        tag, end, pos = read_tag(buf, pos)
        tags.append((tag, bytes(buf[pos:end])))
        pos = end
    return tags or None, pos


def write_tags(out: bytearray, known: list[tuple[int, bytearray]], unknown: UnknownTags) -> None:
    """Append a tag section, in the order of the tags."""
    tags: list[tuple[int, bytes | bytearray]] = [*known]
    if unknown:
        tags += unknown
        tags.sort(key=lambda entry: entry[0])
    write_uvarint(out, len(tags))
    for tag, raw in tags:
        write_uvarint(out, tag)
        write_uvarint(out, len(raw))
        out += raw
