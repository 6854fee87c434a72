"""All partitions of this broker: look-up, appends of coordinators, metadata changes, housekeeping.

Subscribed to the metadata cache: `apply_metadata` makes logs appear, change and go before the requester of
the change hears that it happened. Coordinators subscribe to leadership here (`on_leadership`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kbroker.broker.deferred import Deferred
from kbroker.broker.group_sync import GroupSync, SyncFiles
from kbroker.broker.in_sync_port import ALONE, InSyncPort
from kbroker.broker.partition import Partition
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import CONFIG_BROKER, CONFIG_TOPIC, NO_LEADER, RECOVERING
from kbroker.metrics.topics import TopicBook
from kbroker.replication.purgatory import Purgatory
from kbroker.replication.throttle import is_throttled
from kbroker.storage.data_sync import DataSync
from kbroker.storage.disk import StorageError
from kbroker.types import ZERO_UUID, TopicPartition, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kbroker.broker.raft_driver import RunBlocking
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock
    from kbroker.metadata.delta import ClusterDelta, TopicDelta
    from kbroker.metadata.image import ClusterImage, PartitionImage, TopicImage
    from kbroker.replication.throttle import ReplicationQuota
    from kbroker.storage.log import AppendOrigin, AppendResult, Log
    from kbroker.storage.log_config import LogConfig
    from kbroker.storage.log_dir import LogDir
    from kbroker.storage.log_manager import LogManager

_log = logging.getLogger(__name__)

#: How often it is looked whether there is room for logs that could not be made; how many are made at once.
_MAKE_INTERVAL_MS = 500
_MADE_AT_ONCE = 200
#: Directory ids below have a meaning of their own: unassigned, lost, migrating.
_DIRECTORY_IDS_RESERVED = 100
#: Partitions that change in one turn of the loop.
_SLICE = 32


class Leadership(NamedTuple):
    """This broker began to lead a partition (epoch >= 0), or stopped (-1: resigned, or the topic is gone)."""

    topic_partition: TopicPartition
    topic_id: Uuid
    leader_epoch: int
    deleted: bool = False


class TopicSettings(NamedTuple):
    """What a topic's configs come to: for its logs, and for replication."""

    log: LogConfig
    min_insync_replicas: int
    #: `partition:broker` pairs, or `*` (KIP-73).
    leader_throttled: tuple[str, ...] = ()
    follower_throttled: tuple[str, ...] = ()


class Links(Protocol):
    """Who copies this broker's partitions from others (broker/replication.py)."""

    def follow(self, partition: Partition) -> None:
        """Copy it from the leader that it names, in the epoch that it names."""
        ...

    def unfollow(self, partition: Partition) -> None:
        """Do not copy it any more."""
        ...


class _NoLinks:
    def follow(self, partition: Partition) -> None:
        pass

    def unfollow(self, partition: Partition) -> None:
        pass


def _run_here(work: Callable[[], object], done: Callable[[BaseException | None], None]) -> None:
    work()
    done(None)


