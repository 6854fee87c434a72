"""What every coordinator behind an internal topic has in common: decide, append, apply, answer.

A shard is the state of one partition of the topic. Its driver (broker/coordinator_driver.py) feeds it and
performs each `Outcome` in this order:

1. append `records` as one batch; when the log refuses them, perform `refused(code)` and nothing else;
2. `apply` each record to the shard (the same call that replays the log; it cannot fail);
3. deliver `replies`, each once all that is appended so far is committed;
4. perform `then()`, what follows from the new state.

Deciding, appending and applying happen in one go, so no decision sees a state that lacks an appended record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, NamedTuple, Protocol, TypeAlias

from kbroker.errors import ErrorCode
from kbroker.plain import made, plain

#: Whoever waits for an answer; made by the driver, only handed through by the core.
Ticket: TypeAlias = object

_INT16 = Struct(">h")


class CoordinatorRecord(NamedTuple):
    """One record for the log: a generated key message and value message.

    In the log, the key's `API_KEY` and the value's version stand in front of them as int16. `value` None is a
    tombstone: compaction forgets the key.
    """

    key: Any
    value: Any
    value_version: int = 0

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Key and value as they go into the log."""
        key = _INT16.pack(self.key.API_KEY) + self.key.encode(0)
        if self.value is None:
            return key, None
        return key, _INT16.pack(self.value_version) + self.value.encode(self.value_version)


class Reply(NamedTuple):
    """An answer to a waiting request."""

    ticket: Ticket
    response: Any


@plain()
class Outcome:
    """What a request or a passed deadline leads to; see the file's law for the order."""

    records: Sequence[CoordinatorRecord] = ()
    #: The records go into one batch, all or none; else they may be cut into several.
    atomic: bool = True
    #: Id and epoch of the producer to whose transaction the records belong; (-1, -1): they are true at once.
    producer: tuple[int, int] = (-1, -1)
    replies: list[Reply] = made(default_factory=list)
    #: What to do instead of all the rest (the replies included) when the log takes none of the records.
    refused: Callable[[ErrorCode], Outcome] | None = None
    #: What follows once the records are applied.
    then: Callable[[], Outcome] | None = None

    @classmethod
    def answer(cls, ticket: Ticket, response: Any) -> Outcome:
        """Only an answer."""
        return cls(replies=[Reply(ticket, response)])

    def also(self, ticket: Ticket, response: Any) -> Outcome:
        """Answer one more; returns itself."""
        self.replies.append(Reply(ticket, response))
        return self


class Shard(Protocol):
    """A coordinator's state for one partition, as the driver sees it."""

    def apply(self, record: CoordinatorRecord, offset: int, producer_id: int = -1) -> None:
        """Take over a record of the log; `producer_id` is set if it is part of an open transaction."""
        ...

    def apply_marker(self, producer_id: int, committed: bool, offset: int) -> None:
        """The transaction of `producer_id` ended, by the marker at `offset` of the log."""
        ...

    def committed(self, end: int) -> None:
        """The log is committed below `end`; called when that is found out, at the latest before a read."""
        ...

    def decode(self, key: bytes, value: bytes | None) -> CoordinatorRecord | None:
        """A record as it lies in the log; None for one of a kind that this version does not know."""
        ...

    def loaded(self, now_ms: int) -> Outcome:
        """The log has been replayed, requests may come: start what runs by time."""
        ...

    def deadline(self) -> int | None:
        """When `tick` wants to be called, in milliseconds as `now_ms` counts; None: never."""
        ...

    def tick(self, now_ms: int) -> Outcome | None:
        """Handle one passed deadline; None when there is none left. Perform each outcome before the next
        call.
        """
        ...


def write_error(code: ErrorCode) -> ErrorCode:
    """The code that a group's member hears when the log refused a record of its group."""
    return _WRITE_ERRORS.get(code, code)


_WRITE_ERRORS = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.REQUEST_TIMED_OUT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.INVALID_FETCH_SIZE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
