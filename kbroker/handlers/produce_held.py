"""Produce answers that wait for the disk (flush.messages), or for the followers (acks=-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.produce_answer import WRONG_LEADER, Item, encode_answer, name_leaders, response_of
from kbroker.replication.delayed_produce import DelayedProduce
from kbroker.storage.disk import StorageError

if TYPE_CHECKING:
    from kbroker.broker.group_sync import GroupSync
    from kbroker.broker.partition import Partition
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.handlers.produce_prefix import Prefix, PrefixCache, ProduceConnection
    from kbroker.metadata.cache import MetadataCache
    from kbroker.storage.log import Log

_CORRELATION = Struct(">i")


def replace_answers(
    out: list[Any],
    staged: Sequence[Prefix],
    failed: Mapping[Partition, ApiError],
    cache: PrefixCache | None,
) -> None:
    """Put errors in the place of answers; the last ones in `out` are those of `staged`, one each.

    Raises:
        ProtocolError: an error for acks=0, which has no answer.
    """
    assert cache is not None
    first = len(out) - len(staged)
    for position, meaning in enumerate(staged, first):
        if meaning.partition not in failed:
            continue
        if meaning.acks == 0:
            raise ProtocolError("the disk failed under a Produce with acks=0")
        item = Item(meaning.name, meaning.topic_id, meaning.index)
        item.fail(failed[meaning.partition])
        (correlation_id,) = _CORRELATION.unpack_from(out[position], 4)
        out[position] = encode_answer(response_of([item], cache.version), cache.version, correlation_id)


def _error_answer(
    metadata: MetadataCache, connection: ProduceConnection, meaning: Prefix, answer: bytes, error: ApiError
) -> bytes:
    """In the place of an answer that was packed as if all went well."""
    assert connection.produce_cache is not None
    version = connection.produce_cache.version
    item = Item(meaning.name, meaning.topic_id, meaning.index)
    item.fail(error)
    response = response_of([item], version)
    if version >= 10 and item.error in WRONG_LEADER:
        name_leaders(response, [item], metadata.image, connection.context.listener_name)
    (correlation_id,) = _CORRELATION.unpack_from(answer, 4)
    return encode_answer(response, version, correlation_id)


def why_lost(error: OSError | StorageError | None) -> ApiError:
    """The error of an answer whose records are not durable; a full disk is named, as it may be waited for."""
    return error if isinstance(error, StorageError) else ApiError(ErrorCode.KAFKA_STORAGE_ERROR)


class HeldAnswers(Deferred[bytes | None]):
    """The answers of one read of one connection, packed as if all went well. Resolved by `synced`."""

    __slots__ = ("_answers", "_cache", "_logs", "_partitions", "_staged")

    def __init__(
        self,
        connection: ProduceConnection,
        answers: list[Any],
        partitions: Sequence[Partition],
        logs: Sequence[Log],
    ) -> None:
        super().__init__()
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
                replace_answers(answers, self._staged, failed, self._cache)
            except ProtocolError as error:
                self.fail(error)
                return
        self.resolve(b"".join(answers) if len(answers) > 1 else answers[0])


class HeldProduce:
    """As `HeldAnswers`, where all that the connection has to send is for one partition; it has this `parked`.

    Args:
        connection: whose answers and staged requests these are from now on.
        log: of the partition.
    """

    __slots__ = ("_answers", "_connection", "_log", "_staged")

    def __init__(self, connection: ProduceConnection, log: Log) -> None:
        self._connection: ProduceConnection | None = connection
        self._log = log
        self._answers, connection.out = connection.out, []
        self._staged, connection.staged = connection.staged, []
        connection.out_bytes = 0
        connection.parked = self

    def synced(self, lost: Mapping[Log, OSError | StorageError]) -> None:
        """The sync that they wait for is over; without the logs in `lost`."""
        connection, answers, log = self._connection, self._answers, self._log
        if connection is None:
            return
        if log in lost or log.directory.failure is not None:
            failed = {self._staged[0].partition: why_lost(lost.get(log))}
            replace_answers(answers, self._staged, failed, connection.produce_cache)
        connection.release(answers[0] if len(answers) == 1 else b"".join(answers))

    def cancel(self) -> None:
        """The connection is gone."""
        self._connection = None


def commit_error(done: Deferred[None], partition: Partition) -> ErrorCode:
    """What came of waiting for a commit: an error if leadership went, or too few are in sync by now."""
    try:
        done.result()
    except ApiError as error:
        return error.code
    state = partition.leader_state
    if state is not None and not state.has_kept_enough_in_sync:
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return ErrorCode.NONE


class CommittedAnswers(Deferred[bytes | None]):
    """The answers of one read of one connection, until every partition that it touched has committed.

    Args:
        metadata: who leads, for errors.
        connection: whose answers these are.
        answers: packed as if all went well.
    """

    __slots__ = ("_answers", "_connection", "_failed", "_metadata", "_open", "_staged")

    def __init__(self, metadata: MetadataCache, connection: ProduceConnection, answers: list[Any]) -> None:
        super().__init__()
        self._metadata = metadata
        self._connection = connection
        self._staged = list(connection.staged)
        self._answers = answers
        self._open: dict[Partition, None] = {}
        self._failed: dict[Partition, ErrorCode] = {}

    def wait(self, partitions: Mapping[Partition, int], timer: Timer) -> None:
        """Wait for what they hold now, each at most so many ms."""
        self._open = dict.fromkeys(partitions)
        timeout = timer.call_later(max(min(partitions.values()), 0), self._expire)
        self.on_cancel = timeout.cancel
        for partition in partitions:
            last = partition.online_log().log_end_offset - 1
            partition.when_committed(last).then(
                lambda done, of=partition: self._settle(of, done, timeout)  # type: ignore[misc]
            )

    def _settle(self, partition: Partition, done: Deferred[None], timeout: TimerHandle) -> None:
        code = commit_error(done, partition)
        if code is not ErrorCode.NONE:
            self._failed[partition] = code
        self._open.pop(partition, None)
        if not self._open:
            timeout.cancel()
            self._deliver()

    def _expire(self) -> None:
        self._failed.update(dict.fromkeys(self._open, ErrorCode.REQUEST_TIMED_OUT))
        self._deliver()

    def _deliver(self) -> None:
        if self.done:
            return
        answers = self._answers
        if self._failed:
            for position, meaning in enumerate(self._staged):
                code = self._failed.get(meaning.partition)
                if code is not None and meaning.acks == -1:
                    answers[position] = _error_answer(
                        self._metadata, self._connection, meaning, answers[position], ApiError(code)
                    )
        self.resolve(b"".join(answers))


def answer_when_synced(
    items: Sequence[Item], syncs: GroupSync, answer: Callable[[], bytes]
) -> Deferred[bytes | None]:
    """flush.messages, of a request that was not staged: `answer` when the records of `items` are durable."""
    answered: Deferred[bytes | None] = Deferred()
    logs = [item.partition.online_log() for item in items if item.partition is not None]

    def done(lost: Mapping[Log, OSError | StorageError]) -> None:
        for item, log in zip(items, logs):
            if log in lost or log.directory.offline:
                item.fail(why_lost(lost.get(log)))
        answered.resolve(answer())

    syncs.when_synced(logs, done)
    return answered


def answer_when_committed(
    items: Sequence[Item], timer: Timer, timeout_ms: int, answer: Callable[[], bytes]
) -> Deferred[bytes | None]:
    """acks=-1, of a request that was not staged: `answer` when all of `items` is committed, or too late."""
    answered: Deferred[bytes | None] = Deferred()

    def finish(errors: list[ErrorCode]) -> None:
        timeout.cancel()
        for item, code in zip(items, errors):
            if code is not ErrorCode.NONE:
                item.fail(ApiError(code))
        answered.resolve(answer())

    delayed = DelayedProduce(len(items), finish)
    timeout = timer.call_later(max(timeout_ms, 0), delayed.expire)
    answered.on_cancel = timeout.cancel
    for position, item in enumerate(items):
        partition, result = item.partition, item.result
        assert partition is not None
        assert result is not None
        partition.when_committed(result.last_offset).then(
            lambda done, at=position, of=partition: delayed.settle(at, commit_error(done, of))  # type: ignore[misc]
        )
    return answered
