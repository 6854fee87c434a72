"""What a generated history has made so far: topics, groups, members, producers; requests draw on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random


@dataclass(slots=True)
class Topic:
    """`id` is the name of the variable that holds its id on each broker; "" if it has none."""

    name: str
    id: str = ""
    partitions: int = 1
    ends: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Member:
    """Of a classic group; `id` is the text "$variable". Each has a connection of its own."""

    id: str
    instance: str | None
    connection: str


@dataclass(slots=True)
class Group:
    """`generation` is what the last JoinGroup answered."""

    id: str
    members: list[Member] = field(default_factory=list)
    generation: int = -1


class World:
    """One episode's things; all names begin with its prefix, so that episodes do not meet.

    Attributes:
        others_are_alike: whether the two brokers still keep the same of the episodes before.
    """

    def __init__(self, prefix: str, *, others_are_alike: bool = True) -> None:
        self.prefix = prefix
        self.others_are_alike = others_are_alike
        self.topics: dict[str, Topic] = {}
        self.gone: list[Topic] = []
        self.groups: dict[str, Group] = {}
        #: Variables with producer ids, and the next sequence of each by partition.
        self.producers: list[str] = []
        self.sequences: dict[tuple[str, str, int], int] = {}
        #: Variables with fetch session ids, and the next epoch of each.
        self.sessions: dict[str, int] = {}
        self._counter = 0

    def fresh(self, kind: str) -> str:
        """A name that was not there before."""
        self._counter += 1
        return f"{self.prefix}{kind}{self._counter}"

    def variable(self, kind: str) -> str:
        """The name of a new variable."""
        return self.fresh(kind).replace("-", "_")

    def topic(self, rng: Random) -> Topic:
        """Any topic there is."""
        names = list(self.topics)
        return self.topics[rng.choice(names)] if names else Topic(f"{self.prefix}none")

    def group(self, rng: Random) -> Group:
        """Any group there is, or a new one that nobody knows."""
        names = list(self.groups)
        return self.groups[rng.choice(names)] if names else Group(f"{self.prefix}none")
