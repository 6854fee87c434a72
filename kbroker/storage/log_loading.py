"""Finds and opens the logs of one log directory at the start, by what its checkpoints and names say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ConfigError
from kbroker.storage.checkpoints import parse_clean_shutdown, parse_offsets
from kbroker.storage.file_names import (
    CHECKPOINTS,
    CLEAN_SHUTDOWN,
    CLEANER_OFFSETS,
    DELETE_DIR,
    HIGH_WATERMARKS,
    LEADER_EPOCHS,
    LOG_STARTS,
    META_PROPERTIES,
    NO_PRODUCERS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    STRAY_DIR,
    parse_marked_dir,
    parse_offset_name,
    parse_partition_dir,
)
from kbroker.storage.log_listing import list_log
from kbroker.storage.recovery import LogHistory, open_log
from kbroker.storage.running_mark import killed_in, unmark
from kbroker.types import TopicPartition

if TYPE_CHECKING:
    from kbroker.storage.disk import Disk
    from kbroker.storage.log import Log
    from kbroker.storage.log_config import LogConfig
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.recovery_progress import RecoveryProgress

    ConfigFor = Callable[[str], LogConfig]

logger = logging.getLogger(__name__)

_METADATA_TOPIC = "__cluster_metadata"


class LoadedDir(NamedTuple):
    """What a directory said of itself."""

    #: Of its clean stop, or of a process that was killed and lost nothing; -1 if durable records may be
    #: missing (KIP-966).
    broker_epoch: int
    #: Where its logs began at the clean stop; empty if there was none.
    settled_starts: dict[TopicPartition, int]
    #: Partitions that a checkpoint (by name) names, and that are not there.
    missing: set[tuple[TopicPartition, str]]


def load_dir(
    disk: Disk,
    log_dir: LogDir,
    logs: dict[TopicPartition, Log],
    config_for: ConfigFor,
    now_ms: int,
    progress: RecoveryProgress,
) -> LoadedDir:
    """Open the logs of a directory, and put them into `logs`. From then on it is not clean any more.

    Raises:
        ConfigError: a partition is in `logs` already.
        OSError: the directory failed.
    """
    path = log_dir.path
    marker = f"{path}/{CLEAN_SHUTDOWN}"
    clean = disk.exists(marker)
    broker_epoch = (
        parse_clean_shutdown(disk.read_file(marker).decode("utf-8", "replace"))
        if clean
        else killed_in(disk, path)
    )
    named = {name: _read_offsets(disk, f"{path}/{name}") for name in (*CHECKPOINTS, CLEANER_OFFSETS)}
    recovery_points, high_watermarks = named[RECOVERY_POINTS], named[HIGH_WATERMARKS]
    unwritten = _read_offsets(disk, f"{path}/{NO_PRODUCERS}") if clean else {}
    listings = {
        tp: list_log(log_dir, f"{path}/{tp}") for tp in _partitions_in(disk, log_dir, logs, config_for)
    }
    unread = 0
    if not clean:
        unread = sum(listing.bytes_from(recovery_points.get(tp, 0)) for tp, listing in listings.items())
    progress.expect(len(listings), unread)
    settled_starts: dict[TopicPartition, int] = {}
    for tp, listing in listings.items():
        history = LogHistory(
            clean,
            recovery_points.get(tp),
            named[LOG_STARTS].get(tp),
            named[CLEANER_OFFSETS].get(tp),
            unwritten.get(tp),
        )
        log = open_log(log_dir, tp, config_for(tp.topic), history, now_ms, listing, progress)
        mark = high_watermarks.get(tp, log.log_start_offset)
        log.high_watermark = max(min(mark, log.log_end_offset), log.log_start_offset)
        logs[tp] = log
        if clean:
            settled_starts[tp] = log.log_start_offset
        durable = recovery_points.get(tp, 0)
        if log.log_end_offset < durable:
            # No crash does that. Whoever counts on this replica must hear that it lacks records.
            logger.error("%s ends at %d, but had %d on disk", log.path, log.log_end_offset, durable)
            broker_epoch = -1
        progress.opened()
    if log_dir.cut:
        broker_epoch = -1
    if broker_epoch == -1:
        unmark(disk, path)
    if clean:  # not any more, whatever happens to this process
        disk.remove(marker)
        disk.remove(f"{path}/{NO_PRODUCERS}")
        disk.sync_dir(path)
    missing = {(tp, name) for name in CHECKPOINTS for tp in named[name] if tp not in listings}
    return LoadedDir(broker_epoch, settled_starts, missing)


def _partitions_in(
    disk: Disk, log_dir: LogDir, logs: Mapping[TopicPartition, Log], config_for: ConfigFor
) -> Iterator[TopicPartition]:
    for entry in disk.list_dir(log_dir.path):
        if not entry.is_dir:
            continue
        tp = parse_partition_dir(entry.name)
        if tp is None:
            _note_other_dir(log_dir, entry.name, config_for)
            continue
        if tp.topic == _METADATA_TOPIC:
            continue
        path = f"{log_dir.path}/{entry.name}"
        if not disk.exists(f"{path}/{PARTITION_METADATA}") and _is_foreign(disk, path):
            # Renamed as a stray it would be lost to its owner.
            logger.warning("%s is no partition; leaving it alone", path)
            continue
        if tp in logs:
            other = logs[tp].directory.path
            raise ConfigError(f"{tp} lies in {other} and in {log_dir.path}: move one of them away")
        yield tp


def _is_foreign(disk: Disk, path: str) -> bool:
    """Whether a folder that is named as a partition's is a node's, or has nothing of a log in it."""
    names = [entry.name for entry in disk.list_dir(path)]
    if META_PROPERTIES in names:
        return True
    return bool(names) and not any(name == LEADER_EPOCHS or parse_offset_name(name) for name in names)


def _note_other_dir(log_dir: LogDir, name: str, config_for: ConfigFor) -> None:
    marked = parse_marked_dir(name)
    if marked is None:
        logger.warning("%s/%s is no partition; leaving it alone", log_dir.path, name)
    elif marked[1] == DELETE_DIR:
        topic = marked[0].rpartition("-")[0]
        log_dir.remove_dir_later(f"{log_dir.path}/{name}", config_for(topic).file_delete_delay_ms)
    else:
        kind = "a stray" if marked[1] == STRAY_DIR else "an unfinished move of a"
        logger.warning("%s/%s is %s replica; leaving it alone", log_dir.path, name, kind)


def _read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    if not disk.exists(path):
        return {}
    text = disk.read_file(path).decode("utf-8", "replace")
    try:
        return parse_offsets(text)
    except ValueError as error:
        logger.warning("%s is damaged and counts as empty: %s", path, error)
        return {}
