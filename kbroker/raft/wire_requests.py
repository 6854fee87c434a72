"""Kafka's quorum requests, built from and read into the plain messages of `rpc`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kbroker.protocol.generated import (
    add_raft_voter_request as add_,
    begin_quorum_epoch_request as begin_,
    describe_quorum_request as describe_,
    end_quorum_epoch_request as end_,
    fetch_request as fetch_,
    fetch_snapshot_request as snapshot_,
    remove_raft_voter_request as remove_,
    update_raft_voter_request as update_,
    vote_request as vote_,
)
from kbroker.raft import rpc
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey
from kbroker.types import METADATA_TOPIC_ID, OffsetAndEpoch

TOPIC, PARTITION = "__cluster_metadata", 0
#: controller.quorum.fetch.max.bytes, and of a piece of a snapshot.
FETCH_MAX_BYTES = 8 << 20
#: From this version of Fetch on the replica's id has its place in a field of its own (KIP-903).
_REPLICA_STATE_VERSION = 15
_TOPIC_ID_VERSION = 13


def _endpoints(listeners: Iterable[Any]) -> tuple[QuorumEndpoint, ...]:
    return tuple(QuorumEndpoint(e.name, e.host, e.port) for e in listeners)


def vote(request: rpc.VoteRequest, cluster_id: str) -> vote_.VoteRequest:
    """A Vote request; `pre_vote` cannot be said before version 2."""
    partition = vote_.PartitionData(
        partition_index=PARTITION,
        replica_epoch=request.epoch,
        replica_id=request.replica.id,
        replica_directory_id=request.replica.directory_id,
        voter_directory_id=request.voter.directory_id,
        last_offset_epoch=request.last_epoch,
        last_offset=request.last_offset,
        pre_vote=request.pre_vote,
    )
    topics = [vote_.TopicData(topic_name=TOPIC, partitions=[partition])]
    return vote_.VoteRequest(cluster_id=cluster_id, voter_id=request.voter.id, topics=topics)


def read_vote(message: vote_.VoteRequest) -> rpc.VoteRequest:
    """The inverse."""
    partition = message.topics[0].partitions[0]
    return rpc.VoteRequest(
        partition.replica_epoch,
        ReplicaKey(partition.replica_id, partition.replica_directory_id),
        ReplicaKey(message.voter_id, partition.voter_directory_id),
        partition.last_offset_epoch,
        partition.last_offset,
        partition.pre_vote,
    )


def begin(request: rpc.BeginQuorumEpochRequest, cluster_id: str) -> begin_.BeginQuorumEpochRequest:
    """A BeginQuorumEpoch request."""
    partition = begin_.PartitionData(
        partition_index=PARTITION,
        voter_directory_id=request.voter.directory_id,
        leader_id=request.leader_id,
        leader_epoch=request.epoch,
    )
    return begin_.BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=request.voter.id,
        topics=[begin_.TopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            begin_.LeaderEndpoint(name=e.name, host=e.host, port=e.port) for e in request.endpoints
        ],
    )


def read_begin(message: begin_.BeginQuorumEpochRequest) -> rpc.BeginQuorumEpochRequest:
    """The inverse."""
    partition = message.topics[0].partitions[0]
    return rpc.BeginQuorumEpochRequest(
        partition.leader_id,
        partition.leader_epoch,
        ReplicaKey(message.voter_id, partition.voter_directory_id),
        _endpoints(message.leader_endpoints),
    )


def end(request: rpc.EndQuorumEpochRequest, cluster_id: str) -> end_.EndQuorumEpochRequest:
    """An EndQuorumEpoch request: the successors in the words of both versions."""
    partition = end_.PartitionData(
        partition_index=PARTITION,
        leader_id=request.leader_id,
        leader_epoch=request.epoch,
        preferred_successors=[key.id for key in request.preferred],
        preferred_candidates=[
            end_.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id)
            for key in request.preferred
        ],
    )
    return end_.EndQuorumEpochRequest(
        cluster_id=cluster_id,
        topics=[end_.TopicData(topic_name=TOPIC, partitions=[partition])],
        leader_endpoints=[
            end_.LeaderEndpoint(name=e.name, host=e.host, port=e.port) for e in request.endpoints
        ],
    )


def read_end(message: end_.EndQuorumEpochRequest) -> rpc.EndQuorumEpochRequest:
    """The inverse."""
    partition = message.topics[0].partitions[0]
    preferred = [ReplicaKey(c.candidate_id, c.candidate_directory_id) for c in partition.preferred_candidates]
    return rpc.EndQuorumEpochRequest(
        partition.leader_id,
        partition.leader_epoch,
        tuple(preferred or [ReplicaKey(successor) for successor in partition.preferred_successors]),
        _endpoints(message.leader_endpoints),
    )


def fetch(request: rpc.FetchRequest, cluster_id: str, version: int | None) -> fetch_.FetchRequest:
    """A Fetch of the metadata partition, without a session; `version` None: 15 or newer."""
    partition = fetch_.FetchPartition(
        partition=PARTITION,
        current_leader_epoch=request.epoch,
        fetch_offset=request.offset,
        last_fetched_epoch=request.last_epoch,
        partition_max_bytes=FETCH_MAX_BYTES,
        replica_directory_id=request.replica.directory_id,
        high_watermark=request.high_watermark,
    )
    by_name = version is not None and version < _TOPIC_ID_VERSION
    topic = fetch_.FetchTopic(partitions=[partition])
    if by_name:
        topic.topic = TOPIC
    else:
        topic.topic_id = METADATA_TOPIC_ID
    message = fetch_.FetchRequest(
        cluster_id=cluster_id, max_wait_ms=request.max_wait_ms, max_bytes=FETCH_MAX_BYTES, topics=[topic]
    )
    if version is not None and version < _REPLICA_STATE_VERSION:
        message.replica_id = request.replica.id
    else:
        message.replica_state = fetch_.ReplicaState(replica_id=request.replica.id)
    return message


def read_fetch(message: fetch_.FetchRequest) -> rpc.FetchRequest:
    """The inverse."""
    partition = message.topics[0].partitions[0]
    replica_id = max(message.replica_id, message.replica_state.replica_id)
    return rpc.FetchRequest(
        partition.current_leader_epoch,
        ReplicaKey(replica_id, partition.replica_directory_id),
        partition.fetch_offset,
        partition.last_fetched_epoch,
        message.max_wait_ms,
        partition.high_watermark,
    )


def fetch_snapshot(request: rpc.FetchSnapshotRequest, cluster_id: str) -> snapshot_.FetchSnapshotRequest:
    """A FetchSnapshot request."""
    partition = snapshot_.PartitionSnapshot(
        partition=PARTITION,
        current_leader_epoch=request.epoch,
        snapshot_id=snapshot_.SnapshotId(
            end_offset=request.snapshot_id.offset, epoch=request.snapshot_id.epoch
        ),
        position=request.position,
        replica_directory_id=request.replica.directory_id,
    )
    return snapshot_.FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=request.replica.id,
        max_bytes=min(request.max_bytes, FETCH_MAX_BYTES),
        topics=[snapshot_.TopicSnapshot(name=TOPIC, partitions=[partition])],
    )


def read_fetch_snapshot(message: snapshot_.FetchSnapshotRequest) -> rpc.FetchSnapshotRequest:
    """The inverse."""
    partition = message.topics[0].partitions[0]
    snapshot_id = partition.snapshot_id
    return rpc.FetchSnapshotRequest(
        partition.current_leader_epoch,
        ReplicaKey(message.replica_id, partition.replica_directory_id),
        OffsetAndEpoch(snapshot_id.end_offset, snapshot_id.epoch),
        partition.position,
        message.max_bytes,
    )


def describe() -> describe_.DescribeQuorumRequest:
    """A DescribeQuorum request."""
    partitions = [describe_.PartitionData(partition_index=PARTITION)]
    topics = [describe_.TopicData(topic_name=TOPIC, partitions=partitions)]
    return describe_.DescribeQuorumRequest(topics=topics)


def add(request: rpc.AddVoterRequest, cluster_id: str) -> add_.AddRaftVoterRequest:
    """An AddRaftVoter request; not to wait for the commit cannot be said before version 1."""
    voter = request.voter
    return add_.AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=request.timeout_ms,
        voter_id=voter.id,
        voter_directory_id=voter.directory_id,
        listeners=[add_.Listener(name=e.name, host=e.host, port=e.port) for e in voter.endpoints],
        ack_when_committed=request.ack_when_committed,
    )


def read_add(message: add_.AddRaftVoterRequest) -> rpc.AddVoterRequest:
    """The inverse."""
    voter = QuorumVoter(message.voter_id, message.voter_directory_id, _endpoints(message.listeners))
    return rpc.AddVoterRequest(voter, message.timeout_ms, message.ack_when_committed)


def remove(request: rpc.RemoveVoterRequest, cluster_id: str) -> remove_.RemoveRaftVoterRequest:
    """A RemoveRaftVoter request."""
    voter = request.voter
    return remove_.RemoveRaftVoterRequest(
        cluster_id=cluster_id, voter_id=voter.id, voter_directory_id=voter.directory_id
    )


def read_remove(message: remove_.RemoveRaftVoterRequest) -> rpc.RemoveVoterRequest:
    """The inverse."""
    return rpc.RemoveVoterRequest(ReplicaKey(message.voter_id, message.voter_directory_id))


def update(request: rpc.UpdateVoterRequest, cluster_id: str) -> update_.UpdateRaftVoterRequest:
    """An UpdateRaftVoter request."""
    voter = request.voter
    return update_.UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=request.epoch,
        voter_id=voter.id,
        voter_directory_id=voter.directory_id,
        listeners=[update_.Listener(name=e.name, host=e.host, port=e.port) for e in voter.endpoints],
        kraft_version_feature=update_.KRaftVersionFeature(
            min_supported_version=voter.min_kraft_version, max_supported_version=voter.max_kraft_version
        ),
    )


def read_update(message: update_.UpdateRaftVoterRequest) -> rpc.UpdateVoterRequest:
    """The inverse."""
    versions = message.kraft_version_feature
    voter = QuorumVoter(
        message.voter_id,
        message.voter_directory_id,
        _endpoints(message.listeners),
        versions.min_supported_version,
        versions.max_supported_version,
    )
    return rpc.UpdateVoterRequest(message.current_leader_epoch, voter)
