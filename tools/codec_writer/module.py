"""One module: the classes of a message and its structs, then the functions."""

from __future__ import annotations

import re

from kbroker.protocol import primitives
from kbroker.protocol.schemas.parser import Field, MessageSchema, Struct, Versions
from tools.codec_writer.decoders import Decoders
from tools.codec_writer.encoders import Encoders
from tools.codec_writer.layout import Layouts, default_text, python_type
from tools.codec_writer.source import Source

HEAD = '''"""{doc}

Written by tools/generate_codecs.py; change the schema instead.
"""

from __future__ import annotations
'''


def render_module(schema: MessageSchema) -> str:
    """The text of a message's module."""
    layouts = Layouts(schema)
    formats: set[str] = set()
    body = Source(formats)
    for struct in layouts.structs():
        _write_class(body, struct, schema)
    decoders, encoders = Decoders(layouts, body), Encoders(layouts, body)
    for struct in layouts.structs():
        for version in dict.fromkeys(layouts.groups(struct).values()):
            decoders.write_struct(struct, version)
            encoders.write_struct(struct, version)
    _write_tables(body, layouts)
    text = "\n".join(body.lines)
    head = HEAD.format(doc=_summary(schema))
    return head + _imports(text, formats) + _constants(text, formats) + text + "\n"


def _summary(schema: MessageSchema) -> str:
    return f"{schema.name}, {_range_text(schema.versions)}."


def _range_text(versions: Versions) -> str:
    if versions.first == versions.last:
        return f"version {versions.first}"
    return f"versions {versions.first} to {versions.last}"


def _imports(text: str, formats: set[str]) -> str:
    lines = []
    if "Iterable[" in text:
        lines.append("from collections.abc import Iterable")
    if formats:
        lines.append("from struct import Struct as Layout")
    words = set(re.findall(r"\w+", text))
    used = sorted(name for name in words & vars(primitives).keys() if name not in ("struct", "annotations"))
    lines.append("")
    lines.append("from kbroker.protocol.primitives import (")
    lines += [f"    {name}," for name in used]
    lines.append(")")
    return "\n" + "\n".join(lines) + "\n"


def _constants(text: str, formats: set[str]) -> str:
    lines = []
    for name in sorted(formats):
        for action, method in (("pack", "pack"), ("unpack", "unpack_from")):
            if re.search(rf"\b{action}_{name}\(", text):
                lines.append(f'{action}_{name} = Layout(">{name.replace("o", "?")}").{method}')
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def _write_class(out: Source, struct: Struct, schema: MessageSchema) -> None:
    is_root = struct is schema.root
    out.add()
    out.add()
    out.open(f"class {struct.name}({'Message' if is_root else 'Struct'}):")
    if is_root:
        out.add(f'"""{_summary(schema)}"""')
    else:
        out.add(f'"""Part of {schema.name}."""')
    out.add()
    slots = [field.attr for field in struct.fields]
    if schema.flexible_since is not None:
        slots.append("unknown_tags")
    if len(slots) == 1:
        out.add(f'__slots__ = ("{slots[0]}",)')
    else:
        out.add_wrapped("__slots__ = (", [f'"{slot}"' for slot in slots], ")")
    if is_root:
        out.add(f'NAME = "{schema.name}"')
        out.add(f"API_KEY = {schema.key}")
        out.add(f"MIN_VERSION = {schema.versions.first}")
        out.add(f"MAX_VERSION = {schema.versions.last}")
        out.add(f"FLEXIBLE_SINCE = {schema.flexible_since}")
    out.add()
    _write_init(out, struct, schema)
    out.close()


def _write_init(out: Source, struct: Struct, schema: MessageSchema) -> None:
    if struct.fields:
        out.open("def __init__(")
        out.add("self,")
        out.add("*,")
        for field in struct.fields:
            default = "UNSET" if _needs_fresh(field) else default_text(field)
            comment = "" if field.versions == schema.versions else f"  # {_range_text(field.versions)}"
            out.add(f"{field.attr}: {python_type(field)} = {default},{comment}")
        out.close()
        out.open(") -> None:")
    else:
        out.open("def __init__(self) -> None:")
    for field in struct.fields:
        name = field.attr
        if _needs_fresh(field):
            line = f"self.{name}: {python_type(field)} = "
            value = f"{default_text(field)} if {name} is UNSET else {name}"
            if out.fits(line + value):
                out.add(line + value)
            else:
                out.open(f"{line}(")
                out.add(value)
                out.close()
                out.add(")")
        else:
            out.add(f"self.{name} = {name}")
    if schema.flexible_since is not None:
        out.add("self.unknown_tags: UnknownTags = None")
    elif not struct.fields:
        out.add("pass")
    out.close()


def _needs_fresh(field: Field) -> bool:
    """Whether every object needs a default of its own."""
    return (field.is_array or field.struct is not None) and not field.default_is_null


def _write_tables(out: Source, layouts: Layouts) -> None:
    schema = layouts.schema
    out.add()
    out.add()
    for action, table in (("decode", "DECODERS"), ("encode", "ENCODERS")):
        out.open(f"{schema.name}.{table} = {{")
        for version in layouts.groups(schema.root):
            out.add(f"{version}: {layouts.function(action, schema.root, version)},")
        out.close()
        out.add("}")
