"""Produce answers that wait for the disk (flush.messages)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.storage.disk import StorageError

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.handlers.produce import ProduceConnection
    from kbroker.handlers.produce_prefix import Prefix, PrefixCache
    from kbroker.storage.log import Log

#: Puts errors in the place of answers: (answers, what they are for, partitions that failed, the cache).
ReplaceAnswers = Callable[
    [list[Any], "list[Prefix]", "Mapping[Partition, ApiError]", "PrefixCache | None"], None
]


def why_lost(error: OSError | StorageError | None) -> ApiError:
    """The error of an answer whose records are not durable; a full disk is named, as it may be waited for."""
    return error if isinstance(error, StorageError) else ApiError(ErrorCode.KAFKA_STORAGE_ERROR)


class HeldAnswers(Deferred[bytes | None]):
    """The answers of one read of one connection, packed as if all went well. Resolved by `synced`."""

    __slots__ = ("_answers", "_cache", "_logs", "_partitions", "_replace", "_staged")

    def __init__(
        self,
        replace: ReplaceAnswers,
        connection: ProduceConnection,
        answers: list[Any],
        partitions: Sequence[Partition],
        logs: Sequence[Log],
    ) -> None:
        super().__init__()
        self._replace = replace
        self._cache = connection.produce_cache
        self._staged = list(connection.staged)
        self._answers = answers
        self._partitions = partitions
        self._logs = logs

    def synced(self, lost: Mapping[Log, OSError | StorageError]) -> None:
        """The sync that they wait for is over; without the logs in `lost`."""
        if self.done:
            return  # the connection is gone
        answers = self._answers
        failed = {
            partition: why_lost(lost.get(log))
            for partition, log in zip(self._partitions, self._logs)
            if log in lost or log.directory.failure is not None
        }
        if failed:
            try:
                self._replace(answers, self._staged, failed, self._cache)
            except ProtocolError as error:
                self.fail(error)
                return
        self.resolve(b"".join(answers) if len(answers) > 1 else answers[0])
