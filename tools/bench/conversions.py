"""How fast old consumers and producers are converted for: `python -m tools.bench.conversions`.

One core, no broker around it: batches of 1 MB with records of a few sizes, in MB of the bytes that go in
for a second of CPU.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from kbroker.protocol.compression import Codec
from kbroker.protocol.down_convert import down_convert
from kbroker.protocol.legacy_messages import build_message_set
from kbroker.protocol.record_batch import Record, build_batch
from kbroker.protocol.up_convert import up_convert

_TIMESTAMP = 1_700_000_000_000
_NO_LIMIT = 1 << 40


def main() -> None:
    """Measure and print."""
    print(f"{'record bytes':>12} {'codec':>8} {'down to 0':>10} {'down to 1':>10} {'up from 1':>10}   MB/s")
    for size in (100, 1000, 10_000):
        value = os.urandom(size // 2) + bytes(size - size // 2)
        records = [Record(i, _TIMESTAMP + i, b"%08d" % i, value) for i in range(1_000_000 // size)]
        for codec in (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4):
            batch = build_batch(records, codec=codec)
            messages = memoryview(build_message_set(1, records, codec))
            plain = len(build_batch(records))
            rates = [
                plain / _best(partial(down_convert, batch, 0, 0, _NO_LIMIT)),
                plain / _best(partial(down_convert, batch, 1, 0, _NO_LIMIT)),
                plain / _best(partial(up_convert, messages, _NO_LIMIT)),
            ]
            print(f"{size:12} {codec.name.lower():>8}" + "".join(f"{rate / 1e6:11.0f}" for rate in rates))


def _best(work: Callable[[], object], rounds: int = 7) -> float:
    times = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


if __name__ == "__main__":
    main()
