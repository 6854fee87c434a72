"""Decoders: one function per layout; for a struct inside a message it reads a whole array at once."""

from __future__ import annotations

from kbroker.protocol.schemas.parser import Field, Struct
from tools.codec_writer.layout import FIXED, Layouts, default_text, element_type
from tools.codec_writer.source import Source, width_of


class Decoders:
    """Writes the decoders of one message."""

    def __init__(self, layouts: Layouts, source: Source) -> None:
        self.layouts = layouts
        self.schema = layouts.schema
        self.out = source
        self._run: list[tuple[str, str]] = []

    def write_struct(self, struct: Struct, version: int) -> None:
        """The function for the layout that the struct has in `version`."""
        out = self.out
        is_root = struct is self.schema.root
        name = self.layouts.function("decode", struct, version)
        out.add()
        out.add()
        if is_root:
            out.open_function(name, ["buf: Buffer", "pos: int"], f"tuple[{struct.name}, int]")
            out.add(f"o = {struct.name}.__new__({struct.name})")
        else:
            parameters = ["buf: Buffer", "pos: int", "count: int"]
            out.open_function(name, parameters, f"tuple[list[{struct.name}], int]")
            out.add(f"items: list[{struct.name}] = []")
            out.open("for _ in range(count):")
            out.add(f"o = {struct.name}.__new__({struct.name})")
            out.add("items.append(o)")
        self._body(struct, version)
        if is_root:
            out.add("return o, pos")
            out.close()
        else:
            out.close()
            out.add("return items, pos")
            out.close()
        if self.schema.is_flexible(version) and self.layouts.has_tags(struct, version):
            self._tags_function(struct, version)

    def _body(self, struct: Struct, version: int) -> None:
        flexible = self.schema.is_flexible(version)
        for field in struct.fields:
            if version in field.versions and not field.is_tagged(version):
                self._field(field, version, flexible and not field.inflexible)
        self._flush()
        for field in struct.fields:
            if version not in field.versions or field.is_tagged(version):
                self.out.add(f"o.{field.attr} = {default_text(field)}")
        if self.schema.flexible_since is not None:
            self._tag_section(struct, version, flexible)

    def _tag_section(self, struct: Struct, version: int, flexible: bool) -> None:
        out = self.out
        out.add("o.unknown_tags = None")
        if not flexible:
            return
        out.open("if buf[pos]:")
        if self.layouts.has_tags(struct, version):
            out.add(f"pos = {self.layouts.function('tags_of', struct, version)}(buf, pos, o)")
        else:
            out.add("o.unknown_tags, pos = read_unknown_tags(buf, pos)")
        out.close()
        out.open("else:")
        out.add("pos += 1")
        out.close()

    def _tags_function(self, struct: Struct, version: int) -> None:
        out = self.out
        out.add()
        out.add()
        name = self.layouts.function("tags_of", struct, version)
        out.open_function(name, ["buf: Buffer", "pos: int", f"o: {struct.name}"], "int")
        out.add("unknown: list[tuple[int, bytes]] = []")
        out.add("tags, pos = read_tag_count(buf, pos)")
        out.open("for _ in range(tags):")
        out.add("tag, stop, pos = read_tag(buf, pos)")
        word = "if"
        refused = []
        for field in struct.fields:
            if field.tag < 0:
                continue
            if version in field.versions and field.is_tagged(version):
                out.open(f"{word} tag == {field.tag}:")
                self._field(field, version, flexible=True, tagged=True)
                self._flush()
                out.close()
                word = "elif"
            else:
                refused.append(str(field.tag))
        if refused:
            numbers = ", ".join(sorted(set(refused)))
            test = f"tag == {numbers}" if numbers.isdigit() else f"tag in ({numbers})"
            out.open(f"{word} {test}:")
            out.add("raise bad_tag(tag)")
            out.close()
        out.open("else:")
        out.add("unknown.append((tag, bytes(buf[pos:stop])))")
        out.add("pos = stop")
        out.close()
        out.open("if pos != stop:")
        out.add("raise bad_tag_size(tag)")
        out.close(2)
        out.add("o.unknown_tags = unknown or None")
        out.add("return pos")
        out.close()

    # --- fixed-width runs ---

    def _flush(self) -> None:
        if not self._run:
            return
        codes = [code for code, _ in self._run]
        targets = [target for _, target in self._run]
        self._run = []
        unpack = self.out.struct_name("unpack", codes)
        if len(targets) == 1:
            self.out.add(f"({targets[0]},) = {unpack}(buf, pos)")
        elif self.out.fits(line := f"{', '.join(targets)} = {unpack}(buf, pos)"):
            self.out.add(line)
        else:
            self.out.add_wrapped("(", targets, f") = {unpack}(buf, pos)")
        self.out.add(f"pos += {width_of(codes)}")

    # --- fields ---

    def _field(self, field: Field, version: int, flexible: bool, tagged: bool = False) -> None:
        target = f"o.{field.attr}"
        nullable = field.is_nullable(version)
        if field.is_array:
            self._length(flexible, "i")
            self._array(field, version, flexible, nullable)
        elif field.type in FIXED:
            self._run.append((FIXED[field.type][0], target))
        elif field.type == "string":
            self._string(target, field, flexible, nullable)
        elif field.struct:
            self._single_struct(field, version, nullable, tagged)
        else:
            self._length(flexible, "i")
            self._bytes(field, nullable)

    def _length(self, flexible: bool, code: str) -> None:
        """Leave a length in `n`; null is negative."""
        if not flexible:
            self._run.append((code, "n"))
            self._flush()
            return
        self._flush()
        out = self.out
        out.add("n = buf[pos] - 1")
        out.open("if n < 127:")
        out.add("pos += 1")
        out.close()
        out.open("else:")
        out.add("n, pos = read_uvarint(buf, pos)")
        out.add("n -= 1")
        out.close()

    def _null_or_else(self, field: Field, nullable: bool) -> bool:
        """Handle a negative `n`; True if a block was opened for the other case."""
        out = self.out
        out.open("if n < 0:")
        if nullable:
            out.add(f"o.{field.attr} = None")
            out.close()
            out.open("else:")
            return True
        out.add(f'raise null_field("{field.name}")')
        out.close()
        return False

    def _string(self, target: str, field: Field, flexible: bool, nullable: bool) -> None:
        out = self.out
        if flexible:
            self._flush()
            self._compact_string(target, nullable)
            return
        self._length(False, "h")
        opened = self._null_or_else(field, nullable)
        out.add("end = pos + n")
        out.add(f'{target} = str(buf[pos:end], "utf-8")')
        out.add("pos = end")
        if opened:
            out.close()

    def _compact_string(self, target: str, nullable: bool) -> None:
        out = self.out
        kind = "nullable_string" if nullable else "string"
        out.add("n = buf[pos]")
        out.open("if 0 < n < 128:")
        out.add("end = pos + n")
        out.add(f'{target} = str(buf[pos + 1 : end], "utf-8")')
        out.add("pos = end")
        out.close()
        out.open("else:")
        out.add(f"{target}, pos = read_compact_{kind}(buf, pos)")
        out.close()

    def _bytes(self, field: Field, nullable: bool) -> None:
        out = self.out
        opened = self._null_or_else(field, nullable)
        out.add("end = pos + n")
        if field.type == "records":
            out.add(f"o.{field.attr} = memoryview(buf)[pos:end]")
        else:
            out.add(f"o.{field.attr} = bytes(buf[pos:end])")
        out.add("pos = end")
        if opened:
            out.close()

    def _single_struct(self, field: Field, version: int, nullable: bool, tagged: bool) -> None:
        assert field.struct is not None
        out = self.out
        decode = self.layouts.function("decode", field.struct, version)
        if nullable and tagged:
            out.add("n, pos = read_uvarint(buf, pos)")
            out.add("n -= 1")
        elif nullable:
            self._run.append(("b", "n"))
        self._flush()
        if nullable:
            self._null_or_else(field, True)
        out.add(f"(o.{field.attr},), pos = {decode}(buf, pos, 1)")
        if nullable:
            out.close()

    def _array(self, field: Field, version: int, flexible: bool, nullable: bool) -> None:
        out = self.out
        opened = self._null_or_else(field, nullable)
        width = self._least_size(field, version, flexible)
        needed = "n" if width == 1 else f"n * {width}"
        out.open(f"if {needed} > len(buf) - pos or n > ELEMENTS_MAX:")
        out.add("raise too_many(n)")
        out.close()
        target = f"o.{field.attr}"
        if field.struct:
            decode = self.layouts.function("decode", field.struct, version)
            out.add(f"{target}, pos = {decode}(buf, pos, n)")
        elif field.type == "uuid":
            out.add("end = pos + 16 * n")
            out.add(f"{target} = [bytes(buf[i : i + 16]) for i in range(pos, end, 16)]")
            out.add("pos = end")
        elif field.type in FIXED:
            out.add(f"{target} = unpack_{field.type}s(buf, pos, n)")
            out.add("pos += n" if width == 1 else f"pos += {width} * n")
        else:
            self._array_of_strings(field, target, flexible)
        if opened:
            out.close()

    def _array_of_strings(self, field: Field, target: str, flexible: bool) -> None:
        out = self.out
        assert field.type == "string", field
        out.add(f"{target} = values = []")
        out.open("for _ in range(n):")
        if flexible:
            out.add("n = buf[pos]")
            out.open("if 0 < n < 128:")
            out.add("end = pos + n")
            out.add('values.append(str(buf[pos + 1 : end], "utf-8"))')
            out.add("pos = end")
            out.close()
            out.open("else:")
            out.add("value, pos = read_compact_string(buf, pos)")
            out.add("values.append(value)")
            out.close()
        else:
            self._length(False, "h")
            self._null_or_else(field, False)
            out.add("end = pos + n")
            out.add('values.append(str(buf[pos:end], "utf-8"))')
            out.add("pos = end")
        out.close()

    def _least_size(self, field: Field, version: int, flexible: bool) -> int:
        """The fewest bytes that one element of the array can take; at least 1, as Kafka counts."""
        if field.struct:
            return max(1, self._least_struct(field.struct, version))
        if field.type in FIXED:
            return FIXED[field.type][1]
        return 1 if flexible else 2 if element_type(field) == "str" else 4

    def _least_struct(self, struct: Struct, version: int) -> int:
        flexible = self.schema.is_flexible(version)
        total = 1 if flexible else 0
        for field in struct.fields:
            if version not in field.versions or field.is_tagged(version):
                continue
            if field.is_array or field.type in ("bytes", "records"):
                total += 1 if flexible else 4
            elif field.struct:
                total += 1 if field.is_nullable(version) else self._least_struct(field.struct, version)
            elif field.type == "string":
                total += 1 if flexible and not field.inflexible else 2
            else:
                total += FIXED[field.type][1]
        return total
