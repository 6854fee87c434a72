"""Copies partitions from one leader: fetches, appends, cuts where the leader's log is another one.

One request is under way at a time. After each answer the next one goes out at once; the leader lets it wait
until there is something. A partition that comes meanwhile, or comes back from a pause, does not wait for that
answer, or whoever writes with acks=all might wait for half a second after each change of leader: a second
fetcher of the same leader asks for it. What a partition needs is decided in `replication/follower.py`; an
error of one partition takes it out of the session for a pause, and holds up no other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.broker.follower_cuts import ask_for_ends, cut, cut_where_it_diverges, start_over
from kbroker.broker.peer import PeerError
from kbroker.broker.replica_messages import fetch_request
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.replication.cleaned import read_offset
from kbroker.replication.fetch_session import ClientSession, Key, Wanted
from kbroker.replication.follower import Remedy, pause_ms, remedy
from kbroker.storage.disk import StorageError
from kbroker.types import ZERO_UUID

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.partition import Partition
    from kbroker.broker.peer import PeerAddress, Peers
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.replication.throttle import ReplicationQuota
    from kbroker.storage.log import Log

_log = logging.getLogger(__name__)

#: The first pause after an error; it doubles up to `replica.fetch.backoff.ms`.
FIRST_PAUSE_MS = 10
#: How long a throttled partition rests before it asks again.
THROTTLED_MS = 200
#: After so many failures in a row, about a second, the log is told.
_FAILURES_TOLD = 7


class FetchSettings(NamedTuple):
    """`replica.fetch.…` and `replica.socket.timeout.ms`."""

    wait_max_ms: int = 500
    bytes_min: int = 1
    response_bytes_max: int = 10 * 1024 * 1024
    partition_bytes_max: int = 1024 * 1024
    backoff_ms: int = 1000
    timeout_ms: int = 30_000


DEFAULT_SETTINGS = FetchSettings()


class FetcherHost(NamedTuple):
    """What all fetchers of a broker share.

    `when_durable(log, done)` calls `done` when what was written must not wait for the disk any more;
    `move(fetcher, followed)` gives a partition to a fetcher of the same leader that does not wait for an
    answer, if there is one. `disk_failed` and `truncated` (log, offset) tell the broker. `quota` is that of
    throttled replicas.
    """

    broker_id: int
    broker_epoch: Callable[[], int]
    peers: Peers
    address_of: Callable[[int], PeerAddress | None]
    timer: Timer
    settings: FetchSettings
    when_durable: Callable[[Log, Callable[[], None]], None]
    move: Callable[[ReplicaFetcher, Followed], bool]
    disk_failed: Callable[[Partition], None]
    truncated: Callable[[Log, int], None]
    quota: Callable[[], ReplicationQuota | None]
    cleaned: Callable[[Log], int]
    keep_log_starts: Callable[[], object]
    monotonic_ms: Callable[[], float]


class Followed:
    """A partition that is copied, in one leader epoch."""

    __slots__ = ("alarm", "failures", "key", "lag", "leader_epoch", "partition")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.key: Key = (partition.topic_id, partition.topic_partition.partition)
        self.leader_epoch = partition.leader_epoch
        self.failures = 0
        #: Committed records that were not here yet, as of the newest answer.
        self.lag = 0
        #: Set while it pauses.
        self.alarm: TimerHandle | None = None


class ReplicaFetcher:
    """One connection to one leader.

    Args:
        leader_id: whom to copy from.
        number: which of the `num.replica.fetchers` for that leader; from there on the second one of each.
    """

    def __init__(self, host: FetcherHost, leader_id: int, number: int) -> None:
        self.leader_id = leader_id
        self.number = number
        self.partitions: dict[Key, Followed] = {}
        self._host = host
        self._channel = f"fetch-{number}"
        #: Requests so far.
        self.sent = 0
        self._session = ClientSession()
        self._under_way = False
        #: An answer is being taken: what is wanted meanwhile goes with the next request, which follows.
        self._taking = False
        self._failures = 0
        self._starts_moved = False
        self._alarm: TimerHandle | None = None
        self._closed = False

    @property
    def is_waiting(self) -> bool:
        """Whether a request is on its way, or waits at the leader."""
        return self._under_way

    # -- which partitions --

    def add(self, partition: Partition) -> None:
        """Begin to copy it, in its leader epoch of now."""
        self.remove(partition)
        followed = Followed(partition)
        self.partitions[followed.key] = followed
        log = partition.log
        if log is None:
            return
        if log.latest_epoch < 0 and log.log_end_offset > log.high_watermark:
            # Nothing tells where this log leaves the leader's; only what is committed is certain.
            cut(self._host, followed, log, log.high_watermark)
        self._want(followed)

    def give(self, followed: Followed) -> Followed:
        """Let another fetcher copy it from now on."""
        del self.partitions[followed.key]
        return followed

    def take(self, followed: Followed) -> None:
        """Copy it from now on."""
        self.partitions[followed.key] = followed
        self._want(followed)

    def refresh(self, partition: Partition) -> None:
        """Tell the leader what has changed here, if anything has."""
        followed = self.partitions.get((partition.topic_id, partition.topic_partition.partition))
        if followed is not None and followed.key in self._session.wanted:
            self._want(followed)

    def remove(self, partition: Partition) -> None:
        """Copy it no more."""
        followed = self.partitions.pop((partition.topic_id, partition.topic_partition.partition), None)
        if followed is not None:
            self._session.forget(followed.key)
            if followed.alarm is not None:
                followed.alarm.cancel()
                followed.alarm = None

    def close(self) -> None:
        """Copy nothing more."""
        self._closed = True
        for followed in list(self.partitions.values()):
            self.remove(followed.partition)
        if self._alarm is not None:
            self._alarm.cancel()

    def hurry(self) -> None:
        """The leader may be reachable again, or elsewhere: do not wait for the end of a pause."""
        self._failures = 0
        self._arm(0)

    def _want(self, followed: Followed) -> None:
        """Ask for what comes next, from the next request on."""
        partition, log = followed.partition, followed.partition.log
        if self.partitions.get(followed.key) is not followed or log is None:
            return
        if partition.waits_for_sync:
            # The leader counts what we ask for as what we have: that must be durable (flush.messages).
            self._session.forget(followed.key)
            self._host.when_durable(log, lambda: self._want(followed))
            return
        # What the leader keeps in two sessions would be taken for news from either.
        if self._under_way and not self._session.names(followed.key) and self._host.move(self, followed):
            return
        self._session.want(
            Wanted(
                partition.topic_partition.topic,
                partition.topic_id,
                partition.topic_partition.partition,
                followed.leader_epoch,
                log.log_end_offset,
                log.latest_epoch,
                log.log_start_offset,
                self._host.cleaned(log) if log.config.compact else 0,
            )
        )
        self._arm(0)

    def _pause(self, followed: Followed) -> None:
        """Leave the partition alone for a while."""
        followed.failures += 1
        self._rest(followed, pause_ms(followed.failures, FIRST_PAUSE_MS, self._host.settings.backoff_ms))

    def _rest(self, followed: Followed, delay_ms: float) -> None:
        self._session.forget(followed.key)
        if followed.alarm is not None:
            followed.alarm.cancel()

        def over() -> None:
            followed.alarm = None
            self._want(followed)

        followed.alarm = self._host.timer.call_later(delay_ms, over)

    # -- requests --

    def _arm(self, delay_ms: float) -> None:
        if self._under_way or self._taking or self._closed:
            return
        if self._alarm is not None:
            if delay_ms or not self._failures:
                return
            self._alarm.cancel()
        self._alarm = self._host.timer.call_later(delay_ms, self._send)

    def _send(self) -> None:
        self._alarm = None
        if self._under_way or self._closed or not self._session.wanted:
            return
        host = self._host
        address = host.address_of(self.leader_id)
        if address is None:
            self._failed("it is not registered")
            return
        self._under_way = True
        self.sent += 1
        request = fetch_request(
            host.broker_id, host.broker_epoch(), host.settings[:4], self._session.next_request()
        )
        host.peers.send(address, request, timeout_ms=host.settings.timeout_ms, channel=self._channel).then(
            self._answered
        )

    def _failed(self, why: object) -> None:
        self._failures += 1
        if self._failures == _FAILURES_TOLD:
            _log.info("cannot fetch from broker %d, trying again: %s", self.leader_id, why)
        self._session.failed()
        if self._alarm is not None:
            self._alarm.cancel()
        delay = pause_ms(self._failures, FIRST_PAUSE_MS, self._host.settings.backoff_ms)
        self._alarm = self._host.timer.call_later(delay, self._send)

    def _answered(self, done: Deferred[Any]) -> None:
        self._under_way = False
        if self._closed:
            return
        try:
            response = done.result()
        except (PeerError, ApiError) as error:
            self._failed(error)
            return
        if response.error_code:
            code = error_code(response.error_code)
            if code is ErrorCode.FETCH_SESSION_ID_NOT_FOUND and not self._failures:
                # Evicted or restarted: go on with a new session at once.
                self._session.failed(forgotten=True)
                self._failures = 1
                self._send()
            else:
                self._failed(code.name)
            return
        self._failures = 0
        self._session.answered(response.session_id)
        self._taking = True
        try:
            self._take_all(response.responses)
        except BaseException:
            self._taking = False
            self._arm(self._host.settings.backoff_ms)  # nothing else would make it go on
            raise
        self._taking = False
        if self._alarm is not None:
            self._alarm.cancel()
        self._send()

    def _take_all(self, topics: list[Any]) -> None:
        for topic in topics:
            topic_id = bytes(topic.topic_id)
            for data in topic.partitions:
                followed = self._named(topic_id, topic.topic, data.partition_index)
                if followed is not None:
                    self._take(followed, data)
        if self._starts_moved:
            # Before the leader hears of it: a crash must not bring back what was deleted, all the less as it
            # may be what an earlier leader had there.
            self._starts_moved = False
            self._host.keep_log_starts()

    def _named(self, topic_id: bytes, name: str, index: int) -> Followed | None:
        if topic_id != ZERO_UUID:
            return self.partitions.get((topic_id, index))
        # Before version 13 there are only names.
        for followed in self.partitions.values():
            if followed.partition.topic_partition == (name, index):
                return followed
        return None

    # -- answers --

    def _take(self, followed: Followed, data: Any) -> None:
        partition, log = followed.partition, followed.partition.log
        asked = self._session.wanted.get(followed.key)
        if (
            log is None
            or asked is None
            or asked.leader_epoch != followed.leader_epoch
            or asked.fetch_offset != log.log_end_offset
        ):
            return  # the answer to what we do not ask any more
        try:
            if data.error_code:
                self._on_error(followed, asked, error_code(data.error_code))
            elif data.diverging_epoch.epoch >= 0 or data.diverging_epoch.end_offset >= 0:
                self._diverged(followed, log, data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
            else:
                start = log.log_start_offset
                partition.copy(
                    data.records, data.high_watermark, data.log_start_offset, followed.leader_epoch
                )
                if partition.adding and data.records and self._host.broker_id in partition.adding:
                    partition.stats.reassigned_in += len(data.records)
                self._starts_moved |= log.log_start_offset > start
                followed.failures = 0
                followed.lag = max(data.high_watermark - log.log_end_offset, 0)
                if data.unknown_tags:
                    partition.removable_to = max(partition.removable_to, read_offset(data.unknown_tags))
                if not (partition.follower_throttled and self._is_held(followed, data)):
                    self._want(followed)
        except StorageError as error:
            _log.error("cannot copy %s: %s", partition.topic_partition, error.text)
            self._host.disk_failed(partition)
            self._pause(followed)
        except ApiError as error:
            _log.warning("cannot append to %s: %s", partition.topic_partition, error.text)
            self._pause(followed)

    def _is_held(self, followed: Followed, data: Any) -> bool:
        """Count what came while we are behind, and rest if it is too much (KIP-73)."""
        log, quota = followed.partition.log, self._host.quota()
        if log is None or quota is None or log.log_end_offset >= data.high_watermark:
            return False
        now_ms = self._host.monotonic_ms()
        quota.record(len(data.records or b""), now_ms)
        if not quota.is_exceeded(now_ms):
            return False
        self._rest(followed, THROTTLED_MS)
        return True

    def _on_error(self, followed: Followed, asked: Wanted, code: ErrorCode) -> None:
        if remedy(code) is Remedy.RESTART:
            self._restart(followed, asked)
            return
        # At each change of leader one of the two hears of it later: nothing to tell, unless it goes on.
        lasts = followed.failures == _FAILURES_TOLD
        _log.log(
            logging.INFO if lasts else logging.DEBUG,
            "cannot fetch %s from broker %d, trying again: %s",
            followed.partition.topic_partition,
            self.leader_id,
            code.name,
        )
        self._pause(followed)

    def _diverged(self, followed: Followed, log: Log, epoch: int, end_offset: int) -> None:
        if not cut_where_it_diverges(self._host, followed, log, epoch, end_offset):
            # A leader that says so again and again must not keep us busy.
            self._pause(followed)
            return
        followed.failures = 0
        self._want(followed)

    # -- out of range --

    def _restart(self, followed: Followed, asked: Wanted) -> None:
        """Ask where the leader's log ends and begins, then go on from there."""
        address = self._host.address_of(self.leader_id)
        if address is None:
            self._pause(followed)
            return
        self._session.forget(followed.key)

        def heard(ends: tuple[int, int] | None) -> None:
            if self._closed or self.partitions.get(followed.key) is not followed:
                return
            if ends is None:
                self._pause(followed)
            else:
                self._restart_at(followed, *ends)

        ask_for_ends(self._host, address, self._channel, asked, heard)

    def _restart_at(self, followed: Followed, leader_start: int, leader_end: int) -> None:
        log = followed.partition.log
        if log is None:
            return
        try:
            changed = start_over(self._host, followed, log, leader_start, leader_end)
        except StorageError as error:
            _log.error("cannot cut %s: %s", log.topic_partition, error.text)
            self._host.disk_failed(followed.partition)
            return
        if not changed:
            # Nothing to do here: it was the leader that was not ready.
            self._pause(followed)
            return
        followed.failures = 0
        self._want(followed)
