"""The newest records of a partition, read from its files, and what is appended to them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep

from kbroker.cli.log_dump import DamagedFile, Entry, record_entry
from kbroker.cli.record_decoders import Decoder, decoder_for
from kbroker.client.errors import ClientError
from kbroker.errors import ApiError
from kbroker.protocol.record_batch import BatchHeader, decode_records
from kbroker.storage.batch_scan import scan_batches
from kbroker.storage.file_names import LOG, parse_offset_name, parse_partition_dir

_PAUSE_S = 0.2


def tail(
    folder: Path,
    last: int,
    *,
    follow: bool = False,
    topic: str | None = None,
    pause: Callable[[], object] = lambda: sleep(_PAUSE_S),
) -> Iterator[Entry]:
    """The last records, oldest first, and with `follow` those that come, as long as the folder is there.

    Args:
        topic: decode keys and values as of this topic; None: the one that the folder is named after.
        pause: between two looks at the files.

    Raises:
        ClientError: the folder has no segments.
        DamagedFile: a batch cannot be read.
        OSError: a file cannot be read.
    """
    if topic is None:
        partition = parse_partition_dir(folder.absolute().name)
        topic = partition.topic if partition else ""
    decoder = decoder_for(topic)
    segments = _segments(folder)
    if not segments:
        raise ClientError(f"{folder} is no partition's folder: there is no segment in it")
    yield from _last_records(segments, last, decoder)
    if follow:
        yield from _follow(folder, decoder, pause)


def _segments(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if (parse_offset_name(path.name) or ("", ""))[1] == LOG)


def _last_records(segments: list[Path], last: int, decoder: Decoder | None) -> Iterator[Entry]:
    """From the newest segment backwards until there are enough; then forwards."""
    found: deque[Entry] = deque()
    for segment in reversed(segments):
        wanted = last - len(found)
        newest: deque[Entry] = deque(maxlen=wanted)
        for entry, _ in _read(segment, _start_of_last(segment, wanted), decoder):
            newest.append(entry)
        found.extendleft(reversed(newest))
        if len(found) >= last:
            break
    yield from found


def _follow(folder: Path, decoder: Decoder | None, pause: Callable[[], object]) -> Iterator[Entry]:
    current, position = _segments(folder)[-1], 0
    for at, header in _headers(current):
        position = at + header.size
    while segments := _segments(folder):
        if current not in segments:
            current, position = segments[-1], 0
        for entry, end in _read(current, position, decoder):
            position = end
            yield entry
        later = [segment for segment in segments if segment > current]
        if later:
            current, position = later[0], 0
        else:
            pause()


def _headers(segment: Path) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of the whole batches."""
    position = 0
    with segment.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for _, header in scan_batches(lambda at, length: os.pread(file.fileno(), length, at), size, 0):
            yield position, header
            position += header.size


def _start_of_last(segment: Path, records: int) -> int:
    """Where to begin reading so as to find that many records at the end; found by the headers alone."""
    newest: deque[tuple[int, int]] = deque()
    total = end = 0
    for position, header in _headers(segment):
        count = max(header.record_count, 0 if header.magic >= 2 else 1)
        newest.append((position, count))
        total += count
        end = position + header.size
        while newest and total - newest[0][1] >= records:
            total -= newest.popleft()[1]
    return newest[0][0] if newest else end


def _read(segment: Path, position: int, decoder: Decoder | None) -> Iterator[tuple[Entry, int]]:
    """(record, where its batch ends) from the batch at `position` on, up to the last whole one."""
    with segment.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for data, header in scan_batches(
            lambda at, length: os.pread(file.fileno(), length, at), size, position
        ):
            position += header.size
            for entry in _entries(segment, data, header, decoder):
                yield entry, position


def _entries(
    segment: Path, data: memoryview, header: BatchHeader, decoder: Decoder | None
) -> Iterator[Entry]:
    try:
        for record in decode_records(data, header):
            yield record_entry(record, header, decoder)
    except ApiError as error:
        raise DamagedFile(f"{segment}: the batch at offset {header.base_offset}: {error.text}") from None
