"""Fetch (1) before version 4: batches of magic 2 leave as messages of magic 0 or 1.

Versions: 0 magic 0 · 1 (0.9) throttle time · 2 (0.10) magic 1 · 3 a limit for the whole answer (KIP-74).

Kafka 4 refuses these versions; the answers are those of 3.9, except that a consumer always gets on. Where a
partition's limit is smaller than its next batch, Kafka answers nothing; here the batch is sent whole. Where
only transaction markers are left, it answers at once without a message, again and again; here it waits.

A parked Fetch holds no data. Reading and converting happens when it answers; what is large is converted in a
thread, and no answer has more than `ANSWER_BYTES_MAX` (one batch apart).
"""

from __future__ import annotations

from collections.abc import Hashable
from struct import Struct
from typing import TYPE_CHECKING

from kbroker.broker.deferred import Deferred
from kbroker.broker.fetch_session import FetchedPartition
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.fetch_access import ReadAccess
from kbroker.handlers.fetch_read import PartitionRead, PartitionReader
from kbroker.protocol.bounded_decode import decode_request
from kbroker.protocol.down_convert import down_convert
from kbroker.protocol.generated.fetch_request import FetchRequest
from kbroker.protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kbroker.protocol.record_batch import MAX_DECOMPRESSED_BYTES, iter_batches
from kbroker.protocol.releases import asked_release
from kbroker.replication.delayed_fetch import DelayedFetch
from kbroker.security.authorizer import Undecided

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.handlers.fetch import FetchConnection

VERSIONS = (0, 3)

#: Answers made of more bytes of the log, or of batches that unpack to more, are converted in a thread.
INLINE_BYTES_MAX = 64 * 1024
INLINE_UNPACKED_MAX = 256 * 1024
#: The most bytes of the log that one answer is made of. Old consumers set no limit for the whole answer.
ANSWER_BYTES_MAX = 8 * 1024 * 1024

_MAGIC_1_SINCE, _ONE_LIMIT_SINCE = 2, 3
_SIZE_AND_CORRELATION = Struct(">ii")


def raw_path(services: Services) -> LegacyFetchPath:
    """The path of this node."""
    if asked_release(services.compatibility) is not None:
        from kbroker.handlers.manners.data import converting_reader

        return LegacyFetchPath(services, converting_reader(services))
    return LegacyFetchPath(services)


class LegacyFetchPath:
    """Takes Fetch frames of versions 0 to 3, gives whole answers."""

    def __init__(self, services: Services, reader_type: type[PartitionReader] = PartitionReader) -> None:
        self._services = services
        self._reader_type = reader_type
        self._turn = 0

    def request(
        self, connection: FetchConnection, frame: bytes, position: int, context: RequestContext
    ) -> bytes | Deferred[bytes]:
        """Answer now, or when there is enough."""
        request, _ = decode_request(FetchRequest, frame, context.version, position)
        self._turn += 1
        fetch = _LegacyFetch(self._services, request, context, self._turn, self._reader_type)
        answer = fetch.answer_or_park()
        stats = self._services.requests.of("FetchConsumer" if request.replica_id < 0 else "FetchFollower")
        if not self._services.requests.timed:
            stats.versions[context.version] += 1
        elif isinstance(answer, Deferred):
            connection.waiting = stats.wait(context.version, len(frame), connection.began_s)
        else:
            stats.done_one(context.version, len(frame), connection.began_s)
        return answer


class _Part:
    """One partition on its way into the answer."""

    __slots__ = ("data", "error", "next_offset", "read", "seen_end", "wanted")

    def __init__(self, wanted: FetchedPartition) -> None:
        self.wanted = wanted
        self.read = PartitionRead(wanted)
        self.data = b""
        self.error = ErrorCode.NONE
        #: Where reading goes on if nothing that was read is for consumers; None: there is something, or
        #: nothing more.
        self.next_offset: int | None = None
        #: The readable end when the last look found nothing for consumers.
        self.seen_end = -1


