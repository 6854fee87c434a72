"""The group coordinator of this broker: which shard keeps a group, and what happens to all of them.

`__consumer_offsets` is led partition by partition; each one led here has a `ShardDriver`. They load one
after the other in the background, or at once when a request needs one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from kbroker.broker.auto_topics import GROUP_OFFSETS
from kbroker.broker.consumer_groups import ConsumerGroupRules, TopicNews
from kbroker.broker.deferred import Deferred
from kbroker.broker.gathered_commits import CommitGatherer
from kbroker.broker.shard_driver import ShardDriver
from kbroker.broker.shard_figures import ShardFigures
from kbroker.broker.shard_loader import ShardLoader
from kbroker.broker.streams_groups import StreamsGroupRules
from kbroker.coordinator.group.classic_requests import Joining
from kbroker.coordinator.group.group import Group
from kbroker.coordinator.group.group_shard import GroupShard, ListedGroup
from kbroker.coordinator.group.limits import GroupLimits, Surroundings
from kbroker.coordinator.group.offset_requests import Committing, DeletedOffsets, FetchedOffset
from kbroker.coordinator.partitioner import partition_for
from kbroker.coordinator.shard import Outcome
from kbroker.errors import ApiError, ErrorCode
from kbroker.types import uuid_to_string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kbroker.broker.replica_manager import Leadership
    from kbroker.broker.shard_driver import Replicas
    from kbroker.broker.timer import Timer, TimerHandle
    from kbroker.clock import Clock
    from kbroker.config.broker_config import BrokerConfig
    from kbroker.coordinator.group.consumer_group import ConsumerGroup
    from kbroker.coordinator.group.consumer_regex import Visible
    from kbroker.coordinator.group.streams_group import StreamsGroup
    from kbroker.coordinator.group.streams_requests import Beat
    from kbroker.metadata.cache import MetadataCache
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.protocol.control_records import EndTxnMarker
    from kbroker.protocol.generated.consumer_group_heartbeat_request import ConsumerGroupHeartbeatRequest
    from kbroker.protocol.generated.consumer_group_heartbeat_response import ConsumerGroupHeartbeatResponse
    from kbroker.protocol.generated.join_group_request import JoinGroupRequest
    from kbroker.protocol.generated.join_group_response import JoinGroupResponse
    from kbroker.protocol.generated.leave_group_request import MemberIdentity
    from kbroker.protocol.generated.leave_group_response import LeaveGroupResponse
    from kbroker.protocol.generated.streams_group_heartbeat_request import StreamsGroupHeartbeatRequest
    from kbroker.protocol.generated.sync_group_request import SyncGroupRequest
    from kbroker.protocol.generated.sync_group_response import SyncGroupResponse
    from kbroker.types import TopicPartition, Uuid

_partition_for = lru_cache(maxsize=8_192)(partition_for)


def group_limits(config: BrokerConfig) -> GroupLimits:
    """The settings as numbers; all of them are fixed while a broker runs."""
    return GroupLimits(
        min_session_timeout_ms=config.get_int("group.min.session.timeout.ms"),
        max_session_timeout_ms=config.get_int("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=config.get_int("group.initial.rebalance.delay.ms"),
        max_size=config.get_int("group.max.size"),
        offset_metadata_bytes_max=config.get_int("offset.metadata.max.bytes"),
        offsets_retention_ms=config.get_int("offsets.retention.minutes") * 60_000,
    )


class SteadyTime:
    """Milliseconds since 1970 that do not jump with the wall clock: sessions and commit times use one
    measure.

    Counted by the monotonic clock from the wall time at the start. `follow` catches up when the wall clock is
    ahead (the machine slept); it never goes back.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = clock.now_ms() - clock.monotonic_ms()

    def now_ms(self) -> int:
        """The time now."""
        return self._clock.monotonic_ms() + self._offset

    def follow(self) -> None:
        """Catch up with the wall clock."""
        self._offset = max(self._offset, self._clock.now_ms() - self._clock.monotonic_ms())


