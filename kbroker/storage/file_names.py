"""Names in a log directory (Kafka's), to and from what they mean."""

from __future__ import annotations

import re
from typing import Final

from kbroker.types import TopicPartition

LOG: Final = ".log"
INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TXN_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"
#: Ours: a file that recovery has put aside.
STRAY: Final = ".stray"
DELETE_DIR: Final = "-delete"
FUTURE_DIR: Final = "-future"
STRAY_DIR: Final = "-stray"

LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
CHECKPOINTS: Final = (RECOVERY_POINTS, LOG_STARTS, HIGH_WATERMARKS)
CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"
META_PROPERTIES: Final = "meta.properties"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
#: Ours: ends of the logs that a clean stop left without a snapshot, since it would name no producer.
NO_PRODUCERS: Final = "kbroker-no-producers-checkpoint"
#: Ours: in a partition's folder, its log may have encrypted batches (`log_encryption.py`).
ENCRYPTED: Final = "kbroker-encrypted"
#: Ours: the broker epoch of the process that writes to the directory (`running_mark.py`).
RUNNING: Final = ".kbroker_running"
#: Ours: room for metadata on a full disk (`broker/metadata_room.py`).
ROOM: Final = ".kbroker_room"
LOCK: Final = ".lock"

_OFFSET_FILE = re.compile(r"(\d{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_MARKED_DIR = re.compile(r"(.+)\.([0-9a-f]{32})(-delete|-future|-stray)")
_MAX_NAME = 255


def offset_name(offset: int, suffix: str) -> str:
    """`00000000000000000042.log`: the offset in 20 digits."""
    return f"{offset:020d}{suffix}"


def parse_offset_name(name: str) -> tuple[int, str] | None:
    """(offset, suffix) of a segment or snapshot file; None for any other name."""
    match = _OFFSET_FILE.fullmatch(name)
    return (int(match[1]), match[2]) if match else None


def parse_partition_dir(name: str) -> TopicPartition | None:
    """The partition of a live log's directory; None if the name is none."""
    topic, dash, number = name.rpartition("-")
    if not dash or not (number.isascii() and number.isdigit()) or (len(number) > 1 and number[0] == "0"):
        return None
    if int(number) > 2**31 - 1 or not _TOPIC.fullmatch(topic) or topic in (".", ".."):
        return None
    return TopicPartition(topic, int(number))


def parse_marked_dir(name: str) -> tuple[str, str] | None:
    """(partition part, mark) of a `-delete`, `-future` or `-stray` directory; None for any other name."""
    match = _MARKED_DIR.fullmatch(name)
    return (match[1], match[3]) if match else None


def marked_dir_name(tp: TopicPartition, unique_hex: str, mark: str) -> str:
    """`topic-0.<32 hex digits>-delete`; the topic is cut so that the name fits 255 characters."""
    tail = f"-{tp.partition}.{unique_hex}{mark}"
    return tp.topic[: _MAX_NAME - len(tail)] + tail
