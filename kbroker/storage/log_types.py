"""What a log is opened from, and what an append is asked and answered with."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from kbroker.storage.leader_epochs import LeaderEpochs
from kbroker.storage.log_segments import LogSegments
from kbroker.storage.producer_state import ProducerState


class AppendOrigin(Enum):
    """Who appends as leader; the coordinator's and raft's own batches are trusted more than a client's."""

    CLIENT = 0
    COORDINATOR = 1
    RAFT = 2


class AppendResult(NamedTuple):
    """`append_time_ms` is -1 unless the topic stamps records (or it is a duplicate: then its own time)."""

    base_offset: int
    last_offset: int
    append_time_ms: int
    log_start_offset: int
    duplicate: bool = False


class LoadedLog(NamedTuple):
    """What is known of a log when it opens: from creation, or from `recovery`."""

    segments: LogSegments
    epochs: LeaderEpochs
    producers: ProducerState
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    #: The files are as a clean stop leaves them.
    sealed: bool = False
    #: The indexes of segments from this offset on were not found on the disk, but made in this life.
    indexed_from: int = 0
