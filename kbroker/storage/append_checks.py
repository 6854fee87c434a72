"""What a leader checks and changes in a batch beyond its header: only for topics or batches that demand it.

The hot path in `leader_append.py` decides by the header; here is everything that has to look at records (keys
of a compacted topic, timestamps, another codec), and the exact errors for bytes that are not the one batch a
client may send.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kbroker.errors import ApiError, ErrorCode, to_keep
from kbroker.plain import as_dict
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    CREATE_TIME,
    LOG_APPEND_TIME,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    CorruptBatch,
    InvalidRecord,
    build_batch,
    check_record_count,
    decode_records,
    iter_batches,
    parse_batch_header,
    recompress,
    scan_records,
    set_max_timestamp,
    uncompressed_payload,
    unpacked_bytes_max,
)
from kbroker.protocol.record_codec import RECORD_BYTES_MAX
from kbroker.protocol.record_validation import validate_client_header
from kbroker.storage.disk import Buffer
from kbroker.storage.log_config import MAX_LONG, LogConfig
from kbroker.types import TopicPartition

_CODECS = {
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
    "uncompressed": Codec.NONE,
}


#: Offsets in a batch: the attributes' lower byte, the number of records.
_ATTRIBUTES_LOW, _COUNT = 22, 57
#: What is looked into at once, in a third of a millisecond: so many records, or a packed batch up to this
#: size that unpacks to no more than so much.
_RECORDS_MAX = 250
_PACKED_BYTES_MAX = 8 * 1024
_UNPACKED_HERE_MAX = 128 * 1024
#: So many records an answer blames of each kind; Kafka blames all.
_BLAMED_MAX = 10_000


class RecordError(NamedTuple):
    """A record that is to blame: its index in the batch, and why."""

    batch_index: int
    message: str


class AppendError(ApiError):
    """An append that is refused; nothing of it was staged.

    `log_start_offset` is what the Produce answer carries: -1 when the bytes were refused before the log was
    asked.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        log_start_offset: int = -1,
        record_errors: Sequence[RecordError] = (),
        told: bool = False,
    ) -> None:
        super().__init__(code, message)
        self.log_start_offset = log_start_offset
        self.record_errors = tuple(record_errors)
        #: Whether the Produce answer carries the message, as Kafka's does in few cases.
        self.told = told


class RecordErrors(AppendError):
    """Single records are to blame (KIP-467); the whole batch is refused."""


def needs_record_checks(config: LogConfig) -> Sequence[bool]:
    """Whether every batch of the topic has to be looked into or changed, by the codec in its attributes."""
    always = (
        config.compact
        or config.message_timestamp_type != "CreateTime"
        or config.compression_type != "producer"
        or config.message_timestamp_before_max_ms < MAX_LONG
    )
    packed = always or config.max_decompressed_message_bytes < RECORD_BYTES_MAX
    return (always, *[packed] * CODEC_MASK)


def first_batch(records: memoryview) -> BatchHeader:
    """The header of a produced record set's first batch.

    Raises:
        AppendError: INVALID_RECORD if there is none of magic 2; CORRUPT_MESSAGE for bytes that cannot be one.
    """
    try:
        header = next(iter_batches(records), None)
    except CorruptBatch as error:
        raise AppendError(error.code, error.message, told=True) from None
    if header is None:
        raise AppendError(
            ErrorCode.INVALID_RECORD, "Produce requests must have at least one record batch per partition"
        )
    if header.magic != 2:
        raise AppendError(
            ErrorCode.INVALID_RECORD,
            "Produce requests are only allowed to contain record batches with magic version 2",
        )
    return header


def the_one_batch(records: memoryview) -> memoryview:
    """The single batch of magic 2 in a produced record set, without an incomplete tail.

    Raises:
        AppendError: as `first_batch`; INVALID_RECORD if another batch follows, CORRUPT_MESSAGE if something
            that cannot be one does.
    """
    header = first_batch(records)
    try:
        another = next(iter_batches(records, header.end), None)
    except CorruptBatch as error:
        raise AppendError(error.code, error.message) from None
    if another is not None:
        raise AppendError(
            ErrorCode.INVALID_RECORD,
            "Produce requests are only allowed to contain exactly one record batch per partition",
        )
    return records[: header.size]


def not_one_batch(records: memoryview) -> AppendError:
    """The error for bytes that are too few for a header."""
    try:
        the_one_batch(records)
    except AppendError as error:
        return error
    return AppendError(ErrorCode.CORRUPT_MESSAGE)


