"""Produce (0): append record batches.

Versions: 3 (0.11) transactional id, format 2 · 4 storage errors · 5 log start offset · 7 zstd (KIP-110) ·
8 record errors (KIP-467) · 9 flexible · 10 leader and endpoints on errors (KIP-951) · 11 transaction errors
that abort (KIP-890) · 12 transactions add partitions by themselves · 13 topic ids (KIP-516).

A raw path. All Produce frames of one read are staged, `finish_batch` writes each touched partition once,
and only then do the answers leave: they are already in the connection's output, and are replaced when the
write fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.produce_access import refuse
from kbroker.handlers.produce_answer import (
    WRONG_LEADER,
    Item,
    close_on_error,
    count_errors,
    encode_answer,
    name_leaders,
    response_of,
)
from kbroker.handlers.produce_batch import (
    ATTRIBUTES_AT,
    CODEC_BITS,
    TRANSACTIONAL_BIT,
    ZSTD,
    codec_of,
    is_transactional,
)
from kbroker.handlers.produce_held import (
    CommittedAnswers,
    HeldAnswers,
    HeldProduce,
    chain,
    commit_error,
    replace_answers,
    why_lost,
)
from kbroker.handlers.produce_prefix import (
    FLEXIBLE_SINCE,
    TAIL,
    Prefix,
    PrefixCache,
    ProduceConnection,
    records_bounds,
    uvarint_size,
)
from kbroker.handlers.produce_refused import note_refused
from kbroker.handlers.produce_txn import verify
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.generated.produce_request import ProduceRequest
from kbroker.protocol.releases import asked_release
from kbroker.replication.delayed_produce import DelayedProduce
from kbroker.storage.append_checks import first_batch, is_long_look, the_one_batch
from kbroker.storage.log import AppendOrigin

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.storage.append_checks import BatchLook
    from kbroker.storage.disk import StorageError
    from kbroker.storage.log import Log

VERSIONS = (3, 13)

_PRODUCE = 0
_LEAD = Struct(">ii")
#: Its length.
_CLIENT_ID = Struct(">h")
#: Producer id and epoch, at byte 43 of a batch.
_PRODUCER = Struct(">qh")
#: Uncompressed batches up to this size are looked into where they are.
_INLINE_BYTES_MAX = 16 * 1024
_ADMIN_CLIENT = "__admin_client"
_NO_LOOKS: Mapping[Item, BatchLook] = {}


def raw_path(services: Services) -> ProducePath:
    """The path of this node; one for all connections."""
    if asked_release(services.compatibility) == "2.8":
        from kbroker.handlers.manners.data import OlderProducePath

        return OlderProducePath(services)
    return ProducePath(services)


class ProducePath:
    """Takes Produce frames, gives whole answers."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._replicas = services.replicas
        self._now_ms = services.clock.now_ms
        self._requests = services.requests
        self._stats = services.requests.of("Produce")
        self._topic_stats = services.replicas.topic_stats

    # -- one partition, seen before --

    def fast(self, connection: ProduceConnection, data: memoryview, start: int, end: int) -> bytes | None:
        """Stage the request at `data[start:end]` if its prefix is known.

        None: it needs the general path, and nothing has happened.
        """
        cache = connection.produce_cache
        version, correlation_id = _LEAD.unpack_from(data, start)
        if cache is None or cache.version != version or connection.context.refused:
            return None
        by_bytes = cache.by_bytes
        start += 8
        for length in cache.lengths:
            meaning = by_bytes.get(bytes(data[start : start + length]))
            if meaning is not None:
                break
        else:
            return None
        partition = meaning.partition
        state, log = partition.leader_state, partition.log
        if state is None or log is None or (meaning.acks == -1 and not state.has_enough_in_sync):
            return None
        bounds = records_bounds(data, start + length, end, version)
        if bounds is None:
            return None
        records = data[bounds[0] : bounds[1]]
        attributes = records[ATTRIBUTES_AT]
        if version < 7 and attributes & CODEC_BITS == ZSTD:
            return None
        if attributes & TRANSACTIONAL_BIT and not (
            meaning.in_transactions and log.producers.has_open_txn(*_PRODUCER.unpack_from(records, 43))
        ):
            return None
        now_ms = self._now_ms()
        if (
            (attributes & CODEC_BITS or len(records) > _INLINE_BYTES_MAX)
            and is_long_look(records)
            and log.long_look(records, now_ms) is not None
        ):
            return None
        try:
            base, _, append_time, log_start, _ = log.append_as_leader(records, state.leader_epoch, now_ms)
        except ApiError:
            return None
        connection.staged.append(meaning)
        connection.frame_size = end - start + 8
        if meaning.acks == 0:
            return b""
        return meaning.pack(correlation_id, base, append_time, log_start)

    def finish_batch(self, connection: ProduceConnection) -> None:
        """Write what the connection's frames staged; the answers of partitions that fail become errors."""
        staged = connection.staged
        last = staged[0].partition
        for meaning in staged:
            if meaning.partition is not last:
                break
        else:
            state, log = last.leader_state, last.log
            if log is not None and (state is None or not state.followers):
                if log.staged_end_offset - log.durable_end < log.flush_messages:
                    self._finish_one(connection, last)
                    return
                if self._hold_one(connection, last, log):
                    return
        touched = dict.fromkeys([meaning.partition for meaning in staged])
        waiting = [partition for partition in touched if partition.waits_for_sync]
        if any(partition.has_followers for partition in touched):
            self._finish_committed(connection, touched)
        elif waiting:
            self._finish_synced(connection, touched, waiting)
        else:
            failed = self._flush(touched)
            if failed:
                replace_answers(connection.out, staged, failed, connection.produce_cache)
        self._count(connection, touched)
        staged.clear()

    def _finish_one(self, connection: ProduceConnection, partition: Partition) -> None:
        """The usual case: one partition, whose answers wait for nothing."""
        staged = connection.staged
        try:
            partition.flush()
        except ApiError as error:
            self._replicas.disk_failed(partition)
            replace_answers(connection.out, staged, {partition: error}, connection.produce_cache)
        times = len(staged)
        partition.stats.produce_requests += times
        version = connection.produce_cache.version  # type: ignore[union-attr]
        if not self._requests.timed:
            self._stats.versions[version] += times
        elif times == 1:
            self._stats.done_one(version, connection.frame_size, connection.began_s)
        else:
            self._stats.done(version, connection.frame_size, connection.began_s, times)
        staged.clear()

    def _hold_one(self, connection: ProduceConnection, partition: Partition, log: Log) -> bool:
        """flush.messages: the usual case, one partition, all left to a sync; False: it is another case."""
        out = connection.out
        times = len(connection.staged)
        if len(out) != times or not (out[0] if times == 1 else all(out)):
            return False
        waiters = self._replicas.syncs.take_over(log)
        if waiters is None:
            return False
        waiters.append(HeldProduce(connection, log).synced)
        partition.stats.produce_requests += times
        self._count_requests(connection, times)
        return True

    def _count(self, connection: ProduceConnection, touched: dict[Partition, None]) -> None:
        """Once for all frames of a read."""
        staged = connection.staged
        if len(touched) == 1:
            staged[0].partition.stats.produce_requests += len(staged)
        else:
            for meaning in staged:
                meaning.partition.stats.produce_requests += 1
        self._count_requests(connection, len(staged))

    def _count_requests(self, connection: ProduceConnection, times: int) -> None:
        """The size of all is taken to be that of the last."""
        cache = connection.produce_cache
        assert cache is not None
        if not self._requests.timed:
            self._stats.versions[cache.version] += times
        elif connection.parked is None:
            self._stats.done(cache.version, connection.frame_size, connection.began_s, times)
        else:
            size, read_s = connection.frame_size, connection.began_s
            connection.waiting = self._stats.wait(cache.version, size, read_s, times)

    def _finish_synced(
        self, connection: ProduceConnection, touched: dict[Partition, None], waiting: list[Partition]
    ) -> None:
        """flush.messages: the answers of what was staged leave when it is durable.

        If a sync is under way, the next one writes what is staged, too, for all connections at once.
        """
        staged, out = connection.staged, connection.out
        first = len(out) - len(staged)
        answered = all(out) if first == 0 else all(out[first:])  # else some have acks=0
        take_over = self._replicas.syncs.take_over
        now = [
            partition
            for partition in touched
            if not (answered and partition in waiting and take_over(partition.online_log()) is not None)
        ]
        failed = self._flush(now)
        if failed:
            replace_answers(out, staged, failed, connection.produce_cache)
            waiting = [partition for partition in waiting if partition not in failed]
        if not waiting or not any(out[first:]):
            return
        logs = [partition.online_log() for partition in waiting]
        held = HeldAnswers(connection, out[first:], waiting, logs)
        del out[first:]
        self._replicas.syncs.when_synced(logs, held.synced)
        connection.hold(held)

    def _finish_committed(self, connection: ProduceConnection, touched: dict[Partition, None]) -> None:
        """acks=-1 with followers: all answers of one read leave when what was staged is committed."""
        staged, out = connection.staged, connection.out
        failed = self._flush(touched)
        if failed:
            replace_answers(out, staged, failed, connection.produce_cache)
        waiting = {
            meaning.partition: meaning.timeout_ms
            for meaning in staged
            if meaning.acks == -1
            and meaning.partition not in failed
            and meaning.partition.high_watermark < meaning.partition.online_log().log_end_offset
        }
        if not waiting:
            return
        first = len(out) - len(staged)
        held = CommittedAnswers(self._services.metadata, connection, out[first:])
        del out[first:]
        held.wait(waiting, self._services.timer)
        connection.hold(held)

    def _flush(self, touched: Iterable[Partition]) -> dict[Partition, ApiError]:
        """Write what is staged for these partitions; those for which the disk failed, or was full."""
        failed: dict[Partition, ApiError] = {}
        for partition in touched:
            try:
                partition.flush()
            except ApiError as error:
                self._replicas.disk_failed(partition)
                failed[partition] = error
        return failed

    # -- the general path --

    def request(
        self, connection: ProduceConnection, frame: memoryview, position: int, context: RequestContext
    ) -> bytes | Deferred[bytes | None] | None:
        """Answer any Produce request."""
        if connection.staged:
            self.finish_batch(connection)
        request, end = decode_request(ProduceRequest, frame, context.version, position)
        items = self._items(request, context)
        refuse(self._services, request, items, context)
        if request.transactional_id is not None:
            verified = self._verify(request, request.transactional_id, items, context)
            if verified is not None:
                return self._append_verified(request, items, verified, context)
        now_ms = self._now_ms()
        looks = self._long_looks(items, now_ms)
        if looks and self._services.run_blocking is not None:
            return self._append_later(request, items, looks, context, now_ms)
        self._append(request, items, context, now_ms)
        if end == len(frame) and len(items) == 1 and items[0].result is not None:
            self._learn(connection, frame, request, items[0], context.version)
        return self._finish(request, items, context)

    def _verify(
        self, request: ProduceRequest, transactional_id: str, items: list[Item], context: RequestContext
    ) -> Deferred[None] | None:
        """Ask the coordinator where that is needed; None: there is nothing to wait for (any more)."""
        transactional = []
        for item in items:
            if item.error is None and is_transactional(item.records):
                try:
                    self._check(request, item, context)
                    transactional.append(item)
                except ApiError as error:
                    item.fail(error)
        if not transactional:
            return None
        return verify(self._services, transactional_id, transactional, context.version)

    def _append_verified(
        self,
        request: ProduceRequest,
        items: list[Item],
        verified: Deferred[None],
        context: RequestContext,
    ) -> Deferred[bytes | None]:
        """Append when the coordinator has answered."""
        for item in items:
            if item.records is not None:
                item.records = bytes(item.records)  # the connection uses the frame's memory again
        answer: Deferred[bytes | None] = Deferred()

        def go_on(done: Deferred[None]) -> None:
            if answer.done:
                return
            try:
                done.result()
                now_ms = self._now_ms()
                looks = self._long_looks(items, now_ms)
                if looks and self._services.run_blocking is not None:
                    chain(self._append_later(request, items, looks, context, now_ms), answer)
                    return
                self._append(request, items, context, now_ms)
                chain(self._finish(request, items, context), answer)
            except Exception as problem:
                answer.fail(problem)

        verified.then(go_on)
        return answer

    def _long_looks(self, items: list[Item], now_ms: int) -> dict[Item, BatchLook]:
        """What the log would have to look into for long, on topics that want every record checked."""
        looks: dict[Item, BatchLook] = {}
        for item in items:
            if item.error is None and item.records is not None and is_long_look(item.records):
                try:
                    log = self._replicas.led(item.name, item.index).online_log()
                except ApiError:
                    continue
                if log.long_look(item.records, now_ms) is not None:
                    item.records = bytes(item.records)  # the connection uses the frame's memory again
                    look = log.long_look(item.records, now_ms)
                    assert look is not None
                    looks[item] = look
        return looks

    def _append_later(
        self,
        request: ProduceRequest,
        items: list[Item],
        looks: dict[Item, BatchLook],
        context: RequestContext,
        now_ms: int,
    ) -> Deferred[bytes | None]:
        """Look in a thread, so that a batch of a million records, or a bomb, holds nobody else up."""
        for item in items:
            if item.records is not None:
                item.records = bytes(item.records)
        answer: Deferred[bytes | None] = Deferred()

        def looked(error: BaseException | None) -> None:
            if answer.done:
                return
            try:
                if error is not None:
                    raise error
                self._append(request, items, context, now_ms, looks)
                chain(self._finish(request, items, context), answer)
            except Exception as problem:
                answer.fail(problem)

        def look() -> None:
            for each in looks.values():
                each.run()

        assert self._services.run_blocking is not None
        self._services.run_blocking(look, looked)
        return answer

    def _finish(
        self, request: ProduceRequest, items: list[Item], context: RequestContext
    ) -> bytes | Deferred[bytes | None] | None:
        """Answer what was appended, now or when it is committed."""
        if request.acks == 0:
            count_errors(items, self._stats, self._topic_stats)
            close_on_error(items)
            return None
        waiting = [item for item in items if item.is_uncommitted] if request.acks == -1 else []
        if waiting:
            return self._answer_when_committed(request, items, waiting, context)
        unsynced = [item for item in items if item.waits_for_sync]
        if unsynced:
            return self._answer_when_synced(items, unsynced, context)
        return self._answer(items, context)

    def _items(self, request: ProduceRequest, context: RequestContext) -> list[Item]:
        """The request's partitions in its order, those refused at first sight with their error."""
        image = self._services.metadata.image
        items: list[Item] = []
        by_id = context.version >= 13
        for topic in request.topic_data:
            known = image.topics.by_id(bytes(topic.topic_id)) if by_id else image.topics.get(topic.name)
            name = known.name if known is not None else topic.name
            for data in topic.partition_data:
                item = Item(name, bytes(topic.topic_id), data.index, data.records)
                items.append(item)
                if known is None:
                    unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    item.fail(ApiError(unknown))
                elif not 0 <= data.index < len(known.partitions):
                    item.fail(ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if request.transactional_id is None and any(is_transactional(item.records) for item in items):
            for item in items:
                item.fail(ApiError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED))
        return items

    def _append(
        self,
        request: ProduceRequest,
        items: list[Item],
        context: RequestContext,
        now_ms: int,
        looks: Mapping[Item, BatchLook] = _NO_LOOKS,
    ) -> None:
        touched: dict[Partition, None] = {}
        refused = context.connection.refused
        for item in items:
            self._topic_stats.of(item.name).produce_requests += 1
            if item.error is not None:
                continue
            try:
                self._check(request, item, context)
                partition = self._replicas.led(item.name, item.index)
                item.partition = partition
                if refused:
                    refused.check(item)
                records = item.records or b""
                item.result = partition.append(
                    records, now_ms, AppendOrigin.CLIENT, request.acks, looks.get(item)
                )
                touched[partition] = None
            except ApiError as error:
                item.fail(error)
        failed = self._flush(touched)
        for item in items if failed else ():
            if item.partition in failed:
                item.fail(failed[item.partition])
        note_refused(context.connection, items)

    def _check(self, request: ProduceRequest, item: Item, context: RequestContext) -> None:
        """What is refused before the log is asked. Raises ApiError."""
        records = item.records
        if records is None:
            raise ApiError(ErrorCode.INVALID_RECORD)
        if context.version < 7 and codec_of(records) == ZSTD:
            first_batch(memoryview(records))
            raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if request.acks not in (-1, 0, 1):
            the_one_batch(memoryview(records))
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
        if item.name in INTERNAL_TOPICS and context.client_id != _ADMIN_CLIENT:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION)

    # -- answers --

    def _answer(self, items: list[Item], context: RequestContext) -> bytes:
        count_errors(items, self._stats, self._topic_stats)
        response = response_of(items, context.version)
        if context.version >= 10 and any(item.error in WRONG_LEADER for item in items):
            name_leaders(response, items, self._services.metadata.image, context.listener_name)
        return encode_answer(response, context.version, context.correlation_id)

    def _answer_when_synced(
        self, items: list[Item], unsynced: list[Item], context: RequestContext
    ) -> Deferred[bytes | None]:
        """flush.messages: the answer comes when the records are durable."""
        answer: Deferred[bytes | None] = Deferred()
        logs = [item.partition.online_log() for item in unsynced if item.partition is not None]

        def done(lost: Mapping[Log, OSError | StorageError]) -> None:
            for item, log in zip(unsynced, logs):
                if log in lost or log.directory.offline:
                    item.fail(why_lost(lost.get(log)))
            answer.resolve(self._answer(items, context))

        self._replicas.syncs.when_synced(logs, done)
        return answer

    def _answer_when_committed(
        self, request: ProduceRequest, items: list[Item], waiting: list[Item], context: RequestContext
    ) -> Deferred[bytes | None]:
        """acks=-1 with followers: the answer comes when every record is committed, or at the timeout."""
        answer: Deferred[bytes | None] = Deferred()

        def finish(errors: list[ErrorCode]) -> None:
            timeout.cancel()
            for item, code in zip(waiting, errors):
                if code is not ErrorCode.NONE:
                    item.fail(ApiError(code))
            answer.resolve(self._answer(items, context))

        delayed = DelayedProduce(len(waiting), finish)
        timeout = self._services.timer.call_later(max(request.timeout_ms, 0), delayed.expire)
        answer.on_cancel = timeout.cancel
        for position, item in enumerate(waiting):
            partition, result = item.partition, item.result
            assert partition is not None
            assert result is not None
            partition.when_committed(result.last_offset).then(
                lambda done, at=position, of=partition: delayed.settle(at, commit_error(done, of))  # type: ignore[misc]
            )
        return answer

    def _learn(
        self,
        connection: ProduceConnection,
        frame: memoryview,
        request: ProduceRequest,
        item: Item,
        version: int,
    ) -> None:
        """Recognise requests like this one by their prefix from now on."""
        if item.records is None or item.partition is None:
            return
        length = len(item.records)
        if version >= FLEXIBLE_SINCE:
            prefix_end = len(frame) - len(TAIL) - length - uvarint_size(length + 1)
        else:
            prefix_end = len(frame) - length - 4
        if records_bounds(frame, prefix_end, len(frame), version) is None or item.name in INTERNAL_TOPICS:
            return
        cache = connection.produce_cache
        if cache is None or cache.version != version:
            cache = connection.produce_cache = PrefixCache(version)
            connection.staged = []
        if _PRODUCE not in connection.fast:  # also after a session that ended and was renewed
            connection.fast = {**connection.fast, _PRODUCE: self.fast}
        if self._services.authorizer is not None:
            if request.transactional_id is not None and not is_transactional(item.records):
                return  # nobody has looked whether it may be used
            self._services.authorizer.learned(connection)
        prefix = bytes(frame[8:prefix_end])
        known = cache.by_bytes.get(prefix)
        if known is not None and known.partition is item.partition:
            return  # it came here as its transaction was not open yet
        in_transactions = request.transactional_id is not None
        meaning = Prefix(
            item.partition,
            request.acks,
            version,
            item.name,
            item.topic_id,
            item.index,
            in_transactions,
            request.timeout_ms,
            prefix[: 2 + max(_CLIENT_ID.unpack_from(prefix)[0], 0)],
        )
        cache.learn(prefix, meaning)
