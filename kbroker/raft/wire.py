"""Kafka's quorum requests and responses to and from the plain messages of the core, all versions.

Checked here and nowhere else: the cluster id, and that a request is of the metadata partition. Which fields
a version lacks is the codecs' business: they leave them out, or refuse (`pre_vote` before Vote version 2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kbroker.errors import ErrorCode, ProtocolError, default_message
from kbroker.protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kbroker.protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kbroker.protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kbroker.protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kbroker.protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kbroker.protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    PartitionData as DescribedPartition,
    TopicData as DescribedTopic,
)
from kbroker.protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kbroker.protocol.generated.end_quorum_epoch_response import EndQuorumEpochResponse
from kbroker.protocol.generated.fetch_request import FetchRequest
from kbroker.protocol.generated.fetch_response import FetchResponse
from kbroker.protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kbroker.protocol.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kbroker.protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kbroker.protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kbroker.protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kbroker.protocol.generated.update_raft_voter_response import UpdateRaftVoterResponse
from kbroker.protocol.generated.vote_request import VoteRequest
from kbroker.protocol.generated.vote_response import VoteResponse
from kbroker.protocol.primitives import Message
from kbroker.raft import rpc, wire_requests, wire_responses
from kbroker.raft.wire_requests import PARTITION, TOPIC
from kbroker.types import METADATA_TOPIC_ID

_RESPONSES: dict[type[Message], type[Any]] = {
    VoteRequest: VoteResponse,
    BeginQuorumEpochRequest: BeginQuorumEpochResponse,
    EndQuorumEpochRequest: EndQuorumEpochResponse,
    FetchRequest: FetchResponse,
    FetchSnapshotRequest: FetchSnapshotResponse,
    AddRaftVoterRequest: AddRaftVoterResponse,
    RemoveRaftVoterRequest: RemoveRaftVoterResponse,
    UpdateRaftVoterRequest: UpdateRaftVoterResponse,
}
_READERS: dict[type[Message], Callable[[Any], rpc.Request]] = {
    VoteRequest: wire_requests.read_vote,
    BeginQuorumEpochRequest: wire_requests.read_begin,
    EndQuorumEpochRequest: wire_requests.read_end,
    FetchRequest: wire_requests.read_fetch,
    FetchSnapshotRequest: wire_requests.read_fetch_snapshot,
    DescribeQuorumRequest: lambda _: rpc.DescribeQuorumRequest(),
    AddRaftVoterRequest: wire_requests.read_add,
    RemoveRaftVoterRequest: wire_requests.read_remove,
    UpdateRaftVoterRequest: wire_requests.read_update,
}


class RequestRefused(Exception):
    """A request that the core need not see; `response` is the answer."""

    def __init__(self, response: Message) -> None:
        super().__init__(type(response).__name__)
        self.response = response


class RaftWire:
    """The translation for one cluster.

    Args:
        cluster_id: requests of another cluster are refused.
        listener: the name of the controller listener that nodes reach each other by.
    """

    __slots__ = ("_cluster_id", "_listener")

    def __init__(self, cluster_id: str, listener: str) -> None:
        self._cluster_id = cluster_id
        self._listener = listener

    # -- as the one who is asked -----------------------------------------------------------------------------

    def read_request(self, message: Message) -> rpc.Request:
        """What a peer asks.

        Raises:
            RequestRefused: it is of another cluster, or not of the metadata partition.
        """
        wanted = getattr(message, "cluster_id", None)
        if wanted is not None and wanted != self._cluster_id:
            raise RequestRefused(self._foreign(message, wanted))
        if not _is_of_metadata(message):
            raise RequestRefused(_elsewhere(message))
        return _READERS[type(message)](message)

    def response_message(
        self, request: Message, response: rpc.Response, listener: str | None = None
    ) -> Message:
        """The response to `request`; nodes are named with the endpoint of this listener, by which the asker
        came."""
        name = self._listener if listener is None else listener
        match response:
            case rpc.FetchResponse():
                by_name = any(topic.topic for topic in request.topics)  # type: ignore[attr-defined]
                return wire_responses.fetch(response, name, by_name)
            case rpc.VoteResponse():
                return wire_responses.vote(response, name)
            case rpc.BeginQuorumEpochResponse():
                return wire_responses.begin(response, name)
            case rpc.EndQuorumEpochResponse():
                return wire_responses.end(response, name)
            case rpc.FetchSnapshotResponse():
                return wire_responses.fetch_snapshot(response, name)
            case rpc.DescribeQuorumResponse():
                return wire_responses.describe(response)
            case rpc.VoterChangeResponse():
                return _change_response(request, response, name)

    def _foreign(self, message: Message, cluster_id: str) -> Message:
        error = int(ErrorCode.INCONSISTENT_CLUSTER_ID)
        response: Message = _RESPONSES[type(message)](error_code=error)
        if isinstance(response, AddRaftVoterResponse | RemoveRaftVoterResponse):
            response.error_message = (
                f'The given id "{cluster_id}" doesn\'t match the cluster id "{self._cluster_id}"'
            )
        return response

    # -- as the one who asks ---------------------------------------------------------------------------------

    def request_message(self, request: rpc.Request, version: int | None = None) -> Message:
        """The request for a peer. `version` matters for Fetch below 15 only: its sender has another field."""
        cluster = self._cluster_id
        match request:
            case rpc.FetchRequest():
                return wire_requests.fetch(request, cluster, version)
            case rpc.VoteRequest():
                return wire_requests.vote(request, cluster)
            case rpc.BeginQuorumEpochRequest():
                return wire_requests.begin(request, cluster)
            case rpc.EndQuorumEpochRequest():
                return wire_requests.end(request, cluster)
            case rpc.FetchSnapshotRequest():
                return wire_requests.fetch_snapshot(request, cluster)
            case rpc.AddVoterRequest():
                return wire_requests.add(request, cluster)
            case rpc.RemoveVoterRequest():
                return wire_requests.remove(request, cluster)
            case rpc.UpdateVoterRequest():
                return wire_requests.update(request, cluster)
            case rpc.DescribeQuorumRequest():
                return wire_requests.describe()
            case rpc.UpgradeKraftVersion():
                raise TypeError("no peer is asked to upgrade kraft.version")

    def read_response(self, request: rpc.Request, message: Message) -> rpc.Response:
        """What a peer answered to `request`.

        Raises:
            ProtocolError: it is no answer to it.
        """
        try:
            return wire_responses.read(request, message, self._listener)
        except (AttributeError, IndexError, KeyError) as error:
            raise ProtocolError(f"a {type(message).__name__} that does not answer its request") from error

    @staticmethod
    def unsupported(request: rpc.Request) -> rpc.Response | None:
        """What it means to the core that the peer is too old for this request; None: `SendFailed`."""
        if isinstance(request, rpc.VoteRequest) and request.pre_vote:
            return rpc.VoteResponse(ErrorCode.UNSUPPORTED_VERSION, rpc.LeaderView())
        return None


def _is_of_metadata(message: Any) -> bool:
    topics = getattr(message, "topics", None)
    if topics is None:
        return True
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return False
    topic, partition = topics[0], topics[0].partitions[0]
    if isinstance(message, FetchRequest):
        is_metadata = topic.topic_id == METADATA_TOPIC_ID if not topic.topic else topic.topic == TOPIC
        return bool(is_metadata and partition.partition == PARTITION)
    if isinstance(message, FetchSnapshotRequest):
        return bool(topic.name == TOPIC and partition.partition == PARTITION)
    return bool(topic.topic_name == TOPIC and partition.partition_index == PARTITION)


def _elsewhere(message: Any) -> Message:
    """The answer to a request of another partition than that of the metadata."""
    unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if isinstance(message, DescribeQuorumRequest):
        return DescribeQuorumResponse(
            topics=[
                DescribedTopic(
                    topic_name=topic.topic_name,
                    partitions=[
                        DescribedPartition(
                            partition_index=partition.partition_index,
                            error_code=unknown,
                            error_message=default_message(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
                        )
                        for partition in topic.partitions
                    ],
                )
                for topic in message.topics
            ],
        )
    if isinstance(message, FetchSnapshotRequest) and len(message.topics) == 1:
        topic = message.topics[0]
        if len(topic.partitions) == 1:
            none = SnapshotId(end_offset=0, epoch=0)
            partition = PartitionSnapshot(
                index=topic.partitions[0].partition, error_code=unknown, snapshot_id=none
            )
            return FetchSnapshotResponse(topics=[TopicSnapshot(name=topic.name, partitions=[partition])])
    response: Message = _RESPONSES[type(message)](error_code=int(ErrorCode.INVALID_REQUEST))
    return response


def _change_response(request: Message, response: rpc.VoterChangeResponse, listener: str) -> Message:
    error, text = int(response.error), response.message
    if text is None and response.error is not ErrorCode.NONE:
        text = default_message(response.error)
    if isinstance(request, AddRaftVoterRequest):
        return AddRaftVoterResponse(error_code=error, error_message=text)
    if isinstance(request, RemoveRaftVoterRequest):
        return RemoveRaftVoterResponse(error_code=error, error_message=text)
    return wire_responses.update(response, listener)
