"""The process that looks into batches for a broker: `python -m kbroker.server.look_worker`.

A look comes in on standard input, what it found goes out on standard output. It ends when its input does, and
when nobody has wanted anything for a while: the broker starts another.

On Linux it begins as one that runs only when its core has nothing else to do: the kernel lets any other wait
for up to some milliseconds, however nice it is, while it has just begun. Where others leave it nothing it
ends, too, and the next is begun with `hurry`, as one that is merely nice.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from struct import Struct
from typing import Any, BinaryIO, Final

from kbroker.storage.append_checks import BatchLook
from kbroker.storage.disk import Buffer
from kbroker.storage.time_search import TimeLook

#: What it says when it is ready.
READY = b"\x01"
#: The status it ends with if it did not get on.
STARVED = 3
#: Seconds without work after which it ends.
_IDLE_S = 60
#: How often, in seconds, it looks whether it gets on, and the least share of a core that is getting on.
_CHECK_S, _SHARE_MIN = 0.5, 0.05
_NICE = 10
_LENGTHS = Struct(">Iq")
#: What can be asked for.
LOOKS: Final[dict[str, Any]] = {each.__name__: each for each in (BatchLook, TimeLook)}


def send(out: BinaryIO, value: object, data: Buffer | None) -> None:
    """A JSON value, and bytes or none. Raises OSError."""
    text = json.dumps(value, separators=(",", ":")).encode()
    out.write(_LENGTHS.pack(len(text), -1 if data is None else len(data)))
    out.write(text)
    if data is not None:
        out.write(data)
    out.flush()


def receive(source: BinaryIO) -> tuple[Any, bytearray | None]:
    """What `send` has sent. Raises EOFError."""
    text_size, size = _LENGTHS.unpack(_read(source, _LENGTHS.size))
    value = json.loads(_read(source, text_size))
    return value, None if size < 0 else _read(source, size)


def _read(source: BinaryIO, size: int) -> bytearray:
    out = bytearray(size)
    if source.readinto(out) != size:  # type: ignore[attr-defined]
        raise EOFError
    return out


class Alarm:
    """Ends this process when it has waited for too long, for work or for a core."""

    def __init__(self) -> None:
        self._begun: tuple[float, float] | None = None
        signal.signal(signal.SIGALRM, self._ring)

    def wait(self) -> None:
        """It waits for work."""
        self._begun = None
        signal.setitimer(signal.ITIMER_REAL, _IDLE_S)

    def work(self) -> None:
        """It works."""
        self._begun = time.monotonic(), time.process_time()
        signal.setitimer(signal.ITIMER_REAL, _CHECK_S, _CHECK_S)

    def _ring(self, number: int, frame: object) -> None:
        if self._begun is None:
            os._exit(0)
        now, cpu = time.monotonic(), time.process_time()
        if is_starved(now - self._begun[0], cpu - self._begun[1]):
            os._exit(STARVED)
        self._begun = now, cpu


def is_starved(seconds: float, cpu_seconds: float) -> bool:
    """Whether who has worked for so long has got too little of a core."""
    return cpu_seconds < _SHARE_MIN * seconds


def serve(source: BinaryIO, out: BinaryIO, alarm: Alarm | None = None) -> None:
    """Run looks until there are no more."""
    out.write(READY)
    out.flush()
    while True:
        if alarm is not None:
            alarm.wait()
        if not source.peek(1):  # type: ignore[attr-defined]
            return
        if alarm is not None:
            alarm.work()
        (kind, values), data = receive(source)
        look = LOOKS[kind].of_order(values, data)
        problem, found, out_data = None, None, None
        try:
            look.run()
            found, out_data = look.outcome
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        send(out, [problem, found], out_data)
        del look, data, out_data


def give_way(*, hurry: bool) -> bool:
    """Whether it runs only when nobody else does from here on; else it is as nice as can be done here."""
    with contextlib.suppress(OSError):
        if not hurry and hasattr(os, "SCHED_IDLE"):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            return True
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0), _NICE))
    return False


def main() -> None:
    """Serve until the input ends."""
    # Ctrl-C goes to the whole group of processes; the broker ends us in its own order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    is_last = give_way(hurry="hurry" in sys.argv)
    with contextlib.suppress(OSError, EOFError):  # the broker is gone
        serve(sys.stdin.buffer, sys.stdout.buffer, Alarm() if is_last else None)


if __name__ == "__main__":
    main()
