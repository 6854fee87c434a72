"""Record batches as JSON values, and back.

One object for each batch, of magic 0 and 1 for each message: the header's fields, what follows from them
(`last_offset`, `compression`, …) and `records` with key and value in base64 or null, headers as
`[key, base64 or null]`. Reading back takes the header's fields; checksum, sizes and counts are made anew.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any, TypeAlias

from kbroker.protocol.compression import Codec
from kbroker.protocol.control_records import control_type
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    NO_TIMESTAMP_TYPE,
    BatchHeader,
    Buffer,
    Record,
    build_batch,
    decode_records,
    ensure_valid,
    increment_sequence,
    iter_batches,
)

JsonObject: TypeAlias = dict[str, Any]

_TIMESTAMP_TYPES = {
    NO_TIMESTAMP_TYPE: "NoTimestampType",
    CREATE_TIME: "CreateTime",
    LOG_APPEND_TIME: "LogAppendTime",
}


def batches_to_json(buf: Buffer) -> list[JsonObject]:
    """All batches of a buffer; one that is cut off at its end is left out.

    Raises:
        ApiError: damaged bytes, with the code that a broker answers.
    """
    result = []
    for header in iter_batches(buf):
        ensure_valid(buf, header)
        records = decode_records(buf, header)
        result.append(_batch_to_json(header, records))
    return result


def batches_from_json(batches: list[JsonObject]) -> bytes:
    """The bytes of the batches, one behind the other.

    Raises:
        ValueError: a field is missing or has a value that does not fit.
    """
    try:
        return b"".join(_batch_from_json(batch) for batch in batches)
    except KeyError as error:
        raise ValueError(f"{error} is missing or unknown") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"not a batch: {error}") from None


def _batch_to_json(header: BatchHeader, records: list[Record]) -> JsonObject:
    result: JsonObject = {
        "magic": header.magic,
        "size": header.size,
        "length": header.batch_length,
        "crc": header.crc,
        "attributes": header.attributes,
    }
    if header.magic == 2:
        result |= {
            "base_offset": header.base_offset,
            "last_offset_delta": header.last_offset_delta,
            "partition_leader_epoch": header.leader_epoch,
            "base_timestamp": header.base_timestamp,
            "max_timestamp": header.max_timestamp,
            "producer_id": header.producer_id,
            "producer_epoch": header.producer_epoch,
            "base_sequence": header.base_sequence,
            "last_sequence": header.last_sequence,
            "record_count": header.record_count,
            "transactional": header.is_transactional,
            "control": header.is_control,
            "delete_horizon_ms": header.delete_horizon_ms,
        }
    else:
        result |= {"entry_offset": header.base_offset, "base_offset": records[0].offset}
        if header.magic == 1:
            result["entry_timestamp"] = header.max_timestamp
        result["max_timestamp"] = header.max_timestamp
    result |= {
        "last_offset": header.last_offset,
        "next_offset": header.next_offset,
        "compression": Codec(header.codec).name.lower(),
        "timestamp_type": _TIMESTAMP_TYPES[header.timestamp_type],
        "records": [_record_to_json(header, record) for record in records],
    }
    return result


def _record_to_json(header: BatchHeader, record: Record) -> JsonObject:
    result: JsonObject = {"offset": record.offset, "timestamp": record.timestamp}
    if header.magic == 2:
        base = header.base_sequence
        delta = record.offset - header.base_offset
        result["sequence"] = -1 if base < 0 else increment_sequence(base, delta)
    result |= {
        "key": _base64(record.key),
        "value": _base64(record.value),
        "headers": [[key, _base64(value)] for key, value in record.headers],
    }
    if header.is_control and header.magic == 2:
        result["control_type"] = control_type(record).name
    return result


def _batch_from_json(batch: JsonObject) -> bytes:
    records = [_record_from_json(record) for record in batch["records"]]
    codec = Codec[batch["compression"].upper()]
    append_time = batch["max_timestamp"] if batch["timestamp_type"] == "LogAppendTime" else None
    if batch["magic"] < 2:
        return build_message_set(batch["magic"], records, codec, append_time=append_time)
    return build_batch(
        records,
        base_offset=batch["base_offset"],
        codec=codec,
        leader_epoch=batch["partition_leader_epoch"],
        producer_id=batch["producer_id"],
        producer_epoch=batch["producer_epoch"],
        base_sequence=batch["base_sequence"],
        transactional=batch["transactional"],
        control=batch["control"],
        timestamp_type=CREATE_TIME if append_time is None else LOG_APPEND_TIME,
        max_timestamp=batch["max_timestamp"],
        last_offset_delta=batch["last_offset_delta"],
        delete_horizon_ms=batch["delete_horizon_ms"],
    )


def _record_from_json(record: JsonObject) -> Record:
    headers = [(key, _bytes(value)) for key, value in record["headers"]]
    return Record(
        record["offset"], record["timestamp"], _bytes(record["key"]), _bytes(record["value"]), headers
    )


def _base64(value: bytes | None) -> str | None:
    return None if value is None else b64encode(value).decode("ascii")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text, validate=True)
