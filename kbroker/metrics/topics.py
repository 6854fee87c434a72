"""What goes in and out of each topic: plain integers that the data paths add to (BrokerTopicMetrics)."""

from __future__ import annotations

from collections.abc import Iterator


class Appended:
    """What was written to logs."""

    __slots__ = ("bytes", "messages")

    def __init__(self) -> None:
        self.bytes = 0
        self.messages = 0


class TopicStats:
    """Of one topic, or of all that have none any more."""

    COUNTS = (
        "bytes_out",
        "bytes_rejected",
        "conversions_fetch",
        "conversions_produce",
        "failed_fetch",
        "failed_produce",
        "fetch_requests",
        "invalid_crc",
        "invalid_magic",
        "invalid_sequence",
        "no_key",
        "produce_requests",
        "reassigned_in",
        "reassigned_out",
        "replicated_out",
    )
    __slots__ = (*COUNTS, "appended", "copied", "partitions")

    def __init__(self) -> None:
        #: As leader, whoever sent it; as follower.
        self.appended = Appended()
        self.copied = Appended()
        #: Partitions that this broker hosts.
        self.partitions = 0
        for name in self.COUNTS:
            setattr(self, name, 0)

    bytes_out: int
    bytes_rejected: int
    conversions_fetch: int
    conversions_produce: int
    failed_fetch: int
    failed_produce: int
    fetch_requests: int
    invalid_crc: int
    invalid_magic: int
    invalid_sequence: int
    no_key: int
    produce_requests: int
    reassigned_in: int
    reassigned_out: int
    replicated_out: int

    def count(self, name: str) -> int:
        """One of `COUNTS`, or `bytes_in`, `messages_in`, `replicated_in`."""
        if name == "bytes_in":
            return self.appended.bytes
        if name == "messages_in":
            return self.appended.messages
        if name == "replicated_in":
            return self.copied.bytes
        value: int = getattr(self, name)
        return value

    def take(self, other: TopicStats) -> None:
        """Add another's counts."""
        for name in self.COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for mine, its in ((self.appended, other.appended), (self.copied, other.copied)):
            mine.bytes += its.bytes
            mine.messages += its.messages


class TopicBook:
    """Every topic of which this broker hosts something, so it is bounded by those; the others are `rest`."""

    __slots__ = ("_topics", "rest")

    def __init__(self) -> None:
        self._topics: dict[str, TopicStats] = {}
        #: Of topics that are gone, and of requests about topics that are not here.
        self.rest = TopicStats()

    def host(self, topic: str) -> TopicStats:
        """A partition of the topic is here from now on."""
        stats = self._topics.get(topic)
        if stats is None:
            stats = self._topics[topic] = TopicStats()
        stats.partitions += 1
        return stats

    def drop(self, topic: str) -> None:
        """A partition of the topic is not here any more."""
        stats = self._topics[topic]
        stats.partitions -= 1
        if not stats.partitions:
            del self._topics[topic]
            self.rest.take(stats)

    def of(self, topic: str) -> TopicStats:
        """Where to count what belongs to the topic."""
        return self._topics.get(topic, self.rest)

    def by_topic(self, name: str) -> Iterator[tuple[str, int]]:
        """One count of each topic for which it is not 0."""
        for topic, stats in list(self._topics.items()):
            value = stats.count(name)
            if value:
                yield topic, value

    def total(self, name: str) -> int:
        """One count of all topics, those that are gone included."""
        return self.rest.count(name) + sum(stats.count(name) for stats in self._topics.values())
