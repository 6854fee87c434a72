"""Tables of wrong requests and their refusals: what is asked, and what Apache Kafka answered
(tests/data/wrong_requests/README.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kbroker.handlers.api_table import served_apis
from kbroker.handlers.context import BROKER
from tests.conformance.messages import API_KEYS
from tests.conformance.paths import text

FOLDER = Path(__file__).resolve().parent.parent / "data" / "wrong_requests"
#: The first is Kafka as it is; of the others a row has only what was answered otherwise.
RELEASES = ("4.4", "3.9", "2.8")
_OWN = (*RELEASES, "ours", "why", "api", "wrong", "v")
#: What an item of an answer is called, most telling first.
_NAMES = (
    "name", "topic", "topicName", "feature", "groupId", "resourceName", "key", "transactionalId",
    "partitionIndex", "partition", "index", "memberId", "groupInstanceId", "topicId", "user", "producerId",
)  # fmt: skip
_CODE = re.compile(r"(.*)[eE]rrorCode")

Refusals = list[str]


@dataclass(slots=True)
class Row:
    """A wrong request.

    Attributes:
        role: of the listener.
        step: what is sent, and how (tests/data/conformance/README.md).
        only: versions, if not all.
        answers: release to version to refusals.
        ours: of kbroker, where they are others, by the release that it is told to be.
        why: the entry of docs/differences.md that tells of it; not for what is left of older releases.
    """

    api: str
    wrong: str
    step: dict[str, Any]
    role: str
    only: tuple[int, int] | None
    answers: dict[str, dict[int, Refusals]]
    ours: dict[str, dict[int, Refusals]]
    why: str

    def versions(self, release: str) -> range:
        """Those to ask in."""
        low, high = served(release, self.api, self.role)
        if self.only is not None:
            low, high = max(low, self.only[0]), min(high, self.only[1])
        return range(low, high + 1)

    def expected(self, release: str, *, of_kafka: bool = False) -> dict[int, Refusals]:
        """What a release answers in each version; a version in which it cannot be said is not there."""
        found = {**self.answers.get(RELEASES[0], {}), **self.answers.get(release, {})}
        if not of_kafka:
            found.update(self.ours.get(release, {}))
        return {version: found[version] for version in self.versions(release) if version in found}


@dataclass(slots=True)
class Table:
    """A file: `lines` are steps that make what the rows need, and rows, in order; `releases` are asked it.

    With `loading` it is asked of a broker whose coordinators do not come to an end with loading.
    """

    path: Path
    about: str
    props: dict[str, str]
    role: str
    releases: list[str]
    loading: bool
    lines: list[dict[str, Any] | Row] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The file's."""
        return self.path.stem

    @property
    def rows(self) -> list[Row]:
        """Without the steps between them."""
        return [line for line in self.lines if isinstance(line, Row)]

    def write(self) -> None:
        """Into its file."""
        head = {
            "table": self.name,
            "about": self.about,
            "role": self.role,
            "releases": self.releases,
            "props": self.props,
        }
        if self.loading:
            head["loading"] = True
        rows = [_row_json(line) if isinstance(line, Row) else line for line in self.lines]
        lines = [json.dumps(line, ensure_ascii=False) for line in (head, *rows)]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def served(release: str, api: str, role: str = BROKER) -> tuple[int, int]:
    """The versions of an API that a listener of that release answers, as far as we have it; (0, -1): none."""
    return served_apis(release, role).versions(API_KEYS[api])


def tables() -> list[Table]:
    """All of them, by name."""
    return [load(path) for path in sorted(FOLDER.glob("*.jsonl"))]


def by_settings(chosen: Iterable[Table]) -> list[list[Table]]:
    """Those that share a broker together, in the order of their names."""
    found: dict[str, list[Table]] = {}
    for table in chosen:
        found.setdefault(json.dumps([table.props, table.loading]), []).append(table)
    return list(found.values())


def load(path: Path) -> Table:
    """Read a table."""
    head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    loading = head.get("loading", False)
    table = Table(path, head["about"], head["props"], head["role"], head["releases"], loading)
    table.lines = [_row(line, table.role) if "wrong" in line else line for line in lines]
    return table


def refusals(answer: Any) -> Refusals:
    """Of a normalised answer each error code and what it belongs to, sorted: `orders/0: 3 text`."""
    if not isinstance(answer, dict):
        return [str(answer)]
    found: Refusals = []
    _collect(answer, "", found, is_whole=True)
    return sorted(found)


def _collect(node: Any, place: str, found: Refusals, *, is_whole: bool = False) -> None:
    if isinstance(node, list):
        for element in node:
            _collect(element, place, found)
        return
    if not isinstance(node, dict):
        return
    if not is_whole:
        name = next((text(node[name]) for name in _NAMES if node.get(name) not in (None, "")), "")
        place = "/".join(filter(None, (place, name)))
    for key, value in node.items():
        match = _CODE.fullmatch(key)
        if match is not None and isinstance(value, int):
            prefix = f"{match[1]}E" if match[1] else "e"
            message = node.get(f"{prefix}rrorMessage")
            label = " ".join(filter(None, (place, match[1])))
            shown = "" if message is None else f" {message}" if message else ' ""'
            found.append(f"{label}: {value}{shown}" if label else f"{value}{shown}")
        elif key == "batchIndexErrorMessage":
            found.append(f"{place} record {node['batchIndex']}: {value}")
        else:
            _collect(value, place, found)


def _row(line: dict[str, Any], role: str) -> Row:
    step = {key: value for key, value in line.items() if key not in _OWN}
    only = None
    if "v" in line:
        low, _, high = str(line["v"]).partition("-")
        only = (int(low), int(high or low))
    answers = {release: _spread(line[release]) for release in RELEASES if release in line}
    ours = {release: _spread(told) for release, told in line.get("ours", {}).items()}
    return Row(line["api"], line["wrong"], step, role, only, answers, ours, line.get("why", ""))


def _row_json(row: Row) -> dict[str, Any]:
    line: dict[str, Any] = {"api": row.api, "wrong": row.wrong}
    if row.only is not None:
        low, high = row.only
        line["v"] = str(low) if low == high else f"{low}-{high}"
    line |= row.step
    for release in RELEASES:
        if row.answers.get(release):
            line[release] = joined(row.answers[release])
    if row.why:
        line["why"] = row.why
    ours = {release: joined(answers) for release, answers in row.ours.items() if answers}
    if ours:
        line["ours"] = ours
    return line


def joined(answers: dict[int, Refusals]) -> dict[str, Refusals]:
    """Versions in a row with the same answer as one: `2-5`."""
    found: list[tuple[int, int, Refusals]] = []
    for version in sorted(answers):
        if found and found[-1][1] == version - 1 and found[-1][2] == answers[version]:
            found[-1] = (found[-1][0], version, answers[version])
        else:
            found.append((version, version, answers[version]))
    return {str(low) if low == high else f"{low}-{high}": told for low, high, told in found}


def _spread(answers: dict[str, Refusals]) -> dict[int, Refusals]:
    found = {}
    for versions, told in answers.items():
        low, _, high = versions.partition("-")
        found.update(dict.fromkeys(range(int(low), int(high or low) + 1), told))
    return found
