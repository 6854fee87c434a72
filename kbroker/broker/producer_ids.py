"""Producer ids for this broker's producers, from blocks that the controller gives out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kbroker.broker.deferred import Deferred
from kbroker.controller.producer_ids import ProducerIdBlock

#: Ask for the next block when this part of the present one is used, so that nobody waits.
_PREFETCH = 0.9


class ProducerIdSource:
    """Hands out ids one by one; each is given once, ever.

    Args:
        allocate: asks the controller for a block.
    """

    def __init__(self, allocate: Callable[[], Deferred[ProducerIdBlock]]) -> None:
        self._allocate = allocate
        self._next = 0
        self._end = 0
        self._prefetch_at = 0
        self._spare: ProducerIdBlock | None = None
        self._asking = False
        self._waiting: deque[Deferred[int]] = deque()

    def next_id(self) -> Deferred[int]:
        """The next id; fails with the controller's ApiError if no block can be had."""
        deferred: Deferred[int] = Deferred()
        self._waiting.append(deferred)
        self._serve()
        return deferred

    def _serve(self) -> None:
        while self._waiting:
            if self._next == self._end and not self._take_spare():
                break
            producer_id = self._next
            self._next += 1
            self._waiting.popleft().resolve(producer_id)
        if not self._asking and self._spare is None and (self._waiting or self._next >= self._prefetch_at):
            self._ask()

    def _take_spare(self) -> bool:
        block, self._spare = self._spare, None
        if block is None:
            return False
        self._next, self._end = block.first, block.first + block.size
        self._prefetch_at = block.first + int(block.size * _PREFETCH)
        return True

    def _ask(self) -> None:
        self._asking = True
        self._allocate().then(self._answered)

    def _answered(self, done: Deferred[ProducerIdBlock]) -> None:
        self._asking = False
        try:
            self._spare = done.result()
        except Exception as error:
            waiting, self._waiting = self._waiting, deque()
            for deferred in waiting:
                deferred.fail(error)
        else:
            self._serve()