class _LegacyFetch:
    """One request on its way."""

    __slots__ = ("_answer", "_bytes_max", "_context", "_parts", "_reader", "_request", "_services", "_turn")

    def __init__(
        self,
        services: Services,
        request: FetchRequest,
        context: RequestContext,
        turn: int,
        reader_type: type[PartitionReader],
    ) -> None:
        self._services = services
        self._request = request
        self._context = context
        self._turn = turn
        may_read = None
        if services.authorizer is not None:
            may_read = ReadAccess(services.authorizer, context, request.replica_id)
        self._reader = reader_type(
            services.metadata, services.replicas, request.replica_id, False, may_read=may_read
        )
        limit = request.max_bytes if context.version >= _ONE_LIMIT_SINCE else ANSWER_BYTES_MAX
        self._bytes_max = max(min(limit, services.fetch_bytes_max, ANSWER_BYTES_MAX), 0)
        # A partition that is named twice is read once, as it was named last.
        parts = {
            (topic.topic, partition.partition): _Part(FetchedPartition(topic.topic, bytes(16), partition))
            for topic in request.topics
            for partition in topic.partitions
        }
        self._parts = list(parts.values())
        self._answer: Deferred[bytes] = Deferred()

    def answer_or_park(self) -> bytes | Deferred[bytes]:
        """Read; answer unless there is too little and time to wait."""
        self._read_all()
        if self._must_answer():
            self._convert(may_park=True)
        else:
            self._park()
        return self._answer.result() if self._answer.done else self._answer

    # -- waiting --

    def _must_answer(self) -> bool:
        if self._request.max_wait_ms <= 0 or not any(not part.read.is_unknown for part in self._parts):
            return True
        size = 0
        for part in self._parts:
            if part.read.error is not ErrorCode.NONE and not part.read.is_unknown:
                return True
            size += part.read.size
        return size >= self._request.min_bytes

    def _park(self) -> None:
        purgatory = self._services.replicas.fetches
        parts: dict[Hashable, _Part] = {
            (part.wanted.topic, part.wanted.partition): part
            for part in self._parts
            if not part.read.is_unknown
        }
        readable: dict[Hashable, int] = {
            key: 0 if part.seen_end >= 0 else part.read.size for key, part in parts.items()
        }
        for part in parts.values():
            part.read = PartitionRead(part.wanted)
        operation = DelayedFetch(
            self._request.min_bytes, readable, lambda key: self._probe(parts[key]), self._finish
        )
        purgatory.park(operation, parts, self._request.max_wait_ms)
        self._answer.on_cancel = lambda: purgatory.remove(operation)

    def _probe(self, part: _Part) -> int | None:
        partition = part.wanted.served_by
        if part.seen_end >= 0 and partition is not None and partition.leader_state is not None:
            if partition.high_watermark <= part.seen_end:
                return 0
            part.seen_end = -1
        return self._reader.readable_bytes(part.wanted, self._request.min_bytes)

    def _finish(self) -> None:
        self._answer.on_cancel = None
        try:
            self._read_all()
        except Undecided as undecided:
            authorizer = self._services.authorizer
            assert authorizer is not None
            assert authorizer.ask is not None
            authorizer.ask(undecided.questions).then(lambda _: self._finish())
            return
        self._convert(may_park=False)

    # -- reading --

    def _read_all(self) -> None:
        left, min_one = self._bytes_max, True
        one_limit = self._context.version >= _ONE_LIMIT_SINCE
        # Without a limit of its own for the answer an old consumer asks in the same order each time: begin
        # elsewhere each time, so that the partitions behind are not left out for ever.
        start = 0 if one_limit or not self._parts else self._turn % len(self._parts)
        for part in self._parts[start:] + self._parts[:start]:
            wanted = part.wanted
            part.read = self._reader.read(wanted, max(min(wanted.bytes_max, left), 0), min_one)
            part.error = part.read.error
            self._refuse_zstd_topic(part)
            if part.read.size:
                left = max(left - part.read.size, 0)
                min_one = not one_limit and left > 0

    def _refuse_zstd_topic(self, part: _Part) -> None:
        """A topic that is kept in zstd has nothing for old consumers, whatever lies in it (KIP-110)."""
        partition = part.wanted.served_by
        if part.error is not ErrorCode.NONE or partition is None or partition.log is None:
            return
        if partition.log.config.compression_type == "zstd":
            part.read = PartitionRead(part.wanted, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
            part.error = part.read.error

    # -- converting --

    def _convert(self, *, may_park: bool) -> None:
        """Convert what was read, here or in a thread, then answer."""
        parts = [part for part in self._parts if part.read.slice is not None]
        magic = 1 if self._context.version >= _MAGIC_1_SINCE else 0
        run_blocking = self._services.run_blocking
        if run_blocking is None or (
            sum(part.read.size for part in parts) <= INLINE_BYTES_MAX
            and _convert_parts(parts, magic, INLINE_UNPACKED_MAX)
        ):
            _convert_parts(parts, magic)
            self._converted(parts, may_park)
            return

        def done(error: BaseException | None) -> None:
            if error is not None:
                self._answer.fail(error)
            elif not self._answer.done:
                self._converted(parts, may_park)

        run_blocking(lambda: _convert_parts(parts, magic), done)

    def _converted(self, parts: list[_Part], may_park: bool) -> None:
        more = [part for part in parts if part.next_offset is not None and self._read_on(part)]
        if more:
            self._convert(may_park=may_park)
            return
        nothing = not any(part.data or part.error is not ErrorCode.NONE for part in self._parts)
        if may_park and nothing and self._request.max_wait_ms > 0 and self._request.min_bytes > 0:
            self._park()
        else:
            self._answer.resolve(self._encode())

    def _read_on(self, part: _Part) -> bool:
        """Read behind transaction markers; whether there is something."""
        next_offset, part.next_offset = part.next_offset, None
        wanted, asked = part.wanted, part.wanted.fetch_offset
        assert next_offset is not None
        wanted.fetch_offset = next_offset
        read = self._reader.read(wanted, max(min(wanted.bytes_max, self._bytes_max), 0), True)
        wanted.fetch_offset = asked
        if read.error is not ErrorCode.NONE or read.slice is None:
            part.seen_end = next_offset
            return False
        part.read = read
        return True

    # -- the answer --

    def _encode(self) -> bytes:
        topics: list[FetchableTopicResponse] = []
        for part in self._parts:
            name = part.wanted.topic or ""
            stats = self._services.replicas.topic_stats.of(name)
            stats.fetch_requests += 1
            stats.failed_fetch += part.error is not ErrorCode.NONE
            stats.bytes_out += len(part.data)
            stats.conversions_fetch += bool(part.data)
            if not topics or topics[-1].topic != name:
                topics.append(FetchableTopicResponse(topic=name))
            topics[-1].partitions.append(_partition(part))
        out = bytearray(8)
        FetchResponse(responses=topics).encode_into(out, self._context.version)
        _SIZE_AND_CORRELATION.pack_into(out, 0, len(out) - 4, self._context.correlation_id)
        return bytes(out)


def _convert_parts(parts: list[_Part], magic: int, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> bool:
    """Convert what is not converted yet; False if a batch would unpack to more.

    Touches nothing but the parts: it may run in a thread.
    """
    for part in parts:
        file_slice = part.read.slice
        if file_slice is None:
            continue
        try:
            raw = file_slice.read()
            part.data = down_convert(raw, magic, part.wanted.fetch_offset, part.read.size, max_bytes)
            if not part.data:
                part.next_offset = max((batch.next_offset for batch in iter_batches(raw)), default=None)
        except ApiError as error:
            if error.code is ErrorCode.MESSAGE_TOO_LARGE and max_bytes < MAX_DECOMPRESSED_BYTES:
                return False
            refused = (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, ErrorCode.MESSAGE_TOO_LARGE)
            part.error = error.code if error.code in refused else ErrorCode.CORRUPT_MESSAGE
        except OSError:
            part.error = ErrorCode.KAFKA_STORAGE_ERROR
        part.read.slice = None
    return True


def _partition(part: _Part) -> PartitionData:
    error = part.error
    if error is ErrorCode.NONE:
        return PartitionData(
            partition_index=part.wanted.partition,
            high_watermark=part.read.high_watermark,
            records=part.data,
        )
    if error is ErrorCode.KAFKA_STORAGE_ERROR:
        error = ErrorCode.NOT_LEADER_OR_FOLLOWER
    records = None if error is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE else b""
    return PartitionData(
        partition_index=part.wanted.partition, error_code=error, high_watermark=-1, records=records
    )
