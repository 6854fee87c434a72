"""What a follower does with a log that is not the leader's: cut it, or begin where the leader's begins."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.peer import PeerError
from kbroker.broker.replica_messages import EARLIEST, LATEST, list_offsets_request
from kbroker.errors import ApiError
from kbroker.replication.follower import out_of_range, truncation

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.peer import PeerAddress
    from kbroker.broker.replica_fetcher import FetcherHost, Followed
    from kbroker.replication.fetch_session import Wanted
    from kbroker.storage.log import Log

_log = logging.getLogger(__name__)


def cut(host: FetcherHost, followed: Followed, log: Log, offset: int) -> None:
    """Let the log end at `offset`; may raise StorageError."""
    # At its end nothing is lost: only the epochs differ.
    level = logging.INFO if offset < log.log_end_offset else logging.DEBUG
    _log.log(
        level,
        "%s: cutting the log at offset %d (its end is %d, committed are %d) as the leader's differs",
        log.topic_partition,
        offset,
        log.log_end_offset,
        log.high_watermark,
    )
    log.truncate_to(offset, sync=False)
    host.truncated(log, log.log_end_offset)
    followed.partition.wake()


def cut_where_it_diverges(
    host: FetcherHost, followed: Followed, log: Log, epoch: int, end_offset: int
) -> bool:
    """The leader's log is another one from there on (KIP-595). Whether that has changed anything here."""
    before = log.log_end_offset, log.latest_epoch
    decided = truncation(epoch, end_offset, log.log_end_offset, log.high_watermark, log.end_offset_for_epoch)
    cut(host, followed, log, decided.offset)
    return (log.log_end_offset, log.latest_epoch) != before


def ask_for_ends(
    host: FetcherHost,
    leader: PeerAddress,
    channel: str,
    asked: Wanted,
    heard: Callable[[tuple[int, int] | None], None],
) -> None:
    """Tell `heard` where the leader's log begins and ends; None: it does not say."""
    ends: dict[int, int] = {}

    def answered(timestamp: int, done: Deferred[Any]) -> None:
        if -1 in ends.values():
            return
        ends[timestamp] = _offset(done)
        if ends[timestamp] < 0:
            heard(None)
        elif len(ends) == 2:
            heard((ends[EARLIEST], ends[LATEST]))

    for timestamp in (LATEST, EARLIEST):
        host.peers.send(
            leader,
            list_offsets_request(host.broker_id, [asked], timestamp),
            timeout_ms=host.settings.timeout_ms,
            channel=channel,
        ).then(lambda done, at=timestamp: answered(at, done))  # type: ignore[misc]


def start_over(host: FetcherHost, followed: Followed, log: Log, leader_start: int, leader_end: int) -> bool:
    """What was asked for is not in the leader's log: fit into it. Whether there was anything to do.

    Raises:
        StorageError: the log cannot be cut.
    """
    restart = out_of_range(log.log_end_offset, leader_start, leader_end)
    if restart.afresh:
        _log.info("%s: dropping the log, the leader's begins at %d", log.topic_partition, leader_start)
        log.truncate_fully_and_start_at(restart.offset)
        host.truncated(log, restart.offset)
        followed.partition.wake()
        return True
    if restart.offset < log.log_end_offset:
        cut(host, followed, log, restart.offset)
        return True
    return False


def _offset(done: Deferred[Any]) -> int:
    """The one offset of a ListOffsets answer, -1 if there is none."""
    try:
        response = done.result()
    except (PeerError, ApiError):
        return -1
    for topic in response.topics:
        for each in topic.partitions:
            return -1 if each.error_code else int(each.offset)
    return -1