def refuse_header(header: BatchHeader, topic_partition: TopicPartition, log_start_offset: int) -> AppendError:
    """The error for a client's batch whose header breaks a rule, in Kafka's words."""
    message = f"The baseOffset of the record batch should be 0, but it is {header.base_offset}"
    if header.base_offset == 0:
        try:
            validate_client_header(header, topic_partition)
        except InvalidRecord as error:
            message = error.text
    return AppendError(ErrorCode.INVALID_RECORD, message, log_start_offset=log_start_offset)


def check_payload_start(records: Buffer, attributes: int, log_start_offset: int) -> None:
    """A compressed batch must at least begin like its codec does; who reads it would fail on anything else.

    Raises:
        AppendError: INVALID_RECORD.
    """
    codec = attributes & CODEC_MASK
    start = bytes(records[BATCH_OVERHEAD : BATCH_OVERHEAD + 4])
    if codec == Codec.GZIP:
        good = start[:2] == b"\x1f\x8b"
    elif codec == Codec.LZ4:
        good = start == b"\x04\x22\x4d\x18"
    elif codec == Codec.ZSTD:
        # The frame magic, or a skippable frame's.
        good = start == b"\x28\xb5\x2f\xfd" or (start[1:] == b"\x2a\x4d\x18" and start[0] & 0xF0 == 0x50)
    else:
        good = codec == Codec.SNAPPY and len(start) > 0
    if not good:
        raise AppendError(
            ErrorCode.INVALID_RECORD,
            f"The records are not compressed with codec {codec} as the batch says",
            log_start_offset=log_start_offset,
        )


def checked_batch(
    records: memoryview,
    topic_partition: TopicPartition,
    config: LogConfig,
    now_ms: int,
    log_start_offset: int,
    unpacked_max: int = MAX_LONG,
) -> memoryview:
    """The batch as it is to be stored: looked into, stamped and recompressed as the topic's config demands.

    What unpacks to more than `unpacked_max` bytes is MESSAGE_TOO_LARGE.
    The answer is `records` itself if nothing had to change.

    Raises:
        AppendError: INVALID_RECORD, INVALID_TIMESTAMP or MESSAGE_TOO_LARGE.
    """
    try:
        return _checked_batch(records, topic_partition, config, now_ms, log_start_offset, unpacked_max)
    except AppendError:
        raise
    except ApiError as error:
        raise AppendError(error.code, error.message, log_start_offset=log_start_offset) from None


