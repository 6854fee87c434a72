"""What is in the files of a log folder, read without a broker: ours and Apache Kafka's are the same.

Files are taken by name, as Kafka names them. Log files are mapped, not loaded; each entry is given out as
soon as it is read.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple

from kbroker.cli.output import clean, text_of, time_text
from kbroker.cli.record_decoders import Decoder, decode_control, decoder_for
from kbroker.errors import ApiError, ProtocolError
from kbroker.protocol.compression import Codec
from kbroker.protocol.record_batch import (
    BatchHeader,
    Record,
    check_crc,
    decode_records,
    iter_batches,
    parse_batch_header,
)
from kbroker.protocol.sealed_batch import Keys, is_sealed, key_id_of, open_batch
from kbroker.storage import producer_snapshot
from kbroker.storage.checkpoints import parse_epochs, parse_offsets, parse_partition_metadata
from kbroker.storage.file_names import ENCRYPTED, parse_partition_dir
from kbroker.storage.txn_index import decode_all
from kbroker.types import uuid_to_string

_OFFSET_ENTRY, _TIME_ENTRY = Struct(">ii"), Struct(">qi")
_FOREVER_MS = 1 << 62
#: Snapshots of the metadata log are made of batches too.
_SEGMENTS = (".log", ".checkpoint", ".log.deleted", ".checkpoint.deleted", ".log.cleaned", ".log.swap")
_CODECS = {int(codec): codec.name.lower() for codec in Codec}
_TIMESTAMP_TYPES = {-1: None, 0: "create", 1: "append"}


class Entry(NamedTuple):
    """One entry of a file: as a line for a person, and as a JSON object."""

    text: str
    data: dict[str, Any]


class DamagedFile(Exception):
    """The file, or what follows in it, cannot be read; the text says where."""


def dump(
    path: Path, *, records: bool = False, topic: str | None = None, keys: Keys | None = None
) -> Iterator[Entry]:
    """The entries of a file.

    Args:
        records: also the records of each batch.
        topic: decode keys and values as of this topic; None: the one that the folder is named after.
        keys: for encrypted batches; without them their records are left out.

    Raises:
        DamagedFile: after what could be read.
        OSError: the file cannot be opened.
    """
    if topic is None:
        partition = parse_partition_dir(path.parent.name)
        topic = partition.topic if partition else ""
    name = path.name
    if name.endswith(_SEGMENTS):
        yield from _dump_log(path, records, decoder_for(topic), keys)
        return
    for pattern, reader in _READERS.items():
        if name == pattern or (
            pattern.startswith((".", "-")) and name.removesuffix(".deleted").endswith(pattern)
        ):
            try:
                yield from reader(path)
            except (ValueError, KeyError, UnicodeDecodeError) as error:
                raise DamagedFile(f"{path}: {error}") from None
            return
    raise DamagedFile(f"{path}: not a file of a log folder that can be shown")


def _dump_log(path: Path, records: bool, decoder: Decoder | None, keys: Keys | None) -> Iterator[Entry]:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size == 0:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
            end = 0
            try:
                for header in iter_batches(view):
                    end = header.end
                    key_id = key_id_of(view, header) if is_sealed(header) else None
                    yield _batch(header, check_crc(view, header), key_id)
                    if records and key_id is None:
                        for record in decode_records(view, header):
                            yield record_entry(record, header, decoder)
                    elif records and keys is not None:
                        sealed = bytes(view[header.position : header.end])
                        opened = open_batch(keys, sealed, header._replace(position=0))
                        for record in decode_records(opened, parse_batch_header(opened)):
                            yield record_entry(record, header, decoder)
            except ApiError as error:
                raise DamagedFile(f"{path}: at byte {end}: {error.text}") from None
            if end != size:
                raise DamagedFile(f"{path}: the last {size - end} bytes are no whole batch")


def _batch(header: BatchHeader, valid: bool, key_id: str | None) -> Entry:
    codec = _CODECS.get(header.codec, f"codec {header.codec}")
    data = {
        "kind": "batch",
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "position": header.position,
        "size": header.size,
        "magic": header.magic,
        "compression": codec,
        "timestamp_type": _TIMESTAMP_TYPES[header.timestamp_type],
        "max_timestamp": header.max_timestamp,
        "leader_epoch": header.leader_epoch,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "delete_horizon_ms": header.delete_horizon_ms,
        "crc": header.crc,
        "valid": valid,
    }
    if key_id is not None:
        data["encryption_key"] = key_id
    number = header.record_count
    count = "compressed" if number < 0 else "1 record" if number == 1 else f"{number} records"
    words = [
        f"offsets {header.base_offset}-{header.last_offset}",
        count,
        f"at {header.position}",
        f"{header.size} bytes",
        time_text(header.max_timestamp),
        codec,
        f"epoch {header.leader_epoch}",
    ]
    if header.has_producer_id:
        sequences = (
            f" sequence {header.base_sequence}-{header.last_sequence}" if header.base_sequence >= 0 else ""
        )
        words.append(f"producer {header.producer_id}/{header.producer_epoch}{sequences}")
    words += [
        word
        for word, present in (
            (f"encrypted with key {clean(key_id or '')}", key_id is not None),
            ("append time", header.timestamp_type == 1),
            ("transactional", header.is_transactional),
            ("control", header.is_control),
            (
                f"delete after {time_text(header.delete_horizon_ms or 0)}",
                header.delete_horizon_ms is not None,
            ),
            (f"magic {header.magic}", header.magic != 2),
            ("WRONG CHECKSUM", not valid),
        )
        if present
    ]
    return Entry("  ".join(words), data)


def record_entry(record: Record, header: BatchHeader, decoder: Decoder | None) -> Entry:
    """A record, decoded if its topic is one of Kafka's own."""
    key: Any = None if record.key is None else text_of(record.key)
    value: Any = None if record.value is None else text_of(record.value)
    data: dict[str, Any] = {
        "kind": "record",
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": key,
        "value": value,
        "headers": [
            [name, None if content is None else text_of(content)] for name, content in record.headers
        ],
    }
    try:
        if header.is_control:
            shown = data["control"] = decode_control(record)
            del data["key"], data["value"]
            return Entry(f"    {record.offset}  control {json.dumps(shown)}", data)
        if decoder is not None:
            data["key"], data["value"] = decoder(record)
    except (ApiError, ProtocolError) as error:
        data["error"] = str(error)
    headers = "".join(f"  {name}={content}" for name, content in data["headers"])
    content = f"{_shown(data['key'])} = {_shown(data['value'])}{headers}"
    text = f"    {record.offset}  {time_text(record.timestamp)}  {content}"
    if "error" in data:
        text += f"  (not decoded: {data['error']})"
    return Entry(clean(text), data)


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _dump_index(path: Path) -> Iterator[Entry]:
    base, data = _base_offset(path), path.read_bytes()
    _whole(data, _OFFSET_ENTRY)
    for number, (relative, position) in enumerate(_OFFSET_ENTRY.iter_unpack(data)):
        if number and relative == 0:
            return  # the rest of a file at full length, not written yet
        offset = base + relative
        yield Entry(
            f"offset {offset}  at {position}", {"kind": "index", "offset": offset, "position": position}
        )


