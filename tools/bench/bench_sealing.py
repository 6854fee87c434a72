"""What encryption of batches costs: CPU of sealing and opening, by size of the batch, on one core.

`python tools/bench/bench_sealing.py`; the least of several repetitions.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kbroker.protocol.record_batch import Record, build_batch, parse_batch_header
from kbroker.protocol.sealed_batch import Sealer, open_batch
from kbroker.security.data_keys import KeyRing


def least_us(work, times: int) -> float:
    """CPU of one call."""
    least = 10**12
    for _ in range(15):
        began = process_time_ns()
        for _ in range(times):
            work()
        least = min(least, process_time_ns() - began)
    return least / times / 1000


def main() -> None:
    """Measure and print."""
    keys = KeyRing({"k": os.urandom(32)})
    sealer = Sealer(keys, "k", lambda: os.urandom(16))
    print(f"{'batch':>10}{'seal':>12}{'':>12}{'open':>12}")
    for size in (200, 1 << 10, 16 << 10, 64 << 10, 1 << 20):
        batch = build_batch([Record(0, 0, None, os.urandom(max(size - 80, 1)), [])])
        sealed = sealer.seal(batch, 0)
        header = parse_batch_header(sealed)
        times = max((4 << 20) // size // 10, 3)
        seal = least_us(partial(sealer.seal, batch, 0), times)
        opening = least_us(partial(open_batch, keys, sealed, header), times)
        rates = (f"{len(batch) / us / 1000:6.2f} GB/s" for us in (seal, opening))
        print(f"{len(batch):10}{seal:9.2f} us{next(rates):>12}{opening:9.2f} us{next(rates):>12}")


main()
