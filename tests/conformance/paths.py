"""Paths into answers: names, indexes, `*` and `field=value` joined by dots; and what is done with them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

_PART = re.compile(r"([^.=]+)(=('[^']*'|[^.]*))?(\.|$)")

#: What an element of an array is called, most telling first.
NAMES = (
    "name", "topic", "topicName", "groupId", "resourceType", "resourceName", "key", "partitionIndex",
    "partition", "index", "nodeId", "brokerId", "apiKey", "transactionalId", "mechanism", "producerId",
    "topicId", "user",
)  # fmt: skip


def parts(path: str) -> list[str]:
    """`a.b='x.y'.0` to ["a", "b=x.y", "0"]."""
    found = []
    for match in _PART.finditer(path):
        name, chosen, value = match[1], match[2], match[3]
        found.append(name if chosen is None else f"{name}={value.strip(chr(39))}")
    return found


def text(value: Any) -> str:
    """A plain value as text; objects and arrays have none."""
    if isinstance(value, str):
        return value
    return "" if isinstance(value, dict | list) else json.dumps(value)


def is_index(part: str) -> bool:
    """Whether the part counts elements."""
    return part.isascii() and part.isdigit()


def picks(part: str, index: int, element: Any) -> bool:
    """Whether a part names this element of an array."""
    if part == "*":
        return True
    name, equals, value = part.partition("=")
    if equals:
        return isinstance(element, dict) and name in element and text(element[name]) == value
    return is_index(part) and int(part) == index


def children(node: Any, part: str) -> list[Any]:
    """All that one part leads to."""
    if isinstance(node, list):
        return [element for index, element in enumerate(node) if picks(part, index, element)]
    if isinstance(node, dict):
        return list(node.values()) if part == "*" else [node[part]] if part in node else []
    return []


def get(node: Any, path: str) -> Any:
    """The first value at the path; None if there is none."""
    for part in parts(path):
        found = [] if isinstance(node, list) and part == "*" else children(node, part)
        if not found:
            return None
        node = found[0]
    return node


def shaped(node: Any, step: dict[str, Any], show: Callable[[Any, str], Any]) -> Any:
    """A copy with the step's keep, ignore, only and sort applied; the same for the expected and the found."""
    if not isinstance(node, dict | list):
        return node
    node = deepcopy(node)
    for path, prefix in step.get("keep", {}).items():
        _keep(node, parts(path), prefix)
    for path in step.get("ignore", ()):
        if where := parts(path):
            _remove(node, where)
    if "only" in step:
        node = _project(node, [parts(path) for path in step["only"]], 0)
    for where in sorted(map(parts, step.get("sort", ())), key=len, reverse=True):  # inner arrays first
        _sort(node, where, 0, show)
    return node


def _keep(node: Any, where: list[str], prefix: str) -> None:
    """`where` is the path of an array and then the field that must have the prefix."""
    if len(where) > 1:
        for child in children(node, where[0]):
            _keep(child, where[1:], prefix)
    elif isinstance(node, list):
        field = where[0]
        node[:] = [e for e in node if text(e if field == "*" else _field(e, field)).startswith(prefix)]


def _field(node: Any, name: str) -> Any:
    return node.get(name, "") if isinstance(node, dict) else ""


def _remove(node: Any, where: list[str]) -> None:
    if len(where) > 1:
        for child in children(node, where[0]):
            _remove(child, where[1:])
    elif isinstance(node, list):
        node[:] = [element for index, element in enumerate(node) if not picks(where[0], index, element)]
    elif isinstance(node, dict):
        node.pop(where[0], None)


def _project(node: Any, paths: list[list[str]], depth: int) -> Any:
    """Only what the paths lead to; elements before the last index stay as null, so that indexes count on."""
    if any(len(path) == depth for path in paths):
        return node
    if isinstance(node, list):
        return _project_array(node, paths, depth)
    if not isinstance(node, dict):
        return node
    result = {}
    for name, value in node.items():
        mine = [path for path in paths if path[depth] in (name, "*")]
        if mine:
            result[name] = _project(value, mine, depth + 1)
        elif depth > 0 and any(path[depth - 1].startswith(f"{name}=") for path in paths):
            result[name] = value  # what chose the element stays, so that it can be recognised
    return result


def _project_array(node: list[Any], paths: list[list[str]], depth: int) -> list[Any]:
    last = max((int(path[depth]) for path in paths if is_index(path[depth])), default=-1)
    result: list[Any] = []
    for index, element in enumerate(node):
        mine = [path for path in paths if picks(path[depth], index, element)]
        if mine:
            result.append(_project(element, mine, depth + 1))
        elif index < last:
            result.append(None)
    return result


def _sort(node: Any, where: list[str], depth: int, show: Callable[[Any, str], Any]) -> None:
    if depth < len(where):
        for child in children(node, where[depth]):
            _sort(child, where, depth + 1, show)
    elif isinstance(node, list):
        leaf = where[-1] if where else ""
        node.sort(key=lambda element: canonical(show(element, leaf)))


def canonical(node: Any) -> str:
    """A text to sort by: an element's name first, so that other differences do not change the order."""
    if isinstance(node, dict):
        entries = sorted((_rank(name), canonical(value)) for name, value in node.items())
        return "{" + ", ".join(f"{name}={value}" for name, value in entries) + "}"
    if isinstance(node, list):
        return "[" + "".join(canonical(element) + "," for element in node) + "]"
    if isinstance(node, int) and not isinstance(node, bool):
        return f"{node:020d}"
    return json.dumps(node, ensure_ascii=False)


def _rank(name: str) -> str:
    return (chr(ord("a") + NAMES.index(name)) if name in NAMES else "z") + name