def _dump_time_index(path: Path) -> Iterator[Entry]:
    base, data = _base_offset(path), path.read_bytes()
    _whole(data, _TIME_ENTRY)
    for number, (timestamp, relative) in enumerate(_TIME_ENTRY.iter_unpack(data)):
        if number and timestamp == 0:
            return
        offset = base + relative
        entry = {"kind": "timeindex", "timestamp": timestamp, "offset": offset}
        yield Entry(f"{time_text(timestamp)}  offset {offset}", entry)


def _whole(data: bytes, layout: Struct) -> None:
    if len(data) % layout.size:
        raise ValueError(f"{len(data)} bytes are no multiple of {layout.size}")


def _dump_txn_index(path: Path) -> Iterator[Entry]:
    for txn in decode_all(path.read_bytes(), _base_offset(path)):
        text = (
            f"producer {txn.producer_id}  offsets {txn.first_offset}-{txn.last_offset}  "
            f"stable {txn.last_stable_offset}"
        )
        yield Entry(text, {"kind": "aborted", **txn._asdict()})


def _dump_producers(path: Path) -> Iterator[Entry]:
    state = producer_snapshot.decode(path.read_bytes(), _base_offset(path), 0, _FOREVER_MS)
    for entry in state.entries.values():
        open_since = entry.current_txn_first_offset if entry.current_txn_first_offset >= 0 else None
        data = {
            "kind": "producer",
            "producer_id": entry.producer_id,
            "producer_epoch": entry.epoch,
            "coordinator_epoch": entry.coordinator_epoch,
            "transaction_first_offset": open_since,
            "last_timestamp": entry.last_timestamp,
            "last_sequence": entry.last_sequence,
            "last_offset": entry.last_offset,
        }
        text = (
            f"producer {entry.producer_id}/{entry.epoch}  last sequence {entry.last_sequence}  "
            f"last offset {entry.last_offset}  {time_text(entry.last_timestamp)}"
        )
        yield Entry(text + (f"  transaction open since {open_since}" if open_since is not None else ""), data)


