"""Compaction of one log: of every key the last record stays; offsets and order never change (KIP-58, 534).

Two readings. The first walks the dirty section and notes the last offset of each key, until its memory is
full. The second walks the log from its begin up to where the first one came and writes each group of segments
anew without what is out of date. Whoever runs this swaps the finished groups in (`cleaner_swap`), one by one.

The law of this file:
- Only segments below the last stable offset are read, and nothing that is there is changed: all output goes
  to `.cleaned` files.
- A batch whose records all stay is copied as it is. One that loses some keeps base offset, last offset delta,
  sequence and codec. One that loses all goes, except the last one of a producer and that of an output
  segment: no gap ever lies between two segments, so recovery knows a lost tail from a compacted one. (Kafka
  keeps only the last one of the whole round.)
- An encrypted batch (`sealed_batch`) that loses records is encrypted anew; nothing of it is written plain.
- The CRC of every batch is checked, so that damage is never written with a new, right CRC.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from kbroker.errors import ApiError
from kbroker.protocol.record_batch import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    BatchHeader,
    parse_batch_header,
    uncompressed_payload,
)
from kbroker.protocol.sealed_batch import SEALED_BIT, is_sealed
from kbroker.storage.cleaner_job import CleanedGroup, CleanJob, CleanResult, SourceSegment
from kbroker.storage.cleaner_legacy import filter_messages, index_messages, look_up
from kbroker.storage.cleaner_map import DROP, OffsetMap, Verdicts, batch_is_wide
from kbroker.storage.cleaner_output import CleanedSegment, discard_cleaned
from kbroker.storage.cleaner_read import read_batches
from kbroker.storage.cleaner_records import (
    BatchVerdicts,
    CleanError,
    Kept,
    empty_batch,
    filter_payload,
    index_payload,
    look_up_payload,
    rebuild_batch,
)
from kbroker.storage.cleaner_seals import Seals
from kbroker.storage.cleaner_txns import TransactionWalk
from kbroker.storage.disk import Buffer, Disk, DiskFile
from kbroker.storage.file_names import LOG, offset_name

_INT_MAX = 0x7FFF_FFFF
#: Segments that are joined at once, so that the swap on the broker's thread stays short.
_GROUP_MAX = 256
_NO_PRODUCER: Final = (-1, -1)


class Cleaner:
    """Runs one job.

    Args:
        disk: where the log lies.
        pause: told of every byte read or written; may sleep, or raise to give up.
        seals: opens encrypted batches, and encrypts what is left of them.
    """

    def __init__(
        self,
        disk: Disk,
        job: CleanJob,
        pause: Callable[[int], None] = lambda _: None,
        seals: Seals | None = None,
    ) -> None:
        self.result = CleanResult()
        self._disk = disk
        self._job = job
        self._pause = pause
        self._seals = seals or Seals(None, bytes)
        self._keys = OffsetMap(job.map_bytes, job.load_factor)
        self._verdicts = Verdicts(job.map_bytes)
        self._txns = TransactionWalk([])
        self._keep_legacy_tombstones = False
        #: The begin of the segment behind the group.
        self._group_end = -1

    def run(self) -> Iterator[CleanedGroup]:
        """Clean, and say of every group when its output is complete and durable.

        Raises:
            CleanError: the log is damaged.
            CannotOpen: the key of an encrypted batch is not here.
            OSError: the disk fails, or the log's files are gone.
        """
        job = self._job
        discard_cleaned(self._disk, job.directory)
        self._index_dirty()
        end = self._keys.latest_offset + 1
        # What lies below was cleaned last at about this time: the age of tombstones without a horizon.
        clean = [segment for segment in job.segments if segment.base_offset < job.first_dirty]
        legacy_horizon = self._modified_ms(clean[-1]) - job.delete_retention_ms if clean else 0
        self._txns = TransactionWalk(job.aborted)
        for group, group_end in self._groups(max(end, job.first_dirty)):
            self._group_end = group_end
            yield self._clean_group(group, legacy_horizon)
        self.result.end_offset = max(end, job.first_dirty)
        self.result.keys = self._keys.entries

    def _file(self, segment: SourceSegment) -> DiskFile:
        return self._disk.open(f"{self._job.directory}/{offset_name(segment.base_offset, LOG)}")

    def _modified_ms(self, segment: SourceSegment) -> int:
        return self._disk.modified_ms(f"{self._job.directory}/{offset_name(segment.base_offset, LOG)}")

    def _count_read(self, count: int) -> None:
        self.result.bytes_read += count
        self._pause(count)

    def _count_written(self, count: int) -> None:
        self.result.bytes_written += count
        self._pause(count)

    # -- first reading ---------------------------------------------------------------------------------------

    def _index_dirty(self) -> None:
        job, keys = self._job, self._keys
        walk = TransactionWalk([txn for txn in job.aborted if txn.last_offset >= job.first_dirty])
        ends = [segment.base_offset for segment in job.segments[1:]] + [job.upper_bound]
        for segment, end in zip(job.segments, ends):
            if end <= job.first_dirty:
                continue
            file = self._file(segment)
            for data, _, headers in read_batches(file, segment.size, job.io_bytes):
                self._count_read(len(data))
                for header in headers:
                    if header.last_offset >= job.first_dirty and not self._index_batch(data, header, walk):
                        return
            # Whatever the segment does not hold up to the next one's begin is gone already.
            keys.latest_offset = max(keys.latest_offset, end - 1)

    def _index_batch(self, data: bytes, header: BatchHeader, walk: TransactionWalk) -> bool:
        job, keys = self._job, self._keys
        if header.is_control:
            walk.on_marker(data, header)
        elif walk.on_data(header):
            pass  # aborted: its keys count for nothing
        elif header.magic < 2:
            try:
                if not index_messages(data, header, job.first_dirty, keys, self._verdicts):
                    return False
            except ApiError as error:
                raise CleanError(f"the message at offset {header.base_offset}: {error.text}") from None
        else:
            payload, pos, end = self._payload(data, header)
            if not index_payload(payload, pos, end, header, job.first_dirty, keys, self._verdicts):
                return False
        keys.latest_offset = max(keys.latest_offset, header.last_offset)
        return True

    def _payload(self, data: bytes, header: BatchHeader) -> tuple[bytes, int, int]:
        if is_sealed(header):
            data = self._seals.open(data, header)
            header = parse_batch_header(data, 0)
        if not header.attributes & CODEC_MASK:
            return data, header.position + BATCH_OVERHEAD, header.end
        if not header.record_count:
            return b"", 0, 0
        try:
            payload = bytes(uncompressed_payload(data, header))
        except ApiError as error:
            raise CleanError(f"the batch at offset {header.base_offset}: {error.text}") from None
        return payload, 0, len(payload)

    # -- groups ----------------------------------------------------------------------------------------------

    def _groups(self, end_offset: int) -> Iterator[tuple[list[SourceSegment], int]]:
        """Neighbours that fit one segment together: by bytes, by index entries, by the span of offsets.

        With each group the base offset of the segment behind it.
        """
        job = self._job
        segments = [segment for segment in job.segments if segment.base_offset < end_offset]
        ends = [segment.base_offset for segment in job.segments[1:]] + [job.upper_bound]
        group: list[SourceSegment] = []
        size = index = times = 0
        for segment, end in zip(segments, ends):
            if group and (
                len(group) == _GROUP_MAX
                or size + segment.size > job.segment_bytes
                or index + segment.index_bytes > job.segment_index_bytes
                or times + segment.time_index_bytes > job.segment_index_bytes
                or (segment.size and end - 1 - group[0].base_offset > _INT_MAX)
            ):
                yield group, segment.base_offset
                group, size, index, times = [], 0, 0, 0
            group.append(segment)
            size += segment.size
            index += segment.index_bytes
            times += segment.time_index_bytes
        if group:
            yield group, ends[len(segments) - 1]

    # -- second reading --------------------------------------------------------------------------------------

    def _clean_group(self, group: list[SourceSegment], legacy_horizon: int) -> CleanedGroup:
        job = self._job
        out = CleanedSegment(
            self._disk,
            job.directory,
            group[0].base_offset,
            self._file(group[0]),
            job.index_interval_bytes,
            self._count_written,
        )
        modified = 0
        for number, segment in enumerate(group):
            modified = self._modified_ms(segment)
            self._keep_legacy_tombstones = modified > legacy_horizon
            if number and segment.size and not out.written:
                # Empty ones may lie between: up to here the output is the first segment.
                out.begin(out.size)
            for data, length, headers in read_batches(self._file(segment), segment.size, job.io_bytes):
                self._count_read(length)
                self._clean_chunk(data, length, headers, out)
        if not out.written:
            if len(group) == 1:
                return CleanedGroup(group, {})
            out.begin(out.size)
        return CleanedGroup(group, out.finish(modified))

    def _clean_chunk(self, data: bytes, length: int, headers: list[BatchHeader], out: CleanedSegment) -> None:
        """Write what stays of a chunk of whole batches; runs of untouched ones as one slice."""
        position = out.size
        parts: list[Buffer] = []
        view = memoryview(data)
        run = 0
        for header in headers:
            start = header.position
            left = self._retain(data, header, out)
            if left is data:
                out.note(header.size, header.last_offset, header.max_timestamp if header.record_count else -1)
                continue
            if run < start:
                parts.append(view[run:start])
            run = start + header.size
            if left is not None:
                parts.append(left)
                self._note_new(left, header, out)
        if run == 0 and not out.written:
            return  # still the same as the source
        if run < length:
            parts.append(view[run:length])
        if not out.written:
            out.begin(position)
        out.write(position, parts)

    @staticmethod
    def _note_new(batch: bytes, header: BatchHeader, out: CleanedSegment) -> None:
        newest = int.from_bytes(batch[35:43], "big", signed=True)
        if header.magic < 2:
            newest = int.from_bytes(batch[18:26], "big", signed=True) if header.magic == 1 else -1
            last = int.from_bytes(batch[:8], "big", signed=True)
            out.note(len(batch), last, newest)
        else:
            has_records = int.from_bytes(batch[57:61], "big") > 0
            out.note(len(batch), header.last_offset, newest if has_records else -1)

    def _retain(self, data: bytes, header: BatchHeader, out: CleanedSegment) -> bytes | None:
        """`data` itself: the batch stays as it is; other bytes: what takes its place; None: it goes."""
        if header.magic < 2:
            return self._retain_legacy(data, header)
        horizon = header.delete_horizon_ms
        # Whether tombstones and markers that nobody needs may go now.
        overdue = (
            horizon is not None
            and horizon <= self._job.now_ms
            and header.last_offset < self._job.removable_to
        )
        if header.is_control:
            unneeded, entry = self._txns.on_marker(data, header)
            if entry is not None:
                out.note_aborted(entry)
            if not header.record_count or (unneeded and overdue):
                return self._emptied(data, header)
            if unneeded and horizon is None:
                return self._with_horizon(data, header)
            if unneeded:
                self._wait_for(horizon)
            return data
        if self._txns.on_data(header) or not header.record_count:
            return self._emptied(data, header)
        verdicts = self._verdicts_on(data, header, overdue)
        if verdicts is None:
            return data
        if isinstance(verdicts, bytes | bytearray) and verdicts.count(DROP) == header.record_count:
            return self._emptied(data, header)
        return self._filtered(data, header, verdicts, overdue)

    def _verdicts_on(self, data: bytes, header: BatchHeader, overdue: bool) -> BatchVerdicts | None:
        """None: all records stay and there is no tombstone."""
        base, last, first_dirty = header.base_offset, header.last_offset, self._job.first_dirty
        if base >= first_dirty and not batch_is_wide(base, last):
            return self._verdicts.of_batch(base, last)
        if last < first_dirty and not self._keys.entries and header.delete_horizon_ms is None:
            return None
        payload, pos, end = self._payload(data, header)
        return look_up_payload(payload, pos, end, header, first_dirty, self._keys, self._verdicts)

    def _filtered(
        self, data: bytes, header: BatchHeader, verdicts: BatchVerdicts, overdue: bool
    ) -> bytes | None:
        payload, pos, end = self._payload(data, header)
        kept = filter_payload(payload, pos, end, header, verdicts, overdue)
        if not kept.record_count:
            return self._emptied(data, header)
        horizon = header.delete_horizon_ms
        new_horizon = None
        if kept.has_tombstones:
            if horizon is None:
                new_horizon = horizon = self._job.now_ms + self._job.delete_retention_ms
            self._wait_for(horizon)
        if kept.record_count == header.record_count and new_horizon is None:
            return data
        return self._rebuilt(data, header, kept, new_horizon)

    def _rebuilt(self, data: bytes, header: BatchHeader, kept: Kept, horizon: int | None) -> bytes:
        if not is_sealed(header):
            return rebuild_batch(header, kept, horizon)
        plain = header._replace(attributes=header.attributes & ~SEALED_BIT)
        return self._seals.seal(rebuild_batch(plain, kept, horizon), data, header, self._job.seal_with)

    def _with_horizon(self, data: bytes, header: BatchHeader) -> bytes:
        payload, pos, end = self._payload(data, header)
        kept = filter_payload(payload, pos, end, header, defaultdict(int), False)
        horizon = self._job.now_ms + self._job.delete_retention_ms
        self._wait_for(horizon)
        return rebuild_batch(header, kept, horizon)  # of a marker, which is never encrypted

    def _wait_for(self, horizon: int | None) -> None:
        # One that has passed and still holds something is held up by replicas, not by time.
        if horizon is not None and horizon >= self._job.now_ms:
            self.result.latest_horizon_ms = max(self.result.latest_horizon_ms, horizon)

    def _emptied(self, data: bytes, header: BatchHeader) -> bytes | None:
        """Nothing of the batch is needed but, perhaps, that it was there."""
        last_data, epoch = self._job.producers.get(header.producer_id, _NO_PRODUCER)
        if header.producer_id < 0:
            last_of_producer = False
        elif last_data >= 0:
            last_of_producer = header.last_offset == last_data
        else:
            last_of_producer = header.is_control and header.producer_epoch == epoch
        if not last_of_producer and header.next_offset != self._group_end:
            return None
        return data if not header.record_count else empty_batch(header)

    def _retain_legacy(self, data: bytes, header: BatchHeader) -> bytes | None:
        job, keys, verdicts = self._job, self._keys, self._verdicts
        try:
            left = filter_messages(
                data,
                header,
                lambda record: look_up(record, job.first_dirty, keys, verdicts),
                not self._keep_legacy_tombstones and header.base_offset < job.removable_to,
            )
        except ApiError as error:
            raise CleanError(f"the message at offset {header.base_offset}: {error.text}") from None
        if left is not None and len(left) == header.size and left == data[header.position : header.end]:
            return data
        return left
