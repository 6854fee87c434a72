"""CPU of a Metadata answer for many partitions, without sockets: from the bytes of a read to the answer's.

`python tools/bench/bench_metadata.py [TOPICS] [PARTITIONS]` (10 topics of 1,000), in milliseconds, the least
of all rounds: asked again, after one topic has changed, and where nothing is remembered.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.handlers.node import Node

_ROUNDS = 15
_VERSION = 12


def main() -> None:
    """Measure and print."""
    topics = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    partitions = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as folder:
        node = Node(Path(folder))
        # Led by another broker, so that there are no logs of them here.
        ids = [
            node.topic(f"topic-{number}", partitions, replicas=(2, 3, 4), leader=2)
            for number in range(topics)
        ]
        client = node.connect()
        frame = client.frame("Metadata", _VERSION, topics=None)

        def asked() -> float:
            data = memoryview(bytearray(frame))
            began = process_time_ns()
            client.core.feed(data)
            client.core.take_output()
            return (process_time_ns() - began) / 1e6

        nothing = client.frame("Metadata", _VERSION, topics=[])
        client.core.feed(memoryview(bytearray(nothing)))  # imports what answers
        client.core.take_output()
        first = asked()
        again = min(asked() for _ in range(_ROUNDS))
        changed = []
        for leader in range(_ROUNDS):
            node.move_leader(ids[0], 0, 3 + leader % 2)
            changed.append(asked())
        print(f"{topics} topics of {partitions} partitions, Metadata {_VERSION}")
        for name, took in (
            ("nothing remembered", first),
            ("a topic changed", min(changed)),
            ("again", again),
        ):
            print(f"{name:20}{took:8.2f} ms")


main()
