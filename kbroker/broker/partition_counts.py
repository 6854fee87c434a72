"""Counts over all partitions that this broker hosts, for its metrics.

At a scrape one pass makes all of them, in steps between which clients are served: with 10,000 partitions it
takes some 20 ms. Whoever asks for one alone (Jolokia) gets it by a pass of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.metrics.registry import Registry

_STEP = 250


class PartitionCounts:
    """Sums of what each partition gives.

    Args:
        partitions: those that are here.
        registry: whose scrapes need them.
    """

    def __init__(self, partitions: dict[tuple[str, int], Partition], registry: Registry) -> None:
        self._partitions = partitions
        self._registry = registry
        self._questions: list[Callable[[Partition], int]] = []
        self._sums: list[int] = []
        self._scrape = -1
        registry.on_scrape.append(self._count)

    def add(self, question: Callable[[Partition], int]) -> Callable[[], int]:
        """What gives the sum over all partitions, as of the scrape that is under way, or as of now."""
        number = len(self._questions)
        self._questions.append(question)

        def ask() -> int:
            if self._scrape == self._registry.scrapes:
                return self._sums[number]
            return sum(map(question, list(self._partitions.values())))

        return ask

    def _count(self) -> Iterator[None]:
        scrape, sums = self._registry.scrapes, [0] * len(self._questions)
        partitions = list(self._partitions.values())
        for start in range(0, len(partitions), _STEP):
            part = partitions[start : start + _STEP]
            for number, question in enumerate(self._questions):
                sums[number] += sum(map(question, part))
            yield
        self._sums, self._scrape = sums, scrape
