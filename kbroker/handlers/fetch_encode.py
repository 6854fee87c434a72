"""The Fetch answer as segments: header bytes, file slices, header bytes …

Written by hand, as records go from the file to the socket and never through a codec. The layout is
FetchResponse 4–18:

    throttle_ms:4 [7+: error:2 session_id:4] topics[ (name | 13+: id) partitions[
        index:4 error:2 high_watermark:8 last_stable_offset:8 [5+: log_start_offset:8]
        aborted[producer_id:8 first_offset:8] [11+: preferred_read_replica:4] records
        tags: 0 diverging_epoch, 1 current_leader (16+) ]] tags: 0 node_endpoints (16+)
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ErrorCode
from kbroker.protocol.primitives import write_compact_nullable_string, write_compact_string, write_uvarint
from kbroker.replication.cleaned import write_offset
from kbroker.storage.log_encryption import OpenedSlice

if TYPE_CHECKING:
    from kbroker.handlers.fetch_read import PartitionRead
    from kbroker.storage.log_reader import FileSlice

#: Slices below this are read at once: sendfile does not pay, and one write is cheaper than two.
INLINE_BYTES_MAX = 16 * 1024
#: Inlined bytes of one answer; the rest stays in the files until it is sent.
INLINE_TOTAL_MAX = 64 * 1024

_INT = Struct(">i")
_LEAD = Struct(">ii")
_TOP = Struct(">ihi")
_PARTITION = Struct(">ihqqq")
_PARTITION_V4 = Struct(">ihqq")
_ABORTED = Struct(">qq")
_PREFERRED_AND_LENGTH = Struct(">ii")
_DIVERGING = Struct(">iq")
_NO_REPLICA = _NO_LIST = b"\xff\xff\xff\xff"
_EMPTY_LIST = bytes(4)


class Leader(NamedTuple):
    """Who leads a partition, for a client that asked the wrong broker (KIP-951)."""

    id: int
    epoch: int


class Node(NamedTuple):
    """Where that leader is."""

    id: int
    host: str
    port: int
    rack: str | None


class FetchEncoder:
    """Writes one answer.

    Args:
        version: of the request.
        correlation_id: of the request.
    """

    __slots__ = (
        "_first",
        "_flexible",
        "_head",
        "_inlined",
        "_segments",
        "_size",
        "_version",
        "leaders",
        "nodes",
    )

    def __init__(self, version: int, correlation_id: int) -> None:
        self._version = version
        self._flexible = version >= 12
        #: Current leaders by (topic, partition) where the answer has to name them, and where those are.
        self.leaders: dict[tuple[str | None, int], Leader] = {}
        self.nodes: dict[int, Node] = {}
        self._segments: list[bytes | FileSlice] = []
        self._size = 0
        self._inlined = 0
        self._head = self._first = bytearray(_LEAD.pack(0, correlation_id))

    def encode(
        self, reads: list[PartitionRead], error: ErrorCode, session_id: int, throttle_ms: int = 0
    ) -> bytes | list[bytes | FileSlice]:
        """The whole answer; bytes only when no slice is left in its file."""
        head = self._head
        if self._flexible:
            head.append(0)
        if self._version >= 7:
            head += _TOP.pack(throttle_ms, error, session_id)
        else:
            head += _INT.pack(throttle_ms)
        topics = _group(reads)
        self._count(len(topics))
        for topic in topics:
            self._topic(topic)
        if self._flexible:
            self._node_endpoints()
        return self._finish()

    def _count(self, count: int) -> None:
        if not self._flexible:
            self._head += _INT.pack(count)
        elif count < 127:
            self._head.append(count + 1)
        else:
            write_uvarint(self._head, count + 1)

    def _topic(self, reads: list[PartitionRead]) -> None:
        first = reads[0].wanted
        if self._version >= 13:
            self._head += first.topic_id
        elif self._flexible:
            write_compact_string(self._head, first.topic or "")
        else:
            name = (first.topic or "").encode()
            self._head += len(name).to_bytes(2, "big") + name
        self._count(len(reads))
        for read in reads:
            self._partition(read)
        if self._flexible:
            self._head.append(0)

    def _partition(self, read: PartitionRead) -> None:
        inlined = self._read_inline(read)
        head, index = self._head, read.wanted.partition
        hw, stable, start = read.high_watermark, read.last_stable_offset, read.log_start_offset
        if self._version >= 5:
            head += _PARTITION.pack(index, read.error, hw, stable, start)
        else:
            head += _PARTITION_V4.pack(index, read.error, hw, stable)
        if read.aborted:
            self._aborted(read.aborted)
        elif self._flexible:
            head.append(0 if read.aborted is None else 1)
        else:
            head += _NO_LIST if read.aborted is None else _EMPTY_LIST
        if self._version >= 11:
            head += _NO_REPLICA if read.preferred_replica < 0 else _INT.pack(read.preferred_replica)
        self._count(read.size)
        if inlined is not None:
            head += inlined
        elif read.slice is not None:
            self._add_slice(read.slice)
        if self._flexible:
            self._partition_tags(read)

    def _read_inline(self, read: PartitionRead) -> bytes | None:
        """The records if they are few; a disk that fails here turns the partition's answer into an error."""
        part = read.slice
        if part is None or part.length >= INLINE_BYTES_MAX or self._inlined >= INLINE_TOTAL_MAX:
            return None
        try:
            data = part.read()
        except OSError:
            data = b""
        if len(data) == part.length:
            self._inlined += part.length
            return data
        read.fail(ErrorCode.KAFKA_STORAGE_ERROR)
        return None

    def _aborted(self, aborted: list[tuple[int, int]]) -> None:
        head = self._head
        self._count(len(aborted))
        for pair in aborted:
            head += _ABORTED.pack(*pair)
            if self._flexible:
                head.append(0)

    def _add_slice(self, part: FileSlice | OpenedSlice) -> None:
        head, segments = self._head, self._segments
        # The length in front of all is known at the end.
        segments.append(bytes(head) if segments else b"")
        segments.append(part.data if isinstance(part, OpenedSlice) else part)
        self._size += len(head) + part.length
        self._head = bytearray()

    def _partition_tags(self, read: PartitionRead) -> None:
        head = self._head
        if not (read.error or read.diverging or read.removable_to):
            head.append(0)
            return
        leader = self.leaders.get((read.wanted.topic, read.wanted.partition))
        head.append((read.diverging is not None) + (leader is not None) + (read.removable_to > 0))
        if read.diverging is not None:
            head += b"\x00\x0d" + _DIVERGING.pack(*read.diverging) + b"\0"
        if leader is not None:
            head += b"\x01\x09" + _PREFERRED_AND_LENGTH.pack(leader.id, leader.epoch) + b"\0"
        if read.removable_to:
            self._removable_tag(read.removable_to)

    def _removable_tag(self, offset: int) -> None:
        tag, raw = write_offset(offset)
        write_uvarint(self._head, tag)
        write_uvarint(self._head, len(raw))
        self._head += raw

    def _node_endpoints(self) -> None:
        head = self._head
        if not self.nodes or self._version < 16:
            head.append(0)
            return
        body = bytearray()
        write_uvarint(body, len(self.nodes) + 1)
        for node in self.nodes.values():
            body += _INT.pack(node.id)
            write_compact_string(body, node.host)
            body += _INT.pack(node.port)
            write_compact_nullable_string(body, node.rack)
            body.append(0)
        head += b"\x01\x00"
        write_uvarint(head, len(body))
        head += body

    def _finish(self) -> bytes | list[bytes | FileSlice]:
        segments, head, first = self._segments, self._head, self._first
        _INT.pack_into(first, 0, self._size + len(head) - 4)
        if not segments:
            return bytes(first)
        segments[0] = bytes(first)
        if head:
            segments.append(bytes(head))
        return segments


def _group(reads: list[PartitionRead]) -> list[list[PartitionRead]]:
    """Neighbours of one topic share an entry; the order of the partitions stays as it is."""
    if len(reads) == 1:
        return [reads]
    topics: list[list[PartitionRead]] = []
    last: object = None
    for read in reads:
        wanted = read.wanted
        key = (wanted.topic_id, wanted.topic)
        if key == last:
            topics[-1].append(read)
        else:
            topics.append([read])
            last = key
    return topics
