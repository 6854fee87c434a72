"""Where partitions begin and end, and which offset belongs to a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.protocol.generated.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kbroker.protocol.generated.list_offsets_response import ListOffsetsPartitionResponse, ListOffsetsResponse
from kbroker.types import TopicPartition

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3


class OffsetAt(NamedTuple):
    """An offset and its record's timestamp in ms; (-1, -1): no record is that late."""

    offset: int
    timestamp: int


def list_offsets(
    cluster: Cluster, partitions: Iterable[TopicPartition], at: int = LATEST, *, read_committed: bool = False
) -> dict[TopicPartition, OffsetAt]:
    """The first offset whose record is as late as `at`, per partition.

    Args:
        at: ms since 1970, or `LATEST` (the end), `EARLIEST` (the beginning), `MAX_TIMESTAMP`.
        read_committed: `LATEST` is then the last stable offset.

    Raises:
        ApiError: a partition does not exist, has no leader, or its leader refuses.
    """
    return list_offsets_at(cluster, dict.fromkeys(partitions, at), read_committed=read_committed)


def list_offsets_at(
    cluster: Cluster, at: Mapping[TopicPartition, int], *, read_committed: bool = False
) -> dict[TopicPartition, OffsetAt]:
    """`list_offsets` with a time per partition."""

    def request(partitions: dict[str, list[int]]) -> ListOffsetsRequest:
        topics = [
            ListOffsetsTopic(
                name=name,
                partitions=[
                    ListOffsetsPartition(partition_index=index, timestamp=at[TopicPartition(name, index)])
                    for index in indexes
                ],
            )
            for name, indexes in partitions.items()
        ]
        return ListOffsetsRequest(replica_id=-1, isolation_level=int(read_committed), topics=topics)

    def results(
        answer: ListOffsetsResponse,
    ) -> Iterator[tuple[TopicPartition, int, ListOffsetsPartitionResponse]]:
        for topic in answer.topics:
            for part in topic.partitions:
                yield TopicPartition(topic.name, part.partition_index), part.error_code, part

    found = {}
    for tp, result in cluster.ask_leaders(at, request, ListOffsetsResponse, results).items():
        check(result.error_code, what=str(tp), needs="DESCRIBE", on=tp.topic)
        found[tp] = OffsetAt(result.offset, result.timestamp)
    return found


def partitions_of(cluster: Cluster, topics: Iterable[str]) -> list[TopicPartition]:
    """All partitions of these topics.

    Raises:
        ApiError: a topic does not exist.
    """
    found = []
    for topic in cluster.metadata(topics).topics:
        check(topic.error_code, what=f"topic {topic.name}", needs="DESCRIBE", on=topic.name or "")
        found += [TopicPartition(topic.name or "", part.partition_index) for part in topic.partitions]
    return sorted(found)
