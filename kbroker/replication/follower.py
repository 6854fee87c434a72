"""What a follower decides: where to cut its log, where to go on, what to do about an error.

Pure: what the log and the leader say comes in, a decision comes out. The ground is that the leader of an
epoch is right about everything its epoch covers (KIP-101, KIP-279): a follower's log that differs from it is
cut where they part, even below its own high watermark, which then was not the partition's.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from kbroker.errors import ErrorCode

_UNDEFINED = -1


class Truncation(NamedTuple):
    """Cut the log at `offset`; `done`: it agrees with the leader then. Else ask again from the new end."""

    offset: int
    done: bool


def truncation(
    leader_epoch: int,
    leader_end: int,
    own_end: int,
    high_watermark: int,
    end_of_epoch: Callable[[int], tuple[int, int]],
) -> Truncation:
    """Where to cut, given the largest epoch the leader has up to our last one, and where it ends there.

    Args:
        leader_epoch: that epoch; -1: the leader keeps no epochs.
        leader_end: its end at the leader; -1: the leader does not know.
        own_end: our log's end.
        high_watermark: ours.
        end_of_epoch: (epoch) -> our largest epoch up to that one and its end; the end is -1 if there is none.
    """
    if leader_end == _UNDEFINED:
        return Truncation(min(high_watermark, own_end), True)
    if leader_epoch == _UNDEFINED:
        return Truncation(min(leader_end, own_end), True)
    epoch, end = end_of_epoch(leader_epoch)
    if end == _UNDEFINED:
        return Truncation(min(leader_end, own_end), True)
    if epoch != leader_epoch:
        # We lack that epoch: what we have behind our next lower one, the leader never had.
        return Truncation(min(end, own_end), False)
    return Truncation(min(end, leader_end, own_end), True)


class Restart(NamedTuple):
    """Where to go on: cut the log at `offset`, or with `afresh` drop all of it and begin there."""

    offset: int
    afresh: bool


def out_of_range(own_end: int, leader_start: int, leader_end: int) -> Restart:
    """What to do when the leader has nothing at our end.

    The leader's log may end before ours (an unclean election), or begin behind our end (retention).
    """
    if leader_end < own_end:
        return Restart(leader_end, False)
    if leader_start > own_end:
        return Restart(leader_start, True)
    return Restart(own_end, False)


class Remedy(Enum):
    """What to do about an error for one partition."""

    LATER = "try again after a pause"
    RESTART = "ask where the leader's log begins and ends"


def remedy(code: ErrorCode) -> Remedy:
    """What a follower does about the leader's error.

    Nearly all pass by themselves: one of the two has not heard of the latest change yet.
    """
    return Remedy.RESTART if code is ErrorCode.OFFSET_OUT_OF_RANGE else Remedy.LATER


def pause_ms(failures: int, first_ms: float, most_ms: float) -> float:
    """How long to wait after so many failures in a row: at first little, as a new leader may be about to
    hear of it.
    """
    return min(first_ms * 2.0 ** min(failures - 1, 16), most_ms)
