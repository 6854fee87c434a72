"""OffsetCommit requests that a connection sends again and again (known_requests.py).

From one to the next only the correlation id, the offsets and their leader epochs change. As long as the
topics are what they were, only the group has still to be asked; if it takes all, the answer is known, too.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.broker.auto_topics import GROUP_OFFSETS
from kbroker.coordinator.group.offset_place import OffsetPlace
from kbroker.coordinator.partitioner import partition_for
from kbroker.handlers.known_requests import KnownRequests, differing, pattern

if TYPE_CHECKING:
    from kbroker.metadata.image import TopicImage, TopicsImage
    from kbroker.protocol.generated.offset_commit_request import OffsetCommitRequest

#: First version with leader epochs, which lie behind the offsets.
VERSION_MIN = 6
_CORRELATION = Struct(">i")
_OFFSET_BYTES, _HOLE_BYTES = 8, 12


class KnownCommit:
    """A request seen before.

    Args:
        frame: all of it, from the API key on.
        holes: where the offsets begin.
        request: what it says.
        version: its version.
        topics: what its topics are, in its order.
        answer: the whole answer, from its length on, to the request if everything is taken.
    """

    __slots__ = (
        "_answer",
        "_constants",
        "_topics",
        "_unpack",
        "places",
        "request",
        "shard",
        "size",
        "used",
        "version",
    )

    def __init__(
        self,
        frame: bytes,
        holes: list[int],
        request: OffsetCommitRequest,
        version: int,
        topics: list[TopicImage],
        answer: bytes,
    ) -> None:
        numbers = [each for hole in holes for each in ((hole, "q"), (hole + _OFFSET_BYTES, "i"))]
        self._unpack: Any
        self._constants: tuple[bytes, ...]
        self._unpack, self._constants = pattern(frame, numbers)
        self.places = [
            OffsetPlace(
                request.group_id,
                topic.name,
                topic.id,
                partition.partition_index,
                partition.committed_metadata or "",
            )
            for topic, asked in zip(topics, request.topics)
            for partition in asked.partitions
        ]
        self._answer = answer[:4], answer[8:]
        self.size = len(frame)
        self._topics: TopicsImage | None = None
        #: The offsets partition that keeps the group.
        self.shard = -1
        self.request = request
        self.version = version
        self.used = False

    def recognise(self, data: memoryview, start: int, topics: TopicsImage) -> tuple[int, ...] | None:
        """The correlation id of the frame at `start`, then offsets and leader epochs in turn; None: it is
        another one.
        """
        values: tuple[Any, ...] = self._unpack(data, start)
        if values[::2] != self._constants or not (topics is self._topics or self._holds(topics)):
            return None
        self.used = True
        return values[1::2]

    def answer(self, correlation_id: int) -> bytes:
        """That all is committed."""
        size, rest = self._answer
        return size + _CORRELATION.pack(correlation_id) + rest

    def _holds(self, topics: TopicsImage) -> bool:
        """Whether the topics are still the same, and have these partitions."""
        for place in self.places:
            topic = topics.get(place.topic)
            if topic is None or topic.id != place.topic_id or not place.partition < len(topic.partitions):
                return False
        offsets = topics.get(GROUP_OFFSETS)
        if offsets is None:
            return False
        self.shard = partition_for(self.request.group_id, len(offsets.partitions))
        self._topics = topics
        return True


class KnownCommits(KnownRequests[KnownCommit]):
    """What one connection has committed."""

    __slots__ = ()


def find_holes(frame: bytes, position: int, request: OffsetCommitRequest, version: int) -> list[int] | None:
    """Where the offsets begin; None if the body is not as our codec writes it."""
    body = request.encode(version)
    if body != frame[position:]:
        return None
    _flip(request)
    flipped = request.encode(version)
    _flip(request)
    return differing(body, flipped, position)[::_HOLE_BYTES]


def _flip(request: OffsetCommitRequest) -> None:
    for topic in request.topics:
        for partition in topic.partitions:
            partition.committed_offset = ~partition.committed_offset
            partition.committed_leader_epoch = ~partition.committed_leader_epoch
