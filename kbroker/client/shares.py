"""Share groups: where they are, and moving them (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.protocol.generated.alter_share_group_offsets_request import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from kbroker.protocol.generated.alter_share_group_offsets_response import AlterShareGroupOffsetsResponse
from kbroker.protocol.generated.describe_share_group_offsets_request import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from kbroker.protocol.generated.describe_share_group_offsets_response import (
    DescribeShareGroupOffsetsResponse,
)
from kbroker.types import TopicPartition


class SharePosition(NamedTuple):
    """A group in a partition; `start` -1: it has not begun there, `lag` -1: unknown."""

    topic: str
    partition: int
    start: int
    lag: int


def share_positions(cluster: Cluster, group_id: str) -> list[SharePosition]:
    """Where a share group is, sorted. Raises ApiError."""
    answer = cluster.ask_coordinator(
        group_id,
        DescribeShareGroupOffsetsRequest(
            groups=[DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)]
        ),
        DescribeShareGroupOffsetsResponse,
        lambda found: [each.error_code for each in found.groups],
    )
    (group,) = answer.groups
    check(group.error_code, group.error_message, what=f"group {group_id!r}", needs="DESCRIBE", on=group_id)
    found = []
    for topic in group.topics:
        for each in topic.partitions:
            _check_partition(topic.topic_name, each, "DESCRIBE")
            found.append(SharePosition(topic.topic_name, each.partition_index, each.start_offset, each.lag))
    return sorted(found)


def move_share_group(cluster: Cluster, group_id: str, starts: Mapping[TopicPartition, int]) -> None:
    """Let a share group without members begin elsewhere. Raises ApiError."""
    topics: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = {}
    for place, start in starts.items():
        part = AlterShareGroupOffsetsRequestPartition(partition_index=place.partition, start_offset=start)
        topics.setdefault(place.topic, []).append(part)
    request = AlterShareGroupOffsetsRequest(
        group_id=group_id,
        topics=[
            AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=parts)
            for name, parts in topics.items()
        ],
    )

    def codes(found: AlterShareGroupOffsetsResponse) -> Iterable[int]:
        return [found.error_code]

    answer = cluster.ask_coordinator(group_id, request, AlterShareGroupOffsetsResponse, codes)
    check(answer.error_code, answer.error_message, what=f"group {group_id!r}", needs="READ", on=group_id)
    for topic in answer.responses:
        for each in topic.partitions:
            _check_partition(topic.topic_name, each, "READ")


def _check_partition(topic: str, answer: Any, needs: str) -> None:
    what = f"{topic}-{answer.partition_index}"
    check(answer.error_code, answer.error_message, what=what, needs=needs, on=topic)