class BatchLook:
    """`checked_batch` for one batch, done beforehand: `run` elsewhere, then a call gives what came out.

    It shares nothing with the log but its configuration, which is not changed but replaced. See `looks.Look`.
    """

    __slots__ = ("_arguments", "_error", "_out")

    def __init__(
        self,
        records: memoryview,
        topic_partition: TopicPartition,
        config: LogConfig,
        now_ms: int,
        log_start_offset: int,
    ) -> None:
        self._arguments = (records, topic_partition, config, now_ms, log_start_offset)
        self._out: memoryview | None = None
        self._error: AppendError | None = None

    @property
    def order(self) -> tuple[Any, Buffer]:
        """See `looks.Look`."""
        records, partition, config, *others = self._arguments
        settings = as_dict(config) | {"cleanup_policy": sorted(config.cleanup_policy)}
        return [*partition, settings, *others], records

    @classmethod
    def of_order(cls, values: Any, records: Buffer) -> BatchLook:
        """What `order` stands for."""
        topic, partition, settings, *others = values
        config = LogConfig(**settings | {"cleanup_policy": frozenset(settings["cleanup_policy"])})
        return cls(memoryview(records), TopicPartition(topic, partition), config, *others)

    @property
    def outcome(self) -> tuple[Any, Buffer | None]:
        """What is wrong with the batch, and the batch, if it is another than the one that is known."""
        error, problem = self._error, None
        if error is not None:
            what = isinstance(error, RecordErrors), error.code, error.message
            problem = [*what, error.log_start_offset, error.record_errors, error.told]
        return problem, None if self._out is self._arguments[0] else self._out

    @outcome.setter
    def outcome(self, outcome: tuple[Any, Buffer | None]) -> None:
        problem, out = outcome
        self._out = self._arguments[0] if out is None else memoryview(out)
        if problem is not None:
            is_of_records, code, message, log_start_offset, errors, told = problem
            self._error = (RecordErrors if is_of_records else AppendError)(
                ErrorCode(code),
                message,
                log_start_offset=log_start_offset,
                record_errors=[RecordError(*each) for each in errors],
                told=told,
            )

    def of(self, records: memoryview) -> BatchLook:
        """The same at another copy of the batch."""
        return BatchLook(records, *self._arguments[1:])

    def run(self) -> None:
        """Look."""
        try:
            self._out = checked_batch(*self._arguments)
        except AppendError as error:
            self._error = to_keep(error)

    def __call__(self) -> memoryview:
        """The batch to store; raises what `checked_batch` raised, once."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error
        return self._out if self._out is not None else checked_batch(*self._arguments)


def short_look(
    records: memoryview,
    topic_partition: TopicPartition,
    config: LogConfig,
    now_ms: int,
    log_start_offset: int,
) -> memoryview:
    """`checked_batch` of what is no long look at first sight; AppendError where it is one all the same."""
    if parse_batch_header(records).size != len(records):
        raise AppendError(ErrorCode.CORRUPT_MESSAGE)
    return checked_batch(records, topic_partition, config, now_ms, log_start_offset, _UNPACKED_HERE_MAX)


def unpacks_to_much(records: Buffer, header: BatchHeader) -> bool:
    """Whether a small packed batch is a long look all the same; found out by trying."""
    try:
        uncompressed_payload(records, header, _UNPACKED_HERE_MAX)
    except ApiError as error:
        return error.code is ErrorCode.MESSAGE_TOO_LARGE
    return False


def may_be_long_look(records: Buffer) -> bool:
    """Whether `is_long_look`, or it has to be tried."""
    return len(records) > BATCH_OVERHEAD and (
        records[_ATTRIBUTES_LOW] & CODEC_MASK != 0 or is_long_look(records)
    )


def is_long_look(records: Buffer) -> bool:
    """Whether looking into the records would hold everybody up, as it seems: they are many, or packed."""
    if len(records) <= BATCH_OVERHEAD:
        return False
    packed = records[_ATTRIBUTES_LOW] & CODEC_MASK
    return (packed != 0 and len(records) > _PACKED_BYTES_MAX) or (
        int.from_bytes(records[_COUNT : _COUNT + 4], "big") > _RECORDS_MAX
    )


def _checked_batch(
    records: memoryview,
    topic_partition: TopicPartition,
    config: LogConfig,
    now_ms: int,
    log_start_offset: int,
    unpacked_max: int,
) -> memoryview:
    header = parse_batch_header(records)
    append_time = config.message_timestamp_type != "CreateTime"
    check_record_count(header)
    newest = _check_records(
        records, header, topic_partition, config, now_ms, log_start_offset, append_time, unpacked_max
    )
    codec = _target_codec(header, config)
    out = records
    if codec != header.codec:
        out = memoryview(_recompressed(records, header, codec, config, append_time))
        header = parse_batch_header(out)
    stamp = now_ms if append_time else newest
    kind = LOG_APPEND_TIME if append_time else CREATE_TIME
    if header.timestamp_type != kind or header.max_timestamp != stamp:
        if out.readonly:
            out = memoryview(bytearray(out))
        set_max_timestamp(out, header, kind, stamp)
    if len(out) > config.max_message_bytes:
        raise AppendError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"Message batch size is {len(out)} bytes after compression, which exceeds the maximum configured "
            f"size of {config.max_message_bytes}.",
        )
    return out


def _recompressed(
    records: memoryview, header: BatchHeader, codec: int, config: LogConfig, append_time: bool
) -> bytes | bytearray:
    if append_time or header.timestamp_type == CREATE_TIME:
        return recompress(records, header, codec, _level(config), _unpacked_max(header, config))
    # The producer stamped the batch as a whole. The topic's batches are not: each record gets that time.
    return build_batch(
        decode_records(records, header, _unpacked_max(header, config)),
        codec=codec,
        level=_level(config),
        leader_epoch=header.leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
    )


def _check_records(
    records: memoryview,
    header: BatchHeader,
    topic_partition: TopicPartition,
    config: LogConfig,
    now_ms: int,
    log_start_offset: int,
    append_time: bool,
    unpacked_max: int,
) -> int:
    """Raises RecordErrors; the largest record timestamp."""
    before, after = config.message_timestamp_before_max_ms, config.message_timestamp_after_max_ms
    stamped = header.attributes & TIMESTAMP_TYPE_BIT != 0
    oldest = None if append_time or before >= MAX_LONG else now_ms - before
    youngest = None if append_time or after >= MAX_LONG else now_ms + after
    limited = header.codec and config.max_decompressed_message_bytes < RECORD_BYTES_MAX
    if append_time and not (config.compact or stamped or limited) and config.compression_type == "producer":
        return header.max_timestamp
    scan = scan_records(
        records,
        header,
        min_timestamp=oldest,
        max_timestamp=youngest,
        max_bytes=min(_unpacked_max(header, config), unpacked_max),
        record_bytes_max=config.max_decompressed_message_bytes,
    )
    newest = scan.max_timestamp
    errors: list[RecordError] = []
    bad_times = scan.bad_timestamps
    if stamped:
        # Every record of such a batch counts as of the batch's time.
        newest = header.max_timestamp
        bad = (oldest is not None and 0 <= newest < oldest) or (youngest is not None and newest > youngest)
        count = min(header.record_count, _BLAMED_MAX) if bad else 0
        bad_times = [(index, newest) for index in range(count)]
        if append_time or newest < 0:
            errors = _stamped_by_the_producer(records, header, config)
    errors += [
        RecordError(
            index,
            f"Timestamp {timestamp} of message with offset {header.base_offset + index} is out of range. The "
            f"timestamp should be within [{_long(now_ms - before)}, {_long(now_ms + after)}]",
        )
        for index, timestamp in bad_times[:_BLAMED_MAX]
    ]
    code = ErrorCode.INVALID_TIMESTAMP
    if config.compact and scan.null_keys:
        # A record without a key is not looked at any further.
        keyless = f"Compacted topic cannot accept message without key in topic partition {topic_partition}"
        without = frozenset(scan.null_keys)
        errors = [error for error in errors if error.batch_index not in without]
        if not errors:
            code = ErrorCode.INVALID_RECORD
        errors += [RecordError(index, keyless) for index in scan.null_keys[:_BLAMED_MAX]]
    if errors:
        errors.sort()
        raise RecordErrors(
            code, _summary(code, errors), log_start_offset=log_start_offset, record_errors=errors, told=True
        )
    return newest


def _stamped_by_the_producer(
    records: memoryview, header: BatchHeader, config: LogConfig
) -> list[RecordError]:
    """LogAppendTime is the broker's business. Kafka shows how it has read the record: without its key and
    value, where the batch is compressed and stays as it is."""
    partial = bool(header.codec) and _target_codec(header, config) == header.codec
    kind, absent = ("PartialDefaultRecord", -1) if partial else ("DefaultRecord", 0)
    return [
        RecordError(
            index,
            f"Invalid timestamp type in message {kind}(offset={record.offset}, "
            f"timestamp={record.timestamp}, key={absent if record.key is None else len(record.key)} bytes, "
            f"value={absent if record.value is None else len(record.value)} bytes). "
            "Producer should not set timestamp type to LogAppendTime.",
        )
        for index, record in enumerate(
            decode_records(records, header, _unpacked_max(header, config))[:_BLAMED_MAX]
        )
    ]


def _summary(code: ErrorCode, errors: Sequence[RecordError]) -> str:
    start = "One or more records have been rejected due to "
    if code is ErrorCode.INVALID_TIMESTAMP:
        return f"{start}invalid timestamp"
    shown = ", ".join(
        f"RecordError(batchIndex={error.batch_index}, message='{error.message}')" for error in errors[:3]
    )
    return (
        f"{start}{len(errors)} record errors in total, and only showing the first three errors at most: "
        f"[{shown}]"
    )


def _long(value: int) -> int:
    """As a sum of Java's longs comes out: an unlimited range wraps around."""
    return (value - MAX_LONG - 1) % (1 << 64) - MAX_LONG - 1 if abs(value) > MAX_LONG else value


def _target_codec(header: BatchHeader, config: LogConfig) -> int:
    return header.codec if config.compression_type == "producer" else _CODECS[config.compression_type]


def _unpacked_max(header: BatchHeader, config: LogConfig) -> int:
    return unpacked_bytes_max(header.size, config.max_message_bytes)


def _level(config: LogConfig) -> int | None:
    return {
        "gzip": config.compression_gzip_level,
        "lz4": config.compression_lz4_level,
        "zstd": config.compression_zstd_level,
    }.get(config.compression_type)
