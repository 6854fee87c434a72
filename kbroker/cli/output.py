"""How results are printed: JSON for a program, tables for a person."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Literal, TextIO

#: Control characters, which text from a cluster could send to a terminal, made visible.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}


def clean(text: str) -> str:
    """The text with nothing in it that a terminal would act on, on one line."""
    return text.translate(_VISIBLE).encode("utf-8", "backslashreplace").decode("utf-8")


def plain(value: Any) -> Any:
    """A value as JSON can have it: records and named tuples by field name, bytes as text if they are text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, bytes | bytearray | memoryview):
        return text_of(bytes(value))
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


def text_of(data: bytes) -> str:
    r"""Bytes as text; what is no UTF-8 as \xNN."""
    return data.decode("utf-8", "backslashreplace")


def print_json(value: Any, *, line: bool = False, file: TextIO | None = None) -> None:
    """One document, or with `line` one line of JSON Lines."""
    text = json.dumps(plain(value), ensure_ascii=False, indent=None if line else 2)
    # A lone surrogate (a key that was no UTF-8) has no bytes of its own.
    print(text.encode("utf-8", "backslashreplace").decode("utf-8"), file=file)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, title: str | None = None
) -> None:
    """A table as wide as it must be; in a terminal, rich fits it to the window. Numbers go to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 10_000, highlight=False, soft_wrap=not terminal)
    frame = box.SIMPLE_HEAD if terminal else None
    table = Table(box=frame, pad_edge=False, show_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numbers = bool(rows) and all(type(row[index]) in (int, float, type(None)) for row in rows)
        justify: Literal["left", "right"] = "right" if numbers else "left"
        table.add_column(column, justify=justify, no_wrap=not terminal, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell_text(cell)) for cell in row))
    with console.capture() as captured:
        if title:
            console.print(Text(clean(title), style="bold"))
        console.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip())


def cell_text(value: object) -> str:
    """A table cell: "-" for nothing, yes and no, lists with commas."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(cell_text(item) for item in value) if value else "-"
    return clean(str(value))


def time_text(timestamp_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds; "-" for no time, the number for one beyond the calendar."""
    if timestamp_ms < 0:
        return "-"
    try:
        moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return str(timestamp_ms)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{timestamp_ms % 1000:03d}Z"


def size_text(size: int) -> str:
    """Bytes for a person: "1.5 MiB"; "-" if unknown."""
    if size < 0:
        return "-"
    number, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    return f"{size} B" if unit == "B" else f"{number:.1f} {unit}"
