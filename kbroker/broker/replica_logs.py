"""The logs of this broker's replicas: found, or made, at once or as soon as there is room.

Law of this file: no new log is made where one of the partition may lie in a directory that is not at hand: it
would hide that one, and take its offsets anew. A log that cannot be made leaves the partition without one,
and is no reason not to apply the rest of the metadata.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.errors import ApiError
from kbroker.storage.data_sync import DataSync
from kbroker.types import ZERO_UUID, TopicPartition, Uuid

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.storage.log import Log
    from kbroker.storage.log_config import LogConfig
    from kbroker.storage.log_manager import LogManager

_log = logging.getLogger(__name__)

#: How often it is looked whether there is room for logs that could not be made; how many are made at once.
_MAKE_INTERVAL_MS = 500
_MADE_AT_ONCE = 200
#: Directory ids below have a meaning of their own: unassigned, lost, migrating.
_DIRECTORY_IDS_RESERVED = 100


class ReplicaLogs:
    """Makes logs for replicas.

    Args:
        was_there: whether this broker had a replica before it started, where the first metadata do not tell.
    """

    def __init__(
        self, logs: LogManager, clock: Clock, timer: Timer, was_there: Callable[[TopicPartition], bool]
    ) -> None:
        self._logs = logs
        self._clock = clock
        self._timer = timer
        self._was_there = was_there
        #: Until the metadata that a start finds has been applied.
        self.is_first = True
        #: Gives a partition its log, where it was not made for want of room (`make` tries again).
        self.complete: Callable[[TopicPartition], object] = lambda tp: None
        #: Partitions whose logs could not be made, for want of room.
        self._without_log: dict[TopicPartition, None] = {}
        #: What has to be told of single partitions, which may be thousands: by text.
        self._news: dict[str, list[TopicPartition]] = {}

    def for_replica(
        self, tp: TopicPartition, topic_id: Uuid, config: LogConfig, assigned: Uuid | None
    ) -> Log | None:
        """As `make`, for a replica that this broker hears of; None, too, if its log may lie elsewhere.

        `assigned` is the directory that the cluster knows (KIP-858), if any.
        """
        if self._may_lie_elsewhere(tp, assigned):
            self.note(tp, "offline: the log may lie in a log directory that cannot be used")
            return None
        return self.make(tp, topic_id, config)

    def make(self, tp: TopicPartition, topic_id: Uuid, config: LogConfig) -> Log | None:
        """The log, found or made; None if that failed, and made later if it failed for want of room."""
        try:
            log = self._logs.get_or_create(tp, topic_id, config, self._clock.now_ms())
            if self.is_first:
                self._sync_what_was_found(log)
        except ApiError as error:
            self.note(tp, f"no log could be made: {error.text}")
        else:
            return log
        if self._logs.get(tp) is None and not all(each.offline for each in self._logs.dirs):
            if not self._without_log:
                self._timer.call_later(_MAKE_INTERVAL_MS, self._make_missing)
            self._without_log[tp] = None
        return None

    def note(self, tp: TopicPartition, news: str) -> None:
        """To be told with the other partitions of which there is the same to say."""
        self._news.setdefault(news, []).append(tp)

    def tell_news(self, level: int) -> None:
        """What was noted, in one line for each text."""
        for news, found in self._news.items():
            _log.log(level, "%s%s: %s", found[0], f" and {len(found) - 1} more" if found[1:] else "", news)
        self._news.clear()

    def _may_lie_elsewhere(self, tp: TopicPartition, assigned: Uuid | None) -> bool:
        """Whether the partition has a log, but in a directory that is not at hand."""
        if self._logs.get(tp) is not None:
            return False
        if assigned is not None and int.from_bytes(assigned, "big") >= _DIRECTORY_IDS_RESERVED:
            return all(
                each.offline or each.directory_id not in (assigned, ZERO_UUID) for each in self._logs.dirs
            )
        return (self.is_first or self._was_there(tp)) and any(each.offline for each in self._logs.dirs)

    def _make_missing(self) -> None:
        """Make the logs that could not be made when the metadata told of them, if there is room now."""
        missing, self._without_log = self._without_log, {}
        rest: dict[TopicPartition, None] = {}
        has_room = any(each.own_refusal is None for each in self._logs.dirs)
        for number, tp in enumerate(missing):
            if not has_room or self._without_log or number >= _MADE_AT_ONCE:
                rest[tp] = None
                continue
            self.complete(tp)
        if rest and not self._without_log:
            self._timer.call_later(_MAKE_INTERVAL_MS if not has_room else 1, self._make_missing)
        self._without_log.update(rest)
        self.tell_news(logging.WARNING)

    def _sync_what_was_found(self, log: Log) -> None:
        """flush.messages: what an earlier life has written is readable at once, so it must be durable."""
        if log.log_end_offset - log.durable_end >= log.config.flush_messages:
            job = DataSync(log)
            try:
                job.run()
            except OSError as error:
                raise log.directory.fail_for_good(error) from error
            job.finish()
