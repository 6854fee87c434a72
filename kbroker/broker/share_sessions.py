"""Share sessions: which partitions a member fetches here, so that it need not say it again (KIP-932).

Like fetch sessions, but of a member of a group, and there is no doing without: who has none gets nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kbroker.errors import ApiError, ErrorCode
from kbroker.types import Uuid

INITIAL_EPOCH, FINAL_EPOCH = 0, -1
_EPOCH_MAX = 2**31 - 1

#: Topic id and partition.
Place: TypeAlias = "tuple[Uuid, int]"


class ShareSession:
    """One member's. `partitions` says of each whether it has to be in the next answer whatever there is."""

    __slots__ = ("connection_id", "epoch", "group_id", "member_id", "partitions")

    def __init__(self, group_id: str, member_id: str, connection_id: str) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.connection_id = connection_id
        self.epoch = 1
        self.partitions: dict[Place, bool] = {}

    def check(self, epoch: int) -> None:
        """The next epoch, or INVALID_SHARE_SESSION_EPOCH."""
        if epoch != self.epoch:
            raise ApiError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        self.epoch = 1 if epoch == _EPOCH_MAX else epoch + 1

    def rotate(self, place: Place) -> None:
        """It was served: others come first next time."""
        self.partitions[place] = self.partitions.pop(place)


class ShareSessions:
    """All of this broker.

    Args:
        most: how many there may be.
        ended: told of each session that ended, and whether it was its group's last one here.
    """

    def __init__(self, most: int, ended: Callable[[ShareSession, bool], None]) -> None:
        self._most = most
        self._ended = ended
        self._sessions: dict[tuple[str, str], ShareSession] = {}
        self._by_connection: dict[str, dict[tuple[str, str], None]] = {}
        self._groups: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        """The partitions of all sessions."""
        return sum(len(session.partitions) for session in self._sessions.values())

    def open(self, group_id: str, member_id: str, connection_id: str) -> ShareSession:
        """A new one, in place of the member's old one; SHARE_SESSION_LIMIT_REACHED if there are too many."""
        key = group_id, member_id
        old = self._sessions.get(key)
        if old is not None:
            self._remove(old)
        elif len(self._sessions) >= self._most:
            raise ApiError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[key] = ShareSession(group_id, member_id, connection_id)
        self._by_connection.setdefault(connection_id, {})[key] = None
        self._groups[group_id] = self._groups.get(group_id, 0) + 1
        return session

    def find(self, group_id: str, member_id: str) -> ShareSession:
        """The member's; SHARE_SESSION_NOT_FOUND if there is none."""
        session = self._sessions.get((group_id, member_id))
        if session is None:
            raise ApiError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def close(self, session: ShareSession) -> None:
        """The member, or its connection, is done with it."""
        if self._sessions.get((session.group_id, session.member_id)) is session:
            last = self._remove(session)
            self._ended(session, last)

    def disconnected(self, connection_id: str) -> None:
        """A connection is gone, and its sessions with it."""
        for key in list(self._by_connection.get(connection_id, ())):
            self.close(self._sessions[key])

    def _remove(self, session: ShareSession) -> bool:
        """Whether it was the last one of its group."""
        key = session.group_id, session.member_id
        del self._sessions[key]
        theirs = self._by_connection[session.connection_id]
        del theirs[key]
        if not theirs:
            del self._by_connection[session.connection_id]
        left = self._groups[session.group_id] - 1
        if left:
            self._groups[session.group_id] = left
        else:
            del self._groups[session.group_id]
        return not left
