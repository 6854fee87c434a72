"""Encoders: one function per layout; for a struct inside a message it writes a whole array at once."""

from __future__ import annotations

from kbroker.protocol.schemas.parser import Field, Struct
from tools.codec_writer.layout import FIXED, Layouts, differs_from_default
from tools.codec_writer.source import Source


class Encoders:
    """Writes the encoders of one message."""

    def __init__(self, layouts: Layouts, source: Source) -> None:
        self.layouts = layouts
        self.schema = layouts.schema
        self.src = source
        self._run: list[tuple[str, str]] = []

    def write_struct(self, struct: Struct, version: int) -> None:
        """The function for the layout that the struct has in `version`."""
        src = self.src
        is_root = struct is self.schema.root
        name = self.layouts.function("encode", struct, version)
        if self.schema.is_flexible(version) and self._known_tags(struct, version):
            self._tags_function(struct, version)
        src.add()
        src.add()
        if is_root:
            src.open_function(name, ["out: bytearray", f"o: {struct.name}"], "None")
        else:
            src.open_function(name, ["out: bytearray", f"items: Iterable[{struct.name}]"], "None")
            src.open("for o in items:")
        before = len(src.lines)
        self._body(struct, version)
        if len(src.lines) == before:
            src.add("pass")
        src.close(1 if is_root else 2)

    def _body(self, struct: Struct, version: int) -> None:
        flexible = self.schema.is_flexible(version)
        for field in struct.fields:
            if version not in field.versions and not field.ignorable:
                self.src.open_if_any(differs_from_default(field, f"o.{field.attr}"))
                self.src.add(f'raise not_in_version("{field.name}")')
                self.src.close()
        for field in struct.fields:
            if version in field.versions and not field.is_tagged(version):
                self._field(field, version, flexible and not field.inflexible, "out")
        self._flush("out")
        if flexible:
            self._tag_section(struct, version)
        elif self.schema.flexible_since is not None:
            self.src.open("if o.unknown_tags:")
            self.src.add('raise not_in_version("tag section")')
            self.src.close()

    def _known_tags(self, struct: Struct, version: int) -> list[Field]:
        fields = [f for f in struct.fields if version in f.versions and f.is_tagged(version)]
        return sorted(fields, key=lambda f: f.tag)

    def _tag_section(self, struct: Struct, version: int) -> None:
        src = self.src
        known = self._known_tags(struct, version)
        conditions = ["o.unknown_tags"]
        for field in known:
            conditions += differs_from_default(field, f"o.{field.attr}")
        src.open_if_any(conditions)
        if known:
            src.add(f"{self.layouts.function('write_tags_of', struct, version)}(out, o)")
        else:
            src.add("write_tags(out, [], o.unknown_tags)")
        src.close()
        src.open("else:")
        src.add("out.append(0)")
        src.close()

    def _tags_function(self, struct: Struct, version: int) -> None:
        src = self.src
        src.add()
        src.add()
        name = self.layouts.function("write_tags_of", struct, version)
        src.open_function(name, ["out: bytearray", f"o: {struct.name}"], "None")
        src.add("tags: list[tuple[int, bytearray]] = []")
        for field in self._known_tags(struct, version):
            src.open_if_any(differs_from_default(field, f"o.{field.attr}"))
            src.add("part = bytearray()")
            self._field(field, version, True, "part", tagged=True)
            self._flush("part")
            src.add(f"tags.append(({field.tag}, part))")
            src.close()
        src.add("write_tags(out, tags, o.unknown_tags)")
        src.close()

    def _flush(self, out: str) -> None:
        if self._run:
            codes = [code for code, _ in self._run]
            values = [value for _, value in self._run]
            self._run = []
            pack = self.src.struct_name("pack", codes)
            if self.src.fits(line := f"{out} += {pack}({', '.join(values)})"):
                self.src.add(line)
            else:
                self.src.add_wrapped(f"{out} += {pack}(", values, ")")

    def _refuse_null(self, field: Field, nullable: bool) -> None:
        """In a version without null, a None of a field that other versions allow to be null."""
        if not nullable and (field.null_versions or field.default_is_null):
            self.src.open(f"if o.{field.attr} is None:")
            self.src.add(f'raise null_value("{field.name}")')
            self.src.close()

    def _field(self, field: Field, version: int, flexible: bool, out: str, tagged: bool = False) -> None:
        nullable = field.is_nullable(version)
        value = f"o.{field.attr}"
        # A tagged field at its default is not written: where that is null, the value is known not to be.
        not_null = tagged and field.default_is_null
        if not not_null and (field.is_array or field.type not in FIXED):
            self._refuse_null(field, nullable)
        if field.is_array or field.type in ("bytes", "records"):
            self._sized(field, version, flexible, nullable and not not_null, out)
        elif field.type in FIXED:
            self._run.append((FIXED[field.type][0], value))
        elif field.type == "string":
            self._string(value, flexible, nullable and not not_null, out)
        else:
            self._single_struct(field, version, nullable, not_null, out)

    def _string(self, value: str, flexible: bool, nullable: bool, out: str) -> None:
        src = self.src
        if flexible:
            self._flush(out)
            kind = "nullable_string" if nullable else "string"
            src.add(f"write_compact_{kind}({out}, {value})")
        elif nullable:
            src.add(f'raw = b"" if {value} is None else {value}.encode()')
            self._run.append(("h", f"-1 if {value} is None else len(raw)"))
            self._flush(out)
            src.add(f"{out} += raw")
        else:
            src.add(f"raw = {value}.encode()")
            self._run.append(("h", "len(raw)"))
            self._flush(out)
            src.add(f"{out} += raw")

    def _sized(self, field: Field, version: int, flexible: bool, nullable: bool, out: str) -> None:
        """Arrays and byte strings: a count, then the content."""
        src = self.src
        value = f"o.{field.attr}"
        if flexible:
            self._flush(out)
            if nullable:
                src.open(f"if {value} is None:")
                src.add(f"{out}.append(0)")
                src.close()
                src.open("else:")
            src.add(f"n = len({value}) + 1")
            src.add(f"{out}.append(n) if n < 128 else write_uvarint({out}, n)")
            self._content(field, version, flexible, out)
            if nullable:
                src.close()
            return
        length = f"-1 if {value} is None else len({value})" if nullable else f"len({value})"
        self._run.append(("i", length))
        self._flush(out)
        if nullable:
            src.open(f"if {value}:")
        self._content(field, version, flexible, out)
        if nullable:
            src.close()

    def _content(self, field: Field, version: int, flexible: bool, out: str) -> None:
        src = self.src
        value = f"o.{field.attr}"
        if not field.is_array:
            src.add(f"{out} += {value}")
        elif field.struct:
            src.add(f"{self.layouts.function('encode', field.struct, version)}({out}, {value})")
        elif field.type == "uuid":
            src.open(f"for item in {value}:")
            src.add(f"{out} += {src.struct_name('pack', ['16s'])}(item)")
            src.close()
        elif field.type in FIXED:
            src.add(f"{out} += pack_{field.type}s({value})")
        else:
            src.open(f"for text in {value}:")
            self._string("text", flexible, False, out)
            src.close()

    def _single_struct(self, field: Field, version: int, nullable: bool, not_null: bool, out: str) -> None:
        assert field.struct is not None
        src = self.src
        value = f"o.{field.attr}"
        encode = self.layouts.function("encode", field.struct, version)
        self._flush(out)
        if not nullable:
            src.add(f"{encode}({out}, ({value},))")
            return
        if not_null:
            src.add(f"{out}.append(1)")
            src.add(f"{encode}({out}, ({value},))")
            return
        src.open(f"if {value} is None:")
        src.add(f"{out}.append({0 if field.is_tagged(version) else 255})")
        src.close()
        src.open("else:")
        src.add(f"{out}.append(1)")
        src.add(f"{encode}({out}, ({value},))")
        src.close()
