"""Random legal messages of any type and version."""

from __future__ import annotations

from importlib import import_module
from random import Random
from typing import Any

from kbroker.protocol.api_keys import message_class
from kbroker.protocol.primitives import Message
from kbroker.protocol.schemas.parser import Field, Struct, load_message

_BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
_TEXTS = ("", "a", "topic-1", "zażółć", "🚀", "x" * 127, "y" * 128, "z" * 300, "\x00", "w" * 32767)


def random_message(name: str, version: int, random: Random) -> Message:
    schema = load_message(name)
    message = _struct(schema.root, message_class(name), version, random)
    if schema.is_flexible(version) and random.random() < 0.2:
        message.unknown_tags = [(1000, b""), (70000, random.randbytes(5))]
    return message


def _struct(struct: Struct, cls: type, version: int, random: Random) -> Any:
    values = {
        field.attr: _value(field, cls, version, random)
        for field in struct.fields
        if version in field.versions and (random.random() < 0.9 or not _may_be_absent(field, version))
    }
    return cls(**values)


def _may_be_absent(field: Field, version: int) -> bool:
    """Whether the field's default can be written in this version."""
    return not field.default_is_null or field.is_nullable(version)


def _value(field: Field, cls: type, version: int, random: Random) -> Any:
    if field.is_nullable(version) and random.random() < 0.3:
        return None
    if field.is_array:
        count = random.choice((0, 1, 2, 3) if field.struct else (0, 1, 2, 3, 130))
        return [_element(field, cls, version, random) for _ in range(count)]
    return _element(field, cls, version, random)


def _element(field: Field, cls: type, version: int, random: Random) -> Any:
    if field.struct:
        return _struct(field.struct, getattr(import_module(cls.__module__), field.type), version, random)
    if field.type in _BITS:
        return _integer(field.type, random)
    if field.type == "string":
        return random.choice(_TEXTS[:-1] if field.is_array else _TEXTS)
    if field.type == "uuid":
        return random.randbytes(16)
    if field.type == "bool":
        return random.random() < 0.5
    if field.type == "float64":
        return random.choice((0.0, -1.5, 1e300))
    return random.randbytes(random.choice((0, 1, 126, 127, 128, 20000)))


def _integer(type_: str, random: Random) -> int:
    bits = _BITS[type_]
    low, high = (0, 2**bits - 1) if type_.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return random.choice((low, high, 0, 1, random.randint(low, high)))
