"""The share coordinator of this broker: the shards of `__share_group_state`, and what other brokers ask."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.auto_topics import SHARE_STATE
from kbroker.broker.coordinator_driver import SteadyTime
from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed, gather
from kbroker.broker.shard_driver import ShardDriver
from kbroker.broker.shard_figures import ShardFigures
from kbroker.broker.shard_set import ShardSet
from kbroker.coordinator.shard import Outcome, Ticket
from kbroker.coordinator.share.spans import StateBatch
from kbroker.coordinator.share.state_shard import ShareKey, ShareState, ShareStateShard, Written
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.generated import (
    delete_share_group_state_response as deleted,
    initialize_share_group_state_response as initialized,
    read_share_group_state_response as read,
    read_share_group_state_summary_response as summarised,
    write_share_group_state_response as written,
)

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.timer import TimerHandle
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage
    from kbroker.types import TopicPartition, Uuid

_log = logging.getLogger(__name__)

_ELSEWHERE = "Unable to %s: This is not the correct coordinator."
_WORDS = {
    "Initialize": "initialize share group state",
    "Read": "read share group state",
    "Write": "write share group state",
    "Delete": "delete share group state",
    "ReadStateSummary": "read share group state summary",
}


class ShareStateDriver:
    """Answers requests of leaders and group coordinators, partition by partition."""

    def __init__(self, services: Services) -> None:
        config = services.config
        self._time = SteadyTime(services.clock)
        self.figures = ShardFigures()
        self._metadata = services.metadata
        self._updates_max = config.get_int("share.coordinator.snapshot.update.records.per.snapshot")
        timeout_ms = config.get_int("share.coordinator.write.timeout.ms")

        def make(tp: TopicPartition, leader_epoch: int) -> ShardDriver[ShareStateShard]:
            shard = ShareStateShard(self._exists, self._updates_max)
            return ShardDriver(
                tp, shard, services.replicas, services.timer, self._time.now_ms, timeout_ms, self.figures
            )

        self._shards: ShardSet[ShareStateShard] = ShardSet(
            SHARE_STATE, services.metadata, services.timer, make
        )
        services.replicas.on_leadership(self._shards.on_leadership)
        services.metadata.subscribe(self._on_metadata)
        self._services = services
        self._rest_ms = config.get_int("share.coordinator.cold.partition.snapshot.interval.ms")
        self._alarms: dict[str, TimerHandle] = {}
        self._every("share.coordinator.state.topic.prune.interval.ms", self._prune)
        self._every("share.coordinator.cold.partition.snapshot.interval.ms", self._renew)

    def _exists(self, topic_id: Uuid, partition: int) -> bool:
        topic = self._metadata.image.topics.by_id(topic_id)
        return topic is not None and 0 <= partition < len(topic.partitions)

    def _on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        ids = list(delta.deleted_topics)
        if ids:
            for driver in list(self._shards.shards.values()):
                driver.when_ready(lambda driver=driver: driver.perform(driver.shard.topics_deleted(ids)))  # type: ignore[misc]

    @property
    def shards(self) -> list[ShardDriver[ShareStateShard]]:
        """Those whose partition is led here."""
        return list(self._shards.shards.values())

    def close(self) -> None:
        """The broker stops."""
        for alarm in self._alarms.values():
            alarm.cancel()
        self._shards.close()

    # -- what the logs may lose ------------------------------------------------------------------------------

    def _every(self, interval: str, look: Callable[[ShardDriver[ShareStateShard]], None]) -> None:
        """Look at all shards at the interval of that setting."""
        interval_ms = self._services.config.get_int(interval)

        def work() -> None:
            self._time.follow()
            for driver in self.shards:
                if driver.ready and not driver.closed:
                    look(driver)
            self._alarms[interval] = self._services.timer.call_later(interval_ms, work)

        self._alarms[interval] = self._services.timer.call_later(interval_ms, work)

    def _renew(self, driver: ShardDriver[ShareStateShard]) -> None:
        driver.perform(driver.shard.renewed(self._time.now_ms(), self._rest_ms))

    def _prune(self, driver: ShardDriver[ShareStateShard]) -> None:
        """Delete what no snapshot needs, once the snapshots are committed."""
        needed = driver.shard.needed_from

        def committed(code: ErrorCode) -> None:
            if code is not ErrorCode.NONE:
                return
            try:
                self._services.led_partition(driver.tp.topic, driver.tp.partition).delete_records(needed)
            except ApiError as error:
                _log.warning("%s: nothing is deleted before %d: %s", driver.tp, needed, error)

        driver.after_commit(committed)

    # -- requests --------------------------------------------------------------------------------------------

    def initialize(self, request: Any) -> Deferred[Any]:
        """InitializeShareGroupState."""
        return self._each(
            request,
            initialized,
            "Initialize",
            lambda shard, ticket, key, each: shard.initialize(
                ticket, key, each.state_epoch, each.start_offset, self._time.now_ms()
            ),
            lambda each, _: initialized.PartitionResult(partition=each.partition),
        )

    def read(self, request: Any) -> Deferred[Any]:
        """ReadShareGroupState."""

        def answer(each: Any, state: ShareState) -> Any:
            return read.PartitionResult(
                partition=each.partition,
                state_epoch=state.state_epoch,
                start_offset=state.start_offset,
                state_batches=[
                    read.StateBatch(
                        first_offset=batch.first,
                        last_offset=batch.last,
                        delivery_state=batch.state,
                        delivery_count=batch.deliveries,
                    )
                    for batch in state.batches
                ],
            )

        return self._each(
            request,
            read,
            "Read",
            lambda shard, ticket, key, each: shard.read(ticket, key, each.leader_epoch),
            answer,
        )

    def write(self, request: Any) -> Deferred[Any]:
        """WriteShareGroupState."""

        def decide(shard: ShareStateShard, ticket: Ticket, key: ShareKey, each: Any) -> Outcome:
            batches = [
                StateBatch(one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
                for one in each.state_batches
            ]
            what = Written(
                each.state_epoch,
                each.leader_epoch,
                each.start_offset,
                each.delivery_complete_count,
                batches,
            )
            return shard.write(ticket, key, what, self._time.now_ms())

        return self._each(
            request,
            written,
            "Write",
            decide,
            lambda each, _: written.PartitionResult(partition=each.partition),
        )

    def delete(self, request: Any) -> Deferred[Any]:
        """DeleteShareGroupState."""
        return self._each(
            request,
            deleted,
            "Delete",
            lambda shard, ticket, key, each: shard.delete(ticket, key),
            lambda each, _: deleted.PartitionResult(partition=each.partition),
        )

    def summarise(self, request: Any) -> Deferred[Any]:
        """ReadShareGroupStateSummary."""

        def answer(each: Any, state: ShareState) -> Any:
            return summarised.PartitionResult(
                partition=each.partition,
                state_epoch=state.state_epoch,
                leader_epoch=state.leader_epoch,
                start_offset=state.start_offset,
                delivery_complete_count=state.complete_count,
            )

        return self._each(
            request,
            summarised,
            "ReadStateSummary",
            lambda shard, ticket, key, each: Outcome.answer(ticket, shard.summary(key, each.leader_epoch)),
            answer,
        )

    def _each(
        self,
        request: Any,
        made: Any,
        kind: str,
        decide: Callable[[ShareStateShard, Ticket, ShareKey, Any], Outcome],
        answer: Callable[[Any, Any], Any],
    ) -> Deferred[Any]:
        """One decision for each partition; the results in the request's order."""
        topics = (
            request.topics if request.group_id else ()
        )  # Kafka answers nothing for a group without a name
        wanted = [(topic, each) for topic in topics for each in topic.partitions]
        parts = [self._one(request.group_id, topic.topic_id, each, decide) for topic, each in wanted]

        def whole(values: list[Any]) -> Any:
            result_class = getattr(made, f"{kind}StateResult", None) or getattr(made, f"{kind}Result")
            by_topic: dict[Any, list[Any]] = {}
            for (topic, each), value in zip(wanted, values):
                if isinstance(value, ApiError):
                    elsewhere = value.code is ErrorCode.NOT_COORDINATOR
                    result = made.PartitionResult(
                        partition=each.partition,
                        error_code=value.code,
                        error_message=_ELSEWHERE % _WORDS[kind] if elsewhere else value.text,
                    )
                else:
                    result = answer(each, value)
                by_topic.setdefault(topic.topic_id, []).append(result)
            response = getattr(made, type(request).__name__.replace("Request", "Response"))
            return response(
                results=[result_class(topic_id=each, partitions=found) for each, found in by_topic.items()]
            )

        return gather(parts).map(whole)

    def _one(
        self,
        group_id: str,
        topic_id: Uuid,
        each: Any,
        decide: Callable[[ShareStateShard, Ticket, ShareKey, Any], Outcome],
    ) -> Deferred[Any]:
        key = ShareKey(group_id, topic_id, each.partition)
        return self.submit(key, lambda shard, ticket: decide(shard, ticket, key, each))

    def submit(self, key: ShareKey, decide: Callable[[ShareStateShard, Ticket], Outcome]) -> Deferred[Any]:
        """The answer of the shard that keeps `key`, which may be an ApiError; fails with one if it is not
        kept here, or not yet.
        """
        try:
            driver = self._shards.find(key.text)
        except ApiError as error:
            return failed(error.with_traceback(None))
        return driver.submit(lambda ticket: decide(driver.shard, ticket))

    def now_ms(self) -> int:
        """The time as records have it."""
        return self._time.now_ms()
