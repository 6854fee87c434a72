"""Produce (0) before version 3: message sets of magic 0 and 1, stored as one batch of magic 2.

Versions: 1 (0.9) throttle time · 2 (0.10) timestamps (KIP-32), the time of the append in the answer.

The path of `produce.py`, with a conversion before the append; a large set is converted in a thread, so that
it holds nobody up. Kafka 4 refuses these versions; the answers are those of 3.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.broker.blocking import when_run
from kbroker.errors import ApiError, ErrorCode, to_keep
from kbroker.handlers.produce import ProducePath
from kbroker.handlers.produce_access import check_internal, refuse
from kbroker.metadata.image import INTERNAL_TOPICS
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.compression import CODEC_NAMES, Codec
from kbroker.protocol.generated.produce_request import ProduceRequest
from kbroker.protocol.record_batch import MAX_DECOMPRESSED_BYTES, unpacked_bytes_max
from kbroker.protocol.up_convert import up_convert
from kbroker.storage.log import AppendOrigin

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.partition import Partition
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.produce_answer import Item
    from kbroker.handlers.produce_prefix import ProduceConnection
    from kbroker.storage.log_config import LogConfig

VERSIONS = (0, 2)

#: Requests with more bytes of records, or whose records unpack to more, are converted in a thread.
INLINE_BYTES_MAX = 64 * 1024
INLINE_UNPACKED_MAX = 256 * 1024


def raw_path(services: Services) -> LegacyProducePath:
    """The path of this node."""
    return LegacyProducePath(services)


class LegacyProducePath(ProducePath):
    """Takes Produce frames of versions 0 to 2, gives whole answers."""

    def request(
        self, connection: ProduceConnection, frame: memoryview, position: int, context: RequestContext
    ) -> bytes | Deferred[bytes | None] | None:
        """Convert, then go the way of every Produce."""
        if connection.staged:
            self.finish_batch(connection)
        request, _ = decode_request(ProduceRequest, frame, context.version, position)
        items = self._items(request, context)
        refuse(self._services, request, items, context)
        jobs = [job for item in items if (job := self._job(request, item, context)) is not None]
        run_blocking = self._services.run_blocking
        if run_blocking is None or (
            sum(len(job.records) for job in jobs) <= INLINE_BYTES_MAX and _convert(jobs, INLINE_UNPACKED_MAX)
        ):
            _convert(jobs)
            self._append_converted(request, jobs)
            return self._finish(request, items, context)
        for job in jobs:
            job.records = bytes(job.records)  # the connection uses the frame's memory again

        def converted(_: None) -> bytes | Deferred[bytes | None] | None:
            self._append_converted(request, jobs)
            return self._finish(request, items, context)

        return when_run(run_blocking, lambda: _convert(jobs)).lead_to(converted)

    def _job(self, request: ProduceRequest, item: Item, context: RequestContext) -> _Job | None:
        """What is to be done for one partition; None if it is refused at once."""
        if item.error is not None:
            return None
        try:
            if request.acks not in (-1, 0, 1):
                raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
            if item.name in INTERNAL_TOPICS:
                check_internal(context)
            partition = self._replicas.led(item.name, item.index)
            return _Job(item, partition, partition.online_log().config)
        except ApiError as error:
            item.fail(error)
            return None

    def _append_converted(self, request: ProduceRequest, jobs: list[_Job]) -> None:
        now_ms = self._now_ms()
        touched: dict[Partition, None] = {}
        for job in jobs:
            item, partition, batch = job.item, job.partition, job.batch
            if job.error is not None:
                item.fail(job.error)
            if job.error is not None or batch is None:
                continue
            item.partition = partition
            partition.stats.produce_requests += 1
            try:
                result = item.result = partition.append(batch, now_ms, AppendOrigin.CLIENT, request.acks)
                partition.stats.conversions_produce += result.last_offset - result.base_offset + 1
                touched[partition] = None
            except ApiError as error:
                item.fail(error)
        failed = self._replicas.flush(touched)
        for job in jobs:
            if job.partition in failed:
                job.item.fail(failed[job.partition])


class _Job:
    """The records of one partition, to be converted (`batch` is None where there are none)."""

    __slots__ = ("batch", "config", "error", "is_done", "item", "partition", "records")

    def __init__(self, item: Item, partition: Partition, config: LogConfig) -> None:
        self.item = item
        self.partition = partition
        self.config = config
        self.records: bytes | memoryview = item.records or b""
        self.batch: bytes | memoryview | None = None
        self.is_done = False
        self.error: ApiError | None = None


def _convert(jobs: list[_Job], max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bool:
    """Convert what is not converted yet; False if something would be too large.

    Touches nothing but the jobs: it may run in a thread.
    """
    for job in jobs:
        if job.is_done:
            continue
        config = job.config
        try:
            job.batch = up_convert(
                memoryview(job.records),
                config.max_message_bytes,
                codec=_codec(config.compression_type),
                level=getattr(config, f"compression_{config.compression_type}_level", None),
                append_time=config.message_timestamp_type != "CreateTime",
                max_bytes=min(max_bytes, unpacked_bytes_max(len(job.records), config.max_message_bytes)),
            )
        except ApiError as error:
            if error.code is ErrorCode.MESSAGE_TOO_LARGE and max_bytes < MAX_DECOMPRESSED_BYTES:
                return False
            job.error = to_keep(error)
        job.is_done = True
    return True


def _codec(compression_type: str) -> int | None:
    """What a topic's `compression.type` wants; None: what the producer chose."""
    if compression_type == "producer":
        return None
    return CODEC_NAMES.get(compression_type, Codec.NONE)
