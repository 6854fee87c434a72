"""The assignors of the broker's side (KIP-848): which member is to have which partitions.

`range` gives each member a run of every topic, so that topics with equally many partitions are split alike.
`uniform` gives everybody equally many partitions, and leaves where it is what can stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from kbroker.types import Uuid

#: Rounds of evening out; each one about halves what is uneven.
_ROUNDS_MAX = 16


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A member as an assignor sees it: what it subscribes to, and what it was to have so far."""

    topics: frozenset[Uuid]
    target: Mapping[Uuid, Collection[int]]
    instance_id: str | None = None


#: Member id to topic id to partitions.
Assignment = dict[str, dict[Uuid, frozenset[int]]]
#: The members, and how many partitions each subscribed topic has.
Assignor = Callable[[Mapping[str, Subscriber], Mapping[Uuid, int]], Assignment]


def assign_range(members: Mapping[str, Subscriber], sizes: Mapping[Uuid, int]) -> Assignment:
    """Runs of each topic, in the order of the instance ids (static members first), then the member ids."""
    order = sorted(members, key=lambda each: _range_order(each, members[each].instance_id))
    subscribers: dict[Uuid, list[str]] = {}
    for member_id in order:
        for topic_id in sorted(members[member_id].topics):
            subscribers.setdefault(topic_id, []).append(member_id)
    found: Assignment = {member_id: {} for member_id in order}
    for topic_id, takers in subscribers.items():
        each, extra = divmod(sizes[topic_id], len(takers))
        start = 0
        for index, member_id in enumerate(takers):
            end = start + each + (index < extra)
            if end > start:
                found[member_id][topic_id] = frozenset(range(start, end))
            start = end
    return found


def _range_order(member_id: str, instance_id: str | None) -> tuple[bool, str]:
    return (True, member_id) if instance_id is None else (False, instance_id)


def assign_uniform(members: Mapping[str, Subscriber], sizes: Mapping[Uuid, int]) -> Assignment:
    """Equally many partitions for everybody, as few moves as possible."""
    topics = {member.topics for member in members.values()}
    if not members:
        return {}
    if len(topics) == 1:
        return _Even(members, sizes, next(iter(topics))).assign()
    return _Mixed(members, sizes).assign()


ASSIGNORS: dict[str, Assignor] = {"uniform": assign_uniform, "range": assign_range}


class _Even:
    """Everybody subscribes to the same topics: each gets the same number, or one more."""

    def __init__(
        self, members: Mapping[str, Subscriber], sizes: Mapping[Uuid, int], topics: frozenset[Uuid]
    ) -> None:
        self._members = members
        self._topics = sorted(topics)
        self._sizes = sizes

    def assign(self) -> Assignment:
        """Keep what fits the quota, hand out the rest in order."""
        total = sum(self._sizes[topic] for topic in self._topics)
        each, extra = divmod(total, len(self._members))
        keep = {member_id: self._valid(self._members[member_id]) for member_id in sorted(self._members)}
        taken: dict[Uuid, set[int]] = {topic: set() for topic in self._topics}
        # Who has more than its share keeps one of the extra partitions first.
        by_need = sorted(keep, key=lambda member_id: len(keep[member_id]) <= each)
        found: dict[str, list[tuple[Uuid, int]]] = {}
        quotas: dict[str, int] = {}
        for index, member_id in enumerate(by_need):
            quotas[member_id] = each + (index < extra)
            kept = [(topic, p) for topic, p in keep[member_id] if p not in taken[topic]][: quotas[member_id]]
            for topic, partition in kept:
                taken[topic].add(partition)
            found[member_id] = kept
        free = (
            (topic, partition)
            for topic in self._topics
            for partition in range(self._sizes[topic])
            if partition not in taken[topic]
        )
        for member_id in keep:
            for _ in range(quotas[member_id] - len(found[member_id])):
                found[member_id].append(next(free))
        return {member_id: _by_topic(found[member_id]) for member_id in keep}

    def _valid(self, member: Subscriber) -> list[tuple[Uuid, int]]:
        return [
            (topic, partition)
            for topic in self._topics
            for partition in sorted(member.target.get(topic, ()))
            if partition < self._sizes[topic]
        ]


class _Mixed:
    """Members subscribe to different topics: balance among the subscribers of each."""

    def __init__(self, members: Mapping[str, Subscriber], sizes: Mapping[Uuid, int]) -> None:
        self._sizes = sizes
        self._subscribers: dict[Uuid, list[str]] = {}
        self._load: dict[str, int] = {}
        self._has: dict[str, dict[Uuid, list[int]]] = {}
        self._owners: dict[Uuid, list[str | None]] = {}
        for member_id in sorted(members):
            self._load[member_id] = 0
            self._has[member_id] = {}
            for topic_id in members[member_id].topics:
                self._subscribers.setdefault(topic_id, []).append(member_id)
        for topic_id in self._subscribers:
            self._owners[topic_id] = [None] * sizes[topic_id]
        for member_id in self._load:
            member = members[member_id]
            for topic_id, partitions in member.target.items():
                if topic_id in member.topics:
                    self._keep(member_id, topic_id, partitions)
        # Topics with much for each subscriber first; they decide most.
        self._order = sorted(self._subscribers, key=self._weight)

    def _weight(self, topic_id: Uuid) -> tuple[float, int, Uuid]:
        takers = len(self._subscribers[topic_id])
        return -self._sizes[topic_id] / takers, takers, topic_id

    def _keep(self, member_id: str, topic_id: Uuid, partitions: Collection[int]) -> None:
        owners = self._owners[topic_id]
        for partition in sorted(partitions):
            if partition < len(owners) and owners[partition] is None:
                self._give(topic_id, partition, member_id)

    def _give(self, topic_id: Uuid, partition: int, member_id: str) -> None:
        owner = self._owners[topic_id][partition]
        if owner is not None:
            self._has[owner][topic_id].remove(partition)
            self._load[owner] -= 1
        self._owners[topic_id][partition] = member_id
        self._has[member_id].setdefault(topic_id, []).append(partition)
        self._load[member_id] += 1

    def assign(self) -> Assignment:
        """Hand out what is free, then even out."""
        for topic_id in self._order:
            for partition, owner in enumerate(self._owners[topic_id]):
                if owner is None:
                    self._give(topic_id, partition, self._least(topic_id))
        for _ in range(_ROUNDS_MAX):
            moved = [self._even_out(topic_id) for topic_id in self._order]
            if not any(moved):
                break
        return {
            member_id: {topic: frozenset(partitions) for topic, partitions in has.items() if partitions}
            for member_id, has in self._has.items()
        }

    def _least(self, topic_id: Uuid) -> str:
        return min(self._subscribers[topic_id], key=self._load.__getitem__)

    def _even_out(self, topic_id: Uuid) -> bool:
        """Move partitions of one topic from who has most to who has least; False if nothing moved."""
        moved = False
        subscribers = self._subscribers[topic_id]
        for _ in range(len(self._owners[topic_id])):
            givers = [each for each in subscribers if self._has[each].get(topic_id)]
            if not givers:
                break
            most = max(givers, key=self._load.__getitem__)
            least = self._least(topic_id)
            if self._load[most] - self._load[least] < 2:
                break
            self._give(topic_id, self._has[most][topic_id][-1], least)
            moved = True
        return moved


def _by_topic(partitions: list[tuple[Uuid, int]]) -> dict[Uuid, frozenset[int]]:
    found: dict[Uuid, list[int]] = {}
    for topic_id, partition in partitions:
        found.setdefault(topic_id, []).append(partition)
    return {topic_id: frozenset(each) for topic_id, each in found.items()}
