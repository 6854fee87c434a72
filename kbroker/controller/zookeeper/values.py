"""JSON of znodes: what Kafka's tools write, read with care.

Unknown fields are skipped. What is no JSON, lacks a field, has one of another type, or is of a newer version
is a `ZnodeError`: one line with the path, so that somebody can look.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

INT32 = 2**31 - 1
INT64 = 2**63 - 1


class ZnodeError(Exception):
    """A znode that we cannot make sense of.

    Attributes:
        path: of the znode.
        newer: somebody newer wrote it; it is not damaged.
    """

    def __init__(self, path: str, problem: str, *, newer: bool = False) -> None:
        super().__init__(f"znode {path}: {problem}")
        self.path = path
        self.newer = newer


def to_json(value: Mapping[str, Any]) -> bytes:
    """As Kafka writes it: no blanks, UTF-8, fields in the order given."""
    return _encode(value).encode()


def text_of(path: str, data: bytes | None) -> str:
    """A znode's text.

    Raises:
        ZnodeError: it is not UTF-8.
    """
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise ZnodeError(path, "is not UTF-8") from None


def number_of(path: str, data: bytes | None) -> int:
    """A znode that is nothing but a number.

    Raises:
        ZnodeError: it is not.
    """
    text = text_of(path, data)
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise ZnodeError(path, f"is no number: {_short(text)}")
    return int(text)


def _short(value: object) -> str:
    text = str(value)
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


# Made once: `json.loads` and `json.dumps` make theirs anew for every call with arguments.
_decode = json.JSONDecoder(parse_constant=_no_constant).decode
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Fields:
    """The fields of one JSON object in a znode, asked for by name and type."""

    __slots__ = ("_path", "_values")

    def __init__(self, path: str, values: Any, what: str = "is no JSON object") -> None:
        if not isinstance(values, dict):
            raise ZnodeError(path, what)
        self._path = path
        self._values: dict[str, Any] = values

    @classmethod
    def parse(cls, path: str, data: bytes | None, newest: int, oldest: int = 1) -> tuple[Fields, int]:
        """The object in a znode, and its version.

        Raises:
            ZnodeError: no JSON object, or a version that is not between `oldest` and `newest`.
        """
        text = text_of(path, data)
        try:
            values = _decode(text)
        except (ValueError, RecursionError):
            raise ZnodeError(path, f"is no JSON: {_short(text)}") from None
        fields = cls(path, values)
        version = fields.version()
        if version > newest:
            raise ZnodeError(path, f"has version {version}, we know up to {newest}", newer=True)
        if version < oldest:
            raise ZnodeError(path, f"has version {version}, which never was")
        return fields, version

    def version(self) -> int:
        """The field `version`; a number, or (in /cluster/id) the text of one."""
        value = self._values.get("version")
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
        return self.integer("version")

    def _fail(self, name: str, wanted: str) -> NoReturn:
        if name not in self._values:
            raise ZnodeError(self._path, f"lacks {name!r}")
        raise ZnodeError(self._path, f"{name!r} is {_short(self._values[name])}, not {wanted}")

    def has(self, name: str) -> bool:
        """Whether a field is there and not null."""
        return self._values.get(name) is not None

    def integer(self, name: str, default: int | None = None, largest: int = INT32) -> int:
        """A whole number between `-largest - 1` and `largest`."""
        value = self._values.get(name, default)
        if type(value) is not int or not -largest - 1 <= value <= largest:
            self._fail(name, "a whole number" if largest == INT32 else "a long number")
        return value

    def digits(self, name: str) -> int:
        """A long number that stands as a text."""
        value = self._values.get(name)
        if type(value) is int and abs(value) <= INT64:
            return value
        text = value.removeprefix("-") if isinstance(value, str) else ""
        if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > INT64:
            self._fail(name, "a number in quotes")
        return int(str(value))

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        value = self._values.get(name, default)
        if not isinstance(value, str):
            self._fail(name, "a text")
        return value

    def integers(self, name: str) -> list[int]:
        """A list of int32."""
        return self._integers(name, self._values.get(name))

    def _integers(self, name: str, value: Any) -> list[int]:
        if not isinstance(value, list) or not all(type(v) is int and abs(v) <= INT32 for v in value):
            raise ZnodeError(self._path, f"{name!r} is no list of whole numbers")
        return value

    def replicas(self, name: str) -> dict[int, list[int]]:
        """Partition to broker ids; empty where the field is missing."""
        found = {}
        for key, value in self.mapping(name, {}).items():
            if not key.isascii() or not key.isdigit() or len(key) > 9:
                raise ZnodeError(self._path, f"{name!r} names {_short(key)}, which is no partition")
            found[int(key)] = self._integers(f"{name}.{key}", value)
        return found

    def mapping(self, name: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
        """An object, as it is."""
        value = self._values.get(name, default)
        if not isinstance(value, dict):
            self._fail(name, "an object")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts."""
        value = self._values.get(name)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self._fail(name, "a list of texts")
        return value

    def objects(self, name: str) -> list[Fields]:
        """A list of objects."""
        value = self._values.get(name)
        if not isinstance(value, list):
            self._fail(name, "a list")
        return [Fields(self._path, each, f"{name!r} holds what is no object") for each in value]
