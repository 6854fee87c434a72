"""Counts the error codes of answers, wherever in them they are (RequestMetrics ErrorsPerSec)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kbroker.metrics.requests import ApiStats

#: Elements of one array that are looked at.
_ELEMENTS_MAX = 1000


class Shape(NamedTuple):
    """Where the codes of a class of messages are: in itself, and in the elements of its arrays."""

    has_code: bool
    arrays: tuple[tuple[str, Shape], ...]


def shape_of(message: Any) -> Shape | None:
    """Of a class of messages; None: there is no error code in it."""
    slots: tuple[str, ...] = message.__slots__
    module = sys.modules[message.__module__]
    arrays = []
    for name, annotation in message.__init__.__annotations__.items():
        if isinstance(annotation, str) and annotation.startswith("list["):
            element = getattr(module, annotation[5:].partition("]")[0], None)
            inner = shape_of(element) if element is not None else None
            if inner is not None:
                arrays.append((name, inner))
    has_code = "error_code" in slots
    return Shape(has_code, tuple(arrays)) if has_code or arrays else None


def tally(shape: Shape, message: Any, stats: ApiStats) -> None:
    """Count what the message says."""
    if shape.has_code and message.error_code:
        stats.error(int(message.error_code))
    for name, inner in shape.arrays:
        elements = getattr(message, name)
        if not elements:
            continue
        if inner.arrays:
            for element in elements[:_ELEMENTS_MAX]:
                tally(inner, element, stats)
            continue
        for element in elements[:_ELEMENTS_MAX]:
            if element.error_code:
                stats.error(int(element.error_code))
