"""Requests and responses survive the way over the wire in every version, less what it cannot say."""

from __future__ import annotations

import pytest

from kbroker.errors import ErrorCode, ProtocolError
from kbroker.plain import replace
from kbroker.protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kbroker.protocol.generated.fetch_request import FetchRequest
from kbroker.protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kbroker.raft import rpc
from kbroker.raft.voter_set import QuorumEndpoint, QuorumVoter, ReplicaKey
from kbroker.raft.wire import RaftWire, RequestRefused
from kbroker.types import OffsetAndEpoch

ONE, TWO = ReplicaKey(1, b"1" * 16), ReplicaKey(2, b"2" * 16)
ENDPOINTS = (QuorumEndpoint("CONTROLLER", "one", 9093),)
VOTER = QuorumVoter(2, b"2" * 16, ENDPOINTS, 0, 1)
VIEW = rpc.LeaderView(1, 7, ENDPOINTS)
WIRE = RaftWire("cluster", "CONTROLLER")

REQUESTS = [
    (rpc.VoteRequest(7, ONE, TWO, 6, 10, True), 2, 2),
    (rpc.VoteRequest(7, ONE, TWO, 6, 10), 1, 2),
    (rpc.BeginQuorumEpochRequest(1, 7, TWO, ENDPOINTS), 1, 1),
    (rpc.EndQuorumEpochRequest(1, 7, (TWO, ReplicaKey(3, b"3" * 16)), ENDPOINTS), 1, 1),
    (rpc.FetchRequest(7, TWO, 10, 6, 500, 9), 18, 18),
    (rpc.FetchRequest(7, TWO, 10, 6, 500), 17, 18),
    (rpc.FetchRequest(7, ReplicaKey(2), 10, 6, 500), 15, 18),
    (rpc.FetchSnapshotRequest(7, TWO, OffsetAndEpoch(50, 6), 1000, 4096), 1, 1),
    (rpc.DescribeQuorumRequest(), 0, 2),
    (rpc.AddVoterRequest(VOTER, 1000, False), 1, 1),
    (rpc.AddVoterRequest(VOTER, 1000), 0, 1),
    (rpc.RemoveVoterRequest(TWO), 0, 0),
    (rpc.UpdateVoterRequest(7, VOTER), 0, 0),
]


def over_the_wire(message, version):
    return type(message).decode(message.encode(version), version)


@pytest.mark.parametrize(("request_", "low", "high"), REQUESTS)
def test_a_request_arrives_as_it_was_sent(request_, low, high):
    for version in range(low, high + 1):
        message = over_the_wire(WIRE.request_message(request_), version)
        assert WIRE.read_request(message) == request_


def test_old_versions_say_less():
    message = over_the_wire(WIRE.request_message(rpc.VoteRequest(7, ONE, TWO, 6, 10)), 0)
    assert WIRE.read_request(message) == rpc.VoteRequest(7, ReplicaKey(1), ReplicaKey(-1), 6, 10)
    message = over_the_wire(WIRE.request_message(rpc.EndQuorumEpochRequest(1, 7, (TWO,))), 0)
    assert WIRE.read_request(message).preferred == (ReplicaKey(2),)
    message = over_the_wire(WIRE.request_message(rpc.BeginQuorumEpochRequest(1, 7, TWO, ENDPOINTS)), 0)
    assert WIRE.read_request(message) == rpc.BeginQuorumEpochRequest(1, 7, ReplicaKey(-1))


@pytest.mark.parametrize("version", [12, 13, 14])
def test_fetches_of_old_versions_name_their_sender_elsewhere(version):
    fetch = rpc.FetchRequest(7, ReplicaKey(2), 10, 6, 500)
    assert WIRE.read_request(over_the_wire(WIRE.request_message(fetch, version), version)) == fetch


def test_what_an_old_peer_cannot_be_asked():
    pre_vote = rpc.VoteRequest(7, ONE, TWO, 6, 10, True)
    with pytest.raises(ValueError):
        WIRE.request_message(pre_vote).encode(1)
    assert WIRE.unsupported(pre_vote).error is ErrorCode.UNSUPPORTED_VERSION
    assert WIRE.unsupported(replace(pre_vote, pre_vote=False)) is None


