"""Kafka's responses to quorum requests, built from and read into the plain messages of `rpc`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from kbroker.errors import ErrorCode, default_message
from kbroker.protocol.generated import (
    begin_quorum_epoch_response as begin_,
    describe_quorum_response as describe_,
    end_quorum_epoch_response as end_,
    fetch_response as fetch_,
    fetch_snapshot_response as snapshot_,
    update_raft_voter_response as update_,
    vote_response as vote_,
)
from kbroker.raft import rpc
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey
from kbroker.raft.wire_requests import PARTITION, TOPIC
from kbroker.types import METADATA_TOPIC_ID, OffsetAndEpoch

_Node = TypeVar("_Node")


def _endpoint(view: rpc.LeaderView, listener: str) -> QuorumEndpoint | None:
    """The leader's endpoint for who came by this listener."""
    for endpoint in view.endpoints:
        if endpoint.name == listener:
            return endpoint
    return view.endpoints[0] if view.endpoints else None


def _nodes(make: Callable[..., _Node], view: rpc.LeaderView, listener: str) -> list[_Node]:
    endpoint = _endpoint(view, listener)
    if endpoint is None or view.leader_id < 0:
        return []
    return [make(node_id=view.leader_id, host=endpoint.host, port=endpoint.port)]


# -- building ------------------------------------------------------------------------------------------------


def vote(response: rpc.VoteResponse, listener: str) -> vote_.VoteResponse:
    """A Vote response."""
    view = response.leader
    partition = vote_.PartitionData(
        partition_index=PARTITION,
        error_code=int(response.error),
        leader_id=view.leader_id,
        leader_epoch=view.epoch,
        vote_granted=response.granted,
    )
    return vote_.VoteResponse(
        topics=[vote_.TopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_nodes(vote_.NodeEndpoint, view, listener),
    )


def begin(response: rpc.BeginQuorumEpochResponse, listener: str) -> begin_.BeginQuorumEpochResponse:
    """A BeginQuorumEpoch response."""
    view = response.leader
    partition = begin_.PartitionData(
        partition_index=PARTITION,
        error_code=int(response.error),
        leader_id=view.leader_id,
        leader_epoch=view.epoch,
    )
    return begin_.BeginQuorumEpochResponse(
        topics=[begin_.TopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_nodes(begin_.NodeEndpoint, view, listener),
    )


def end(response: rpc.EndQuorumEpochResponse, listener: str) -> end_.EndQuorumEpochResponse:
    """An EndQuorumEpoch response."""
    view = response.leader
    partition = end_.PartitionData(
        partition_index=PARTITION,
        error_code=int(response.error),
        leader_id=view.leader_id,
        leader_epoch=view.epoch,
    )
    return end_.EndQuorumEpochResponse(
        topics=[end_.TopicData(topic_name=TOPIC, partitions=[partition])],
        node_endpoints=_nodes(end_.NodeEndpoint, view, listener),
    )


def fetch(response: rpc.FetchResponse, listener: str, by_name: bool) -> fetch_.FetchResponse:
    """A Fetch response. `records` goes out as it is: bytes, or what the server sends as such."""
    view, diverging, snapshot_id = response.leader, response.diverging, response.snapshot_id
    partition = fetch_.PartitionData(
        partition_index=PARTITION,
        error_code=int(response.error),
        high_watermark=response.high_watermark,
        log_start_offset=response.log_start_offset,
        current_leader=fetch_.LeaderIdAndEpoch(leader_id=view.leader_id, leader_epoch=view.epoch),
        aborted_transactions=[],
        records=response.records,  # type: ignore[arg-type]
    )
    if diverging is not None:
        partition.diverging_epoch = fetch_.EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.offset)
    if snapshot_id is not None:
        partition.snapshot_id = fetch_.SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch)
    topic = fetch_.FetchableTopicResponse(partitions=[partition])
    if by_name:
        topic.topic = TOPIC
    else:
        topic.topic_id = METADATA_TOPIC_ID
    return fetch_.FetchResponse(responses=[topic], node_endpoints=_nodes(fetch_.NodeEndpoint, view, listener))