def _dump_offsets(path: Path) -> Iterator[Entry]:
    for tp, offset in parse_offsets(path.read_text("utf-8")).items():
        data = {"kind": "checkpoint", "topic": tp.topic, "partition": tp.partition, "offset": offset}
        yield Entry(f"{tp}  {offset}", data)


def _dump_epochs(path: Path) -> Iterator[Entry]:
    for epoch, offset in parse_epochs(path.read_text("utf-8")):
        yield Entry(
            f"epoch {epoch}  from offset {offset}", {"kind": "epoch", "epoch": epoch, "offset": offset}
        )


def _dump_partition_metadata(path: Path) -> Iterator[Entry]:
    topic_id = uuid_to_string(parse_partition_metadata(path.read_text("utf-8")))
    yield Entry(f"topic id {topic_id}", {"kind": "partition", "topic_id": topic_id})


def _dump_properties(path: Path) -> Iterator[Entry]:
    from kbroker.storage.meta_properties import parse_properties

    for name, value in parse_properties(path.read_text("utf-8")).items():
        yield Entry(clean(f"{name}={value}"), {"kind": "property", "name": name, "value": value})


def _dump_json(path: Path) -> Iterator[Entry]:
    content = json.loads(path.read_text("utf-8"))
    yield Entry(clean(json.dumps(content)), {"kind": "json", "content": content})


def _dump_mark(path: Path) -> Iterator[Entry]:
    yield Entry("the log may have encrypted batches", {"kind": "encrypted"})


def read_keys(path: Path) -> Keys:
    """The keys for encrypted batches.

    Raises:
        ConfigError: the file cannot be used.
    """
    from kbroker.server.data_keys import FileKeys

    return FileKeys(str(path))


def _base_offset(path: Path) -> int:
    digits = path.name.partition(".")[0]
    if not digits.isascii() or not digits.isdigit():
        raise ValueError("its name does not begin with the segment's offset")
    return int(digits)


#: Whole names, or endings if they begin with a dot or hyphen.
_READERS: dict[str, Callable[[Path], Iterator[Entry]]] = {
    ".index": _dump_index,
    ".timeindex": _dump_time_index,
    ".txnindex": _dump_txn_index,
    ".snapshot": _dump_producers,
    "leader-epoch-checkpoint": _dump_epochs,
    "-offset-checkpoint": _dump_offsets,
    "partition.metadata": _dump_partition_metadata,
    "meta.properties": _dump_properties,
    "quorum-state": _dump_json,
    ".kafka_cleanshutdown": _dump_json,
    ".kbroker_running": _dump_json,
    ENCRYPTED: _dump_mark,
}
