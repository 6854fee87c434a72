"""Messages as JSON values, in the form of Kafka's own JsonConverter.

Names are Kafka's with a small first letter. Byte strings and records are base64, uuids url-safe base64
without padding, null is null. Fields that the version lacks are absent; so is a tagged field at its default.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from kbroker.protocol.api_keys import message_class
from kbroker.protocol.primitives import Message, Struct as StructValue
from kbroker.protocol.schemas.parser import Field, MessageSchema, Struct, load_message
from kbroker.types import uuid_from_string, uuid_to_string

JsonObject: TypeAlias = dict[str, Any]

_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
_ZEROS: dict[str, Any] = {
    "bool": False,
    "string": "",
    "bytes": b"",
    "records": b"",
    "uuid": bytes(16),
    "float64": 0.0,
}


@cache
def _schema(name: str) -> MessageSchema:
    return load_message(name)


def to_json(message: Message, version: int) -> JsonObject:
    """What Kafka's converter gives for the message in this version.

    Raises:
        ValueError: no such version, or a value that the version cannot carry.
    """
    schema = _schema(message.NAME)
    if version not in schema.versions:
        raise ValueError(f"{schema.name} has no version {version}")
    return _struct_to_json(message, schema.root, version)


def from_json(name: str, value: JsonObject, version: int, *, fill_defaults: bool = False) -> Message:
    """The message that `to_json` would give as `value`.

    Args:
        fill_defaults: fields that are missing take their defaults; without it they are an error, as in Kafka.

    Raises:
        KeyError: no such message.
        ValueError: no such version, a missing or unknown field, or a value of the wrong type or range.
    """
    schema = _schema(name)
    if version not in schema.versions:
        raise ValueError(f"{name} has no version {version}")
    cls = message_class(name)
    message = _Reader(cls, version, fill_defaults).struct(value, schema.root, cls, name)
    assert isinstance(message, Message)
    return message


# --- to JSON ---


def _struct_to_json(value: Any, struct: Struct, version: int) -> JsonObject:
    result: JsonObject = {}
    for field in struct.fields:
        item = getattr(value, field.attr)
        if version not in field.versions:
            if not field.ignorable and not _is_default(item, field):
                raise ValueError(f"{field.name} has a value that version {version} cannot carry")
        elif not (field.is_tagged(version) and _is_default(item, field)):
            result[field.name] = _field_to_json(item, field, version)
    return result


def _field_to_json(value: Any, field: Field, version: int) -> Any:
    if value is None:
        return None
    if field.is_array:
        return [_element_to_json(item, field, version) for item in value]
    return _element_to_json(value, field, version)


def _element_to_json(value: Any, field: Field, version: int) -> Any:
    if field.struct:
        return _struct_to_json(value, field.struct, version)
    if field.type == "uuid":
        return uuid_to_string(value)
    if field.type in ("bytes", "records"):
        return base64.b64encode(value).decode("ascii")
    return value


def _is_default(value: Any, field: Field) -> bool:
    if value is None or field.default_is_null:
        return value is None and field.default_is_null
    if field.is_array:
        return not value
    if field.struct:
        return all(_is_default(getattr(value, f.attr), f) for f in field.struct.fields)
    return bool(value == _default(field))


def _default(field: Field) -> Any:
    """The default of a field that is neither a struct nor, at present, null."""
    if field.has_default:
        return field.default
    return _ZEROS.get(field.type, 0)


# --- from JSON ---


class _Reader:
    """Reads one message; `path` in its methods names the place in error texts."""

    def __init__(self, cls: type[Message], version: int, fill_defaults: bool) -> None:
        self._module = import_module(cls.__module__)
        self._version = version
        self._fill_defaults = fill_defaults

    def struct(self, value: Any, struct: Struct, cls: type[StructValue], path: str) -> StructValue:
        """An object of `cls`."""
        if not isinstance(value, dict):
            raise ValueError(f"{path}: expected an object, found {_shown(value)}")
        arguments: dict[str, Any] = {}
        known = 0
        for field in struct.fields:
            if self._version not in field.versions:
                continue
            where = f"{path}.{field.name}"
            if field.name in value:
                known += 1
                arguments[field.attr] = self._field(value[field.name], field, where)
            elif not (field.is_tagged(self._version) or self._fill_defaults):
                raise ValueError(f"{where} is missing")
        if known != len(value):
            names = {f.name for f in struct.fields if self._version in f.versions}
            unknown = next(name for name in value if name not in names)
            raise ValueError(f"{path}: version {self._version} has no field {unknown!r}")
        return cls(**arguments)

    def _field(self, value: Any, field: Field, path: str) -> Any:
        if value is None:
            if not field.is_nullable(self._version):
                raise ValueError(f"{path} cannot be null")
            return None
        if not field.is_array:
            return self._element(value, field, path)
        if not isinstance(value, list):
            raise ValueError(f"{path}: expected an array, found {_shown(value)}")
        return [self._element(item, field, f"{path}[{i}]") for i, item in enumerate(value)]

    def _element(self, value: Any, field: Field, path: str) -> Any:
        if field.struct:
            return self.struct(value, field.struct, getattr(self._module, field.type), path)
        if field.type in _RANGES:
            low, high = _RANGES[field.type]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"{path}: expected an {field.type}, found {_shown(value)}")
            return value
        try:
            return _PARSERS[field.type](value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}: expected a {field.type}, found {_shown(value)}") from error


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    return float(value)


def _base64(value: Any) -> bytes:
    return base64.b64decode(_text(value), validate=True)


_PARSERS: dict[str, Callable[[Any], Any]] = {
    "bool": _bool,
    "string": _text,
    "float64": _float,
    "bytes": _base64,
    "records": _base64,
    "uuid": lambda value: uuid_from_string(_text(value)),
}


def _shown(value: Any) -> str:
    """A value for an error text, cut short."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