NONE = ErrorCode.NONE
FENCED = ErrorCode.FENCED_LEADER_EPOCH
STATE = rpc.ReplicaState(TWO, 10, 123, 122)
RESPONSES = [
    (REQUESTS[0][0], rpc.VoteResponse(NONE, VIEW, True), 1, 2),
    (REQUESTS[0][0], rpc.VoteResponse(FENCED, VIEW), 1, 2),
    (REQUESTS[2][0], rpc.BeginQuorumEpochResponse(NONE, VIEW), 1, 1),
    (REQUESTS[3][0], rpc.EndQuorumEpochResponse(NONE, rpc.LeaderView(-1, 7)), 0, 1),
    (REQUESTS[4][0], rpc.FetchResponse(NONE, VIEW, 9, 3, records=b"batches"), 16, 18),
    (REQUESTS[4][0], rpc.FetchResponse(NONE, VIEW, 9, 0, diverging=OffsetAndEpoch(8, 5)), 16, 18),
    (REQUESTS[4][0], rpc.FetchResponse(NONE, VIEW, -1, 0, snapshot_id=OffsetAndEpoch(8, 5)), 16, 18),
    (REQUESTS[4][0], rpc.FetchResponse(ErrorCode.UNKNOWN_LEADER_EPOCH, rpc.LeaderView(-1, 3)), 13, 18),
    (REQUESTS[7][0], rpc.FetchSnapshotResponse(NONE, VIEW, OffsetAndEpoch(50, 6), 2000, 1000, b"abc"), 1, 1),
    (
        REQUESTS[8][0],
        rpc.DescribeQuorumResponse(
            NONE,
            rpc.LeaderView(1, 7),
            9,
            (STATE,),
            (STATE,),
            (QuorumVoter(2, endpoints=ENDPOINTS),),
        ),
        2,
        2,
    ),
    (
        REQUESTS[9][0],
        rpc.VoterChangeResponse(ErrorCode.DUPLICATE_VOTER, rpc.LeaderView(), "it is one"),
        0,
        1,
    ),
    (REQUESTS[11][0], rpc.VoterChangeResponse(NONE, rpc.LeaderView()), 0, 0),
    (REQUESTS[12][0], rpc.VoterChangeResponse(FENCED, VIEW), 0, 0),
]


@pytest.mark.parametrize(("request_", "response", "low", "high"), RESPONSES)
def test_a_response_arrives_as_it_was_sent(request_, response, low, high):
    asked = WIRE.request_message(request_)
    for version in range(low, high + 1):
        message = over_the_wire(WIRE.response_message(asked, response), version)
        assert WIRE.read_response(request_, message) == response


def test_an_answer_names_the_endpoint_of_the_listener_that_was_used():
    view = rpc.LeaderView(1, 7, (*ENDPOINTS, QuorumEndpoint("OTHER", "inner", 1)))
    asked = WIRE.request_message(REQUESTS[0][0])
    message = WIRE.response_message(asked, rpc.VoteResponse(NONE, view), "OTHER")
    assert [(node.node_id, node.host, node.port) for node in message.node_endpoints] == [(1, "inner", 1)]


@pytest.mark.parametrize(
    "request_", [r for r, _, _ in REQUESTS if not isinstance(r, rpc.DescribeQuorumRequest)]
)
def test_another_cluster_is_refused(request_):
    message = RaftWire("other", "CONTROLLER").request_message(request_)
    with pytest.raises(RequestRefused) as refused:
        WIRE.read_request(message)
    assert refused.value.response.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID
    message.cluster_id = None
    if not isinstance(request_, rpc.RemoveVoterRequest):
        assert WIRE.read_request(message) == request_


def test_another_partition_is_refused():
    message = WIRE.request_message(REQUESTS[0][0])
    message.topics[0].topic_name = "other"
    with pytest.raises(RequestRefused) as refused:
        WIRE.read_request(message)
    assert refused.value.response.error_code == ErrorCode.INVALID_REQUEST
    for empty in (FetchRequest(), DescribeQuorumRequest(), FetchSnapshotRequest()):
        with pytest.raises(RequestRefused) as refused:
            WIRE.read_request(empty)
        refused.value.response.encode(refused.value.response.MAX_VERSION)


def test_an_error_of_the_whole_response_names_no_epoch():
    request = REQUESTS[4][0]
    message = WIRE.request_message(request)
    message.cluster_id = "other"
    with pytest.raises(RequestRefused) as refused:
        WIRE.read_request(message)
    response = WIRE.read_response(request, over_the_wire(refused.value.response, 18))
    assert response == rpc.FetchResponse(ErrorCode.INCONSISTENT_CLUSTER_ID, rpc.LeaderView())


def test_an_answer_to_something_else_is_refused():
    vote = WIRE.response_message(WIRE.request_message(REQUESTS[0][0]), rpc.VoteResponse(NONE, VIEW))
    with pytest.raises(ProtocolError):
        WIRE.read_response(REQUESTS[4][0], vote)
