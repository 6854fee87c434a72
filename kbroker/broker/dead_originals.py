"""Reads records that a share group has given up, to be copied into their dead letters."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import BatchHeader, decode_records, parse_batch_header
from kbroker.storage.disk import StorageError
from kbroker.storage.log_encryption import opened

if TYPE_CHECKING:
    from kbroker.broker.partition import Partition
    from kbroker.protocol.record_codec import Record

_log = logging.getLogger(__name__)


class Originals:
    """What goes into one batch of dead letters; not to be kept for longer.

    Args:
        max_bytes: keys and values together, and what one batch may unpack to.
    """

    __slots__ = ("_batch", "_left", "_max_bytes")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = self._left = max_bytes
        #: The one that was read last: neighbours are often in it, too.
        self._batch: tuple[Partition, BatchHeader, list[Record]] | None = None

    def read(self, source: Partition, first: int, last: int) -> tuple[dict[int, Record], int]:
        """Records by offset, and to before which offset this tells all.

        What cannot be read, or is too large, is missing, and gets a dead letter without a copy.
        """
        found: dict[int, Record] = {}
        position = first
        try:
            while position <= last:
                batch = self._batch_at(source, position)
                if batch is None:
                    break
                header, records = batch
                for record in records:
                    if not position <= record.offset <= last:
                        continue
                    size = len(record.key or b"") + len(record.value or b"")
                    if size > self._left and found:
                        return found, record.offset
                    self._left -= size
                    found[record.offset] = record
                position = header.next_offset
        except (ApiError, StorageError, OSError) as error:
            _log.warning(
                "dead letters of %s from %d on have no copies: %s", source.topic_partition, position, error
            )
        return found, last + 1

    def _batch_at(self, source: Partition, offset: int) -> tuple[BatchHeader, list[Record]] | None:
        """The batch with that offset, or the next one; None: there is none."""
        if self._batch is not None:
            partition, header, records = self._batch
            if partition is source and header.base_offset <= offset <= header.last_offset:
                return header, records
        log = source.online_log()
        found = log.read(max(offset, log.log_start_offset), 1, log.high_watermark, True)
        if not found.size:
            return None
        data = opened(log, found).data if log.encrypted else b"".join(part.read() for part in found.parts)
        header = parse_batch_header(data)
        records = [] if header.is_control else self._records(source, data, header)
        self._batch = source, header, records
        return header, records

    def _records(self, source: Partition, data: bytes, header: BatchHeader) -> list[Record]:
        try:
            return decode_records(data, header, max(self._max_bytes, header.size if not header.codec else 0))
        except ApiError as error:
            _log.warning("a batch of %s cannot be copied: %s", source.topic_partition, error)
            return []
