"""The small files of a partition, and what a clean stop leaves in its directory."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kbroker.storage import producer_snapshot
from kbroker.storage.checkpoints import format_epochs, format_partition_metadata
from kbroker.storage.disk import Disk
from kbroker.storage.file_names import LEADER_EPOCHS, PARTITION_METADATA, SNAPSHOT, offset_name
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.storage.log import Log

#: A log that knows no producers, and whose last segment is not larger, can be sealed without a snapshot.
_READ_AGAIN_BYTES = 256 * 1024


def begin_segment(log: Log, timestamp: int) -> None:
    """The first batch was staged: make the files that a stop would have to make, while it is only a few."""
    active = log.segments.active
    active.set_first_timestamp(timestamp)
    # What cannot be made now is made when the segment is sealed.
    with suppress(OSError):
        if log.config.preallocate:
            active.file().reserve(log.config.segment_bytes)
        active.make_indexes()
        if active.base_offset == 0 and log.epochs.dirty:
            log.write_epochs(durable=False)


def write_snapshot(log: Log, offset: int) -> None:
    """Write the producer state as of `offset`, once. Raises OSError."""
    if offset == 0 or offset in log.snapshots:
        return
    log.directory.disk.write_file(
        f"{log.path}/{offset_name(offset, SNAPSHOT)}", producer_snapshot.encode(log.producers), durable=False
    )
    log.snapshots[offset] = None


def write_epochs(log: Log, *, durable: bool = True) -> None:
    """Write the leader-epoch-checkpoint if it lags. Raises OSError."""
    if log.epochs.dirty:
        data, path = format_epochs(log.epochs.entries()).encode(), f"{log.path}/{LEADER_EPOCHS}"
        if durable:
            log.directory.disk.write_file(path, data)
        else:
            _overwrite(log.directory.disk, path, data)
        log.epochs.dirty = False
        log.epochs_unsynced = not durable


def _overwrite(disk: Disk, path: str, data: bytes) -> None:
    """In place: ext4 begins to write out what is renamed over another file, and a stop has thousands of them.

    What a power cut leaves of it may be damaged, and counts as missing then.
    """
    file = disk.open(path, create=True)
    file.write(0, data)
    if file.size() > len(data):
        file.truncate(len(data))


def write_partition_metadata(log: Log) -> None:
    """Name the topic id in the directory; durable with the next sync. Raises OSError."""
    if log.topic_id != ZERO_UUID:
        log.directory.disk.write_file(
            f"{log.path}/{PARTITION_METADATA}",
            format_partition_metadata(log.topic_id).encode(),
            durable=False,
        )
        log.metadata_dirty = True


def give_back(log: Log) -> None:
    """What was reserved for the active segment and is not needed. Raises OSError."""
    active = log.segments.active
    if log.config.preallocate and active.size:
        active.file().truncate(active.size)


def seal(log: Log, *, sparing: bool = False) -> None:
    """What a stop leaves but epochs and (`sparing`) snapshots that say nothing. Raises StorageError."""
    log.flush_staged()
    active = log.segments.active
    try:
        if not active.size:
            active.file()
        active.seal()
        give_back(log)
        # To make a file costs more than all the rest of a seal. That there are no producers is told for all
        # logs at once (`NO_PRODUCERS`); after a crash little has to be read again.
        if log.producers.entries or not sparing or active.size > _READ_AGAIN_BYTES:
            log.write_snapshot(log.log_end_offset)
    except OSError as error:
        raise log.directory.fail(error) from error
    log._sealed_end = log.log_end_offset
