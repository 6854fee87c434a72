"""Transaction markers on the partitions of this broker: what WriteTxnMarkers does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kbroker.broker.auto_topics import GROUP_OFFSETS
from kbroker.broker.deferred import Deferred
from kbroker.broker.gather import failed, gather
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.control_records import EndTxnMarker, build_end_txn_batch
from kbroker.protocol.generated.write_txn_markers_response import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)
from kbroker.storage.log import AppendOrigin

if TYPE_CHECKING:
    from kbroker.broker.coordinator_driver import GroupCoordinatorDriver
    from kbroker.broker.partition import Partition
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.clock import Clock
    from kbroker.protocol.generated.write_txn_markers_request import (
        WritableTxnMarker,
        WriteTxnMarkersRequest,
    )

#: What a group's partition says of a coordinator that is not there, said as other partitions do.
_COORDINATOR_AWAY = frozenset(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
    }
)


class _Staged(NamedTuple):
    """A marker in the making: where its code goes, and the partition and offset to wait for."""

    result: WritableTxnMarkerPartitionResult
    partition: Partition
    offset: int


class MarkerWriter:
    """Writes the markers of requests."""

    def __init__(self, replicas: ReplicaManager, groups: GroupCoordinatorDriver, clock: Clock) -> None:
        self._replicas = replicas
        self._groups = groups
        self._clock = clock

    def write(self, request: WriteTxnMarkersRequest) -> Deferred[WriteTxnMarkersResponse]:
        """Every partition gets its marker, or an error of its own; answered when all are committed."""
        response = WriteTxnMarkersResponse()
        results: list[WritableTxnMarkerPartitionResult] = []
        waits: list[Deferred[None]] = []
        staged: list[_Staged] = []
        now_ms = self._clock.now_ms()
        for marker in request.markers:
            topics = []
            # A partition that is named twice gets one marker, as from Kafka (which then never answers).
            told: dict[tuple[str, int], WritableTxnMarkerPartitionResult] = {}
            for topic in marker.topics:
                for index in topic.partition_indexes:
                    if (topic.name, index) in told:
                        continue
                    answer = WritableTxnMarkerPartitionResult(partition_index=index)
                    told[topic.name, index] = answer
                    if topic.name == GROUP_OFFSETS:
                        results.append(answer)
                        waits.append(self._to_group(marker, index, now_ms))
                    else:
                        self._stage(marker, topic.name, answer, now_ms, staged)
                answers = [told[topic.name, index] for index in topic.partition_indexes]
                topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=answers))
            response.markers.append(WritableTxnMarkerResult(producer_id=marker.producer_id, topics=topics))
        self._flush(staged, results, waits)
        return self._when_committed(response, results, waits)

    @staticmethod
    def _when_committed(
        response: WriteTxnMarkersResponse,
        results: list[WritableTxnMarkerPartitionResult],
        waits: list[Deferred[None]],
    ) -> Deferred[WriteTxnMarkersResponse]:
        def fill(codes: list[ApiError | None]) -> WriteTxnMarkersResponse:
            for result, problem in zip(results, codes):
                if problem is not None:
                    result.error_code = problem.code
            return response

        return gather(waits).map(fill)

    def _stage(
        self,
        marker: WritableTxnMarker,
        topic: str,
        result: WritableTxnMarkerPartitionResult,
        now_ms: int,
        staged: list[_Staged],
    ) -> None:
        try:
            partition = self._replicas.hosted(topic, result.partition_index)
            log = partition.log
            if log is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            log.producers.check_marker(
                marker.producer_id,
                marker.producer_epoch,
                marker.coordinator_epoch,
                marker.transaction_version,
            )
            batch = build_end_txn_batch(
                EndTxnMarker(marker.transaction_result, marker.coordinator_epoch),
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                timestamp=now_ms,
            )
            appended = partition.append(batch, now_ms, AppendOrigin.COORDINATOR, required_acks=-1)
            staged.append(_Staged(result, partition, appended.last_offset))
        except ApiError as error:
            result.error_code = error.code

    def _flush(
        self,
        staged: list[_Staged],
        results: list[WritableTxnMarkerPartitionResult],
        waits: list[Deferred[None]],
    ) -> None:
        """One write a partition."""
        failed = self._replicas.flush(dict.fromkeys(each.partition for each in staged))
        for result, partition, offset in staged:
            error = failed.get(partition)
            if error is not None:
                result.error_code = error.code
            elif partition.high_watermark <= offset:
                results.append(result)
                waits.append(partition.when_committed(offset))

    def _to_group(self, marker: WritableTxnMarker, partition: int, now_ms: int) -> Deferred[None]:
        """The offsets that the transaction committed become true, or go, with the marker."""
        try:
            hosted = self._replicas.hosted(GROUP_OFFSETS, partition)
            if hosted.log is not None:
                hosted.log.producers.check_marker(
                    marker.producer_id,
                    marker.producer_epoch,
                    marker.coordinator_epoch,
                    marker.transaction_version,
                )
            done = self._groups.end_transaction(
                partition,
                marker.producer_id,
                marker.producer_epoch,
                EndTxnMarker(marker.transaction_result, marker.coordinator_epoch),
                now_ms,
            )
        except ApiError as error:
            return failed(_as_partition(error))
        settled: Deferred[None] = Deferred()

        def settle(finished: Deferred[None]) -> None:
            try:
                settled.resolve(finished.result())
            except ApiError as error:
                settled.fail(_as_partition(error))

        done.then(settle)
        return settled


def _as_partition(error: ApiError) -> ApiError:
    return ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER) if error.code in _COORDINATOR_AWAY else error
