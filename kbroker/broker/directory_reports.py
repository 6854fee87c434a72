"""Tells the controller which log directory each partition of this broker lies in (KIP-858).

With one directory the controller knows beforehand; with several the broker chooses, and may move a partition.
One AssignReplicasToDirs is under way at a time; what the controller has not taken is told again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kbroker.broker.peer import PeerError
from kbroker.errors import ApiError, ErrorCode, error_code
from kbroker.protocol.generated.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.partition import Partition
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.timer import Timer
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

_log = logging.getLogger(__name__)

_RETRY_MS = 1000
_TIMEOUT_MS = 10_000


class DirectoryReports:
    """Compares the cluster's idea with the logs whenever either may have changed."""

    def __init__(self, replicas: ReplicaManager, timer: Timer) -> None:
        self._replicas = replicas
        self._timer = timer
        self._send_to: Callable[[Any, float], Deferred[Any]] | None = None
        self._broker_epoch: Callable[[], int] = lambda: -1
        self._pending: dict[tuple[Uuid, int], Uuid] = {}
        self._armed = self._under_way = False
        self._telling = 0
        replicas.on_log_made = self.report

    def connect(
        self, to_controller: Callable[[Any, float], Deferred[Any]], broker_epoch: Callable[[], int]
    ) -> None:
        """Where to tell it: (request, timeout in ms) -> the answer; and in which registration."""
        self._send_to = to_controller
        self._broker_epoch = broker_epoch

    def on_metadata(self, old: ClusterImage, new: ClusterImage, delta: ClusterDelta) -> None:
        """Subscribed to the metadata cache, behind the replica manager."""
        for change in delta.topics.values():
            if change.new is None:
                continue
            for index, state in change.partitions.items():
                partition = self._replicas.get(change.new.name, index)
                if partition is not None and partition.log is not None:
                    told = state.directory_of(self._replicas.broker_id)
                    if told is not None and told != partition.log.directory.directory_id:
                        self.report(partition)

    def report(self, partition: Partition) -> None:
        """The partition lies where its log lies."""
        if partition.log is None or partition.log.directory.directory_id == ZERO_UUID:
            return
        key = partition.topic_id, partition.topic_partition.partition
        self._pending[key] = partition.log.directory.directory_id
        self._arm(0)

    @property
    def waiting(self) -> int:
        """Partitions that the controller has still to be told of, or is being told of."""
        return len(self._pending) + self._telling

    def _arm(self, delay_ms: int) -> None:
        if not self._armed and not self._under_way:
            self._armed = True
            self._timer.call_later(delay_ms, self._send)

    def _send(self) -> None:
        self._armed = False
        if self._send_to is None or not self._pending:
            return
        sent, self._pending = self._pending, {}
        self._under_way = True
        self._telling = len(sent)
        self._send_to(self._request(sent), _TIMEOUT_MS).then(lambda done: self._sent(sent, done))

    def _request(self, sent: dict[tuple[Uuid, int], Uuid]) -> AssignReplicasToDirsRequest:
        directories: dict[Uuid, dict[Uuid, TopicData]] = {}
        for (topic_id, index), directory in sent.items():
            topics = directories.setdefault(directory, {})
            topic = topics.get(topic_id)
            if topic is None:
                topic = topics[topic_id] = TopicData(topic_id=topic_id)
            topic.partitions.append(PartitionData(partition_index=index))
        return AssignReplicasToDirsRequest(
            broker_id=self._replicas.broker_id,
            broker_epoch=self._broker_epoch(),
            directories=[
                DirectoryData(id=directory, topics=list(topics.values()))
                for directory, topics in directories.items()
            ],
        )

    def _sent(self, sent: dict[tuple[Uuid, int], Uuid], done: Deferred[Any]) -> None:
        self._under_way = False
        self._telling = 0
        try:
            response = done.result()
            if response.error_code:
                raise ApiError(error_code(response.error_code))
        except (ApiError, PeerError) as error:
            if isinstance(error, ApiError) and error.code is ErrorCode.UNSUPPORTED_VERSION:
                return  # this cluster does not keep them
            _log.info("the directories of %d partitions are told again later: %s", len(sent), error)
            self._pending = {**sent, **self._pending}
            self._arm(_RETRY_MS)
            return
        for directory in response.directories:
            for topic in directory.topics:
                for each in topic.partitions:
                    key = bytes(topic.topic_id), each.partition_index
                    if each.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and key in sent:
                        # The controller has not heard of the assignment yet.
                        self._pending.setdefault(key, sent[key])
        if self._pending:
            self._arm(_RETRY_MS)
