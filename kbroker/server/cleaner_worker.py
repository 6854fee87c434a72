"""The process that compacts logs for a broker: `python -m kbroker.server.cleaner_worker`.

Jobs come in on standard input, one line of JSON each; out go lines that tell of finished groups, of the end
of the job, and every now and then that it is still at work. It ends when its input does, and when its broker
is gone: then the next line it writes fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from typing import BinaryIO

from kbroker.protocol.sealed_batch import SALT_BYTES, CannotOpen
from kbroker.server.os_disk import OsDisk
from kbroker.storage.cleaner import Cleaner
from kbroker.storage.cleaner_job import decode_job
from kbroker.storage.cleaner_records import CleanError
from kbroker.storage.cleaner_seals import Seals

#: How often a job gives a sign of life, in seconds.
_SIGN_INTERVAL_S = 0.2
_NICE = 10


class Pace:
    """Counts bytes read and written, sleeps to stay below a rate, and looks whether the broker lives.

    Args:
        bytes_per_s: 0 for no limit.
    """

    def __init__(self, out: BinaryIO, bytes_per_s: float) -> None:
        self._out = out
        self._bytes_per_s = bytes_per_s
        self._begun = self._last_sign = time.monotonic()
        self._bytes = 0

    def __call__(self, count: int) -> None:
        self._bytes += count
        now = time.monotonic()
        self._sign(now)
        if self._bytes_per_s:
            behind = self._begun + self._bytes / self._bytes_per_s
            while behind > now:
                time.sleep(min(behind - now, _SIGN_INTERVAL_S))
                now = time.monotonic()
                self._sign(now)

    def _sign(self, now: float) -> None:
        if now - self._last_sign >= _SIGN_INTERVAL_S:
            self._last_sign = now
            say(self._out, {"at": self._bytes})


def say(out: BinaryIO, message: dict[str, object]) -> None:
    """One line to the broker. Raises OSError when it is gone."""
    out.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    out.flush()


def run_job(line: bytes, out: BinaryIO) -> None:
    """Do one job; its errors are told, not raised."""
    order = json.loads(line)
    pace, seals = Pace(out, float(order["bytes_per_s"])), _seals(order.get("keys", {}))
    try:
        cleaner = Cleaner(OsDisk(), decode_job(order["job"]), pace, seals)
        for group in cleaner.run():
            bases = [source.base_offset for source in group.sources]
            say(out, {"group": bases, "sizes": group.sizes})
        result = cleaner.result
        say(
            out,
            {
                "done": result.end_offset,
                "horizon": result.latest_horizon_ms,
                "read": result.bytes_read,
                "written": result.bytes_written,
            },
        )
    except CleanError as error:
        say(out, {"failed": "damaged", "text": str(error)})
    except CannotOpen as error:
        say(out, {"failed": "key", "text": error.text, "key": seals.missing})
    except MemoryError:
        say(out, {"failed": "memory", "text": "not enough memory"})
    except OSError as error:
        say(out, {"failed": "disk", "text": str(error), "errno": error.errno})


def _seals(keys: dict[str, str]) -> Seals:
    if not keys:
        return Seals(None, bytes)
    from kbroker.security.data_keys import KeyRing

    ring = KeyRing({key_id: bytes.fromhex(key) for key_id, key in keys.items()})
    return Seals(ring, lambda: os.urandom(SALT_BYTES))


def main() -> None:
    """Serve until the input ends."""
    # Ctrl-C goes to the whole group of processes; the broker ends us in its own order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(_NICE)
    out = sys.stdout.buffer
    try:
        for line in sys.stdin.buffer:
            run_job(line, out)
    except OSError:
        # Nobody reads what we write: the broker is gone. Its next start undoes what is half done.
        os._exit(1)


if __name__ == "__main__":
    main()
