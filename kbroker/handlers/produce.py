"""Produce (0): append record batches.

Versions: 3 (0.11) transactional id, format 2 · 4 storage errors · 5 log start offset · 7 zstd (KIP-110) ·
8 record errors (KIP-467) · 9 flexible · 10 leader and endpoints on errors (KIP-951) · 11 transaction errors
that abort (KIP-890) · 12 transactions add partitions by themselves · 13 topic ids (KIP-516).

A raw path: any request, of any number of partitions. What is recognised goes by `produce_known.py` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kbroker.broker.blocking import when_run
from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.produce_access import check_internal, refuse
from kbroker.handlers.produce_answer import (
    WRONG_LEADER,
    Item,
    close_on_error,
    count_errors,
    encode_answer,
    name_leaders,
    response_of,
)
from kbroker.handlers.produce_batch import ZSTD, codec_of, is_transactional
from kbroker.handlers.produce_held import answer_when_committed, answer_when_synced
from kbroker.handlers.produce_known import KnownProduces
from kbroker.handlers.produce_refused import note_refused
from kbroker.handlers.produce_txn import verify
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.generated.produce_request import ProduceRequest
from kbroker.protocol.releases import asked_release
from kbroker.storage.append_checks import first_batch, may_be_long_look, the_one_batch
from kbroker.storage.log import AppendOrigin

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.produce_prefix import ProduceConnection
    from kbroker.storage.append_checks import BatchLook

VERSIONS = (3, 13)

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
        self._stats = services.requests.of("Produce")
        self._topic_stats = services.replicas.topic_stats
        self._known = KnownProduces(services)
        #: Writes what frames of one read have staged.
        self.finish_batch = self._known.finish_batch

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
                for item in items:
                    item.own_records()
                return verified.lead_to(lambda _: self._append_and_answer(request, items, context))
        answer = self._append_and_answer(request, items, context)
        if end == len(frame) and len(items) == 1 and items[0].result is not None:
            self._known.learn(connection, frame, request, items[0], context.version)
        return answer

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

    def _append_and_answer(
        self, request: ProduceRequest, items: list[Item], context: RequestContext
    ) -> bytes | Deferred[bytes | None] | None:
        """A thread looks first where that takes long: a batch of a million records, or a bomb, holds nobody
        else up.
        """
        now_ms = self._now_ms()
        looks = self._long_looks(items, now_ms)
        run_blocking, run_look = self._services.run_blocking, self._services.run_look
        if not looks or run_blocking is None:
            self._append(request, items, context, now_ms)
            return self._finish(request, items, context)
        for item in items:
            item.own_records()

        def look() -> None:
            for each in looks.values():
                run_look(each)

        def go_on(_: None) -> bytes | Deferred[bytes | None] | None:
            self._append(request, items, context, now_ms, looks)
            return self._finish(request, items, context)

        return when_run(run_blocking, look).lead_to(go_on)

    def _long_looks(self, items: list[Item], now_ms: int) -> dict[Item, BatchLook]:
        """What the log would have to look into for long, on topics that want every record checked."""
        looks: dict[Item, BatchLook] = {}
        for item in items:
            if item.error is None and item.records is not None and may_be_long_look(item.records):
                try:
                    log = self._replicas.led(item.name, item.index).online_log()
                except ApiError:
                    continue
                look = log.long_look(item.records, now_ms)
                if look is not None:
                    item.own_records()
                    looks[item] = look.of(memoryview(item.records))
        return looks

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
        failed = self._replicas.flush(touched)
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
        if item.name in INTERNAL_TOPICS:
            check_internal(context)

    def _finish(
        self, request: ProduceRequest, items: list[Item], context: RequestContext
    ) -> bytes | Deferred[bytes | None] | None:
        """Answer what was appended, now or when it is committed."""
        if request.acks == 0:
            count_errors(items, self._stats, self._topic_stats)
            close_on_error(items)
            return None
        if request.acks == -1:
            waiting = [item for item in items if item.is_uncommitted]
            if waiting:
                return answer_when_committed(
                    waiting, self._services.timer, request.timeout_ms, lambda: self._answer(items, context)
                )
        else:
            waiting = [item for item in items if item.waits_for_sync]
            if waiting:
                return answer_when_synced(waiting, self._replicas.syncs, lambda: self._answer(items, context))
        return self._answer(items, context)

    def _answer(self, items: list[Item], context: RequestContext) -> bytes:
        count_errors(items, self._stats, self._topic_stats)
        response = response_of(items, context.version)
        if context.version >= 10 and any(item.error in WRONG_LEADER for item in items):
            name_leaders(response, items, self._services.metadata.image, context.listener_name)
        return encode_answer(response, context.version, context.correlation_id)
