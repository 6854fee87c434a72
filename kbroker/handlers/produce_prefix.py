"""The prefix cache of Produce: what a producer sends again and again is recognised by its bytes.

A request for one partition is, from the correlation id on, constant up to the length of its records: client
id, acks, timeout, topic and partition. Parsing goes from left to right, so equal bytes mean the same as the
last time, and one dictionary look-up finds the partition and a packer for the answer. One cache a
connection, small, and only for what the general path has accepted before: acks of -1, 0 or 1, no internal
topic. With a transactional id it holds while the producer's transaction is open on the partition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.protocol.generated.produce_response import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)

if TYPE_CHECKING:
    from kbroker.broker.deferred import Deferred
    from kbroker.broker.partition import Partition
    from kbroker.handlers.context import ConnectionContext
    from kbroker.metrics.requests import Waiting

#: Prefixes and distinct prefix lengths that one connection may have; then it begins anew.
PREFIXES_MAX = 64
LENGTHS_MAX = 4

#: The least that a batch may have, and what ends a flexible request for one partition.
BATCH_BYTES_MIN = 61
TAIL = b"\0\0\0"
_INT = Struct(">i")
#: First version with a flexible layout, with log start offset.
FLEXIBLE_SINCE = 9
_LOG_START_SINCE = 5
_MARK = 0x5A17_0B57_ACED_CAFE


class ProduceConnection(Protocol):
    """What the path keeps at a connection."""

    context: ConnectionContext
    out: list[Any]
    out_bytes: int
    staged: list[Prefix]
    produce_cache: PrefixCache | None
    parked: Any
    waiting: Waiting | None
    began_s: float
    frame_size: int
    fast: Mapping[int, Callable[[Any, memoryview, int, int], Any]]

    def forget_known(self) -> None:
        """Recognise nothing any more."""

    def hold(self, answer: Deferred[Any]) -> None:
        """Send nothing more before `answer`, its bytes."""

    def release(self, answer: bytes) -> None:
        """Send the answer that was `parked`."""


class AnswerPacker:
    """Packs the answer for one partition in one version: constant bytes around the four numbers that vary.

    Made from what the codec writes with a mark for the base offset, so that no layout is written down twice.
    """

    __slots__ = ("_has_log_start", "_head", "_pack", "_size", "_tail")

    def __init__(self, version: int, name: str, topic_id: bytes, index: int) -> None:
        partition = PartitionProduceResponse(index=index, base_offset=_MARK, log_append_time_ms=-1)
        topic = TopicProduceResponse(partition_responses=[partition])
        if version >= 13:
            topic.topic_id = topic_id
        else:
            topic.name = name
        body = ProduceResponse(responses=[topic]).encode(version)
        if version >= FLEXIBLE_SINCE:
            body = b"\0" + body
        at = body.index(_MARK.to_bytes(8, "big"))
        self._has_log_start = version >= _LOG_START_SINCE
        numbers = "qqq" if self._has_log_start else "qq"
        after = at + 8 * len(numbers)
        # The error code in front of the base offset stays 0: errors take the general path.
        self._head, self._tail = body[:at], body[after:]
        layout = Struct(f">ii{len(self._head)}s{numbers}{len(self._tail)}s")
        self._size = layout.size - 4
        self._pack: Callable[..., bytes] = layout.pack

    def pack(
        self, correlation_id: int, base_offset: int, append_time_ms: int, log_start_offset: int
    ) -> bytes:
        """The whole answer, length and header included."""
        if self._has_log_start:
            return self._pack(
                self._size,
                correlation_id,
                self._head,
                base_offset,
                append_time_ms,
                log_start_offset,
                self._tail,
            )
        return self._pack(self._size, correlation_id, self._head, base_offset, append_time_ms, self._tail)


class Prefix:
    """What a known prefix stands for."""

    __slots__ = (
        "acks",
        "client",
        "in_transactions",
        "index",
        "name",
        "pack",
        "partition",
        "timeout_ms",
        "topic_id",
    )

    def __init__(
        self,
        partition: Partition,
        acks: int,
        version: int,
        name: str,
        topic_id: bytes,
        index: int,
        in_transactions: bool = False,
        timeout_ms: int = 30_000,
        client: bytes = b"",
    ) -> None:
        #: The client id and its length, as the header has them.
        self.client = client
        #: The request has a transactional id.
        self.in_transactions = in_transactions
        #: How long acks=-1 may wait for followers.
        self.timeout_ms = timeout_ms
        self.partition = partition
        self.acks = acks
        self.name = name
        self.topic_id = topic_id
        self.index = index
        self.pack = AnswerPacker(version, name, topic_id, index).pack


class PrefixCache:
    """The known prefixes of one connection, all of one version."""

    __slots__ = ("by_bytes", "lengths", "version")

    def __init__(self, version: int) -> None:
        self.version = version
        self.by_bytes: dict[bytes, Prefix] = {}
        self.lengths: tuple[int, ...] = ()

    def forget(self) -> None:
        """Recognise nothing any more."""
        self.by_bytes.clear()
        self.lengths = ()

    def learn(self, prefix: bytes, meaning: Prefix) -> None:
        """Recognise `prefix` from now on."""
        length = len(prefix)
        new_length = length not in self.lengths
        if len(self.by_bytes) >= PREFIXES_MAX or (new_length and len(self.lengths) >= LENGTHS_MAX):
            self.forget()
            new_length = True
        if new_length:
            self.lengths += (length,)
        self.by_bytes[prefix] = meaning


def uvarint_size(value: int) -> int:
    """Bytes of `value` as an unsigned varint."""
    return max(1, -(-value.bit_length() // 7))


def records_bounds(data: memoryview, position: int, end: int, version: int) -> tuple[int, int] | None:
    """Where the records lie whose length is at `position`; None unless they end a request for one
    partition.
    """
    if end - position < BATCH_BYTES_MIN:
        return None
    if version < FLEXIBLE_SINCE:
        length = _INT.unpack_from(data, position)[0]
        position += 4
        return (position, end) if length >= BATCH_BYTES_MIN and position + length == end else None
    value = data[position]
    position += 1
    if value >= 0x80:
        value &= 0x7F
        shift = 7
        while (byte := data[position]) >= 0x80 and shift <= 21:
            value |= (byte & 0x7F) << shift
            position += 1
            shift += 7
        value |= byte << shift
        position += 1
    stop = position + value - 1
    if value <= BATCH_BYTES_MIN or stop + len(TAIL) != end or data[stop:end] != TAIL:
        return None
    return position, stop
