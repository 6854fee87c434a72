"""What lies in a partition's directory, after a cleaner's unfinished work has been completed or undone."""

from __future__ import annotations

import logging
from errno import ENOENT

from kbroker.storage.batch_scan import scan_batches
from kbroker.storage.disk import NO_SIZE
from kbroker.storage.file_names import (
    CLEANED,
    DELETED,
    ENCRYPTED,
    LEADER_EPOCHS,
    LOG,
    PARTITION_METADATA,
    SNAPSHOT,
    SWAP,
    offset_name,
    parse_offset_name,
)
from kbroker.storage.log_dir import LogDir

logger = logging.getLogger(__name__)


class LogListing:
    """The files of a partition directory by meaning."""

    __slots__ = ("encrypted", "has_epochs", "has_metadata", "segments", "snapshots")

    def __init__(self) -> None:
        self.segments: dict[int, dict[str, int]] = {}
        self.snapshots: dict[int, int] = {}
        self.has_epochs = False
        self.has_metadata = False
        self.encrypted = False

    def bytes_from(self, offset: int) -> int:
        """The size of the segment that would hold `offset`, and of all behind it."""
        first = max((base for base in self.segments if base <= offset), default=0)
        return sum(sizes[LOG] for base, sizes in self.segments.items() if base >= first)


def list_log(log_dir: LogDir, path: str) -> LogListing:
    entries = log_dir.disk.list_dir(path)
    for entry in entries:
        if entry.size == NO_SIZE and parse_offset_name(entry.name):
            # To go on as if it were not there would mean to give up the records that it leads to.
            raise OSError(ENOENT, "the link leads nowhere", f"{path}/{entry.name}")
    if any(entry.name.endswith((DELETED, CLEANED, SWAP)) for entry in entries):
        _finish_swaps(log_dir, path, [entry.name for entry in entries])
        entries = log_dir.disk.list_dir(path)
    listing = LogListing()
    orphans: dict[int, list[str]] = {}
    for entry in entries:
        parsed = parse_offset_name(entry.name)
        if parsed is None:
            listing.has_epochs |= entry.name == LEADER_EPOCHS
            listing.has_metadata |= entry.name == PARTITION_METADATA
            listing.encrypted |= entry.name == ENCRYPTED
        elif parsed[1] == SNAPSHOT:
            listing.snapshots[parsed[0]] = entry.size
        else:
            listing.segments.setdefault(parsed[0], {})[parsed[1]] = entry.size
    for base in [base for base, sizes in listing.segments.items() if LOG not in sizes]:
        orphans[base] = [offset_name(base, suffix) for suffix in listing.segments.pop(base)]
    for names in orphans.values():
        for name in names:
            logger.warning("removing index file %s/%s, its segment does not exist", path, name)
            log_dir.disk.remove(f"{path}/{name}")
    return listing


def _finish_swaps(log_dir: LogDir, path: str, names: list[str]) -> None:
    """Complete or undo a cleaner's work: `.cleaned` output is dropped, `.swap` output takes its place."""
    disk = log_dir.disk
    cleaned = [offset for name in names if (offset := _marked_offset(name, CLEANED)) is not None]
    undo_from = min(cleaned, default=None)
    swaps: list[str] = []
    for name in names:
        offset = _marked_offset(name, SWAP)
        if offset is None:
            continue
        if undo_from is not None and offset >= undo_from:
            disk.remove(f"{path}/{name}")
        else:
            swaps.append(name)
    # Last, so that a stop in between does not make half an output look like a whole one.
    for name in names:
        if name.endswith((DELETED, CLEANED)):
            disk.remove(f"{path}/{name}")
    for name in swaps:
        base = _marked_offset(name, SWAP)
        if base is None or not name.endswith(LOG + SWAP):
            continue
        replaced = _span_of(log_dir, path, base, name)
        for other in names:
            parsed = parse_offset_name(other)
            if parsed is not None and parsed[1] != SNAPSHOT and base <= parsed[0] < replaced:
                disk.remove(f"{path}/{other}")
    for name in swaps:
        disk.rename(f"{path}/{name}", f"{path}/{name[: -len(SWAP)]}")


def _marked_offset(name: str, mark: str) -> int | None:
    if not name.endswith(mark):
        return None
    parsed = parse_offset_name(name[: -len(mark)])
    return parsed[0] if parsed else None


def _span_of(log_dir: LogDir, path: str, base: int, name: str) -> int:
    """The offset behind the last batch of a swap file."""
    file = log_dir.disk.open(f"{path}/{name}")
    end = base + 1
    for _, header in scan_batches(file.read, file.size(), 0):
        end = header.next_offset
    return end
