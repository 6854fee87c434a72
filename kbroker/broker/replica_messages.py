"""What a follower sends to a leader: Fetch, ListOffsets and OffsetForLeaderEpoch in any version.

Which version the leader has is known only when the request is written, so that the Fetch puts its fields in
the place that they have in that version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kbroker.protocol.generated.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.replication.cleaned import write_offset

if TYPE_CHECKING:
    from kbroker.replication.fetch_session import Ask, Wanted

#: First version in which the fetcher tells its registration (KIP-903).
_REPLICA_STATE_SINCE = 15

LATEST, EARLIEST = -1, -2


class ReplicaFetchRequest(FetchRequest):
    """A Fetch by a replica, whatever the version."""

    __slots__ = ("_replica",)

    def __init__(
        self, replica_id: int, broker_epoch: int, max_wait_ms: int, min_bytes: int, max_bytes: int, ask: Ask
    ) -> None:
        super().__init__(
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            session_id=ask.session_id,
            session_epoch=ask.session_epoch,
        )
        self._replica = ReplicaState(replica_id=replica_id, replica_epoch=broker_epoch)

    def encode_into(self, out: bytearray, version: int) -> None:
        """See `Message`."""
        if version >= _REPLICA_STATE_SINCE:
            self.replica_state, self.replica_id = self._replica, -1
        else:
            self.replica_state, self.replica_id = ReplicaState(), self._replica.replica_id
        super().encode_into(out, version)


def fetch_request(
    replica_id: int,
    broker_epoch: int,
    limits: tuple[int, int, int, int],
    ask: Ask,
) -> ReplicaFetchRequest:
    """The next Fetch of a session; `limits`: max wait in ms, min bytes, max bytes, bytes per partition."""
    max_wait_ms, min_bytes, max_bytes, partition_bytes = limits
    request = ReplicaFetchRequest(replica_id, broker_epoch, max_wait_ms, min_bytes, max_bytes, ask)
    topics: dict[bytes, FetchTopic] = {}
    for wanted in ask.wanted:
        topic = topics.get(wanted.topic_id)
        if topic is None:
            topic = topics[wanted.topic_id] = FetchTopic(topic=wanted.topic, topic_id=wanted.topic_id)
            request.topics.append(topic)
        partition = FetchPartition(
            partition=wanted.partition,
            current_leader_epoch=wanted.leader_epoch,
            fetch_offset=wanted.fetch_offset,
            last_fetched_epoch=wanted.last_fetched_epoch,
            log_start_offset=wanted.log_start_offset,
            partition_max_bytes=partition_bytes,
        )
        if wanted.cleaned_offset:
            partition.unknown_tags = [write_offset(wanted.cleaned_offset)]
        topic.partitions.append(partition)
    dropped: dict[bytes, ForgottenTopic] = {}
    for wanted in ask.forgotten:
        gone = dropped.get(wanted.topic_id)
        if gone is None:
            gone = dropped[wanted.topic_id] = ForgottenTopic(topic=wanted.topic, topic_id=wanted.topic_id)
            request.forgotten_topics_data.append(gone)
        gone.partitions.append(wanted.partition)
    return request


def list_offsets_request(replica_id: int, wanted: Iterable[Wanted], timestamp: int) -> ListOffsetsRequest:
    """Where the leader's logs begin (EARLIEST) or end (LATEST)."""
    topics: dict[str, ListOffsetsTopic] = {}
    for each in wanted:
        topic = topics.get(each.topic)
        if topic is None:
            topic = topics[each.topic] = ListOffsetsTopic(name=each.topic)
        topic.partitions.append(
            ListOffsetsPartition(
                partition_index=each.partition,
                current_leader_epoch=each.leader_epoch,
                timestamp=timestamp,
            )
        )
    return ListOffsetsRequest(replica_id=replica_id, topics=list(topics.values()))
