"""The metadata log as raft's driver uses it: own batches, batches of another leader, reads for followers.

A log of `storage/` in Kafka's format; what is peculiar here is that control batches are looked into, because
they change the quorum as soon as they are written (KIP-853).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import check_crc, iter_batches
from kbroker.raft.batches import RaftLogCorruption, read_items
from kbroker.raft.messages import EpochStart, RulesAt
from kbroker.storage.log import AppendOrigin, Log

#: What a reader gets at a time, unless one batch is larger.
READ_BYTES = 1 << 20


class Written(NamedTuple):
    """What an append has brought."""

    end_offset: int
    epochs: tuple[EpochStart, ...] = ()
    rules: tuple[RulesAt, ...] = ()


class RaftLog:
    """Appends and reads of the metadata log; every call may raise ApiError or OSError for a failing disk."""

    __slots__ = ("log",)

    def __init__(self, log: Log) -> None:
        self.log = log

    @property
    def end_offset(self) -> int:
        """Where the log ends."""
        return self.log.log_end_offset

    @property
    def start_offset(self) -> int:
        """Where it begins."""
        return self.log.log_start_offset

    def epochs(self) -> tuple[EpochStart, ...]:
        """The epochs in the log, oldest first."""
        return tuple(EpochStart(epoch, start) for epoch, start in self.log.epochs.entries())

    def append(self, batch: bytes, epoch: int, now_ms: int) -> Written:
        """Write a batch of our own."""
        before = self.log.latest_epoch
        base = self.log.log_end_offset
        self.log.append_as_leader(memoryview(batch), epoch, now_ms, AppendOrigin.RAFT)
        self.log.flush_staged()
        began = (EpochStart(epoch, base),) if epoch > before else ()
        return Written(self.log.log_end_offset, began)

    def append_fetched(self, records: bytes | memoryview, epoch: int, now_ms: int) -> Written:
        """Write what the leader of `epoch` sent, up to the first batch that cannot be right."""
        good, epochs, rules = self._look(records, epoch)
        if good:
            self.log.append_as_follower(memoryview(records)[:good], now_ms)
            self.log.flush_staged()
        return Written(self.log.log_end_offset, tuple(epochs), tuple(rules))

    def _look(self, records: bytes | memoryview, epoch: int) -> tuple[int, list[EpochStart], list[RulesAt]]:
        """How many bytes are good, and what is special in them."""
        good, end, latest = 0, self.log.log_end_offset, self.log.latest_epoch
        epochs: list[EpochStart] = []
        rules: list[RulesAt] = []
        try:
            for header in iter_batches(records):
                if header.base_offset != end or not latest <= header.leader_epoch <= epoch:
                    break
                stop = header.position + header.size
                if not check_crc(records, header):
                    break
                if header.leader_epoch > latest:
                    latest = header.leader_epoch
                    epochs.append(EpochStart(latest, header.base_offset))
                if header.is_control:
                    rules += rules_in(bytes(records[header.position : stop]))
                end, good = header.next_offset, stop
        except (ApiError, RaftLogCorruption):
            # The fetched piece ends inside a batch, or is garbage from there on: the next fetch asks again.
            pass
        return good, epochs, rules

    def truncate(self, end_offset: int) -> None:
        """Cut the tail."""
        self.log.truncate_to(end_offset)

    def start_at(self, offset: int, now_ms: int) -> None:
        """Drop everything; the log goes on at `offset`."""
        self.log.truncate_fully_and_start_at(offset, now_ms)

    def read(self, offset: int, end: int, max_bytes: int = READ_BYTES) -> bytes:
        """Whole batches from the one that holds `offset` on, below `end`; the first one in any case."""
        found = self.log.read(offset, max_bytes, end, True)
        return b"".join(part.read() for part in found.parts)

    def read_all(self, start: int, end: int) -> Iterator[bytes]:
        """The whole batches from the one that holds `start` on, below `end`, piece by piece.

        Raises:
            RaftLogCorruption: they are not all there.
        """
        if start < self.log.log_start_offset:
            raise RaftLogCorruption(
                f"records {start} to {self.log.log_start_offset} are in no snapshot and no log"
            )
        offset = start
        while offset < end:
            found = self.log.read(offset, READ_BYTES, end, True)
            if not found.parts:
                raise RaftLogCorruption(f"nothing can be read at offset {offset}")
            yield b"".join(part.read() for part in found.parts)
            offset = found.next_offset


def rules_in(data: bytes) -> Sequence[RulesAt]:
    """What control batches in `data` say of the quorum. Raises RaftLogCorruption."""
    return [RulesAt(item.last_offset, item.rules) for item in read_items(data) if item.rules is not None]
