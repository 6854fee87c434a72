"""Collects lines of Python, and fixed-width runs on the way."""

from __future__ import annotations

import re

from tools.codec_writer.layout import FIXED

_WIDTH = {character: width for character, width in FIXED.values()}


class Source:
    """Indented lines, and the `struct` constants that they use."""

    def __init__(self, formats: set[str]) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.formats = formats

    def add(self, line: str = "") -> None:
        """One more line at the present depth."""
        self.lines.append("    " * self.depth + line if line else "")

    def open(self, line: str) -> None:
        """A line that starts a block."""
        self.add(line)
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
    """Shorten repeated characters: `iiii` to `4i`; a bool's `?` is written as `o` since it names a constant."""
    return re.sub(r"(?<!\d)([a-zA-Z?])\1{2,}", lambda m: f"{len(m[0])}{m[1]}", codes).replace("?", "o")


def width_of(codes: list[str]) -> int:
    """How many bytes a run takes."""
    return sum(_WIDTH[code] for code in codes)
