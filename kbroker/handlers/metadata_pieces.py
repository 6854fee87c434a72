"""Metadata answers put together from the bytes of each topic, which outlive an image that changed others.

A topic's bytes depend on the topic and on which brokers a client of the listener can reach. An answer for
thousands of topics after a change of one costs that one and a join. What differs from one topic and
partition to the next is packed here, lists of replicas come from the codec, once for equal ones. So what
stands in which order is known here; tests hold every version against the codec.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from kbroker.errors import ErrorCode
from kbroker.handlers.partition_state import Reachable
from kbroker.protocol.generated.metadata_response import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kbroker.protocol.primitives import write_uvarint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kbroker.broker.services import Services
    from kbroker.metadata.image import BrokerImage, ClusterImage, PartitionImage, TopicImage
    from kbroker.types import Uuid

#: Bytes of topics kept for one shape of answer, and how many shapes.
PIECES_BYTES_MAX = 8 << 20
SHAPES_MAX = 8

_EPOCHS_SINCE, _OPERATIONS_SINCE, _COMPACT_SINCE, _IDS_SINCE, _ERROR_SINCE = 7, 8, 9, 10, 13
_LAST_WITH_CLUSTER_OPERATIONS = 10
_COUNT, _SHORT = Struct(">i"), Struct(">h")
_ONE_BYTE = tuple(bytes((value,)) for value in range(128))
#: Legal names are shorter.
_NAME_SIZES = 250
_HEAD, _HEAD_WITH_EPOCH = Struct(">hii"), Struct(">hiii")


class TopicPieces:
    """The bytes of topics in one version, for the clients of one listener, while the brokers stay the same.

    Args:
        operations: the authorized operations to name.
        missing: see `Reachable`.
    """

    def __init__(
        self,
        image: ClusterImage,
        listener_name: str,
        version: int,
        operations: int,
        missing: frozenset[int] = frozenset(),
    ) -> None:
        self.brokers: Mapping[int, BrokerImage] = image.brokers
        self.missing = missing
        self._version = version
        self._reachable = Reachable(image, listener_name, missing)
        self._count_bytes = 1 if version >= _COMPACT_SINCE else 4
        tags = version >= _COMPACT_SINCE
        with_cluster = _OPERATIONS_SINCE <= version <= _LAST_WITH_CLUSTER_OPERATIONS
        #: How many bytes stand behind the topics.
        self._behind_topics = 4 * with_cluster + 2 * (version >= _ERROR_SINCE) + tags
        empty = MetadataResponse(topics=[]).encode(version)
        self._before_topic = len(empty) - self._behind_topics
        #: What stands behind the partitions of a topic.
        self._end_of_topic = b"".join(
            (_COUNT.pack(operations) * (version >= _OPERATIONS_SINCE), b"\0" * tags)
        )
        self._has_id, self._has_internal = version >= _IDS_SINCE, version >= 1
        self._pack: Any = _HEAD_WITH_EPOCH.pack if version >= _EPOCHS_SINCE else _HEAD.pack
        self._one = self._count(1)
        #: What a topic begins with, by the size of its name.
        self._heads = [b"\0\0" + self._name_size(size) for size in range(_NAME_SIZES)]
        self._lists: dict[tuple[tuple[int, ...], tuple[int, ...], tuple[Uuid, ...]], bytes] = {}
        self._pieces: dict[Uuid, tuple[TopicImage, bytes]] = {}
        self._size = 0

    def answer(self, response: MetadataResponse, topics: Iterable[TopicImage]) -> bytes:
        """`response`, which has no topics, with `topics`."""
        pieces = list(map(self._piece, topics))
        data = response.encode(self._version)
        end = len(data) - self._behind_topics
        return b"".join((data[: end - self._count_bytes], self._count(len(pieces)), *pieces, data[end:]))

    def _piece(self, topic: TopicImage) -> bytes:
        found = self._pieces.get(topic.id)
        if found is not None:
            if found[0] is topic:
                return found[1]
            self._size -= len(found[1])
            del self._pieces[topic.id]
        piece = self._encode(topic)
        if self._size + len(piece) > PIECES_BYTES_MAX:
            self._pieces.clear()  # of deleted topics, too
            self._size = 0
        if len(piece) <= PIECES_BYTES_MAX:
            self._pieces[topic.id] = topic, piece
            self._size += len(piece)
        return piece

    def _encode(self, topic: TopicImage) -> bytes:
        name, partitions = topic.name.encode(), topic.partitions
        heads, count = self._heads, len(partitions)
        if count == 1 and self._has_id and len(name) < len(heads):
            # The usual case where there are thousands of topics, a quarter faster than below.
            (partition,) = partitions
            lists = self._lists.get((partition.replicas, partition.isr, partition.directories))
            if lists is not None:
                leader, error = self._reachable.leader(partition)
                return b"".join(
                    (
                        heads[len(name)],
                        name,
                        topic.id,
                        _ONE_BYTE[topic.is_internal],
                        self._one,
                        self._pack(error, 0, leader, partition.leader_epoch),
                        lists,
                        self._end_of_topic,
                    )
                )
        # No error, name, id, whether it is internal, partitions.
        return b"".join(
            (
                heads[len(name)] if len(name) < len(heads) else b"\0\0" + self._name_size(len(name)),
                name,
                topic.id if self._has_id else b"",
                _ONE_BYTE[topic.is_internal] if self._has_internal else b"",
                self._one if count == 1 else self._count(count),
                *self._partitions(partitions),
                self._end_of_topic,
            )
        )

    def _name_size(self, size: int) -> bytes:
        return self._count(size) if self._version >= _COMPACT_SINCE else _SHORT.pack(size)

    def _partitions(self, partitions: Iterable[PartitionImage]) -> list[bytes]:
        lists, leader_of, pack = self._lists, self._reachable.leader, self._pack
        with_epoch = self._version >= _EPOCHS_SINCE
        out: list[bytes] = []
        for index, partition in enumerate(partitions):
            leader, error = leader_of(partition)
            if error is ErrorCode.LISTENER_NOT_FOUND and self._version < 6:
                error = ErrorCode.LEADER_NOT_AVAILABLE
            key = partition.replicas, partition.isr, partition.directories
            rest = lists.get(key)
            if rest is None:
                rest = lists[key] = self._encode_lists(partition)
            out.append(
                pack(error, index, leader, partition.leader_epoch)
                if with_epoch
                else pack(error, index, leader)
            )
            out.append(rest)
        return out

    def _encode_lists(self, partition: PartitionImage) -> bytes:
        """What of a partition comes behind the leader."""
        nodes, offline = self._reachable.replicas(partition)
        isr = self._reachable.nodes(partition.isr)
        alone = MetadataResponsePartition(replica_nodes=nodes, isr_nodes=isr, offline_replicas=offline)
        data = self._topic(MetadataResponseTopic(name="", partitions=[alone]))
        head = _HEAD_WITH_EPOCH if self._version >= _EPOCHS_SINCE else _HEAD
        begin = len(self._topic(MetadataResponseTopic(name=""))) - len(self._end_of_topic) + head.size
        return data[begin : len(data) - len(self._end_of_topic)]

    def _topic(self, topic: MetadataResponseTopic) -> bytes:
        data = MetadataResponse(topics=[topic]).encode(self._version)
        return data[self._before_topic : len(data) - self._behind_topics]

    def _count(self, count: int) -> bytes:
        if self._version < _COMPACT_SINCE:
            return _COUNT.pack(count)
        if count < 127:
            return _ONE_BYTE[count + 1]
        out = bytearray()
        write_uvarint(out, count + 1)
        return bytes(out)


def topic_pieces(
    services: Services, image: ClusterImage, listener_name: str, version: int, operations: int
) -> TopicPieces:
    """The pieces for one shape of answer, kept as long as the brokers do not change."""
    shapes: dict[tuple[str, int, int], TopicPieces] = services.extras.setdefault("metadata_pieces", {})
    key = listener_name, version, operations
    pieces, missing = shapes.get(key), services.absent.missing
    if pieces is None or pieces.brokers is not image.brokers or pieces.missing != missing:
        if len(shapes) >= SHAPES_MAX:
            shapes.clear()
        pieces = shapes[key] = TopicPieces(image, listener_name, version, operations, missing)
    return pieces
