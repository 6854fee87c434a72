"""Checks that the heartbeats of consumer groups and streams groups share, in Kafka's words."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from kbroker.errors import ApiError, ErrorCode


class Member(Protocol):
    """What both kinds of members have."""

    @property
    def member_id(self) -> str:
        """Its id."""

    @property
    def epoch(self) -> int:
        """Its epoch."""

    @property
    def previous_epoch(self) -> int:
        """The one before."""

    def holds_at_most(self, owned: Any) -> bool:
        """Whether it holds all of what a client says it owns."""


M = TypeVar("M", bound=Member)


def check_epoch(member: Member, epoch: int, owned: Any, kind: str) -> None:
    """FENCED_MEMBER_EPOCH for an epoch that is not the member's; the one before it will do if the answer
    with the present one may have got lost. `kind` is that of the group.
    """
    if epoch == member.epoch:
        return
    if epoch < member.epoch and epoch == member.previous_epoch and member.holds_at_most(owned):
        return
    word = "greater" if epoch > member.epoch else "smaller"
    raise ApiError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The {kind} group member has a {word} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def check_instance(member: M | None, member_id: str, instance_id: str) -> M:
    """The member of that instance id.

    Raises:
        ApiError: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if it is another one by now.
    """
    if member is None:
        raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        raise ApiError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member "
            f"{member.member_id}.",
        )
    return member
