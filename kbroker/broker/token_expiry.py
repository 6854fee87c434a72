"""The active controller forgets delegation tokens whose time is over, every now and then."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.controller.delegation_tokens import remove_expired
from kbroker.errors import ApiError

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.metadata.image import ClusterImage

_log = logging.getLogger(__name__)


class TokenExpiry:
    """A `ControllerWatcher`.

    Args:
        controller: where removals are appended.
        every_ms: delegation.token.expiry.check.interval.ms.
    """

    def __init__(self, controller: ControllerDriver, clock: Clock, timer: Timer, every_ms: int) -> None:
        self._controller = controller
        self._clock = clock
        self._timer = timer
        self._every_ms = every_ms
        self._alarm: TimerHandle | None = None
        controller.watch(self)

    def activated(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""
        self._arm()

    def committed(self, image: ClusterImage) -> None:
        """See `ControllerWatcher`."""

    def resigned(self) -> None:
        """See `ControllerWatcher`."""
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _arm(self) -> None:
        self._alarm = self._timer.call_later(self._every_ms, self._check)

    def _check(self) -> None:
        self._arm()
        now_ms = self._clock.now_ms()
        if any(
            record.expiration_timestamp < now_ms
            for record in self._controller.speculative_image.tokens.values()
        ):
            self._controller.append_records(lambda image: remove_expired(image, now_ms)).then(_tell)


def _tell(done: Deferred[int]) -> None:
    try:
        _log.info("%d delegation tokens have ended and are forgotten", done.result())
    except ApiError as error:
        _log.debug("delegation tokens are not removed: %s", error)
