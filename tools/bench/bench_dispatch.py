"""CPU of one request inside a broker, without sockets: from the bytes of a read to the answer's.

`python tools/bench/bench_dispatch.py [REPETITIONS]`, in µs, the least of all repetitions. To compare two
states of the tree, run it in turns in both: a machine that others use is slower for minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import process_time_ns

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from tests.handlers.node import Node, batch

RECORD_BYTES = 100


def least_us(core, frame: bytes, together: int, times: int, repetitions: int) -> float:
    """Of one request, where so many come with one read."""
    source = frame * together
    data = bytearray(source)  # records are patched in place
    view = memoryview(data)
    least = 10**12
    for _ in range(repetitions):
        began = process_time_ns()
        for _ in range(times):
            data[:] = source
            core.feed(view)
            core.take_output()
        least = min(least, process_time_ns() - began)
    return least / times / together / 1000


def produce_frame(client) -> bytes:
    """One record to t-0."""
    data = PartitionProduceData(index=0, records=batch(b"x" * RECORD_BYTES))
    topics = [TopicProduceData(name="t", partition_data=[data])]
    return client.frame("Produce", 9, acks=1, timeout_ms=1000, topic_data=topics)


def fetch_frame(client, topic: str) -> bytes:
    """From offset 0, one batch."""
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=RECORD_BYTES)
    topics = [FetchTopic(topic=topic, partitions=[wanted])]
    return client.frame(
        "Fetch", 12, max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, session_epoch=-1, topics=topics
    )


def main() -> None:
    """Measure and print."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    with tempfile.TemporaryDirectory() as folder:
        node = Node(Path(folder) / "data")
        node.services.requests.timed = False  # as a broker without a metrics listener
        node.topic("t")
        node.topic("empty")
        lines = (
            ("Produce, one in flight", produce_frame, 1, 300),
            ("Produce, 200 a read", produce_frame, 200, 4),
            ("Fetch, a batch", lambda client: fetch_frame(client, "t"), 1, 200),
            ("Fetch, nothing", lambda client: fetch_frame(client, "empty"), 1, 200),
            ("ApiVersions", lambda client: client.frame("ApiVersions", 2), 1, 200),
            ("Metadata", lambda client: client.frame("Metadata", 9, topics=[]), 1, 200),
        )
        for name, make, together, times in lines:
            client = node.connect()
            frame = make(client)
            for _ in range(8):  # until it is recognised
                client.core.feed(memoryview(bytearray(frame)))
                client.core.take_output()
            print(f"{name:24}{least_us(client.core, frame, together, times, repetitions):8.2f} us")


main()
