"""Send generated requests to Apache Kafka and to kbroker and tell where the answers differ.

    python -m tools.differential --seed N... [--steps N] [--api NAME...]

Both brokers are started fresh. A difference is cut down to the steps that it needs and printed; differences
that docs/differences.md explains are only counted. `--keep FOLDER` writes the agreed answers as a recording
that tests/differential replays without Kafka. Exit status: 0 nothing new, 1 something differs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tools.differential.brokers import AUTHORIZER, running_kafka, running_kbroker
from tools.differential.history import history
from tools.differential.known import reason
from tools.differential.recompression import Recompressed
from tools.differential.recording import Recording
from tools.differential.reduction import reduced
from tools.differential.report import printed, signature
from tools.differential.session import Exchange, Session

_CACHE = Path(os.environ.get("KBROKER_TEST_CACHE", Path.home() / ".cache" / "kbroker-tests"))
#: So many answers in a row that only Kafka owes: it is stuck or gone.
_LOST_MAX = 6
#: Where their answers differ, what the two brokers keep may differ from then on.
_PARTING = frozenset(
    (
        "Produce", "WriteTxnMarkers", "AddPartitionsToTxn", "InitializeShareGroupState",
        "WriteShareGroupState", "DeleteShareGroupState", "AlterShareGroupOffsets", "DeleteShareGroupOffsets",
    )
)  # fmt: skip


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tools.differential", description=__doc__)
    parser.add_argument(
        "--seed", type=int, nargs="+", default=[1], help="one history after the other on the same brokers"
    )
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--api", nargs="+", metavar="NAME", help="only these, besides what makes topics")
    parser.add_argument("--kafka", metavar="HOST:PORT", help="a fresh Kafka that runs already")
    parser.add_argument("--port", type=int, default=40300, help="for Kafka; the next one is its controller's")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="write the agreed answers into a file there"
    )
    parser.add_argument("--authorizer", action="store_true", help="with an authorizer")
    parser.add_argument("--no-reduce", action="store_true", help="print differences as they are found")
    arguments = parser.parse_args()
    more = AUTHORIZER if arguments.authorizer else {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the brokers must not outlive this
    with contextlib.ExitStack() as stack:
        kafka = arguments.kafka or stack.enter_context(running_kafka(_CACHE, arguments.port, more))
        kbroker = stack.enter_context(running_kbroker(more))
        recording = Recording(arguments.seed, more)
        run = _Run(kafka, kbroker, recording, reduce=not arguments.no_reduce)
        for seed in arguments.seed:
            run.hold(seed, arguments.steps, arguments.api)
    if arguments.keep is not None:
        with running_kafka(_CACHE, arguments.port, more) as kafka:
            print(recording.confirm(kafka), "answers are not the same in a second Kafka, and not kept")
        print("kept in", recording.write(arguments.keep))
    run.summary()
    return 1 if run.new else 0


class _Run:
    def __init__(self, kafka: str, kbroker: str, recording: Recording, *, reduce: bool) -> None:
        self._recording = recording
        self._addresses = (kafka, kbroker)
        self._reduce = reduce
        self._recompressed = Recompressed()
        self._lost = 0
        self._apart = self._parted = False
        self.asked: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.new: Counter[str] = Counter()

    def hold(self, seed: int, steps: int, apis: list[str] | None) -> None:
        """One seed's history."""
        session = Session(*self._addresses, self._recompressed)
        generator = history(seed, steps, apis, self._are_apart, not self._parted)
        began = time.monotonic()
        taken: list[dict[str, Any]] = []
        answer: Any = None
        try:
            while True:
                try:
                    step = generator.send(answer)
                except StopIteration:
                    break
                exchange = session.exchange(step)
                taken.append(step)
                answer = exchange.theirs
                self._judge(exchange, taken)
                self._recording.add(exchange)
        finally:
            session.close()
        print(f"seed {seed}: {len(taken)} steps in {time.monotonic() - began:.1f} s", flush=True)

    def _are_apart(self) -> bool:
        """Whether one broker may have kept, since this was asked last, what the other has refused."""
        apart, self._apart = self._apart, False
        self._parted = self._parted or apart
        return apart

    def _judge(self, exchange: Exchange, taken: list[dict[str, Any]]) -> None:
        if exchange.theirs is not None:
            self.asked[exchange.api] += 1
        if not exchange.differences:
            self._lost = 0
            return
        self._apart = self._apart or exchange.api in _PARTING
        self._lost = self._lost + 1 if exchange.theirs in ("closed", "timeout") else 0
        if self._lost >= _LOST_MAX:
            raise RuntimeError("Apache Kafka does not answer any more")
        why = reason(exchange)
        if why is not None:
            self.known[why] += 1
            return
        name = signature(exchange)
        self.new[name] += 1
        if self.new[name] > 1:
            return
        script = reduced(taken, exchange, self._addresses) if self._reduce else [exchange.step]
        print(printed(script, exchange), flush=True)

    def summary(self) -> None:
        """Counts."""
        print(f"{sum(self.asked.values())} requests compared:", dict(self.asked.most_common()))
        for title, counter in (("explained", self.known), ("new", self.new)):
            print(f"{sum(counter.values())} {title} differences")
            for name, count in counter.most_common():
                print(f"  {count:5} {name}")


if __name__ == "__main__":
    sys.exit(main())
