"""Loads the shards of a coordinator in the background, one after the other, a part of a log at a turn."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError

if TYPE_CHECKING:
    from kbroker.broker.shard_driver import ShardDriver
    from kbroker.broker.timer import Timer

_log = logging.getLogger(__name__)

#: After a log could not be read.
RETRY_MS = 1_000


class ShardLoader:
    """What is to be loaded; shards that requests loaded meanwhile, or that are closed, are passed over."""

    def __init__(self, timer: Timer) -> None:
        self._timer = timer
        self._waiting: deque[ShardDriver[Any]] = deque()
        self._working = False

    def add(self, driver: ShardDriver[Any]) -> None:
        """Load this one after those that wait."""
        self._waiting.append(driver)
        if not self._working:
            self._working = True
            self._timer.call_later(0, self._go_on)

    def _go_on(self) -> None:
        while self._waiting and (self._waiting[0].ready or self._waiting[0].closed):
            self._waiting.popleft()
        if not self._waiting:
            self._working = False
            return
        try:
            self._waiting[0].load_some()
        except ApiError as error:
            # Its transactions and sessions wait for it, with or without requests; if the disk has failed, or
            # another broker leads now, it is closed by then.
            driver = self._waiting.popleft()
            _log.warning("%s: not loaded, tried again in %d ms: %s", driver.tp, RETRY_MS, error)
            self._timer.call_later(RETRY_MS, lambda: self.add(driver))
        self._timer.call_later(0, self._go_on)

    def close(self) -> None:
        """Load nothing more."""
        self._waiting.clear()
