"""Columns of very many numbers as text: what did not change since the last scrape is not written again.

With 10,000 partitions these are nine tenths of a scrape, and of most partitions most numbers stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kbroker.metrics.registry import COLUMN_PART, Column, Labels

#: Of text that is kept from scrape to scrape; what is more is written each time.
KEPT_BYTES_MAX = 32 << 20


class _Kept:
    """A column as it was written last, part by part."""

    __slots__ = ("labels", "parts", "values")

    def __init__(self, labels: list[Any]) -> None:
        self.labels = labels
        self.values: dict[int, list[int]] = {}
        self.parts: dict[int, bytes] = {}


class ColumnTexts:
    """What columns looked like: labels of those that list the same things, and whole parts."""

    def __init__(self) -> None:
        self._columns: dict[str, _Kept] = {}
        #: By the identity of the list of labels, which is kept with them.
        self._labels: dict[int, tuple[list[Any], list[str]]] = {}
        self.kept_bytes = 0

    def clear(self) -> None:
        """Keep nothing: nobody has looked for a while."""
        self._columns.clear()
        self._labels.clear()
        self.kept_bytes = 0

    def pieces(self, name: str, column: Column, text_of: Callable[[Labels], str]) -> Iterator[bytes]:
        """The lines of a column; empty bytes in between where something else was made.

        Args:
            name: the metric's.
            text_of: labels as `key="value",`.
        """
        labels = column.labels
        kept = self._columns.get(name)
        if kept is None or kept.labels is not labels:
            self._forget(name)
            kept = self._columns[name] = _Kept(labels)
        for start in range(0, len(labels), COLUMN_PART):
            values = column.values(start, min(start + COLUMN_PART, len(labels)))
            if kept.values.get(start) == values:
                yield kept.parts[start]
                continue
            texts = self._texts(labels, start, text_of)
            part = "".join([f"{name}{text}{value}\n" for text, value in zip(texts, values)]).encode()
            self._keep(kept, start, values, part)
            yield part

    def _texts(self, labels: list[Any], start: int, text_of: Callable[[Labels], str]) -> list[str]:
        found = self._labels.get(id(labels))
        if found is None:
            in_use = {id(each.labels) for each in self._columns.values()}
            self._labels = {key: value for key, value in self._labels.items() if key in in_use}
            found = self._labels[id(labels)] = labels, []
        texts = found[1]
        while len(texts) < min(start + COLUMN_PART, len(labels)):
            texts.append(f"{{{text_of(labels[len(texts)])}}} ")
        return texts[start : start + COLUMN_PART]

    def _keep(self, kept: _Kept, start: int, values: list[int], part: bytes) -> None:
        self.kept_bytes += len(part) - len(kept.parts.pop(start, b""))
        kept.values.pop(start, None)
        if self.kept_bytes > KEPT_BYTES_MAX:
            self.kept_bytes -= len(part)
            return
        kept.values[start], kept.parts[start] = values, part

    def _forget(self, name: str) -> None:
        kept = self._columns.pop(name, None)
        if kept is not None:
            self.kept_bytes -= sum(map(len, kept.parts.values()))
