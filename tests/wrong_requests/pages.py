"""The tables for readers: a page of docs/wrong-requests for each."""

from __future__ import annotations

import re
from pathlib import Path

from kbroker.errors import ErrorCode
from tests.wrong_requests.table import RELEASES, Refusals, Row, Table, joined, tables

FOLDER = Path(__file__).resolve().parent.parent.parent / "docs" / "wrong-requests"
_OTHERS = RELEASES[1:]
_CODE_FIRST = re.compile(r"-?\d+( |$)")
_SHOWN = 300
_INTRODUCTION = """\
# Wrong requests

What Apache Kafka 4.4.0 answers to requests that are wrong, version by version, and what 3.9.2 and 2.8.2
answer otherwise. `tests/wrong_requests` asks kbroker all of them, with each `kbroker.compatibility`.
The pages are written by `python -m tools.wrong_requests` from `tests/data/wrong_requests`, where the requests
themselves are. A place in an answer is told by names (`topic/partition:`); where none is, the code is that of
the whole answer. What kbroker answers otherwise is explained in [differences.md](../differences.md).
"""


def write_pages() -> None:
    """All of them, and the list of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """File name to text."""
    found = {f"{table.name}.md": page(table) for table in tables()}
    lines = [
        _INTRODUCTION,
        "| page | requests | |",
        "|---|---|---|",
        *(f"| [{table.name}]({table.name}.md) | {len(table.rows)} | {table.about} |" for table in tables()),
    ]
    return {**found, "README.md": "\n".join(lines) + "\n"}


def page(table: Table) -> str:
    """One table."""
    lines = [f"# Wrong requests: {table.about}", ""]
    if table.props:
        lines += [f"With {', '.join(f'`{name}={value}`' for name, value in table.props.items())}.", ""]
    lines += ["[What the pages are](README.md)", "", "| request | what is wrong | answer |", "|---|---|---|"]
    for row in table.rows:
        lines += _lines(row)
    return "\n".join(lines) + "\n"


def _lines(row: Row) -> list[str]:
    found = []
    newest = row.answers.get(RELEASES[0], {})
    for versions, refused in joined(newest).items():
        found.append(f"| {row.api} {versions} | {_cell(row.wrong)} | {_told(refused)} |")
    for release in _OTHERS:
        for versions, refused in joined(row.answers.get(release, {})).items():
            found.append(f"| {row.api} {versions} in {release} | {_cell(row.wrong)} | {_told(refused)} |")
    for release, answers in row.ours.items():
        place = f"in kbroker ({row.why})" if release == RELEASES[0] else f"in kbroker as {release}"
        for versions, refused in joined(answers).items():
            found.append(f"| {row.api} {versions} {place} | {_cell(row.wrong)} | {_told(refused)} |")
    return found


def _told(refused: Refusals) -> str:
    return "<br>".join(_cell(_named(text)) for text in refused) or "no error"


def _named(text: str) -> str:
    """`orders/0: 3 text` with the code's name."""
    place = "" if _CODE_FIRST.match(text) else text.partition(": ")[0]
    code, _, message = text.removeprefix(f"{place}: ").partition(" ")
    if not code.lstrip("-").isdigit():
        return text
    name = f"{code} {ErrorCode(int(code)).name}"
    return f"{f'{place}: ' if place else ''}{name}{f': {message}' if message else ''}"


def _cell(text: str) -> str:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return shown.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
