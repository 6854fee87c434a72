"""Tells the controller which log directory each partition of this broker lies in (KIP-858).

With one directory the controller knows beforehand; with several the broker chooses, and may move a partition.
In one process the controller's decision is called directly, where Kafka sends AssignReplicasToDirs.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from kbroker.controller.directories import assign_directories
from kbroker.errors import ApiError
from kbroker.types import ZERO_UUID, Uuid

if TYPE_CHECKING:
    from kbroker.broker.controller_driver import ControllerDriver
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.partition import Partition
    from kbroker.broker.replica_manager import ReplicaManager
    from kbroker.broker.timer import Timer
    from kbroker.metadata.delta import ClusterDelta
    from kbroker.metadata.image import ClusterImage

_log = logging.getLogger(__name__)

_RETRY_MS = 1000


class DirectoryReports:
    """Compares the cluster's idea with the logs whenever either may have changed."""

    def __init__(self, replicas: ReplicaManager, controller: ControllerDriver, timer: Timer) -> None:
        self._replicas = replicas
        self._controller = controller
        self._timer = timer
        self._pending: dict[tuple[Uuid, int], Uuid] = {}
        self._armed = False

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

    def _arm(self, delay_ms: int) -> None:
        if not self._armed:
            self._armed = True
            self._timer.call_later(delay_ms, self._send)

    def _send(self) -> None:
        self._armed = False
        sent, self._pending = self._pending, {}
        decide = partial(assign_directories, broker_id=self._replicas.broker_id, directories=sent)
        self._controller.append_records(decide).then(lambda done: self._sent(sent, done))

    def _sent(self, sent: dict[tuple[Uuid, int], Uuid], done: Deferred[None]) -> None:
        try:
            done.result()
        except ApiError as error:
            _log.info("the directories of %d partitions are told again later: %s", len(sent), error.text)
            self._pending = {**sent, **self._pending}
            self._arm(_RETRY_MS)
