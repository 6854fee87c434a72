"""What a cluster is made of: brokers, features, the metadata quorum, log folders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check, failure
from kbroker.protocol.api_keys import FACTS, ApiKey
from kbroker.protocol.generated.describe_cluster_request import DescribeClusterRequest
from kbroker.protocol.generated.describe_cluster_response import DescribeClusterResponse
from kbroker.protocol.generated.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from kbroker.protocol.generated.describe_log_dirs_response import DescribeLogDirsResponse
from kbroker.protocol.generated.describe_quorum_request import DescribeQuorumRequest, PartitionData, TopicData
from kbroker.protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kbroker.types import TopicPartition, uuid_to_string

_METADATA_TOPIC = "__cluster_metadata"


class Broker(NamedTuple):
    """A broker that the cluster knows."""

    id: int
    host: str
    port: int
    rack: str | None
    fenced: bool


@dataclass(frozen=True, slots=True)
class Feature:
    """A versioned feature of the cluster; `level` is None where it is supported and not in use."""

    name: str
    level: int | None
    min_supported: int
    max_supported: int


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """Who is there; `controller` is -1 if unknown, and in KRaft a broker that stands for it."""

    id: str
    controller: int
    brokers: list[Broker]
    features: list[Feature]


class QuorumReplica(NamedTuple):
    """A member of the metadata quorum; `lag` in records, times in ms since 1970, -1 unknown."""

    id: int
    directory_id: str
    role: str
    log_end_offset: int
    lag: int
    last_fetch_ms: int
    last_caught_up_ms: int


@dataclass(frozen=True, slots=True)
class Quorum:
    """The state of the metadata log."""

    leader: int
    leader_epoch: int
    high_watermark: int
    replicas: list[QuorumReplica]


class ApiRange(NamedTuple):
    """Versions of an API that a broker serves, and the newest that we both know (None: none)."""

    key: int
    name: str
    min_version: int
    max_version: int
    usable: int | None


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log folder of a broker; sizes in bytes, -1 unknown."""

    broker: int
    path: str
    error: str | None
    total_bytes: int
    usable_bytes: int
    replicas: list[LogDirReplica]


class LogDirReplica(NamedTuple):
    """A partition's log in a folder; `future`: being moved there."""

    topic: str
    partition: int
    size: int
    lag: int
    future: bool


def describe_cluster(cluster: Cluster) -> ClusterInfo:
    """Id, controller, brokers and features.

    Raises:
        ApiError: not allowed.
    """
    connection = cluster.any()
    features = _features(cluster)
    if not connection.has(ApiKey.DESCRIBE_CLUSTER):
        metadata = cluster.metadata([])
        brokers = [Broker(b.node_id, b.host, b.port, b.rack, False) for b in metadata.brokers]
        return ClusterInfo(metadata.cluster_id or "", metadata.controller_id, sorted(brokers), features)
    fenced_too = connection.version(ApiKey.DESCRIBE_CLUSTER) >= 2
    request = DescribeClusterRequest(include_fenced_brokers=fenced_too)
    answer = cluster.ask(request, DescribeClusterResponse)
    check(answer.error_code, answer.error_message, "cluster", needs="DESCRIBE")
    brokers = [Broker(b.broker_id, b.host, b.port, b.rack, b.is_fenced) for b in answer.brokers]
    return ClusterInfo(answer.cluster_id, answer.controller_id, sorted(brokers), features)


def _features(cluster: Cluster) -> list[Feature]:
    versions = cluster.any().api_versions
    levels = {feature.name: feature.max_version_level for feature in versions.finalized_features}
    features = [
        Feature(feature.name, levels.get(feature.name), feature.min_version, feature.max_version)
        for feature in versions.supported_features
    ]
    return sorted(features, key=lambda feature: feature.name)


def describe_quorum(cluster: Cluster) -> Quorum | None:
    """The metadata quorum; None where there is none (ZooKeeper, or a broker that does not tell).

    Raises:
        ApiError: not allowed, or no leader.
    """
    if not cluster.any().has(ApiKey.DESCRIBE_QUORUM):
        return None
    topic = TopicData(topic_name=_METADATA_TOPIC, partitions=[PartitionData(partition_index=0)])
    answer = cluster.ask(DescribeQuorumRequest(topics=[topic]), DescribeQuorumResponse)
    check(answer.error_code, answer.error_message, "quorum", needs="DESCRIBE")
    state = answer.topics[0].partitions[0]
    check(state.error_code, state.error_message, "quorum")
    end = max(
        (voter.log_end_offset for voter in state.current_voters if voter.replica_id == state.leader_id),
        default=-1,
    )
    replicas = []
    for role, members in (("voter", state.current_voters), ("observer", state.observers)):
        for member in members:
            leads = member.replica_id == state.leader_id and role == "voter"
            replicas.append(
                QuorumReplica(
                    member.replica_id,
                    uuid_to_string(member.replica_directory_id),
                    "leader" if leads else role,
                    member.log_end_offset,
                    end - member.log_end_offset if end >= 0 <= member.log_end_offset else -1,
                    member.last_fetch_timestamp,
                    member.last_caught_up_timestamp,
                )
            )
    return Quorum(state.leader_id, state.leader_epoch, state.high_watermark, replicas)


def api_versions(cluster: Cluster, node_id: int) -> list[ApiRange]:
    """What a broker serves, by key; APIs that we do not know too."""
    connection = cluster.node(node_id)
    ranges = []
    for api in sorted(connection.api_versions.api_keys, key=lambda api: api.api_key):
        known = FACTS.get(api.api_key)
        usable = connection.version(api.api_key) if connection.has(api.api_key) else None
        name = known.name if known else f"unknown({api.api_key})"
        ranges.append(ApiRange(api.api_key, name, api.min_version, api.max_version, usable))
    return ranges


def describe_log_dirs(
    cluster: Cluster,
    node_ids: Iterable[int] | None = None,
    partitions: Iterable[TopicPartition] | None = None,
) -> list[LogDir]:
    """Folders and sizes.

    Args:
        node_ids: only these brokers; None: all.
        partitions: only these; None: all.
    """
    topics: list[DescribableLogDirTopic] | None = None
    if partitions is not None:
        by_topic: dict[str, list[int]] = {}
        for tp in partitions:
            by_topic.setdefault(tp.topic, []).append(tp.partition)
        topics = [
            DescribableLogDirTopic(topic=name, partitions=indexes) for name, indexes in by_topic.items()
        ]
    found = []
    for node_id in sorted(cluster.brokers(refresh=True)) if node_ids is None else node_ids:
        answer = cluster.ask_node(node_id, DescribeLogDirsRequest(topics=topics), DescribeLogDirsResponse)
        check(answer.error_code, what=f"log folders of broker {node_id}", needs="DESCRIBE")
        for result in answer.results:
            replicas = [
                LogDirReplica(
                    topic.name, part.partition_index, part.partition_size, part.offset_lag, part.is_future_key
                )
                for topic in result.topics
                for part in topic.partitions
            ]
            error = failure(result.error_code)
            found.append(
                LogDir(
                    node_id,
                    result.log_dir,
                    None if error is None else error.text,
                    result.total_bytes,
                    result.usable_bytes,
                    sorted(replicas),
                )
            )
    return found
