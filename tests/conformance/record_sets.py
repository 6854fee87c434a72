"""Record sets in the transcripts' notation: built (also damaged on purpose) and read."""

from __future__ import annotations

import struct
from typing import Any
from zlib import crc32

from crc32c import crc32c

from kbroker.errors import ApiError
from kbroker.protocol.compression import CODEC_NAMES, Codec
from kbroker.protocol.control_records import (
    ControlType,
    EndTxnMarker,
    build_end_txn_batch,
    control_type,
    parse_end_txn_marker,
)
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    NO_TIMESTAMP_TYPE,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Record,
    build_batch,
    decode_records,
    ensure_valid,
    iter_batches,
)

DEFAULT_TIMESTAMP_MS = 1_700_000_000_000
_TIMESTAMP_TYPES = {NO_TIMESTAMP_TYPE: "none", CREATE_TIME: "create", LOG_APPEND_TIME: "append"}


def record_set(value: dict[str, Any]) -> bytes:
    """The bytes of {"batches": [...]} or {"hex": ...}."""
    if "hex" in value:
        return bytes.fromhex(value["hex"])
    return b"".join(_batch(batch) for batch in value["batches"])


def content(value: Any) -> bytes | None:
    """A key or value: a text, null, {"hex": ..} or {"repeat": [text, times]}."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if "hex" in value:
        return bytes.fromhex(value["hex"])
    text, times = value["repeat"]
    return (text * times).encode()


def _batch(batch: dict[str, Any]) -> bytes:
    magic = batch.get("magic", 2)
    base = batch.get("base", 0)
    records = [
        Record(
            base + index,
            record.get("ts", DEFAULT_TIMESTAMP_MS),
            content(record.get("k")),
            content(record.get("v")),
            [(name, content(value)) for name, value in record.get("h", ())],
        )
        for index, record in enumerate(batch["records"] if batch.get("control") is None else ())
    ]
    append = batch.get("ts_type", "create") == "append"
    times = [record.get("ts", DEFAULT_TIMESTAMP_MS) for record in batch.get("records", ())]
    first_time = times[0] if times else DEFAULT_TIMESTAMP_MS
    codec = CODEC_NAMES[batch.get("codec", "none")]
    if batch.get("control") is not None:
        data = bytearray(_marker(batch, first_time, base))
    elif magic < 2:
        data = bytearray(build_message_set(magic, records, codec, append_time=first_time if append else None))
    elif not records:
        data = bytearray(_empty(codec, append, first_time, base))
    else:
        data = bytearray(
            build_batch(
                records,
                base_offset=base,
                codec=codec,
                timestamp_type=LOG_APPEND_TIME if append else CREATE_TIME,
                max_timestamp=first_time if append else None,
            )
        )
    if magic == 2:
        _fill_header(data, batch)
    for damage in filter(None, (part.strip() for part in (batch.get("damage") or "").split(","))):
        data = _damaged(data, magic, damage)
    return bytes(data)


def _marker(batch: dict[str, Any], timestamp: int, base: int) -> bytes:
    marker = EndTxnMarker(batch["control"] == "commit", 0)
    return build_end_txn_batch(marker, producer_id=0, producer_epoch=0, timestamp=timestamp, base_offset=base)


def _empty(codec: Codec, append: bool, timestamp: int, base: int) -> bytes:
    """A batch without records, but with a compression and a time, which build_batch has no use for."""
    data = bytearray(build_batch([], base_offset=base, last_offset_delta=0))
    struct.pack_into(">h", data, 21, codec | (0x08 if append else 0))
    struct.pack_into(">qq", data, 27, -1, timestamp)
    return bytes(data)


def _fill_header(data: bytearray, batch: dict[str, Any]) -> None:
    if batch.get("txn") or batch.get("control") is not None:
        (attributes,) = struct.unpack_from(">h", data, 21)
        struct.pack_into(">h", data, 21, attributes | TRANSACTIONAL_BIT)
    struct.pack_into(">i", data, 12, batch.get("leader_epoch", -1))
    struct.pack_into(">qhi", data, 43, batch.get("pid", -1), batch.get("epoch", -1), batch.get("seq", -1))
    _set_crc(data, 2)


def _set_crc(data: bytearray, magic: int) -> None:
    start = 21 if magic == 2 else 16
    if len(data) >= start:
        crc = crc32c(data[start:]) if magic == 2 else crc32(data[start:])
        struct.pack_into(">I", data, 17 if magic == 2 else 12, crc)


def _damaged(data: bytearray, magic: int, damage: str) -> bytearray:
    kind, _, argument = damage.partition(":")
    number = int(argument, 0) if argument else 0
    if kind == "crc":
        data[(17 if magic == 2 else 12) + 3] ^= 1
    elif kind == "cut":
        return data[: len(data) - number]
    elif kind == "length":
        struct.pack_into(">i", data, 8, number)
    elif kind == "magic":
        data[16] = number & 0xFF
        if magic < 2:
            _set_crc(data, magic)
    else:
        where, form = {
            "count": (57, ">i"),
            "delta": (23, ">i"),
            "attributes": (21, ">h") if magic == 2 else (17, ">b"),
        }[kind]
        struct.pack_into(form, data, where, number)
        _set_crc(data, magic)
    return data


# --- reading ---


def shown_record_set(data: bytes | memoryview | None) -> Any:
    """The notation of what a broker sent; what cannot be read is named as such."""
    if data is None:
        return None
    batches: list[dict[str, Any]] = []
    result: dict[str, Any] = {"batches": batches}
    try:
        for header in iter_batches(data):
            batches.append(_shown_batch(data, header))
    except ApiError as error:
        result["unreadable"] = error.text
    return result


def _shown_batch(data: bytes | memoryview, header: BatchHeader) -> dict[str, Any]:
    try:
        ensure_valid(data, header)
        records = decode_records(data, header)
    except ApiError as error:
        return {"invalid": error.text}
    base = header.base_offset if header.magic == 2 else records[0].offset
    shown: dict[str, Any] = {} if header.magic == 2 else {"magic": header.magic}
    shown |= {
        "base": base,
        "last_delta": header.last_offset - base,
        "codec": Codec(header.codec).name.lower(),
        "ts_type": _TIMESTAMP_TYPES[header.timestamp_type],
        "pid": header.producer_id,
        "epoch": header.producer_epoch,
        "seq": header.base_sequence,
        "txn": header.magic == 2 and header.is_transactional,
        "control": None,
        "leader_epoch": header.leader_epoch,
    }
    if header.magic == 2 and header.delete_horizon_ms is not None:
        shown["delete_horizon"] = header.delete_horizon_ms
    if header.magic == 2 and header.is_control:
        shown["records"] = [_shown_control(record) for record in records]
        shown["control"] = shown["records"][-1]["k"] if records else "?"
    else:
        shown["records"] = [_shown_record(record) for record in records]
    return shown


def _shown_control(record: Record) -> dict[str, Any]:
    kind = control_type(record)
    value = "?"
    if kind in (ControlType.COMMIT, ControlType.ABORT):
        value = f"coordinator epoch {parse_end_txn_marker(record).coordinator_epoch}"
    return {"o": record.offset, "ts": record.timestamp, "k": kind.name.lower(), "v": value}


def _shown_record(record: Record) -> dict[str, Any]:
    shown: dict[str, Any] = {"o": record.offset, "ts": record.timestamp}
    shown |= {"k": _shown_content(record.key), "v": _shown_content(record.value)}
    if record.headers:
        shown["h"] = [[name, _shown_content(value)] for name, value in record.headers]
    return shown


def _shown_content(value: bytes | None) -> Any:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"hex": value.hex()}