class GroupCoordinatorDriver:
    """What handlers ask about groups. Methods raise ApiError (or fail their Deferred with it) with
    NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS when the group is not, or not yet, kept here.

    Args:
        new_uuid: 16 random bytes a call, for member ids.
        call_soon: see `CommitGatherer`.
    """

    def __init__(
        self,
        config: BrokerConfig,
        clock: Clock,
        timer: Timer,
        new_uuid: Callable[[], Uuid],
        metadata: MetadataCache,
        replicas: Replicas,
        call_soon: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        self.commits = CommitGatherer(config.get_int("group.coordinator.append.linger.ms"), timer, call_soon)
        self.limits = group_limits(config)
        self.shards: dict[int, ShardDriver[GroupShard]] = {}
        self.figures = ShardFigures()
        self._commit_timeout_ms = config.get_int("offsets.commit.timeout.ms")
        self._check_interval_ms = config.get_int("offsets.retention.check.interval.ms")
        self._time = SteadyTime(clock)
        self._timer = timer
        self._new_uuid = new_uuid
        self._metadata = metadata
        self._replicas = replicas
        self._consumer_rules = ConsumerGroupRules(config, metadata)
        self.streams_rules = StreamsGroupRules(config, metadata)
        self._surroundings = Surroundings(
            image=lambda: metadata.image,
            consumer_limits=self._consumer_rules.limits,
            streams_limits=self.streams_rules.limits,
        )
        self._loader = ShardLoader(timer)
        self._expiry: TimerHandle = timer.call_later(self._check_interval_ms, self._expire)

    # -- which shard -----------------------------------------------------------------------------------------

    def _shard(self, group_id: str) -> ShardDriver[GroupShard]:
        topic = self._metadata.image.topics.get(GROUP_OFFSETS)
        if topic is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        driver = self.shards.get(_partition_for(group_id, len(topic.partitions)))
        if driver is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not driver.ready and not driver.load_some():
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return driver

    def _all_shards(self) -> list[ShardDriver[GroupShard]]:
        drivers = list(self.shards.values())
        for driver in drivers:
            if not driver.ready and not driver.load_some():
                raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return drivers

    def on_leadership(self, change: Leadership) -> None:
        """A partition of `__consumer_offsets` came or went (`ReplicaManager.on_leadership`)."""
        tp = change.topic_partition
        if tp.topic != GROUP_OFFSETS:
            return
        if change.leader_epoch < 0:
            gone = self.shards.pop(tp.partition, None)
            if gone is not None:
                self.figures.rebalances += gone.shard.rebalances
                gone.close()
        elif tp.partition not in self.shards:
            driver = ShardDriver(
                tp,
                GroupShard(self.limits, self._surroundings),
                self._replicas,
                self._timer,
                self._time.now_ms,
                self._commit_timeout_ms,
                self.figures,
            )
            self.shards[tp.partition] = driver
            self._loader.add(driver)

    # -- members ---------------------------------------------------------------------------------------------

    def join(
        self, request: JoinGroupRequest, version: int, client_id: str, client_host: str
    ) -> Deferred[JoinGroupResponse]:
        """JoinGroup."""
        _check_id(request.group_id)
        timeout = request.session_timeout_ms
        if not self.limits.min_session_timeout_ms <= timeout <= self.limits.max_session_timeout_ms:
            raise ApiError(ErrorCode.INVALID_SESSION_TIMEOUT)
        driver = self._shard(request.group_id)
        unique = "" if request.member_id else _uuid_text(self._new_uuid())
        joining = Joining(request, version, client_id, client_host, unique)
        now = self._time.now_ms()
        return driver.submit(lambda ticket: driver.shard.join(ticket, joining, now))

    def sync(self, request: SyncGroupRequest) -> Deferred[SyncGroupResponse]:
        """SyncGroup."""
        _check_id(request.group_id)
        driver = self._shard(request.group_id)
        now = self._time.now_ms()
        return driver.submit(lambda ticket: driver.shard.sync(ticket, request, now))

    def heartbeat(self, group_id: str, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
        """Heartbeat."""
        _check_id(group_id)
        now = self._time.now_ms()
        return self._shard(group_id).shard.heartbeat(group_id, member_id, instance_id, generation, now)

    def leave(self, group_id: str, members: list[MemberIdentity]) -> Deferred[LeaveGroupResponse]:
        """LeaveGroup, as of version 3."""
        _check_id(group_id)
        driver = self._shard(group_id)
        now = self._time.now_ms()
        return driver.submit(lambda ticket: driver.shard.leave(ticket, group_id, members, now))

    def consumer_heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        version: int,
        client_id: str,
        client_host: str,
        visible: Visible | None = None,
    ) -> Deferred[ConsumerGroupHeartbeatResponse]:
        """ConsumerGroupHeartbeat; `visible` picks topics of a pattern that the member may see."""
        from kbroker.coordinator.group.consumer_heartbeat import check_form
        from kbroker.coordinator.group.consumer_requests import Beating

        self._consumer_rules.check()
        driver = self.shard_for_member(request.group_id, lambda: check_form(request, version))
        unique = "" if request.member_id else uuid_to_string(self._new_uuid())
        beating = Beating(request, version, client_id, client_host, unique, visible)
        now = self._time.now_ms()
        return driver.submit(lambda ticket: driver.shard.consumer_heartbeat(ticket, beating, now))

    def streams_heartbeat(
        self, request: StreamsGroupHeartbeatRequest, version: int, client_id: str, client_host: str
    ) -> Deferred[Beat]:
        """StreamsGroupHeartbeat: the response, and internal topics to create."""
        from kbroker.coordinator.group.streams_heartbeat import check_form
        from kbroker.coordinator.group.streams_requests import Beating

        self.streams_rules.check()
        driver = self.shard_for_member(request.group_id, lambda: check_form(request))
        beating = Beating(request, version, client_id, client_host)
        now = self._time.now_ms()
        return driver.submit(lambda ticket: driver.shard.streams_heartbeat(ticket, beating, now))

    def shard_of(self, group_id: str) -> ShardDriver[GroupShard]:
        """The shard that keeps a group, loaded, for kinds of groups with parts elsewhere, too (share groups).

        Raises:
            ApiError: NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        return self._shard(group_id)

    def shard_for_member(self, group_id: str, check_form: Callable[[], None]) -> ShardDriver[GroupShard]:
        """`shard_of`; if it is not here, as with Kafka what is wrong with the request itself comes first.

        Raises:
            ApiError: also what `check_form` raises.
        """
        try:
            return self._shard(group_id)
        except ApiError:
            check_form()
            raise

    def now_ms(self) -> int:
        """The time as groups count it."""
        return self._time.now_ms()

    # -- offsets ---------------------------------------------------------------------------------------------

    def commit(self, request: Committing) -> Deferred[list[ErrorCode]]:
        """OffsetCommit or TxnOffsetCommit: one code for each commit."""
        driver = self._shard(request.group_id)
        now = self._time.now_ms()
        return driver.submit(lambda ticket: driver.shard.commit(ticket, request, now))

    def partition_of(self, group_id: str) -> TopicPartition:
        """The partition that keeps the group; one this broker leads.

        Raises:
            ApiError: NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        return self._shard(group_id).tp

    def end_transaction(
        self, partition: int, producer_id: int, producer_epoch: int, marker: EndTxnMarker, timestamp_ms: int
    ) -> Deferred[None]:
        """Write a transaction's marker; the offsets that the producer committed in it become true, or go.

        Raises:
            ApiError: this broker does not keep the partition, or not yet; or the marker is refused.
        """
        driver = self.shards.get(partition)
        if driver is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        if not driver.ready and not driver.load_some():
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return driver.end_transaction(producer_id, producer_epoch, marker, timestamp_ms)

    def fetch_offsets(
        self,
        group_id: str,
        member_id: str | None,
        member_epoch: int,
        topics: list[tuple[str, Uuid, list[int]]] | None,
        require_stable: bool,
    ) -> list[tuple[str, list[FetchedOffset]]]:
        """OffsetFetch of one group: what is committed now, as in Kafka. It waits for nothing: while a replica
        is slow to go, a group that begins anew would be refused after offsets.commit.timeout.ms.
        """
        shard = self._shard(group_id).see_committed()
        return shard.fetch_offsets(group_id, member_id, member_epoch, topics, require_stable)

    def delete_offsets(self, group_id: str, partitions: list[tuple[str, int]]) -> Deferred[DeletedOffsets]:
        """OffsetDelete."""
        _check_id(group_id)
        driver = self._shard(group_id)
        return driver.submit(lambda ticket: driver.shard.delete_offsets(ticket, group_id, partitions))

    # -- groups ----------------------------------------------------------------------------------------------

    def group(self, group_id: str) -> Group | None:
        """The group, to describe it; None if it does not exist."""
        return self._shard(group_id).shard.groups.get(group_id)

    def check_consumer_protocol(self) -> None:
        """UNSUPPORTED_VERSION while consumer groups (KIP-848) are not served."""
        self._consumer_rules.check()

    def consumer_group(self, group_id: str) -> tuple[ConsumerGroup, str]:
        """A consumer group, to describe it, and the name of its assignor.

        Raises:
            ApiError: GROUP_ID_NOT_FOUND if there is none.
        """
        shard = self._shard(group_id).shard
        return shard.consumer.describe(group_id)

    def streams_group(self, group_id: str) -> StreamsGroup:
        """A streams group, to describe it.

        Raises:
            ApiError: GROUP_ID_NOT_FOUND if there is none.
        """
        return self._shard(group_id).shard.streams.describe(group_id)

    def list_groups(self) -> Iterator[ListedGroup]:
        """All groups that this broker coordinates."""
        return (listed for driver in self._all_shards() for listed in driver.shard.list_groups())

    def delete_group(self, group_id: str) -> Deferred[ErrorCode]:
        """DeleteGroups, one group; the one without a name can be deleted, too."""
        driver = self._shard(group_id)
        return driver.submit(lambda ticket: driver.shard.delete_group(ticket, group_id))

    # -- time and topics -------------------------------------------------------------------------------------

    def _expire(self) -> None:
        """Look for old offsets, shard by shard, so that no shard holds up the others' requests for long."""
        self._time.follow()
        now_ms = self._time.now_ms()
        self._each_in_turn(deque(self.shards.values()), lambda shard: shard.expire_offsets(now_ms))
        self._expiry = self._timer.call_later(self._check_interval_ms, self._expire)

    def _each_in_turn(
        self,
        drivers: deque[ShardDriver[GroupShard]],
        outcomes: Callable[[GroupShard], Iterator[Outcome]],
    ) -> None:
        if not drivers:
            return
        driver = drivers.popleft()
        if driver.ready and not driver.closed:
            driver.settle()
            for outcome in outcomes(driver.shard):
                driver.perform(outcome)
        if drivers:
            self._timer.call_later(0, lambda: self._each_in_turn(drivers, outcomes))

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Offsets of deleted topics go, subscribers hear of changes (a `MetadataCache` subscriber)."""
        news = TopicNews(old, new, delta)
        if news.matters:
            for driver in list(self.shards.values()):
                driver.when_ready(partial(news.tell, driver.shard))
        deleted = [topic.name for topic in delta.deleted_topics.values() if topic.name != GROUP_OFFSETS]
        if not deleted:
            return
        for driver in list(self.shards.values()):
            driver.when_ready(partial(self._forget_topics, driver, deleted))

    @staticmethod
    def _forget_topics(driver: ShardDriver[GroupShard], topics: list[str]) -> None:
        driver.settle()
        for outcome in driver.shard.topics_deleted(topics):
            driver.perform(outcome)

    def close(self) -> None:
        """The broker stops: nobody waits any more."""
        self._expiry.cancel()
        self._loader.close()
        for driver in self.shards.values():
            driver.close(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        self.shards.clear()


def _check_id(group_id: str) -> None:
    """Only offsets and descriptions may be those of the group without a name, for old clients."""
    if not group_id:
        raise ApiError(ErrorCode.INVALID_GROUP_ID)


def _uuid_text(raw: Uuid) -> str:
    """A random uuid (version 4) in its usual form."""
    value = int.from_bytes(raw, "big")
    value = value & ~(0xF << 76) | 4 << 76
    value = value & ~(3 << 62) | 2 << 62
    text = f"{value:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
