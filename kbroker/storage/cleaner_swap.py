"""Putting the output of a cleaning in the place of its sources, safe against a stop at any instant.

The output is complete and durable as `.cleaned` files. Then, on the thread that owns the log:
1. `.cleaned` -> `.swap`, the log file first. Before the last of these recovery drops the output.
2. The sources -> `.deleted`. From here on recovery completes what follows.
3. `.swap` -> their names.
Readers that hold a source's file go on reading it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbroker.storage.cleaner_output import SUFFIXES
from kbroker.storage.file_names import CLEANED, SNAPSHOT, SWAP, offset_name
from kbroker.storage.log import Log
from kbroker.storage.segment import Segment


def swap_in(log: Log, sources: Sequence[Segment], sizes: Mapping[str, int], now_ms: int) -> bool:
    """Replace `sources` by the `.cleaned` files of their first one's name, whose bytes are `sizes`.

    False, and nothing done, if the sources are not all there as they were: retention or truncation came in
    between. Raises StorageError.
    """
    log.directory.check()
    segments = log.segments
    base = sources[0].base_offset
    index = segments.index_of(base)
    there = [segments[at] for at in range(index, min(index + len(sources), len(segments) - 1))]
    if len(there) != len(sources) or any(now is not then for now, then in zip(there, sources)):
        return False
    disk, stem = log.directory.disk, f"{log.path}/"
    names = [stem + offset_name(base, suffix) for suffix in SUFFIXES if suffix in sizes]
    try:
        for name in names:
            disk.rename(name + CLEANED, name + SWAP)
        for segment in sources:
            for path in segment.paths:
                log.directory.remove_later(path, log.config.file_delete_delay_ms)
        for name in names:
            disk.rename(name + SWAP, name)
        for segment in sources[1:]:
            if segment.base_offset in log.snapshots:
                del log.snapshots[segment.base_offset]
                log.directory.remove_later(
                    stem + offset_name(segment.base_offset, SNAPSHOT), log.config.file_delete_delay_ms
                )
    except OSError as error:
        raise log.directory.fail_for_good(error) from error
    segments.replace(index, len(sources), Segment(log.directory.files, log.path, base, dict(sizes), now_ms))
    log.read_hints.clear()
    return True
