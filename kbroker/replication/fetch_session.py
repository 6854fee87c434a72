"""The fetcher's side of a fetch session (KIP-227): it says only what has changed since its last request.

Pure. `want` and `forget` note changes, `next_request` says what to send, `answered` and `failed` what came of
it. The leader has, after each request that it answered, exactly the partitions in `wanted` with what was last
sent of each; whenever that is in doubt a new session begins with everything.
"""

from __future__ import annotations

from typing import NamedTuple

from kbroker.types import Uuid

INITIAL_EPOCH = 0
_EPOCH_MAX = 0x7FFF_FFFF

#: Topic id and partition.
Key = tuple[Uuid, int]


class Wanted(NamedTuple):
    """What is asked for one partition."""

    topic: str
    topic_id: Uuid
    partition: int
    leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    #: How far this replica has compacted (docs/decisions/0005).
    cleaned_offset: int = 0


class Ask(NamedTuple):
    """One request: the session it belongs to, what to name, what to drop."""

    session_id: int
    session_epoch: int
    wanted: list[Wanted]
    forgotten: list[Wanted]


class ClientSession:
    """One fetcher's session with one leader."""

    __slots__ = ("_changed", "_epoch", "_forgotten", "_id", "wanted")

    def __init__(self) -> None:
        self.wanted: dict[Key, Wanted] = {}
        self._changed: dict[Key, None] = {}
        self._forgotten: dict[Key, Wanted] = {}
        self._id = 0
        self._epoch = INITIAL_EPOCH

    def want(self, wanted: Wanted) -> None:
        """Ask for this from the next request on."""
        key = wanted.topic_id, wanted.partition
        if self.wanted.get(key) != wanted:
            self.wanted[key] = wanted
            self._changed[key] = None
        self._forgotten.pop(key, None)

    def forget(self, key: Key) -> None:
        """Do not ask for that partition any more."""
        gone = self.wanted.pop(key, None)
        if gone is not None:
            self._changed.pop(key, None)
            self._forgotten[key] = gone

    def names(self, key: Key) -> bool:
        """Whether the leader may have it in the session, as of the last request or from the next one on."""
        return key in self.wanted or key in self._forgotten

    def next_request(self) -> Ask:
        """What to send now; counts as sent."""
        if self._epoch == INITIAL_EPOCH:
            wanted, forgotten = list(self.wanted.values()), []
        else:
            wanted = [self.wanted[key] for key in self._changed]
            forgotten = list(self._forgotten.values())
        self._changed.clear()
        self._forgotten.clear()
        return Ask(self._id, self._epoch, wanted, forgotten)

    def answered(self, session_id: int) -> None:
        """The leader has taken the request; `session_id` 0: it keeps no session for us."""
        if session_id == 0:
            self._begin_anew(0)
        elif self._epoch == INITIAL_EPOCH:
            self._id, self._epoch = session_id, 1
        else:
            self._epoch = 1 if self._epoch == _EPOCH_MAX else self._epoch + 1

    def failed(self, *, forgotten: bool = False) -> None:
        """No answer, or a refusal: begin anew. `forgotten`: the leader does not know the session any more."""
        self._begin_anew(0 if forgotten else self._id)

    def _begin_anew(self, closing: int) -> None:
        self._id, self._epoch = closing, INITIAL_EPOCH
        self._changed.clear()
        self._forgotten.clear()
