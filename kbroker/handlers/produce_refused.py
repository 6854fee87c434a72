"""Batches that were under way behind a refused one: refused like it, so that a producer's order stays whole.

A producer has several requests under way. When the first is refused with an error that it tries again after
(this broker does not know yet that it leads; too few replicas are in sync), the next may find that ready
which the first one lacked. Taken, it would stand before the first (a producer that is new here may begin
anywhere, KIP-360). Refused for its sequence, it makes librdkafka begin a new epoch, in which it sends again
what the leader before had already. Apache Kafka does either.

The law: refused batches of a producer are a row. What continues the row is refused with its error; whatever
does not, as the first one's retry, ends it and is judged by the log. So nobody is refused twice by a row.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from kbroker.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from kbroker.handlers.context import ConnectionContext
    from kbroker.handlers.produce_answer import Item

#: After these a client sends the same batch again.
_TRIED_AGAIN = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
    }
)
#: Rows of one connection; then the oldest is forgotten.
_ROWS_MAX = 64
_BATCH_BYTES_MIN = 61
_SEQUENCE_MAX = 0x7FFF_FFFF
#: Last offset delta at byte 23; producer id, epoch and first sequence at byte 43.
_DELTA, _DELTA_AT = Struct(">i"), 23
_PRODUCER, _PRODUCER_AT = Struct(">qhi"), 43


class _Row(NamedTuple):
    producer_id: int
    epoch: int
    next_sequence: int
    code: ErrorCode


class RefusedRows:
    """The rows of one connection, one a partition."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], _Row] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def check(self, item: Item) -> None:
        """Raises ApiError, the row's error, if the batch continues one; else the partition has none now."""
        row = self._rows.get((item.name, item.index))
        if row is None:
            return
        if _producer_of(item.records) == row[:3]:
            raise ApiError(row.code)
        del self._rows[item.name, item.index]

    def note(self, item: Item) -> None:
        """The batch is refused: it begins or continues a row."""
        producer = _producer_of(item.records)
        if producer is None or item.error is None:
            return
        producer_id, epoch, sequence = producer
        (delta,) = _DELTA.unpack_from(item.records or b"", _DELTA_AT)
        key = item.name, item.index
        if key not in self._rows and len(self._rows) >= _ROWS_MAX:
            del self._rows[next(iter(self._rows))]
        self._rows[key] = _Row(producer_id, epoch, (sequence + delta + 1) & _SEQUENCE_MAX, item.error)


def note_refused(connection: ConnectionContext, items: list[Item]) -> None:
    """Those of a request's partitions that were refused, for `RefusedRows.check`."""
    for item in items:
        if item.error in _TRIED_AGAIN:
            if connection.refused is None:
                connection.refused = RefusedRows()
            connection.refused.note(item)


def _producer_of(records: memoryview | bytes | None) -> tuple[int, int, int] | None:
    """Producer id, epoch and first sequence of a batch that has them."""
    if records is None or len(records) < _BATCH_BYTES_MIN or records[16] != 2:
        return None
    found: tuple[int, int, int] = _PRODUCER.unpack_from(records, _PRODUCER_AT)
    return found if found[0] >= 0 and found[2] >= 0 else None
