"""Produce requests that are recognised by their bytes: staged as they come, written once a read.

What the general path (`produce.py`) has accepted is learned (`produce_prefix.py`); its like is staged
at once, and its answer packed. When all Produce frames of one read are staged, `finish_batch` writes each
touched partition once, and only then do the answers leave: they are already in the connection's output, and
are replaced when the write fails, or held back (`produce_held.py`) until the disk is synced or the followers
have copied.
"""

from __future__ import annotations

from functools import partial
from struct import Struct
from typing import TYPE_CHECKING

from kbroker.errors import ApiError
from kbroker.handlers.produce_batch import (
    ATTRIBUTES_AT,
    CODEC_BITS,
    PRODUCER,
    PRODUCER_AT,
    TRANSACTIONAL_BIT,
    ZSTD,
    is_transactional,
)
from kbroker.handlers.produce_held import CommittedAnswers, HeldAnswers, HeldProduce, replace_answers
from kbroker.handlers.produce_prefix import (
    FLEXIBLE_SINCE,
    TAIL,
    Prefix,
    PrefixCache,
    ProduceConnection,
    records_bounds,
    uvarint_size,
)
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.storage.append_checks import is_long_look
from kbroker.storage.log import AppendOrigin

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.produce_answer import Item
    from kbroker.protocol.generated.produce_request import ProduceRequest
    from kbroker.storage.log import Log

_PRODUCE = 0
_CLIENT = AppendOrigin.CLIENT
_LEAD = Struct(">ii")
#: Its length.
_CLIENT_ID = Struct(">h")
#: Uncompressed batches up to this size have too few records to be a long look.
_INLINE_BYTES_MAX = 2 * 1024


class KnownProduces:
    """Takes frames of connections that have sent their like before, for all connections of a node."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._replicas = services.replicas
        self._now_ms = services.clock.now_ms
        self._requests = services.requests
        self._stats = services.requests.of("Produce")

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
            meaning.in_transactions
            and log.producers.has_open_txn(*PRODUCER.unpack_from(records, PRODUCER_AT))
        ):
            return None
        now_ms = self._now_ms()
        look = None
        if attributes & CODEC_BITS or len(records) > _INLINE_BYTES_MAX:
            if not is_long_look(records):
                look = partial(log.looked_into_here, records, now_ms)
            elif log.long_look(records, now_ms) is not None:
                return None
        try:
            base, _, append_time, log_start, _ = log.append_as_leader(
                records, state.leader_epoch, now_ms, _CLIENT, look
            )
        except ApiError:
            return None
        connection.staged.append(meaning)
        connection.frame_size = end - start + 8
        if meaning.acks == 0:
            return b""
        return meaning.pack(correlation_id, base, append_time, log_start)

    def learn(
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

    # -- once a read --

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
            failed = self._replicas.flush(touched)
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
        failed = self._replicas.flush(now)
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
        failed = self._replicas.flush(touched)
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

    # -- counting --

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
