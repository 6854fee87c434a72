"""Settings of share groups: the group's own, within the broker's bounds, where set; else the broker's."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from kbroker.broker.blocking import when_run
from kbroker.coordinator.share.in_flight import ShareLimits
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_GROUP
from kbroker.storage.time_search import TimeSearch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.storage.log import Log

SHARE_VERSION = "share.version"
_WITH_DEAD_LETTERS = 2
_DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name"
_DURATION = re.compile(
    r"(-)?P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?", re.ASCII | re.IGNORECASE
)


class ShareSettings:
    """Asked for each request: settings of a group change while it runs."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._defaults: ShareLimits | None = None

    def check(self) -> None:
        """UNSUPPORTED_VERSION while share groups are off (`share.version`)."""
        if self._level() < 1:
            raise ApiError(ErrorCode.UNSUPPORTED_VERSION)

    def _level(self) -> int:
        return self._services.metadata.image.features.get(SHARE_VERSION, 0)

    def limits(self, group_id: str) -> ShareLimits:
        """What holds for records in flight."""
        own = self._own(group_id)
        if own:
            return self._limits(own)
        if self._defaults is None:
            self._defaults = self._limits({})
        return self._defaults

    def _limits(self, own: Mapping[str, str]) -> ShareLimits:
        return ShareLimits(
            self._value(own, "record.lock.duration.ms"),
            self._value(own, "delivery.count.limit"),
            self._value(own, "partition.max.record.locks"),
            own.get("share.renew.acknowledge.enable", "true").lower() == "true",
            bool(own.get(_DEAD_LETTER_TOPIC)) and self._level() >= _WITH_DEAD_LETTERS,
        )

    def dead_letter_topic(self, group_id: str) -> str:
        """Where dead letters of the group go; empty: nowhere."""
        return self._own(group_id).get(_DEAD_LETTER_TOPIC, "")

    def copies_dead_letters(self, group_id: str) -> bool:
        """Whether they carry the records themselves."""
        return self._own(group_id).get("errors.deadletterqueue.copy.record.enable", "").lower() == "true"

    def committed_only(self, group_id: str) -> bool:
        """`share.isolation.level`."""
        return self._own(group_id).get("share.isolation.level", "").lower() == "read_committed"

    def first_offset(self, group_id: str, log: Log, now_ms: int) -> int | Deferred[int]:
        """Where a group begins that has no start yet (`share.auto.offset.reset`).

        Later where that is a time, and a long batch has to be looked into. Raises, or fails with, ApiError.
        """
        wish = self._own(group_id).get("share.auto.offset.reset", "latest").lower()
        if wish == "earliest":
            return log.log_start_offset
        end = log.last_stable_offset if self.committed_only(group_id) else log.high_watermark
        if wish.startswith("by_duration:"):
            since_ms = now_ms - _milliseconds(wish.partition(":")[2])
            return self._found(TimeSearch(log, since_ms, end), end)
        return end

    def _found(self, search: TimeSearch, end: int) -> int | Deferred[int]:
        run_blocking = self._services.run_blocking
        while (look := search.next()) is not None:
            if look.is_long and run_blocking is not None:
                looked = when_run(run_blocking, partial(self._services.run_look, look))
                return looked.lead_to(lambda _: self._found(search, end))
            look.run()
        return end if search.found is None else search.found.offset

    def _own(self, group_id: str) -> Mapping[str, str]:
        return self._services.metadata.image.config(CONFIG_GROUP, group_id)

    def _value(self, own: Mapping[str, str], name: str) -> int:
        config = self._services.config
        text = own.get(f"share.{name}")
        if text is None:
            return config.get_int(f"group.share.{name}")
        low, high = config.get_int(f"group.share.min.{name}"), config.get_int(f"group.share.max.{name}")
        return min(max(int(text), low), high)


def _milliseconds(text: str) -> int:
    """Of an ISO 8601 duration as Java reads it; the setting has been checked."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return 0
    days, hours, minutes, seconds = (int(part or 0) for part in match.group(2, 3, 4, 5))
    fraction = int(((match.group(6) or "") + "000")[:3])
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return (total * 1000 + fraction) * (-1 if match.group(1) else 1)
