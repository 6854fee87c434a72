"""Voters of the metadata quorum: who, and adding and removing them (KIP-853)."""

from __future__ import annotations

from collections.abc import Sequence

from kbroker.client.cluster import Cluster
from kbroker.client.errors import check
from kbroker.protocol.generated.add_raft_voter_request import AddRaftVoterRequest, Listener
from kbroker.protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kbroker.protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kbroker.protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kbroker.types import Uuid


def add_voter(
    cluster: Cluster, node_id: int, directory_id: Uuid, listeners: Sequence[tuple[str, str, int]]
) -> None:
    """Let a controller vote that follows the quorum already.

    Args:
        directory_id: of its metadata folder.
        listeners: its controller listeners: name, host, port.

    Raises:
        ApiError: it does not follow closely, cannot be reached, or the quorum is a fixed one.
    """
    request = AddRaftVoterRequest(
        cluster_id=cluster.metadata([]).cluster_id,
        timeout_ms=int(cluster.timeout_s * 1000),
        voter_id=node_id,
        voter_directory_id=directory_id,
        listeners=[Listener(name=name, host=host, port=port) for name, host, port in listeners],
    )
    answer = cluster.ask(request, AddRaftVoterResponse)
    check(answer.error_code, answer.error_message, f"controller {node_id}", needs="ALTER")


def remove_voter(cluster: Cluster, node_id: int, directory_id: Uuid) -> None:
    """Let a controller vote no more.

    Raises:
        ApiError: it is no voter, or the last one.
    """
    request = RemoveRaftVoterRequest(
        cluster_id=cluster.metadata([]).cluster_id, voter_id=node_id, voter_directory_id=directory_id
    )
    answer = cluster.ask(request, RemoveRaftVoterResponse)
    check(answer.error_code, answer.error_message, f"controller {node_id}", needs="ALTER")
