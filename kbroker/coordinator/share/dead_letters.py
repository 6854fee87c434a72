"""Dead letters of a share group (KIP-1191): what is written about records that it has given up.

Where a record came from, and why it was given up, stands in headers; key and value come along only where the
group's settings say so, the record's own headers never.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from kbroker.coordinator.share.spans import StateBatch
from kbroker.protocol.record_batch import BATCH_OVERHEAD, build_batch
from kbroker.protocol.record_codec import Record, encode_payload

_PREFIX = "__dlq.errors."


class Cause(Enum):
    """Why records were given up; the texts are Kafka's."""

    REJECTED = "Offset rejected by client."
    EXCEEDED = "Offset delivery count exceeded the threshold."


class DeadLetters(NamedTuple):
    """Neighbouring records that were given up together."""

    first: int
    last: int
    deliveries: int
    cause: Cause


class Origin(NamedTuple):
    """Who gave records up, and where they are."""

    group_id: str
    topic: str
    partition: int


def resumed(batch: StateBatch, max_deliveries: int) -> DeadLetters:
    """Records of which nobody knows whether their dead letters were written, as the one who would is gone.

    The cause is not kept; it is guessed as Kafka guesses.
    """
    cause = Cause.EXCEEDED if batch.deliveries >= max_deliveries else Cause.REJECTED
    return DeadLetters(batch.first, batch.last, batch.deliveries, cause)


class Envelope:
    """A batch of dead letters in the making.

    Args:
        now_ms: what becomes their time (a log's retention goes by it).
        max_bytes: the batch gets no larger, but for a first record that is.
    """

    __slots__ = ("_letters", "_max_bytes", "_now_ms", "_size")

    def __init__(self, now_ms: int, max_bytes: int) -> None:
        self._now_ms = now_ms
        self._max_bytes = max_bytes
        self._letters: list[Record] = []
        self._size = BATCH_OVERHEAD

    @property
    def is_full(self) -> bool:
        """Whether nothing more goes in."""
        return self._size >= self._max_bytes

    def fill(
        self, origin: Origin, dead: DeadLetters, offset: int, originals: Mapping[int, Record], end: int
    ) -> int:
        """Add dead letters of records from `offset` to before `end`; the first one that had no room.

        Args:
            originals: the records themselves, as far as they are to come along; one that has no room in a
                batch of its own comes without.
        """
        headers = [
            (_PREFIX + "topic", origin.topic.encode("utf-8", "surrogateescape")),
            (_PREFIX + "partition", b"%d" % origin.partition),
            (_PREFIX + "offset", b""),
            (_PREFIX + "group", origin.group_id.encode("utf-8", "surrogateescape")),
            (_PREFIX + "delivery.count", b"%d" % dead.deliveries),
            (_PREFIX + "message", dead.cause.value.encode()),
        ]
        while offset < end:
            headers[2] = (_PREFIX + "offset", b"%d" % offset)
            original = originals.get(offset)
            letter = Record(len(self._letters), self._now_ms, None, None, tuple(headers))
            if original is not None:
                letter = letter._replace(key=original.key, value=original.value)
            added = self._add(letter)
            if not added and not self._letters:
                # It is too large whatever is done; without what it copies it may do.
                added = self._add(letter._replace(key=None, value=None), always=True)
            if not added:
                break
            offset += 1
        return offset

    def _add(self, letter: Record, *, always: bool = False) -> bool:
        size = len(encode_payload((letter,), 0, self._now_ms)[0])
        if self._size + size > self._max_bytes and not always:
            return False
        self._size += size
        self._letters.append(letter)
        return True

    def batch(self) -> bytes:
        """What is to be appended."""
        return build_batch(self._letters)
