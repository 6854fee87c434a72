import json
from enum import IntEnum
from typing import NamedTuple

import pytest

from kbroker.cli.output import cell_text, clean, plain, print_json, print_table, size_text, time_text


class Point(NamedTuple):
    x: int
    name: str


class Colour(IntEnum):
    RED = 1


def test_tables_align_and_have_no_blanks_at_the_end(capsys):
    print_table(
        ("NAME", "SIZE", "NOTE"), [("a", 5, None), ("longer", 1000, "x"), ("[bold]", None, "")], title="T\x1b"
    )
    assert capsys.readouterr().out.splitlines() == [
        "T\\x1b",
        "NAME    SIZE  NOTE",
        "a          5  -",
        "longer  1000  x",
        "[bold]     -  -",
    ]


def test_wide_tables_are_not_cut_when_a_program_reads(capsys):
    print_table(("A", "B"), [("x" * 500, "y" * 500)])
    assert "x" * 500 + "  " + "y" * 500 in capsys.readouterr().out


def test_an_empty_table_is_its_head(capsys):
    print_table(("A", "B"), [])
    assert capsys.readouterr().out == "A  B\n"


def test_json_of_anything(capsys):
    print_json(
        {"p": Point(1, "ü"), "c": Colour.RED, "b": b"\xff", "n": None, "l": (1, True), 3: "s\udcff"},
        line=True,
    )
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {
        "p": {"x": 1, "name": "ü"},
        "c": "red",
        "b": "\\xff",
        "n": None,
        "l": [1, True],
        "3": "s\udcff",
    }
    assert plain(memoryview(b"ab")) == "ab"


def test_cells():
    assert [cell_text(value) for value in (None, "", 0, True, [1, 2], [], "a\nb", "\udcff")] == [
        "-", "-", "0", "yes", "1,2", "-", "a\\x0ab", "\\udcff",
    ]  # fmt: skip
    assert clean("a\x00\x9bb") == "a\\x00\\x9bb"


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1700000000123, "2023-11-14T22:13:20.123Z"),
        (-1, "-"),
        (1 << 62, str(1 << 62)),
    ],
)
def test_times(ms, text):
    assert time_text(ms) == text


@pytest.mark.parametrize(
    ("size", "text"), [(-1, "-"), (0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 50, "1024.0 TiB")]
)
def test_sizes(size, text):
    assert size_text(size) == text
