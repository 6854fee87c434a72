"""A member of a share group, by our own wire client: for any broker; one node leads all partitions."""

from __future__ import annotations

import time
import uuid
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.share_acknowledge_request import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kbroker.protocol.generated.share_acknowledge_response import ShareAcknowledgeResponse
from kbroker.protocol.generated.share_fetch_request import FetchPartition, FetchTopic, ShareFetchRequest
from kbroker.protocol.generated.share_fetch_response import ShareFetchResponse
from kbroker.protocol.generated.share_group_heartbeat_request import ShareGroupHeartbeatRequest
from kbroker.protocol.generated.share_group_heartbeat_response import ShareGroupHeartbeatResponse

_PATIENCE_S = 60.0
_LATER = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


class Held(NamedTuple):
    """Records that were given to the member, and how often they have been given to anybody."""

    partition: int
    first: int
    last: int
    deliveries: int


class ShareMember:
    """Joins when it is made, and then has all partitions of the topic.

    Args:
        leader: of the partitions; None: any broker.
    """

    def __init__(
        self, cluster: Cluster, group: str, topic: str, partitions: int, leader: int | None = None
    ) -> None:
        self._cluster, self._group, self._topic, self._leader = cluster, group, topic, leader
        self._member_id = str(uuid.uuid4())
        self._member_epoch = self._session_epoch = 0
        self._topic_id = b""
        self._indexes: list[int] = []
        until = time.monotonic() + _PATIENCE_S
        while len(self._indexes) < partitions:
            assert time.monotonic() < until, self._indexes
            self._beat()
            time.sleep(0.05)

    def _beat(self) -> None:
        request = ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self._member_id, member_epoch=self._member_epoch
        )
        if not self._member_epoch:
            request.subscribed_topic_names = [self._topic]
        answer = self._cluster._ask_at(
            self._cluster.coordinator(self._group), request, ShareGroupHeartbeatResponse, 1
        )
        if answer.error_code in _LATER:
            return
        assert not answer.error_code, answer
        self._member_epoch = answer.member_epoch
        for topic in answer.assignment.topic_partitions if answer.assignment is not None else ():
            self._topic_id, self._indexes = topic.topic_id, topic.partitions

    def _connection(self) -> Connection:
        return self._cluster.any() if self._leader is None else self._cluster.node(self._leader)

    def fetch(self, min_bytes: int = 1) -> list[Held]:
        """What comes within half a second, or as soon as there are so many bytes."""
        wanted = [FetchPartition(partition_index=index) for index in self._indexes]
        topics = [] if self._session_epoch else [FetchTopic(topic_id=self._topic_id, partitions=wanted)]
        request = ShareFetchRequest(
            group_id=self._group,
            member_id=self._member_id,
            share_session_epoch=self._session_epoch,
            max_wait_ms=500,
            min_bytes=min_bytes,
            max_bytes=1 << 20,
            max_records=500,
            batch_size=500,
            topics=topics,
        )
        answer = self._cluster._ask_at(self._connection(), request, ShareFetchResponse, 2)
        assert not answer.error_code, answer
        self._session_epoch += 1
        return [
            Held(part.partition_index, each.first_offset, each.last_offset, each.delivery_count)
            for topic in answer.responses
            for part in topic.partitions
            for each in part.acquired_records
        ]

    def take(self, count: int) -> list[Held]:
        """So many records, in order."""
        found: list[Held] = []
        until = time.monotonic() + _PATIENCE_S
        while sum(each.last - each.first + 1 for each in found) < count:
            assert time.monotonic() < until, found
            found += self.fetch()
        return sorted(found)

    def acknowledge(self, held: list[Held], kinds: list[int]) -> set[int]:
        """Say one thing of all, or one of each record; the error codes."""
        partitions = [
            AcknowledgePartition(
                partition_index=index,
                acknowledgement_batches=[
                    AcknowledgementBatch(
                        first_offset=each.first, last_offset=each.last, acknowledge_types=kinds
                    )
                    for each in held
                    if each.partition == index
                ],
            )
            for index in sorted({each.partition for each in held})
        ]
        request = ShareAcknowledgeRequest(
            group_id=self._group,
            member_id=self._member_id,
            share_session_epoch=self._session_epoch,
            topics=[AcknowledgeTopic(topic_id=self._topic_id, partitions=partitions)],
        )
        answer = self._cluster._ask_at(self._connection(), request, ShareAcknowledgeResponse, 1)
        assert not answer.error_code, answer
        self._session_epoch += 1
        return {part.error_code for topic in answer.responses for part in topic.partitions}
