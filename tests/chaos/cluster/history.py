"""What clients did and were told, with CLOCK_MONOTONIC, for the checker. Any thread may append."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

#: (topic, partition)
Key = tuple[str, int]
COUNTER_BITS = 40


class Sent(NamedTuple):
    """A send that returned. `outcome`: "ok", "fail" (certainly not written) or "info" (nobody knows).

    Attributes:
        order: of the sends of one producer to one key.
    """

    producer: int
    key: Key
    value: int
    outcome: str
    offset: int
    began: float
    ended: float
    order: int
    error: str = ""


class Read(NamedTuple):
    """A record that a consumer got. `session`: between two of them positions may jump."""

    consumer: str
    session: int
    key: Key
    offset: int
    value: int


class Commit(NamedTuple):
    """A commit of an offset that was acknowledged."""

    group: str
    key: Key
    offset: int
    began: float
    ended: float


class Committed(NamedTuple):
    """A look at a committed offset."""

    group: str
    key: Key
    offset: int
    began: float
    ended: float


class EndSeen(NamedTuple):
    """An answer of ListOffsets (latest): the node that gave it, and the epoch of the last record there."""

    key: Key
    offset: int
    began: float
    ended: float
    node: int = -1
    leader_epoch: int = -1


class Move(NamedTuple):
    """A transaction of the pipeline: records of the input that it copied. `outcome`: of its end."""

    transaction: int
    values: tuple[int, ...]
    outcome: str


class Given(NamedTuple):
    """Records that a member of the share group was given: asked for between `began` and `ended`."""

    member: str
    key: Key
    first: int
    last: int
    count: int
    began: float
    ended: float


class Said(NamedTuple):
    """What a member said of records: accepted, or given back. `outcome` as in `Sent`.

    `rejected`: they are not to be given again, as if accepted, and want dead letters.
    """

    given: Given
    accepted: bool
    outcome: str
    began: float
    ended: float
    rejected: bool = False


class Letter(NamedTuple):
    """A dead letter, or that none will be written: of which record, and why."""

    key: Key
    offset: int
    cause: str


class Held(NamedTuple):
    """A commit of a member that was acknowledged: it has held the partition without a break since then."""

    group: str
    member: str
    key: Key
    since: float
    began: float
    ended: float


class Told(NamedTuple):
    """A member of the streams group was told that the task of that partition is its own, in that epoch."""

    member: str
    key: Key
    epoch: int


class FaultSpan(NamedTuple):
    """A fault: from its beginning to its end."""

    kind: str
    target: str
    began: float
    ended: float


@dataclass(slots=True)
class History:
    """Everything of a run."""

    #: Producers whose records are kept from doubling by the broker; those that never send a record twice.
    idempotent: set[int] = field(default_factory=set)
    single: set[int] = field(default_factory=set)
    sent: list[Sent] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    #: Of these nobody knows whether and when they were written: the client may still be repeating them.
    unsure_commits: list[Commit] = field(default_factory=list)
    committed: list[Committed] = field(default_factory=list)
    ends: list[EndSeen] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)
    #: Brokers have said in their logs that these cannot be written.
    unwritten: list[Letter] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    faults: list[FaultSpan] = field(default_factory=list)
    #: What a new consumer finds at the end, from the first offset to the last: key -> [(offset, value)].
    final: dict[Key, list[tuple[int, int]]] = field(default_factory=dict)
    #: The output of the pipeline, read committed: key -> [(offset, value, transaction, records in it)].
    output: dict[Key, list[tuple[int, int, int, int]]] = field(default_factory=dict)
    #: What broke the workload itself, or the words of a record that no producer wrote.
    problems: list[str] = field(default_factory=list)
    topics_churned: int = 0
    #: The pipeline was stopped before it had moved all of its input.
    unmoved: bool = False

    def operations(self) -> int:
        """How many."""
        all_kinds = (
            self.sent,
            self.read,
            self.commits,
            self.committed,
            self.ends,
            self.moves,
            self.said,
            self.told,
        )
        return sum(map(len, all_kinds))

    def acknowledged(self) -> Iterator[Sent]:
        """Sends that were."""
        return (sent for sent in self.sent if sent.outcome == "ok")


def encode(value: int, key: Key) -> bytes:
    """The bytes of a record: the number, where it belongs, and a checksum."""
    words = f"{value} {key[0]} {key[1]}"
    return f"{words} {zlib.crc32(words.encode())}".encode()


def decode(data: bytes, key: Key) -> int:
    """The number.

    Raises:
        ValueError: these bytes were written for another partition, or by nobody.
    """
    words, _, crc = data.decode("ascii", "replace").rpartition(" ")
    value, _, place = words.partition(" ")
    if crc != str(zlib.crc32(words.encode())) or place != f"{key[0]} {key[1]}":
        raise ValueError(f"{data[:80]!r} was read from {key[0]}-{key[1]}")
    return int(value)
