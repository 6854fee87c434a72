"""What consumer groups need to know of the cluster's topics: names, ids, sizes, racks, and whether any of
that changed.

The hash of a topic covers its id, its name, and of each partition the racks that hold it (KIP-1101); that
of a group covers its topics' hashes. They are those of Apache Kafka 4.1 and later, so that a group's records
mean the same to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from struct import Struct
from typing import TYPE_CHECKING

from kbroker.coordinator.group.xxh3 import xxh3_64

if TYPE_CHECKING:
    from kbroker.metadata.image import ClusterImage, TopicImage
    from kbroker.types import Uuid

_INT, _LONG = Struct("<i"), Struct("<q")
_HIGH_LOW = Struct(">qq")
#: Begins the hashed bytes of a topic; another layout would have another one.
_LAYOUT = b"\0"


class TopicView:
    """The topics of the latest image.

    Args:
        image: the latest metadata.
    """

    __slots__ = ("_hashes", "_image", "_racks")

    def __init__(self, image: Callable[[], ClusterImage]) -> None:
        self._image = image
        self._hashes: dict[str, tuple[TopicImage, int]] = {}
        self._racks: dict[int, str | None] | None = None

    @property
    def version(self) -> int:
        """Of the metadata: the offset of its log."""
        return self._image().offset

    def get(self, name: str) -> TopicImage | None:
        """A topic by name."""
        return self._image().topics.get(name)

    def by_id(self, topic_id: Uuid) -> TopicImage | None:
        """A topic by id."""
        return self._image().topics.by_id(topic_id)

    def names(self) -> list[str]:
        """All topics, sorted."""
        return self._image().topics.names()

    def racks_changed(self) -> None:
        """Brokers came, went or moved: nothing that was computed holds."""
        self._racks = None
        self._hashes.clear()

    def group_hash(self, names: Iterable[str]) -> int:
        """Of a group that subscribes to these topics; those that do not exist do not count. No topic: 0."""
        data = bytearray()
        for name in sorted(names):
            each = self.topic_hash(name)
            if each:
                data += _LONG.pack(each)
        return _signed(xxh3_64(bytes(data))) if data else 0

    def topic_hash(self, name: str) -> int:
        """Of one topic, 0 if it does not exist."""
        topic = self.get(name)
        if topic is None:
            self._hashes.pop(name, None)
            return 0
        known = self._hashes.get(name)
        if known is not None and known[0] is topic:
            return known[1]
        high, low = _HIGH_LOW.unpack(topic.id)
        data = bytearray(_LAYOUT + _LONG.pack(high) + _LONG.pack(low) + _text(name))
        data += _INT.pack(len(topic.partitions))
        for index, partition in enumerate(topic.partitions):
            data += _INT.pack(index)
            for rack in self._racks_of(partition.replicas):
                data += _INT.pack(len(rack)) + _text(rack)
        value = _signed(xxh3_64(bytes(data)))
        self._hashes[name] = (topic, value)
        return value

    def _racks_of(self, replicas: Iterable[int]) -> list[str]:
        if self._racks is None:
            self._racks = {broker.id: broker.rack for broker in self._image().brokers.values()}
        racks = self._racks
        return sorted(rack for rack in map(racks.get, replicas) if rack is not None)


def _text(text: str) -> bytes:
    """As the hashing library of Kafka feeds text: UTF-16 units, then how many."""
    data = text.encode("utf-16-le", "surrogatepass")
    return data + _INT.pack(len(data) // 2)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
