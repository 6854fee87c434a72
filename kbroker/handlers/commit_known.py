"""OffsetCommit requests that a connection sends again and again (known_requests.py).

From one to the next only the correlation id, the offsets and their leader epochs change. As long as the
topics are what they were, only the group has still to be asked; if it takes all, the answer is known, too.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.coordinator.group.offset_requests import Commit, Committing
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

    __slots__ = ("_answer", "_constants", "_places", "_topics", "_unpack", "request", "used", "version")

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
        self._places = [
            (topic.name, topic.id, partition.partition_index, partition.committed_metadata)
            for topic, asked in zip(topics, request.topics)
            for partition in asked.partitions
        ]
        self._answer = answer[:4], answer[8:]
        self._topics: TopicsImage | None = None
        self.request = request
        self.version = version
        self.used = False

    def recognise(self, data: memoryview, start: int, topics: TopicsImage) -> tuple[int, Committing] | None:
        """The correlation id of the frame at `start` and what it commits; None: it is another one."""
        values = self._unpack(data, start)
        if values[::2] != self._constants or not (topics is self._topics or self._holds(topics)):
            return None
        self.used = True
        correlation_id, *numbers = values[1::2]
        request = self.request
        return correlation_id, Committing(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            self.version,
            [
                Commit(name, topic_id, index, offset, leader_epoch, metadata)
                for (name, topic_id, index, metadata), offset, leader_epoch in zip(
                    self._places, numbers[::2], numbers[1::2]
                )
            ],
        )

    def answer(self, correlation_id: int) -> bytes:
        """That all is committed."""
        size, rest = self._answer
        return size + _CORRELATION.pack(correlation_id) + rest

    def _holds(self, topics: TopicsImage) -> bool:
        """Whether the topics are still the same, and have these partitions."""
        for name, topic_id, index, _ in self._places:
            topic = topics.get(name)
            if topic is None or topic.id != topic_id or not 0 <= index < len(topic.partitions):
                return False
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
