"""Committed offsets of a group: read, write, delete, lag, and plans to reset them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import ClientError, check, failure
from kbroker.client.offsets import EARLIEST, LATEST, OffsetAt, list_offsets, list_offsets_at
from kbroker.errors import ApiError, ErrorCode
from kbroker.protocol.api_keys import ApiKey
from kbroker.protocol.generated.offset_commit_request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kbroker.protocol.generated.offset_commit_response import OffsetCommitResponse
from kbroker.protocol.generated.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kbroker.protocol.generated.offset_delete_response import OffsetDeleteResponse
from kbroker.protocol.generated.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup
from kbroker.protocol.generated.offset_fetch_response import OffsetFetchResponse
from kbroker.types import TopicPartition

#: The newest version that names topics; later ones have ids.
_COMMIT_BY_NAME = _FETCH_BY_NAME = 9


class Committed(NamedTuple):
    """What a group has committed for a partition; leader epoch -1: not told."""

    offset: int
    leader_epoch: int
    metadata: str


@dataclass(frozen=True, slots=True)
class Target:
    """Where to reset to: exactly one of these is set.

    Args:
        at: ms since 1970, or `offsets.EARLIEST` or `offsets.LATEST`.
        offset: that offset.
        shift: so many records forward (backward if negative) from where the group is.
    """

    at: int | None = None
    offset: int | None = None
    shift: int | None = None


def committed_offsets(cluster: Cluster, group_id: str) -> dict[TopicPartition, Committed]:
    """All offsets that the group has committed.

    Raises:
        ApiError: the coordinator refuses.
    """

    def request(connection: Connection) -> tuple[OffsetFetchRequest, int]:
        version = connection.version(ApiKey.OFFSET_FETCH, _FETCH_BY_NAME)
        if version < 8:
            return OffsetFetchRequest(group_id=group_id, topics=None), version
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group_id, topics=None)]), version

    def codes(answer: OffsetFetchResponse) -> list[int]:
        return [answer.error_code, *(group.error_code for group in answer.groups)]

    answer = cluster.ask_coordinator(group_id, request, OffsetFetchResponse, codes)
    for code in codes(answer):
        check(code, what=f"group {group_id}", needs="DESCRIBE", on=group_id)
    found: dict[TopicPartition, Committed] = {}
    for topic in answer.groups[0].topics if answer.groups else answer.topics:
        for part in topic.partitions:
            tp = TopicPartition(topic.name, part.partition_index)
            check(part.error_code, what=f"group {group_id}, {tp}", needs="DESCRIBE", on=topic.name)
            if part.committed_offset >= 0:
                found[tp] = Committed(part.committed_offset, part.committed_leader_epoch, part.metadata or "")
    return found


def commit_offsets(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit as from outside of the group, which must have no members.

    Raises:
        ApiError: the group has members, or the coordinator refuses.
    """
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for tp, offset in offsets.items():
        entry = OffsetCommitRequestPartition(
            partition_index=tp.partition, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(tp.topic, []).append(entry)
    message = OffsetCommitRequest(
        group_id=group_id,
        topics=[OffsetCommitRequestTopic(name=name, partitions=parts) for name, parts in topics.items()],
    )

    def request(connection: Connection) -> tuple[OffsetCommitRequest, int]:
        return message, connection.version(ApiKey.OFFSET_COMMIT, _COMMIT_BY_NAME)

    answer = cluster.ask_coordinator(
        group_id,
        request,
        OffsetCommitResponse,
        lambda answer: [part.error_code for topic in answer.topics for part in topic.partitions],
    )
    for topic in answer.topics:
        for part in topic.partitions:
            what = f"group {group_id}, {TopicPartition(topic.name, part.partition_index)}"
            of_group = part.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
            check(part.error_code, what=what, needs="READ", on=group_id if of_group else topic.name)


def delete_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ApiError | None]:
    """Forget committed offsets of topics the group is not subscribed to; for each None, or why not.

    Raises:
        ApiError: there is no such group, or it refuses all.
    """
    topics: dict[str, list[OffsetDeleteRequestPartition]] = {}
    for tp in partitions:
        topics.setdefault(tp.topic, []).append(OffsetDeleteRequestPartition(partition_index=tp.partition))
    answer = cluster.ask_coordinator(
        group_id,
        OffsetDeleteRequest(
            group_id=group_id,
            topics=[OffsetDeleteRequestTopic(name=name, partitions=parts) for name, parts in topics.items()],
        ),
        OffsetDeleteResponse,
        lambda answer: [answer.error_code],
    )
    check(answer.error_code, what=f"group {group_id}", needs="DELETE", on=group_id)
    results = {}
    for topic in answer.topics:
        for part in topic.partitions:
            tp = TopicPartition(topic.name, part.partition_index)
            results[tp] = failure(part.error_code, None, str(tp), needs="READ", on=topic.name)
    return results


def plan_reset(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition], target: Target
) -> dict[TopicPartition, int]:
    """The offsets a reset would commit, each within its log; nothing is changed.

    Raises:
        ApiError: a partition does not exist.
        ClientError: it is to be shifted and has no committed offset.
    """
    wanted = list(partitions)
    first, end = list_offsets(cluster, wanted, EARLIEST), list_offsets(cluster, wanted, LATEST)
    if target.at is not None:
        at = list_offsets_at(cluster, dict.fromkeys(wanted, target.at))
        goal = {tp: _at_or_end(at[tp], end[tp]) for tp in wanted}
    elif target.offset is not None:
        goal = dict.fromkeys(wanted, target.offset)
    else:
        committed = committed_offsets(cluster, group_id)
        missing = [str(tp) for tp in wanted if tp not in committed]
        if missing:
            raise ClientError(
                f"group {group_id} has no committed offset to start from for {', '.join(missing)}"
            )
        goal = {tp: committed[tp].offset + (target.shift or 0) for tp in wanted}
    return {tp: min(max(goal[tp], first[tp].offset), end[tp].offset) for tp in wanted}


def _at_or_end(found: OffsetAt, end: OffsetAt) -> int:
    """A time after the last record means the end."""
    return found.offset if found.offset >= 0 else end.offset