class ReplicaManager:
    """The partitions of this broker, by name.

    Args:
        broker_id: this node.
        logs: the logs on disk, loaded.
        clock: for append times.
        timer: for waits.
        settings: (topic name, its overrides) -> what they come to together with the broker's defaults.
        run_blocking: runs what waits for the disk; None: here and now.
        call_soon, sync_files: see `GroupSync`.
    """

    def __init__(
        self,
        broker_id: int,
        logs: LogManager,
        clock: Clock,
        timer: Timer,
        settings: Callable[[str, Mapping[str, str]], TopicSettings],
        run_blocking: RunBlocking | None = None,
        *,
        call_soon: Callable[[Callable[[], object]], object] | None = None,
        sync_files: SyncFiles | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.logs = logs
        self.clock = clock
        #: Parked fetches, by partition.
        self.fetches = Purgatory(timer.call_later)
        self.partitions: dict[tuple[str, int], Partition] = {}
        #: What goes in and out of them.
        self.topic_stats = TopicBook()
        #: Syncs logs for those who wait for the disk (flush.messages).
        self.syncs = GroupSync(
            run_blocking or _run_here,
            self._synced,
            self._sync_failed,
            lambda log: logs.get(log.topic_partition) is log,
            call_soon,
            sync_files,
        )
        #: What throttled replicas may move; None: as much as they like.
        self.leader_quota: ReplicationQuota | None = None
        self.follower_quota: ReplicationQuota | None = None
        #: How far a log is compacted.
        self.cleaned_offset: Callable[[Log], int] = lambda log: 0
        self._in_sync: InSyncPort = ALONE
        self._links: Links = _NoLinks()
        self._timer = timer
        #: Until the metadata that a start finds has been applied.
        self._is_first = True
        self._image: ClusterImage | None = None
        #: Partitions whose logs could not be made, for want of room.
        self._without_log: dict[TopicPartition, None] = {}
        #: What has to be told of single partitions, which may be thousands: by text.
        self._news: dict[str, list[TopicPartition]] = {}
        self._settings = settings
        self._leadership_listeners: list[Callable[[Leadership], None]] = []
        #: Told of a partition whose log was made later than the metadata was applied.
        self.on_log_made: Callable[[Partition], object] | None = None
        #: Whether this broker had a replica before it started, where the first metadata do not tell.
        self.was_there: Callable[[TopicPartition], bool] = lambda tp: False
        #: Told of a log directory that has failed.
        self.on_directory_failed: Callable[[LogDir], object] | None = None
        for directory in logs.dirs:
            directory.on_failed = self._directory_failed

    def link(self, in_sync: InSyncPort, links: Links) -> None:
        """Let partitions be copied and in-sync sets change from now on; before the first metadata."""
        self._in_sync = in_sync
        self._links = links

    # -- look-up --

    def get(self, topic: str, partition: int) -> Partition | None:
        """The partition if this broker hosts a replica of it."""
        return self.partitions.get((topic, partition))

    def hosted(self, topic: str, partition: int) -> Partition:
        """The partition; ApiError(UNKNOWN_TOPIC_OR_PARTITION) if this broker hosts no replica of it."""
        found = self.partitions.get((topic, partition))
        if found is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return found

    def led(self, topic: str, partition: int) -> Partition:
        """The partition of a topic that exists; ApiError(NOT_LEADER_OR_FOLLOWER) unless this broker leads
        it.
        """
        found = self.partitions.get((topic, partition))
        if found is None or found.leader_state is None:
            if found is not None and found.log is None:
                raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return found

    def led_partitions(self) -> Iterator[Partition]:
        """Every partition that this broker leads now."""
        return (partition for partition in self.partitions.values() if partition.is_leader)

    def removable_to(self, log: Log) -> int:
        """Below this offset compaction may drop tombstones and markers: every assigned replica has replicated
        and compacted that part (docs/decisions/0005).
        """
        partition = self.partitions.get(log.topic_partition)
        if partition is None or partition.log is not log:
            return 0
        return partition.removable(self.cleaned_offset(log))

    # -- for coordinators --

    def append_internal(
        self, tp: TopicPartition, batch: bytes | bytearray, *, origin: AppendOrigin
    ) -> AppendResult:
        """Append a batch as leader and write it; readable at once, committed as `when_committed` tells.

        A batch that may be written to is patched in place.

        Raises:
            ApiError: this broker does not lead `tp`, or the batch is refused.
            StorageError: the disk failed.
        """
        partition = self.hosted(tp.topic, tp.partition)
        result = partition.append(batch, self.clock.now_ms(), origin, required_acks=-1)
        try:
            partition.flush()
        except StorageError:
            self.disk_failed(partition)
            raise
        return result

    def append_own(
        self, tp: TopicPartition, batch: bytearray, delta: int, timestamp: int
    ) -> tuple[int, bool]:
        """As `append_internal` for a coordinator's batch of no producer, made just now, whose records have
        all that time and end `delta` behind the first: the first's offset, and whether all is committed.
        """
        partition = self.partitions.get(tp)
        if partition is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        try:
            first = partition.append_own(batch, delta, timestamp, self.clock.now_ms())
        except StorageError:
            self.disk_failed(partition)
            raise
        return first, partition.high_watermark > first + delta

    def when_committed(self, tp: TopicPartition, last_offset: int) -> Deferred[None]:
        """Done when the record at `last_offset` of `tp` is committed (high watermark above it).

        Fails with ApiError(NOT_LEADER_OR_FOLLOWER) when leadership is lost before. With one replica it is
        done when this returns.
        """
        return self.hosted(tp.topic, tp.partition).when_committed(last_offset)

    def high_watermark(self, tp: TopicPartition) -> int:
        """The end of what is committed of `tp`, as far as this broker knows."""
        return self.hosted(tp.topic, tp.partition).high_watermark

    def read_internal(self, tp: TopicPartition, offset: int, max_bytes: int = 1 << 20) -> bytes:
        """Whole batches of `tp` from the one that holds `offset` on, empty at the log's end.

        To load a coordinator. The first batch comes whole even if it is larger than `max_bytes`.
        """
        log = self.hosted(tp.topic, tp.partition).online_log()
        found = log.read(max(offset, log.log_start_offset), max_bytes, log.log_end_offset, True)
        return b"".join(part.read() for part in found.parts)

    def on_leadership(self, listener: Callable[[Leadership], None]) -> None:
        """Call `listener` whenever this broker begins or stops to lead a partition, in order of subscription.

        It is called for partitions that are led already, too.
        """
        self._leadership_listeners.append(listener)
        for partition in list(self.led_partitions()):
            listener(Leadership(partition.topic_partition, partition.topic_id, partition.leader_epoch))

    # -- metadata --

    def apply_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Make the logs what `new` says: delete, create, reconfigure, lead, follow."""
        for _ in self._apply(new, delta):
            pass

    def apply_in_slices(
        self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta
    ) -> Iterator[None] | None:
        """As `apply_metadata`; what remains of a large change, to be done step by step.

        To make 1,000 logs takes a second on a busy machine, for which no other node would be answered.
        """
        work = self._apply(new, delta)
        if self._is_first or sum(len(change.partitions) for change in delta.topics.values()) <= _SLICE:
            for _ in work:
                pass
            return None
        return work

    def _apply(self, new: ClusterImage, delta: ClusterDelta) -> Iterator[None]:
        self._image = new
        for change in delta.topics.values():
            if change.new is None and change.old is not None:
                self._delete_topic(change.old)
        for change in delta.topics.values():
            if change.new is not None:
                yield from self._change_topic(new, change.new, change)
        self._reconfigure(new, delta)
        self._is_first = False
        self._tell_news(logging.ERROR)

    def disk_failed(self, partition: Partition) -> None:
        """A write to the partition's log failed: if its directory is offline now, so is all that lies in it.

        A disk that is merely full keeps its partitions: they are readable, and take records again later.
        """
        if partition.log is not None and partition.log.directory.offline:
            self._close_directory(partition.log.directory)

    def _directory_failed(self, directory: LogDir) -> None:
        """Whoever met the failure is still at work: the partitions close when it is done."""
        self._timer.call_later(0, lambda: self._close_directory(directory))
        if self.on_directory_failed is not None:
            self.on_directory_failed(directory)

    def _close_directory(self, directory: LogDir) -> None:
        for other in list(self.partitions.values()):
            if other.log is not None and other.log.directory is directory:
                self._links.unfollow(other)
                other.close(ErrorCode.KAFKA_STORAGE_ERROR)
                self._tell(Leadership(other.topic_partition, other.topic_id, -1))

    def _synced(self, log: Log) -> None:
        partition = self.partitions.get(log.topic_partition)
        if partition is not None and partition.log is log:
            partition.synced()

    def _sync_failed(self, log: Log, error: OSError | StorageError) -> None:
        if self.logs.get(log.topic_partition) is log and isinstance(error, OSError):
            log.directory.fail_for_good(error)
        # Else the log was deleted meanwhile, and its directory with it.
        if log.directory.offline:
            self._close_directory(log.directory)

    def settings_of(self, image: ClusterImage, topic: str) -> TopicSettings:
        """What the configs of `topic` come to in `image`."""
        return self._settings(topic, image.configs.get((CONFIG_TOPIC, topic)) or {})

    def _change_topic(self, image: ClusterImage, topic: TopicImage, change: TopicDelta) -> Iterator[None]:
        settings = self.settings_of(image, topic.name)
        for count, (index, state) in enumerate(change.partitions.items(), 1):
            if count % _SLICE == 0:
                yield
            partition = self.partitions.get((topic.name, index))
            if self.broker_id not in state.replicas:
                if partition is not None:
                    self._drop(partition)
                continue
            if partition is not None and partition.topic_id != topic.id:
                self._drop(partition)
                partition = None
            if partition is None:
                assigned = state.directory_of(self.broker_id)
                partition = self._create(TopicPartition(topic.name, index), topic.id, settings, assigned)
            if partition.log is not None:
                self._take_state(partition, state, settings)

    def _may_lie_elsewhere(self, tp: TopicPartition, assigned: Uuid | None) -> bool:
        """Whether the partition has a log, but in a directory that is not at hand.

        `assigned` is the directory that the cluster knows (KIP-858), if any.
        """
        if self.logs.get(tp) is not None:
            return False
        if assigned is not None and int.from_bytes(assigned, "big") >= _DIRECTORY_IDS_RESERVED:
            return all(
                each.offline or each.directory_id not in (assigned, ZERO_UUID) for each in self.logs.dirs
            )
        return (self._is_first or self.was_there(tp)) and any(each.offline for each in self.logs.dirs)

    def _create(
        self, tp: TopicPartition, topic_id: Uuid, settings: TopicSettings, assigned: Uuid | None
    ) -> Partition:
        log: Log | None = None
        if self._may_lie_elsewhere(tp, assigned):
            # A new log would hide the one that may lie there, and take its offsets anew.
            self._note(tp, "offline: the log may lie in a log directory that cannot be used")
        else:
            log = self._make_log(tp, topic_id, settings)
        partition = Partition(
            tp,
            topic_id,
            log,
            self.clock,
            self.fetches.check,
            self.syncs.ask,
            self._in_sync,
            self.topic_stats.host(tp.topic),
        )
        self._throttle(partition, settings)
        self.partitions[tp] = partition
        return partition

    def _make_log(self, tp: TopicPartition, topic_id: Uuid, settings: TopicSettings) -> Log | None:
        """The log, found or made; None if that failed, and made later if it failed for want of room."""
        try:
            log = self.logs.get_or_create(tp, topic_id, settings.log, self.clock.now_ms())
            if self._is_first:
                self._sync_what_was_found(log)
        except ApiError as error:
            self._note(tp, f"no log could be made: {error.text}")
        else:
            return log
        if self.logs.get(tp) is None and not all(each.offline for each in self.logs.dirs):
            if not self._without_log:
                self._timer.call_later(_MAKE_INTERVAL_MS, self._make_missing)
            self._without_log[tp] = None
        return None

    def _make_missing(self) -> None:
        """Make the logs that could not be made when the metadata told of them, if there is room now."""
        missing, self._without_log = self._without_log, {}
        rest: dict[TopicPartition, None] = {}
        has_room = any(each.own_refusal is None for each in self.logs.dirs)
        for number, tp in enumerate(missing):
            if not has_room or self._without_log or number >= _MADE_AT_ONCE:
                rest[tp] = None
                continue
            partition = self.partitions.get((tp.topic, tp.partition))
            if partition is not None and partition.log is None and self._image is not None:
                self._complete(partition, self._image)
        if rest and not self._without_log:
            self._timer.call_later(_MAKE_INTERVAL_MS if not has_room else 1, self._make_missing)
        self._without_log.update(rest)
        self._tell_news(logging.WARNING)

    def _note(self, tp: TopicPartition, news: str) -> None:
        self._news.setdefault(news, []).append(tp)

    def _tell_news(self, level: int) -> None:
        """One line for all partitions of which there is the same to say."""
        for news, found in self._news.items():
            _log.log(level, "%s%s: %s", found[0], f" and {len(found) - 1} more" if found[1:] else "", news)
        self._news.clear()

    def _complete(self, partition: Partition, image: ClusterImage) -> None:
        """Give a partition its log, and the state that the metadata tells of it."""
        tp = partition.topic_partition
        topic = image.topics.by_id(partition.topic_id)
        if topic is None or self.broker_id not in topic.partitions[tp.partition].replicas:
            return
        settings = self.settings_of(image, tp.topic)
        partition.log = self._make_log(tp, topic.id, settings)
        if partition.log is None:
            return
        self._note(tp, "the log is made now")
        self._throttle(partition, settings)
        self._take_state(partition, topic.partitions[tp.partition], settings)
        if self.on_log_made is not None:
            self.on_log_made(partition)

    def _throttle(self, partition: Partition, settings: TopicSettings) -> None:
        index = partition.topic_partition.partition
        partition.leader_throttled = bool(settings.leader_throttled) and is_throttled(
            settings.leader_throttled, index, self.broker_id
        )
        partition.follower_throttled = bool(settings.follower_throttled) and is_throttled(
            settings.follower_throttled, index, self.broker_id
        )

    def _sync_what_was_found(self, log: Log) -> None:
        """flush.messages: what an earlier life has written is readable at once, so it must be durable."""
        if log.log_end_offset - log.durable_end >= log.config.flush_messages:
            job = DataSync(log)
            try:
                job.run()
            except OSError as error:
                raise log.directory.fail_for_good(error) from error
            job.finish()

    def _take_state(self, partition: Partition, state: PartitionImage, settings: TopicSettings) -> None:
        leader, partition.adding = state.leader, state.adding_replicas
        if leader == self.broker_id and not partition.may_lead(state.leader_epoch):
            _log.error(
                "%s: not leading in epoch %d: the metadata is from before the start (the log's epoch is %d)",
                partition.topic_partition,
                state.leader_epoch,
                partition.online_log().latest_epoch,
            )
            leader = NO_LEADER
        if leader != self.broker_id:
            was_leader = partition.is_leader
            partition.follow(leader, state.leader_epoch)
            self._links.follow(partition)
            if was_leader:
                self._tell(Leadership(partition.topic_partition, partition.topic_id, -1))
            return
        self._links.unfollow(partition)
        new_term = not partition.is_leader or partition.leader_epoch != state.leader_epoch
        partition.lead(
            self.broker_id,
            state.leader_epoch,
            state.partition_epoch,
            state.replicas,
            state.isr,
            settings.min_insync_replicas,
            state.leader_recovery_state == RECOVERING,
        )
        if new_term:
            self._tell(Leadership(partition.topic_partition, partition.topic_id, state.leader_epoch))

    def stop_replica(self, tp: TopicPartition) -> None:
        """Lead or copy a partition no more, and keep its log, until the metadata names it again."""
        partition = self.partitions.get((tp.topic, tp.partition))
        if partition is None or partition.log is None:
            return
        was_leader = partition.is_leader
        partition.follow(NO_LEADER, partition.leader_epoch)
        self._links.unfollow(partition)
        if was_leader:
            self._tell(Leadership(tp, partition.topic_id, -1))

    def set_aside(self, tp: TopicPartition) -> None:
        """Lead or copy a partition no more; its log is kept out of the way, as one that belongs to nobody."""
        partition = self.partitions.get((tp.topic, tp.partition))
        if partition is not None:
            self._drop(partition, self.logs.set_aside)
            return
        try:
            self.logs.set_aside(tp)
        except StorageError as error:
            _log.error("cannot set %s aside: %s", tp, error.text)

    def _delete_topic(self, topic: TopicImage) -> None:
        for index in range(len(topic.partitions)):
            partition = self.partitions.get((topic.name, index))
            if partition is not None and partition.topic_id == topic.id:
                self._drop(partition)

    def _drop(self, partition: Partition, end: Callable[[TopicPartition], object] | None = None) -> None:
        tp = partition.topic_partition
        del self.partitions[tp]
        self.topic_stats.drop(tp.topic)
        had_log = partition.log is not None
        self._links.unfollow(partition)
        partition.close(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if had_log:
            try:
                (end or self.logs.delete)(tp)
            except StorageError as error:
                _log.error("cannot move %s away: %s", tp, error.text)
        self._tell(Leadership(tp, partition.topic_id, -1, deleted=True))

    def _reconfigure(self, image: ClusterImage, delta: ClusterDelta) -> None:
        if any(kind == CONFIG_BROKER for kind, _ in delta.configs):
            changed = [topic.name for topic in image.topics]
        else:
            changed = [name for kind, name in delta.configs if kind == CONFIG_TOPIC]
        for name in changed:
            topic = image.topics.get(name)
            if topic is None:
                continue
            settings = self.settings_of(image, name)
            for index in range(len(topic.partitions)):
                partition = self.partitions.get((name, index))
                if partition is not None and partition.log is not None:
                    partition.configure(settings.log, settings.min_insync_replicas)
                    self._throttle(partition, settings)

    def _tell(self, change: Leadership) -> None:
        for listener in self._leadership_listeners:
            listener(change)