def fetch_snapshot(response: rpc.FetchSnapshotResponse, listener: str) -> snapshot_.FetchSnapshotResponse:
    """A FetchSnapshot response; an error says nothing of a snapshot."""
    view = response.leader
    partition = snapshot_.PartitionSnapshot(
        index=PARTITION,
        error_code=int(response.error),
        current_leader=snapshot_.LeaderIdAndEpoch(leader_id=view.leader_id, leader_epoch=view.epoch),
    )
    if response.error is ErrorCode.NONE:
        snapshot_id = response.snapshot_id
        partition.snapshot_id = snapshot_.SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch)
        partition.size, partition.position = response.size, response.position
        partition.unaligned_records = response.data
    return snapshot_.FetchSnapshotResponse(
        topics=[snapshot_.TopicSnapshot(name=TOPIC, partitions=[partition])],
        node_endpoints=_nodes(snapshot_.NodeEndpoint, view, listener),
    )


def describe(response: rpc.DescribeQuorumResponse) -> describe_.DescribeQuorumResponse:
    """A DescribeQuorum response; an error comes alone."""
    partition = describe_.PartitionData(partition_index=PARTITION, error_code=int(response.error))
    if response.error is not ErrorCode.NONE:
        partition.error_message = default_message(response.error)
    else:
        partition.leader_id = response.leader.leader_id
        partition.leader_epoch = response.leader.epoch
        partition.high_watermark = response.high_watermark
        partition.current_voters = [_replica(state) for state in response.voters]
        partition.observers = [_replica(state) for state in response.observers]
    return describe_.DescribeQuorumResponse(
        topics=[describe_.TopicData(topic_name=TOPIC, partitions=[partition])],
        nodes=[
            describe_.Node(
                node_id=voter.id,
                listeners=[
                    describe_.Listener(name=e.name, host=e.host, port=e.port) for e in voter.endpoints
                ],
            )
            for voter in response.nodes
        ],
    )


def _replica(state: rpc.ReplicaState) -> describe_.ReplicaState:
    return describe_.ReplicaState(
        replica_id=state.replica.id,
        replica_directory_id=state.replica.directory_id,
        log_end_offset=state.log_end_offset,
        last_fetch_timestamp=state.last_fetch_ms,
        last_caught_up_timestamp=state.last_caught_up_ms,
    )


def update(response: rpc.VoterChangeResponse, listener: str) -> update_.UpdateRaftVoterResponse:
    """An UpdateRaftVoter response."""
    view = response.leader
    leader = update_.CurrentLeader(leader_id=view.leader_id, leader_epoch=view.epoch)
    endpoint = _endpoint(view, listener)
    if endpoint is not None and view.leader_id >= 0:
        leader.host, leader.port = endpoint.host, endpoint.port
    return update_.UpdateRaftVoterResponse(error_code=int(response.error), current_leader=leader)


# -- reading -------------------------------------------------------------------------------------------------


def read(request: rpc.Request, message: Any, listener: str) -> rpc.Response:
    """The answer to `request`. Raises AttributeError or IndexError if it is of another kind."""
    match request:
        case rpc.FetchRequest():
            return _read_fetch(message, listener)
        case rpc.VoteRequest():
            error, view, granted = _election_answer(message, listener)
            return rpc.VoteResponse(error, view, granted)
        case rpc.BeginQuorumEpochRequest():
            return rpc.BeginQuorumEpochResponse(*_election_answer(message, listener)[:2])
        case rpc.EndQuorumEpochRequest():
            return rpc.EndQuorumEpochResponse(*_election_answer(message, listener)[:2])
        case rpc.FetchSnapshotRequest():
            return _read_fetch_snapshot(request, message, listener)
        case rpc.DescribeQuorumRequest():
            return _read_describe(message)
        case rpc.UpdateVoterRequest():
            leader = message.current_leader
            endpoints = (QuorumEndpoint(listener, leader.host, leader.port),) if leader.host else ()
            view = rpc.LeaderView(leader.leader_id, leader.leader_epoch, endpoints)
            return rpc.VoterChangeResponse(_error(message.error_code), view)
        case _:
            return rpc.VoterChangeResponse(
                _error(message.error_code), rpc.LeaderView(), message.error_message
            )


