"""Where an answer differs from the recorded one."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tests.conformance.paths import NAMES, text

_UUID_TEXT = re.compile(r"[A-Za-z0-9_-]{22}")
_NOTHING = "nothing"


class Difference(NamedTuple):
    """A place in the answer, and the two JSON texts."""

    path: str
    expected: str
    found: str


def compare(expected: Any, found: Any) -> list[Difference]:
    """All differences; a uuid that was not bound in the recording may be bound here."""
    return [
        difference
        for difference in _compare(expected, found, "")
        if not (
            difference.expected == '"$uuid"'
            and difference.found != _NOTHING
            and _UUID_TEXT.fullmatch(difference.found[1:-1])
        )
    ]


def _compare(expected: Any, found: Any, path: str) -> list[Difference]:
    if isinstance(expected, dict) and isinstance(found, dict):
        return _compare_named(expected, found, lambda name: f"{path}.{name}" if path else name)
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) == len(found):
            return [
                difference
                for index, (one, other) in enumerate(zip(expected, found))
                for difference in _compare(one, other, f"{path}.{index}" if path else str(index))
            ]
        ours, theirs = _by_name(expected), _by_name(found)
        if ours is not None and theirs is not None:
            return _compare_named(ours, theirs, lambda name: f"{path}[{name}]")
        return [
            Difference(
                path,
                f"{len(expected)} elements {_json(expected)}",
                f"{len(found)} elements {_json(found)}",
            )
        ]
    return [] if _same(expected, found) else [Difference(path, _json(expected), _json(found))]


def _compare_named(expected: dict[str, Any], found: dict[str, Any], path_of: Any) -> list[Difference]:
    result = []
    for name in expected | found:
        if name not in found:
            result.append(Difference(path_of(name), _json(expected[name]), _NOTHING))
        elif name not in expected:
            result.append(Difference(path_of(name), _NOTHING, _json(found[name])))
        else:
            result += _compare(expected[name], found[name], path_of(name))
    return result


def _by_name(array: list[Any]) -> dict[str, Any] | None:
    """The elements by what they are called, if that tells them apart."""
    result: dict[str, Any] = {}
    for element in array:
        if isinstance(element, dict):
            name = next((text(element[n]) for n in NAMES if element.get(n) is not None), None)
        else:
            name = None if isinstance(element, list) else text(element)
        if name is None or name in result:
            return None
        result[name] = element
    return result


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
