"""Which versions of a struct look alike on the wire, and the Python side of the field types."""

from __future__ import annotations

from typing import Any

from kbroker.protocol.schemas.parser import Field, MessageSchema, Struct, snake_case

#: struct format character and width of the fixed-width types.
FIXED = {
    "bool": ("?", 1),
    "int8": ("b", 1),
    "int16": ("h", 2),
    "uint16": ("H", 2),
    "int32": ("i", 4),
    "uint32": ("I", 4),
    "int64": ("q", 8),
    "float64": ("d", 8),
    "uuid": ("16s", 16),
}
_PYTHON = {
    "bool": "bool",
    "float64": "float",
    "uuid": "bytes",
    "string": "str",
    "bytes": "bytes",
    "records": "Buffer",
}
_ZERO = {
    "bool": "False",
    "float64": "0.0",
    "uuid": "ZERO_UUID",
    "string": '""',
    "bytes": 'b""',
    "records": 'b""',
}


def element_type(field: Field) -> str:
    """The Python type of the field's value, or of its elements."""
    return field.type if field.struct else _PYTHON.get(field.type, "int")


def python_type(field: Field) -> str:
    """The annotation of the field's attribute."""
    text = f"list[{element_type(field)}]" if field.is_array else element_type(field)
    return f"{text} | None" if field.null_versions or field.default_is_null else text


def default_text(field: Field) -> str:
    """An expression for the field's default."""
    if field.default_is_null:
        return "None"
    if field.is_array:
        return "[]"
    if field.struct:
        return f"{field.type}()"
    if field.has_default:
        return _literal(field)
    return _ZERO.get(field.type, "0")


def _literal(field: Field) -> str:
    value: Any = field.default
    if field.type == "bool":
        return "True" if value else "False"
    return f'"{value}"' if field.type == "string" else repr(value)


def differs_from_default(field: Field, value: str) -> list[str]:
    """Conditions of which one holds when `value` (an expression) is not the field's default."""
    if field.default_is_null:
        return [f"{value} is not None"]
    null = [f"{value} is None"] if field.null_versions else []
    if field.is_array or field.type in ("bytes", "records"):
        return [*null, value]
    if field.struct:
        return null + [c for f in field.struct.fields for c in differs_from_default(f, f"{value}.{f.attr}")]
    if field.type == "bool":
        return [f"not {value}" if field.has_default and field.default else value]
    return [f"{value} != {default_text(field)}"]


class Layouts:
    """Groups a message's versions by layout, for each of its structs."""

    def __init__(self, schema: MessageSchema) -> None:
        self.schema = schema
        self._memo: dict[tuple[str, int], Any] = {}
        self._groups: dict[str, dict[int, int]] = {}
        self._used = self._reachable()

    def structs(self) -> list[Struct]:
        """The message's structs, those that others need first, the message itself last."""
        return [*reversed(self.schema.structs.values()), self.schema.root]

    def key(self, struct: Struct, version: int) -> Any:
        """Equal for two versions in which the struct's bytes mean the same."""
        memo = (struct.name, version)
        if memo not in self._memo:
            flexible = self.schema.is_flexible(version)
            self._memo[memo] = (flexible, tuple(self._field_key(f, version) for f in struct.fields))
        return self._memo[memo]

    def _field_key(self, field: Field, version: int) -> Any:
        if version not in field.versions:
            return None
        nested = self.key(field.struct, version) if field.struct else None
        return (field.is_nullable(version), field.is_tagged(version), nested)

    def _reachable(self) -> dict[str, list[int]]:
        used: dict[str, list[int]] = {s.name: [] for s in self.structs()}

        def visit(struct: Struct, version: int) -> None:
            if version in used[struct.name]:
                return
            used[struct.name].append(version)
            for field in struct.fields:
                if field.struct and version in field.versions:
                    visit(field.struct, version)

        for version in range(self.schema.versions.first, self.schema.versions.last + 1):
            visit(self.schema.root, version)
        return used

    def groups(self, struct: Struct) -> dict[int, int]:
        """Version to the first version with the same layout, for all versions that have the struct."""
        if struct.name not in self._groups:
            first: dict[Any, int] = {}
            self._groups[struct.name] = {
                v: first.setdefault(self.key(struct, v), v) for v in self._used[struct.name]
            }
        return self._groups[struct.name]

    def function(self, action: str, struct: Struct, version: int) -> str:
        """The name of the generated function for the struct in this version."""
        return f"_{action}_{snake_case(struct.name)}_v{self.groups(struct)[version]}"

    def has_tags(self, struct: Struct, version: int) -> bool:
        """Whether the struct has tagged fields of its own in this version, or tags to refuse."""
        return any(f.tag >= 0 for f in struct.fields)
