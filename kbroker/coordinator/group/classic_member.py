"""One member of a classic group."""

from __future__ import annotations

from collections.abc import Iterable

from kbroker.coordinator.shard import Outcome, Ticket
from kbroker.coordinator.timers import Timer
from kbroker.protocol.generated.group_metadata_value import MemberMetadata
from kbroker.protocol.generated.join_group_request import JoinGroupRequestProtocol


class ClassicMember:
    """A member, what it can speak, what it was assigned, and which of its requests wait.

    `protocols` maps name to metadata in the member's order of preference.
    """

    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "is_new",
        "join_ticket",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session",
        "session_timeout_ms",
        "sync_ticket",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: dict[str, bytes],
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = b""
        self.join_ticket: Ticket | None = None
        self.sync_ticket: Ticket | None = None
        #: Its first JoinGroup is still parked: it does not know its generation, so it cannot keep its
        #: session.
        self.is_new = False
        self.session: Timer[Outcome] | None = None

    @property
    def is_static(self) -> bool:
        """It has a group instance id (KIP-345)."""
        return self.instance_id is not None

    @property
    def excused(self) -> bool:
        """Its session cannot run out now: it waits for the group, not the group for it."""
        return not self.is_new and (self.join_ticket is not None or self.sync_ticket is not None)

    def vote(self, candidates: set[str]) -> str:
        """The protocol it likes best among those that all members speak (there is one)."""
        for name in self.protocols:
            if name in candidates:
                return name
        raise AssertionError("a member speaks every candidate")

    def recorded(self, protocol: str | None, assignment: bytes) -> MemberMetadata:
        """This member as GroupMetadataValue keeps it."""
        return MemberMetadata(
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout=self.rebalance_timeout_ms,
            session_timeout=self.session_timeout_ms,
            subscription=self.protocols.get(protocol or "", b""),
            assignment=assignment,
        )

    @classmethod
    def from_record(cls, recorded: MemberMetadata, protocol: str | None) -> ClassicMember:
        """The inverse of `recorded`; of its protocols only the one that was in use is known."""
        timeout = recorded.rebalance_timeout
        member = cls(
            recorded.member_id,
            recorded.group_instance_id,
            recorded.client_id,
            recorded.client_host,
            recorded.session_timeout if timeout == -1 else timeout,
            recorded.session_timeout,
            {protocol or "": recorded.subscription},
        )
        member.assignment = recorded.assignment
        return member


def protocols_of(requested: Iterable[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    """A JoinGroup's protocols by name, in its order; of a name given twice the first counts."""
    protocols: dict[str, bytes] = {}
    for protocol in requested:
        protocols.setdefault(protocol.name, protocol.metadata)
    return protocols


def same_protocols(member: ClassicMember, protocols: dict[str, bytes]) -> bool:
    """Whether `protocols` are what the member joined with, order included."""
    return list(member.protocols.items()) == list(protocols.items())
