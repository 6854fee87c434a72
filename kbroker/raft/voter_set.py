"""Who votes: the voters with their directories and endpoints, and the control records that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kbroker.protocol.generated.voters_record import (
    Endpoint as VoterEndpoint,
    KRaftVersionFeature,
    Voter,
    VotersRecord,
)
from kbroker.types import ZERO_UUID, Uuid


class QuorumEndpoint(NamedTuple):
    """Where a voter's controller listener is."""

    name: str
    host: str
    port: int


class ReplicaKey(NamedTuple):
    """A node with its directory (KIP-853); zero where the peer or the quorum does not know directories."""

    id: int
    directory_id: Uuid = ZERO_UUID


class QuorumVoter(NamedTuple):
    """A voter. The directory id tells a node from the same node on a new disk; zero with static voters."""

    id: int
    directory_id: Uuid = ZERO_UUID
    endpoints: tuple[QuorumEndpoint, ...] = ()
    min_kraft_version: int = 0
    max_kraft_version: int = 1


class VoterSet:
    """An immutable set of voters, iterated by id."""

    __slots__ = ("_voters",)

    def __init__(self, voters: Iterable[QuorumVoter]) -> None:
        self._voters = {voter.id: voter for voter in sorted(voters)}

    def __iter__(self) -> Iterator[QuorumVoter]:
        return iter(self._voters.values())

    def __len__(self) -> int:
        return len(self._voters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._voters == other._voters

    def __hash__(self) -> int:
        return hash(tuple(self._voters))

    def __repr__(self) -> str:
        return f"VoterSet({list(self)!r})"

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._voters

    def get(self, node_id: int) -> QuorumVoter | None:
        """The voter of that id."""
        return self._voters.get(node_id)

    @property
    def majority(self) -> int:
        """How many voters decide."""
        return len(self._voters) // 2 + 1

    def is_only(self, node_id: int) -> bool:
        """Whether `node_id` is the whole quorum and needs nobody's vote."""
        return len(self._voters) == 1 and node_id in self._voters


def voters_record(voters: VoterSet) -> VotersRecord:
    """The control record of a voter set (KIP-853)."""
    return VotersRecord(
        version=0,
        voters=[
            Voter(
                voter_id=voter.id,
                voter_directory_id=voter.directory_id,
                endpoints=[VoterEndpoint(name=e.name, host=e.host, port=e.port) for e in voter.endpoints],
                kraft_version_feature=KRaftVersionFeature(
                    min_supported_version=voter.min_kraft_version,
                    max_supported_version=voter.max_kraft_version,
                ),
            )
            for voter in voters
        ],
    )


def voter_set(record: VotersRecord) -> VoterSet:
    """The voter set in a control record."""
    return VoterSet(
        QuorumVoter(
            voter.voter_id,
            voter.voter_directory_id,
            tuple(QuorumEndpoint(e.name, e.host, e.port) for e in voter.endpoints),
            voter.kraft_version_feature.min_supported_version,
            voter.kraft_version_feature.max_supported_version,
        )
        for voter in record.voters
    )
