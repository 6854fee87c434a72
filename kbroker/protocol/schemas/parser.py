"""Reads the notation described in the package's docstring."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
SCALARS = frozenset(("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "float64", "uuid"))
PRIMITIVES = SCALARS | {"string", "bytes", "records"}
_KINDS = frozenset(
    (
        "request",
        "response",
        "header",
        "data",
        "metadata",
        "coordinator-key",
        "coordinator-value",
        "remote-log",
    )
)
_FIELD = re.compile(r"(\w+): (\[\])?(\w+)(\?)?\s+(\S+)((?: +\S+)*)$")


class SchemaError(Exception):
    """A schema file breaks the notation."""


class Versions(NamedTuple):
    """A closed range of message versions."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last


@dataclass(slots=True)
class Field:
    """One field; `name` is Kafka's with a small first letter, `attr` ours in Python."""

    name: str
    attr: str
    type: str
    is_array: bool
    versions: Versions
    null_versions: Versions | None = None
    tagged_versions: Versions | None = None
    tag: int = -1
    default: Any = None
    has_default: bool = False
    ignorable: bool = False
    inflexible: bool = False
    struct: Struct | None = None

    def is_nullable(self, version: int) -> bool:
        """Whether null may be written for this field in `version`."""
        return self.null_versions is not None and version in self.null_versions

    def is_tagged(self, version: int) -> bool:
        """Whether the field travels in the tag section in `version`."""
        return self.tagged_versions is not None and version in self.tagged_versions

    @property
    def default_is_null(self) -> bool:
        """Whether an absent value means null."""
        nullable_records = self.type == "records" and self.null_versions is not None
        return (self.has_default and self.default is None) or nullable_records


@dataclass(slots=True)
class Struct:
    """A named group of fields."""

    name: str
    fields: list[Field] = field(default_factory=list)


@dataclass(slots=True)
class MessageSchema:
    """A request, response, header or record type in all its versions."""

    kind: str
    name: str
    key: int | None
    versions: Versions
    flexible_since: int | None
    listeners: tuple[str, ...]
    root: Struct
    structs: dict[str, Struct]

    def is_flexible(self, version: int) -> bool:
        """Whether `version` uses compact lengths and tag sections (KIP-482)."""
        return self.flexible_since is not None and version >= self.flexible_since


def snake_case(name: str) -> str:
    """`leaderEpoch` and `LeaderEpoch` to `leader_epoch`; `KRaft` counts as one word."""
    name = re.sub("[kK]Raft", "Kraft", name)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def parse(text: str, source: str = "<schema>") -> list[MessageSchema]:
    """All messages of one file.

    Raises:
        SchemaError: with the file and line.
    """
    messages: list[MessageSchema] = []
    scopes: list[tuple[int, Struct]] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        try:
            if indent == 0:
                messages.append(_parse_head(stripped))
                scopes = [(0, messages[-1].root)]
                continue
            while scopes[-1][0] >= indent:
                scopes.pop()
            _parse_member(stripped, indent, messages[-1], scopes)
        except (ValueError, KeyError, IndexError) as error:
            raise SchemaError(f"{source}:{number}: {error}") from error
    for message in messages:
        _resolve(message, source)
    return messages


def _parse_head(line: str) -> MessageSchema:
    kind, name, *words = line.split()
    if kind not in _KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    options = dict(word.split("=", 1) for word in words)
    first, _, last = options.pop("versions").partition("-")
    versions = Versions(int(first), int(last or first))
    key = int(options.pop("key")) if "key" in options else None
    flexible = int(options.pop("flexible").removesuffix("+")) if "flexible" in options else None
    listeners = tuple(options.pop("listeners", "").split(",")) if "listeners" in options else ()
    if options:
        raise ValueError(f"unknown option {next(iter(options))!r}")
    return MessageSchema(kind, name, key, versions, flexible, listeners, Struct(name), {})


def _parse_member(line: str, indent: int, message: MessageSchema, scopes: list[tuple[int, Struct]]) -> None:
    if line.startswith("struct "):
        struct = Struct(line.removeprefix("struct "))
        _add_struct(message, struct)
        scopes.append((indent, struct))
        return
    parsed = _parse_field(line, message.versions)
    scopes[-1][1].fields.append(parsed)
    if parsed.type not in PRIMITIVES:
        # Its fields follow on deeper lines; without any, it is a shared struct, found by name at the end.
        scopes.append((indent, Struct(parsed.type)))
        parsed.struct = scopes[-1][1]


def _add_struct(message: MessageSchema, struct: Struct) -> None:
    if struct.name in message.structs or struct.name == message.name:
        raise ValueError(f"struct {struct.name} is there twice")
    message.structs[struct.name] = struct


def _parse_field(line: str, message_versions: Versions) -> Field:
    match = _FIELD.match(line)
    if match is None:
        raise ValueError(f"not a field: {line!r}")
    name, array, type_, nullable, versions_text, attributes = match.groups()
    versions = _parse_versions(versions_text, message_versions)
    attr = snake_case(name)
    if iskeyword(attr):
        attr += "_"
    result = Field(name, attr, type_, array is not None, versions, versions if nullable else None)
    for word in attributes.split():
        key, _, value = word.partition("=")
        if key in ("ignorable", "inflexible"):
            setattr(result, key, True)
        elif key == "null":
            result.null_versions = _parse_versions(value, message_versions)
        elif key == "tagged":
            result.tagged_versions = _parse_versions(value, message_versions)
        elif key == "tag":
            result.tag = int(value)
        elif key == "default":
            result.default, result.has_default = json.loads(value), True
        else:
            raise ValueError(f"unknown attribute {word!r}")
    if result.tag >= 0 and result.tagged_versions is None:
        result.tagged_versions = versions
    return result


def _parse_versions(text: str, message_versions: Versions) -> Versions:
    if text.endswith("+"):
        return Versions(int(text[:-1]), message_versions.last)
    first, _, last = text.partition("-")
    return Versions(int(first), int(last or first))


def _resolve(message: MessageSchema, source: str) -> None:
    """Register the structs in the order of their use and point every field at its struct."""
    shared = message.structs
    message.structs = {}

    def visit(struct: Struct) -> None:
        for member in struct.fields:
            if member.struct is None:
                continue
            if member.type in shared:
                member.struct = shared[member.type]
                if message.structs.get(member.type) is member.struct:
                    continue
            try:
                _add_struct(message, member.struct)
            except ValueError as error:
                raise SchemaError(f"{source}: {message.name}: {error}") from error
            visit(member.struct)

    visit(message.root)


@cache
def load_file(stem: str) -> dict[str, MessageSchema]:
    """The messages of one schema file by name; kept after the first call."""
    path = FOLDER / f"{stem}.schema"
    return {m.name: m for m in parse(path.read_text(encoding="utf-8"), path.name)}


def file_stems() -> list[str]:
    """Every schema file, without its ending."""
    return sorted(path.stem for path in FOLDER.glob("*.schema"))


def load_all() -> dict[str, MessageSchema]:
    """Every message there is, by name."""
    return {name: message for stem in file_stems() for name, message in load_file(stem).items()}


def load_message(name: str) -> MessageSchema:
    """One message, reading only its own file where the name tells which.

    Raises:
        KeyError: there is no such message.
    """
    stem = snake_case(name.removesuffix("Request").removesuffix("Response"))
    stems = [stem] if (FOLDER / f"{stem}.schema").is_file() else [s for s in file_stems() if s.endswith("s")]
    for candidate in stems:
        if name in (messages := load_file(candidate)):
            return messages[name]
    return load_all()[name]
