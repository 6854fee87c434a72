"""What is asked of a cleaning and what comes back, as values and as the lines between broker and worker."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from kbroker.plain import as_dict, made, plain
from kbroker.storage.txn_index import AbortedTxn


class SourceSegment(NamedTuple):
    """A segment as it is: base offset, bytes of batches and of indexes."""

    base_offset: int
    size: int
    index_bytes: int
    time_index_bytes: int


@plain(kw_only=True)
class CleanJob:
    """All that a cleaning has to know of the log, the moment it begins."""

    directory: str
    #: From the log's begin up to the last one that may be cleaned.
    segments: list[SourceSegment]
    #: The begin of the dirty section.
    first_dirty: int
    #: The base offset of the first segment that may not be cleaned.
    upper_bound: int
    #: Aborted transactions of that range.
    aborted: list[AbortedTxn] = made(default_factory=list)
    #: Producer id -> (last data offset or -1, epoch).
    producers: dict[int, tuple[int, int]] = made(default_factory=dict)
    segment_bytes: int
    segment_index_bytes: int
    index_interval_bytes: int
    delete_retention_ms: int
    now_ms: int
    #: Tombstones and markers from here on stay, whatever their age (docs/decisions/0005).
    removable_to: int
    map_bytes: int
    load_factor: float
    io_bytes: int
    #: The id of the key for encrypted batches that lose records; "": the one that they have.
    seal_with: str = ""


class CleanedGroup(NamedTuple):
    """A group of segments and what came out of it, by file suffix; no sizes: nothing changed."""

    sources: list[SourceSegment]
    sizes: dict[str, int]


@plain()
class CleanResult:
    """What a cleaning did. `end_offset` is where the dirty section begins now."""

    end_offset: int = -1
    #: When the last tombstone or marker that waits for its time may go; -1: none waits.
    latest_horizon_ms: int = -1
    bytes_read: int = 0
    bytes_written: int = 0
    keys: int = 0


def encode_job(job: CleanJob) -> bytes:
    """One line of JSON, without its end."""
    return json.dumps(as_dict(job), separators=(",", ":")).encode()


def decode_job(line: bytes) -> CleanJob:
    """The inverse of `encode_job`."""
    fields: dict[str, Any] = json.loads(line)
    fields["segments"] = [SourceSegment(*segment) for segment in fields["segments"]]
    fields["aborted"] = [AbortedTxn(*txn) for txn in fields["aborted"]]
    fields["producers"] = {int(key): (last, epoch) for key, (last, epoch) in fields["producers"].items()}
    return CleanJob(**fields)
