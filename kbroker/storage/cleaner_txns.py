"""How transactions end, as the cleaner walks over their batches in offset order.

The law: the data of an aborted transaction goes at once; its marker stays as long as any of its data was seen
in this walk, so that nobody ever finds data whose end is missing. The same holds for a committed one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kbroker.errors import ApiError
from kbroker.protocol.control_records import ControlType, control_type
from kbroker.protocol.record_batch import BatchHeader, Buffer, decode_records
from kbroker.storage.cleaner_records import CleanError
from kbroker.storage.txn_index import AbortedTxn


class TransactionWalk:
    """One walk over batches, all of transactions that have ended.

    Args:
        aborted: those that were aborted and end at or behind the walk's begin.
    """

    __slots__ = ("_aborted", "_coming", "_committed", "_seen")

    def __init__(self, aborted: Iterable[AbortedTxn]) -> None:
        self._coming = deque(sorted(aborted, key=lambda txn: txn.first_offset))
        self._aborted: dict[int, AbortedTxn] = {}
        #: Producers whose aborted transaction has shown a batch.
        self._seen: set[int] = set()
        self._committed: set[int] = set()

    def on_data(self, header: BatchHeader) -> bool:
        """A data batch: whether it belongs to an aborted transaction."""
        if not header.is_transactional:
            return False
        self._begin_up_to(header.last_offset)
        producer_id = header.producer_id
        txn = self._aborted.get(producer_id)
        if txn is not None and txn.first_offset <= header.last_offset <= txn.last_offset:
            self._seen.add(producer_id)
            return True
        self._committed.add(producer_id)
        return False

    def on_marker(self, buf: Buffer, header: BatchHeader) -> tuple[bool, AbortedTxn | None]:
        """A control batch: (whether nothing needs it any more, the entry that stays in the index).

        Raises:
            CleanError: the control record is damaged.
        """
        self._begin_up_to(header.last_offset)
        producer_id = header.producer_id
        try:
            records = decode_records(buf, header)
            kind = control_type(records[0]) if records else None
        except ApiError as error:
            raise CleanError(f"the control batch at offset {header.base_offset}: {error.text}") from None
        if kind is None:
            return True, None  # was emptied by an earlier cleaning
        if kind is ControlType.ABORT:
            txn = self._aborted.pop(producer_id, None)
            if txn is not None and producer_id in self._seen:
                self._seen.discard(producer_id)
                return False, txn
            return True, None
        if kind is ControlType.COMMIT:
            if producer_id in self._committed:
                self._committed.discard(producer_id)
                return False, None
            return True, None
        return False, None

    def _begin_up_to(self, offset: int) -> None:
        coming = self._coming
        while coming and coming[0].first_offset <= offset:
            txn = coming.popleft()
            # A later transaction of the producer: the end of the one before it lies behind us.
            self._aborted[txn.producer_id] = txn
            self._seen.discard(txn.producer_id)