def _error(code: int) -> ErrorCode:
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def _view(leader_id: int, epoch: int, nodes: list[Any], listener: str) -> rpc.LeaderView:
    endpoints = tuple(
        QuorumEndpoint(listener, node.host, node.port) for node in nodes if node.node_id == leader_id
    )
    return rpc.LeaderView(leader_id, epoch, endpoints)


def _election_answer(message: Any, listener: str) -> tuple[ErrorCode, rpc.LeaderView, bool]:
    if message.error_code:
        return _error(message.error_code), rpc.LeaderView(), False
    answer = message.topics[0].partitions[0]
    view = _view(answer.leader_id, answer.leader_epoch, message.node_endpoints, listener)
    return _error(answer.error_code), view, getattr(answer, "vote_granted", False)


def _read_fetch(message: fetch_.FetchResponse, listener: str) -> rpc.FetchResponse:
    if message.error_code:
        return rpc.FetchResponse(_error(message.error_code), rpc.LeaderView())
    answer = message.responses[0].partitions[0]
    leader, diverging, snapshot_id = answer.current_leader, answer.diverging_epoch, answer.snapshot_id
    return rpc.FetchResponse(
        _error(answer.error_code),
        _view(leader.leader_id, leader.leader_epoch, message.node_endpoints, listener),
        answer.high_watermark,
        answer.log_start_offset,
        OffsetAndEpoch(diverging.end_offset, diverging.epoch) if diverging.epoch >= 0 else None,
        OffsetAndEpoch(snapshot_id.end_offset, snapshot_id.epoch) if snapshot_id.end_offset >= 0 else None,
        answer.records or b"",
    )


def _read_fetch_snapshot(
    request: rpc.FetchSnapshotRequest, message: snapshot_.FetchSnapshotResponse, listener: str
) -> rpc.FetchSnapshotResponse:
    if message.error_code:
        return rpc.FetchSnapshotResponse(_error(message.error_code), rpc.LeaderView(), request.snapshot_id)
    answer = message.topics[0].partitions[0]
    leader = answer.current_leader
    return rpc.FetchSnapshotResponse(
        _error(answer.error_code),
        _view(leader.leader_id, leader.leader_epoch, message.node_endpoints, listener),
        OffsetAndEpoch(answer.snapshot_id.end_offset, answer.snapshot_id.epoch),
        answer.size,
        answer.position,
        answer.unaligned_records,
    )


def _read_describe(message: describe_.DescribeQuorumResponse) -> rpc.DescribeQuorumResponse:
    if message.error_code:
        return rpc.DescribeQuorumResponse(_error(message.error_code), rpc.LeaderView())
    answer = message.topics[0].partitions[0]
    return rpc.DescribeQuorumResponse(
        _error(answer.error_code),
        rpc.LeaderView(answer.leader_id, answer.leader_epoch),
        answer.high_watermark,
        tuple(_read_replica(state) for state in answer.current_voters),
        tuple(_read_replica(state) for state in answer.observers),
        tuple(
            QuorumVoter(
                node.node_id,
                endpoints=tuple(QuorumEndpoint(e.name, e.host, e.port) for e in node.listeners),
            )
            for node in message.nodes
        ),
    )


def _read_replica(state: describe_.ReplicaState) -> rpc.ReplicaState:
    return rpc.ReplicaState(
        ReplicaKey(state.replica_id, state.replica_directory_id),
        state.log_end_offset,
        state.last_fetch_timestamp,
        state.last_caught_up_timestamp,
    )
