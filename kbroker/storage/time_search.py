"""Look-ups by time, step by step: the loop finds the batch that comes next, a thread may look into it.

A batch's header may promise any time, and its records may unpack to far more than it has bytes: who asks for
such a time would have everybody wait. So a look into a batch knows nothing of the log, and between two looks
the log may change as it likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode, to_keep
from kbroker.protocol.record_batch import BatchHeader, record_times
from kbroker.storage.append_checks import is_long_look, unpacks_to_much
from kbroker.storage.batch_walk import WalkedBatch
from kbroker.storage.segment import Segment, TimestampOffset

if TYPE_CHECKING:
    from kbroker.storage.disk import Buffer
    from kbroker.storage.log import Log

_NO_END = 2**63 - 1


class TimeLook:
    """A look into one batch: `run` it, then ask the search for the next one.

    Args:
        data: the batch.
        timestamp: looked for is the first record not older than this (ms).
        newest: looked for is the first of the newest records instead, if it is not older than `timestamp`.
        start_offset, end_offset: records outside do not count.
    """

    __slots__ = ("_data", "_error", "_header", "_newest", "_range", "_record_max", "_timestamp", "found")

    def __init__(
        self,
        data: bytes,
        header: BatchHeader,
        timestamp: int,
        start_offset: int,
        end_offset: int,
        record_max: int,
        *,
        newest: bool = False,
    ) -> None:
        self._data, self._header = data, header
        self._timestamp = timestamp
        self._newest = newest
        self._range = range(start_offset, end_offset)
        self._record_max = record_max
        self._error: ApiError | None = None
        self.found: TimestampOffset | None = None

    @property
    def order(self) -> tuple[Any, Buffer]:
        """See `looks.Look`."""
        wanted = self._timestamp, self._range.start, self._range.stop, self._record_max, self._newest
        return [self._header, *wanted], self._data

    @classmethod
    def of_order(cls, values: Any, data: Buffer) -> TimeLook:
        """What `order` stands for."""
        header, *wanted, newest = values
        return cls(bytes(data), BatchHeader(*header), *wanted, newest=newest)

    @property
    def outcome(self) -> tuple[Any, None]:
        """What was found, and what is wrong with the batch."""
        error = self._error
        return [self.found, None if error is None else [error.code, error.message]], None

    @outcome.setter
    def outcome(self, outcome: tuple[Any, Buffer | None]) -> None:
        (found, problem), _ = outcome
        self.found = None if found is None else TimestampOffset(*found)
        self._error = None if problem is None else ApiError(ErrorCode(problem[0]), problem[1])

    @property
    def is_long(self) -> bool:
        """Whether others should not have to wait for it."""
        return is_long_look(self._data) or unpacks_to_much(self._data, self._header)

    def run(self) -> None:
        """Look; what is wrong with the batch is raised when the search goes on."""
        try:
            for time, offset in record_times(self._data, self._header, record_bytes_max=self._record_max):
                if time >= self._timestamp and offset in self._range:
                    self.found = TimestampOffset(time, offset, self._header.leader_epoch)
                    if not self._newest:
                        return
                    self._timestamp = time + 1
        except ApiError as error:
            self._error = to_keep(error)

    def result(self) -> TimestampOffset | None:
        """What was found. Raises what `run` met, once."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        return self.found


class TimeSearch:
    """For the first record, in offset order, that is not older than a time. `next` until it gives None.

    Args:
        timestamp: in ms.
        end_offset: only what is before it is looked for.
    """

    def __init__(self, log: Log, timestamp: int, end_offset: int | None = None) -> None:
        log.settle()
        self.found: TimestampOffset | None = None
        self._log = log
        self._timestamp = timestamp
        self._end = log.log_end_offset if end_offset is None else min(end_offset, log.log_end_offset)
        self._from = log.log_start_offset
        self._look: TimeLook | None = None

    def next(self) -> TimeLook | None:
        """The next look that is to be run; None: the search is over.

        Raises:
            ApiError: the batch that was looked into is damaged, or the directory fails.
        """
        if self._look is not None:
            self.found = self._look.result()
            if self.found is not None:
                return None
        log = self._log
        self._from = max(self._from, log.log_start_offset)
        try:
            for segment in log.segments.from_offset(self._from):
                if segment.base_offset >= self._end:
                    return None
                if (
                    segment.load_max_timestamp() >= self._timestamp
                    and (look := self._in(segment)) is not None
                ):
                    return look
        except OSError as error:
            raise log.directory.fail(error) from error
        return None

    def _in(self, segment: Segment) -> TimeLook | None:
        found = segment.find_timestamp(self._timestamp, self._from, self._end)
        if found is None:
            return None
        data, header = segment.read_batch(found)
        record_max = self._log.config.max_decompressed_message_bytes
        self._look = TimeLook(data, header, self._timestamp, self._from, self._end, record_max)
        self._from = found.last_offset + 1
        return self._look


class NewestSearch:
    """For the first of the newest records (KIP-734), as `TimeSearch`.

    First where the batches promise it. Where that is not so (it lies below the log start) everywhere.
    """

    def __init__(self, log: Log) -> None:
        log.settle()
        self.found: TimestampOffset | None = None
        self._log = log
        self._look: TimeLook | None = None
        self._from = log.log_start_offset
        self._promised: int | None = None
        self._is_everywhere = False

    def next(self) -> TimeLook | None:
        """See `TimeSearch.next`."""
        if self._look is not None:
            self.found = self._look.result() or self.found
            self._look = None
            if self.found is not None and not self._is_everywhere:
                return None
        try:
            if not self._is_everywhere:
                self._look = self._where_promised()
                if self._look is None and not self._is_everywhere:
                    return None
            if self._is_everywhere:
                self._look = self._anywhere()
        except OSError as error:
            raise self._log.directory.fail(error) from error
        return self._look

    def _where_promised(self) -> TimeLook | None:
        log = self._log
        segments = log.segments.from_offset(log.log_start_offset)
        newest = max(segments, key=lambda segment: segment.load_max_timestamp())
        if self._promised is None:
            self._promised = newest.load_max_timestamp()
            if self._promised < 0:
                return None
        batch = newest.find_timestamp(self._promised, self._from, _NO_END)
        if batch is None:
            self._is_everywhere, self._from = True, log.log_start_offset
            return None
        return self._look_into(newest, batch, self._promised)

    def _anywhere(self) -> TimeLook | None:
        log, least = self._log, self.found.timestamp + 1 if self.found is not None else 0
        self._from = max(self._from, log.log_start_offset)
        for segment in log.segments.from_offset(self._from):
            first = segment.locate(self._from)
            for batch in segment.walk(first.position) if first is not None else ():
                if batch.last_offset >= self._from and batch.max_timestamp >= least:
                    return self._look_into(segment, batch, least)
        return None

    def _look_into(self, segment: Segment, batch: WalkedBatch, timestamp: int) -> TimeLook:
        data, header = segment.read_batch(batch)
        record_max = self._log.config.max_decompressed_message_bytes
        look = TimeLook(data, header, timestamp, self._log.log_start_offset, _NO_END, record_max, newest=True)
        self._from = batch.last_offset + 1
        return look


def found_at_once(search: TimeSearch | NewestSearch) -> TimestampOffset | None:
    """Look here and now, however long it takes. Raises ApiError."""
    while (look := search.next()) is not None:
        look.run()
    return search.found
