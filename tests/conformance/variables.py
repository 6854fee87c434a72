"""The variables of a run: bound from answers, written as "$x", "$x+1" or "${x}" into requests and answers."""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

_WHOLE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)([+-]\d+)?")
_INSIDE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)([+-]\d+)?\}")
#: In answers these stand for themselves: normalisation writes them.
_RESERVED = frozenset(("now", "uuid", "cluster", "host", "port", "num", "dir", "env"))
#: Shorter strings are too likely to be part of another text.
_LONG = 8
#: Fields of different names that carry the same kind of number.
_SAME_LEAF = {
    "pid": "producerId",
    "producerIds": "producerId",
    "producerIdFilters": "producerId",
    "currentProducerId": "producerId",
    "lastProducerId": "producerId",
    "epoch": "producerEpoch",
    "generationIdOrMemberEpoch": "generationId",
}


class Unbound(Exception):
    """A request names a variable that no answer before has bound."""


class Bound(NamedTuple):
    """A value, and the name of the field it came from."""

    value: Any
    leaf: str


def is_number(value: Any) -> bool:
    """An integer, which in Python a bool is too."""
    return isinstance(value, int) and not isinstance(value, bool)


class Variables:
    """`given` holds $cluster, $host and $port."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = given
        self._bound: dict[str, Bound] = {}

    def bind(self, name: str, value: Any, leaf: str) -> None:
        """Set a variable."""
        self._bound[name] = Bound(value, leaf)

    def forget(self, name: str) -> None:
        """Unset it, if it was set."""
        self._bound.pop(name, None)

    def _get(self, name: str, plus: str | None) -> Any:
        if self._given.get(name) is not None:
            return self._given[name]
        if name == "now" and name not in self._bound:
            return int(time.time() * 1000) + int(plus or 0)
        bound = self._bound.get(name)
        if bound is None:
            return None
        if plus is None:
            return bound.value
        return bound.value + int(plus) if is_number(bound.value) else None

    def resolve(self, node: Any, *, request: bool) -> Any:
        """The node with the variables' values; in an answer what is unbound stays as it is.

        Raises:
            Unbound: only for a request.
        """
        if isinstance(node, dict):
            return {name: self.resolve(value, request=request) for name, value in node.items()}
        if isinstance(node, list):
            return [self.resolve(element, request=request) for element in node]
        if not isinstance(node, str) or "$" not in node:
            return node
        if request and node.startswith("$$"):
            return node[1:]
        match = _WHOLE.fullmatch(node)
        if match is None:
            return _INSIDE.sub(lambda m: self._inside(m, request), node)
        value = None if not request and match[1] in _RESERVED else self._get(match[1], match[2])
        if value is None and request:
            raise Unbound(f"{node} is not bound")
        return node if value is None else value

    def _inside(self, match: re.Match[str], request: bool) -> str:
        value = None if not request and match[1] in _RESERVED else self._get(match[1], match[2])
        if value is None and request:
            raise Unbound(f"{match[0]} is not bound")
        return match[0] if value is None else str(value)

    def show(self, node: Any, leaf: str) -> Any:
        """The inverse: bound values by name; numbers only in fields like the one they came from."""
        if isinstance(node, dict):
            return {name: self.show(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [self.show(element, leaf) for element in node]
        if isinstance(node, str):
            return self._show_text(node)
        if is_number(node) and node != -1 and not (node == 0 and leaf == "sessionId"):
            for name, bound in self._bound.items():
                if is_number(bound.value) and bound.value == node and _leaf(bound.leaf) == _leaf(leaf):
                    return f"${name}"
        return node

    def _show_text(self, text: str) -> str:
        for name, bound in self._bound.items():
            if text and bound.value == text:
                return f"${name}"
        for name, bound in self._long_texts():
            text = text.replace(bound, f"${{{name}}}")
        return text

    def named(self, text: str) -> str:
        """For the eye: a text with the bound strings by their names."""
        for name, bound in self._long_texts():
            text = text.replace(bound, f"${name}")
        return text

    def owns(self, text: str) -> bool:
        """Whether a variable has this string."""
        return any(bound.value == text for bound in self._bound.values() if isinstance(bound.value, str))

    def split(self, text: str) -> tuple[str, str, str] | None:
        """The text around a bound value inside it: before, value, after."""
        for _, bound in self._long_texts():
            before, found, after = text.partition(bound)
            if found:
                return before, bound, after
        return None

    def _long_texts(self) -> list[tuple[str, str]]:
        return [
            (name, bound.value)
            for name, bound in self._bound.items()
            if isinstance(bound.value, str) and len(bound.value) >= _LONG
        ]


def _leaf(name: str) -> str:
    return _SAME_LEAF.get(name, name)
