"""Collects lines of Python, and fixed-width runs on the way."""

from __future__ import annotations

import re

from tools.codec_writer.layout import FIXED

_WIDTH = dict(FIXED.values())
_LINE_LENGTH = 110


class Source:
    """Indented lines, and the `struct` constants that they use."""

    def __init__(self, formats: set[str]) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.formats = formats

    def add(self, line: str = "") -> None:
        """One more line at the present depth."""
        self.lines.append("    " * self.depth + line if line else "")

    def fits(self, line: str) -> bool:
        """Whether the line is short enough at the present depth."""
        return 4 * self.depth + len(line) <= _LINE_LENGTH

    def add_wrapped(self, before: str, parts: list[str], after: str) -> None:
        """A bracket over several lines, one part on each."""
        self.open(before)
        for part in parts:
            self.add(f"{part},")
        self.depth -= 1
        self.add(after)

    def open(self, line: str) -> None:
        """A line that starts a block."""
        self.add(line)
        self.depth += 1

    def open_if_any(self, conditions: list[str]) -> None:
        """A block for the case that one of the conditions holds."""
        line = f"if {' or '.join(conditions)}:"
        if self.fits(line):
            self.open(line)
            return
        self.open("if (")
        self.add(conditions[0])
        for condition in conditions[1:]:
            self.add(f"or {condition}")
        self.depth -= 1
        self.open("):")

    def open_function(self, name: str, parameters: list[str], result: str) -> None:
        """The head of a function."""
        line = f"def {name}({', '.join(parameters)}) -> {result}:"
        if self.fits(line):
            self.open(line)
            return
        self.add_wrapped(f"def {name}(", parameters, f") -> {result}:")
        self.depth += 1

    def close(self, blocks: int = 1) -> None:
        """End that many blocks."""
        self.depth -= blocks

    def struct_name(self, action: str, codes: list[str]) -> str:
        """The module constant for a run of format characters, e.g. `unpack_hiq`."""
        text = compress("".join(codes))
        self.formats.add(text)
        return f"{action}_{text}"


def compress(codes: str) -> str:
    """Shorten repeated characters: `iiii` to `4i`; a bool's `?` becomes `o`, as the text names a constant."""
    return re.sub(r"(?<!\d)([a-zA-Z?])\1{2,}", lambda m: f"{len(m[0])}{m[1]}", codes).replace("?", "o")


def width_of(codes: list[str]) -> int:
    """How many bytes a run takes."""
    return sum(_WIDTH[code] for code in codes)
