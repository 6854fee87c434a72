"""CPU of one request inside a broker, without sockets: from the bytes of a read to the answer's.

`python tools/bench/bench_dispatch.py [REPETITIONS] [NAME]`, in µs, the least of all repetitions; of the lines
whose name contains NAME, if there is one. A repetition is short: one of them at least finds the machine free.
To compare two states of the tree, run it in turns in both: a machine that others use is slower for minutes.

Lines that begin alike are measured in turns. The first is a broker that has nothing but clients; the others
say what they have besides, and how many percent that adds.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time_ns
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kbroker.broker.access import Access
from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.config.broker_config import BrokerConfig
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchTopic
from kbroker.protocol.generated.produce_request import PartitionProduceData, TopicProduceData
from kbroker.security.acl import Operation, PatternType, Permission, ResourceType
from kbroker.security.authorizer import AclAuthorizer, Chain
from kbroker.server.runtime import SystemClock
from tests.handlers.node import Node, batch

RECORD_BYTES = 100
_SYNCED_TOGETHER = 64


class Broker:
    """One node, and a client of it that it knows by its quotas and ACLs."""

    def __init__(self, folder: Path, *has: str) -> None:
        node = self.node = Node(folder)
        node.services.requests.timed = "metrics" in has
        if "ACLs" in has:
            self._ask_acls()
        if "quotas" in has:
            self._measure_quotas()
        node.topic("t")
        node.topic("synced", flush_messages="1")
        node.topic("empty")

    def _ask_acls(self) -> None:
        acls = AclAuthorizer()
        access = self.node.services.authorizer = Access(Chain([acls]), acls)
        self.node.cache.subscribe(access.on_metadata)
        entry = {"principal": "User:ANONYMOUS", "host": "*", "pattern_type": PatternType.LITERAL}
        allowed = {"operation": Operation.ALL, "permission_type": Permission.ALLOW}
        topic = {"resource_type": ResourceType.TOPIC, "resource_name": "*"}
        self.node.publish(AccessControlEntryRecord(id=bytes(15) + b"1", **entry, **allowed, **topic))

    def _measure_quotas(self) -> None:
        keeper = self.node.services.quotas = QuotaKeeper(
            BrokerConfig({"node.id": "1"}), SystemClock(), self.node.timer, perf_counter, list
        )
        self.node.cache.subscribe(keeper.on_metadata)
        everybody = [EntityData(entity_type="client-id", entity_name=None)]
        for key, value in (
            ("producer_byte_rate", 1e12),
            ("consumer_byte_rate", 1e12),
            ("request_percentage", 1e6),
        ):
            self.node.publish(ClientQuotaRecord(entity=everybody, key=key, value=value))

    def produce(self, client: Any, topic: str = "t") -> bytes:
        """A frame with one record."""
        data = PartitionProduceData(index=0, records=batch(b"x" * RECORD_BYTES))
        topics = [TopicProduceData(name=topic, partition_data=[data])]
        return client.frame("Produce", 9, acks=1, timeout_ms=1000, topic_data=topics)

    def fetch(self, client: Any, topic: str) -> bytes:
        """A frame: from offset 0, one batch."""
        wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=RECORD_BYTES)
        topics = [FetchTopic(topic=topic, partitions=[wanted])]
        return client.frame(
            "Fetch", 12, max_wait_ms=0, min_bytes=1, max_bytes=1 << 20, session_epoch=-1, topics=topics
        )


class Load:
    """One connection that asks the same again and again, so many together."""

    def __init__(self, broker: Broker, make: str, together: int, times: int, *more: Any) -> None:
        client = broker.node.connect()
        frame = (
            getattr(broker, make)(client, *more)
            if hasattr(broker, make)
            else client.frame(make, *more[:1], **more[1])
        )
        for _ in range(8):  # until it is recognised
            client.core.feed(memoryview(bytearray(frame)))
            client.core.take_output()
        self._core = client.core
        self._source = frame * together
        self._times = times
        self.requests = together * times

    def run(self) -> None:
        """So many times."""
        core, source = self._core, self._source
        data = bytearray(source)  # records are patched in place
        view = memoryview(data)
        for _ in range(self._times):
            data[:] = source
            core.feed(view)
            core.take_output()


class SyncedLoad:
    """Producers with one request in flight each, which share one sync.

    The sync itself is not measured: nobody syncs.
    """

    def __init__(self, broker: Broker, times: int) -> None:
        self._jobs: list[Any] = []
        self._turn: list[Any] = []
        syncs = broker.node.replicas.syncs
        syncs._run_blocking = lambda work, done: self._jobs.append(done)
        syncs._call_soon = self._turn.append
        self._free: list[Any] = [self._client(broker) for _ in range(_SYNCED_TOGETHER)]
        for _ in range(8):
            self._round()
        self._times = times
        self.requests = _SYNCED_TOGETHER * times

    def _client(self, broker: Broker) -> Any:
        client = broker.node.connect()
        frame = broker.produce(client, "synced")
        data = bytearray(frame)
        own = (client.core, frame, data, memoryview(data))

        def answered() -> None:
            client.core.take_output()
            self._free.append(own)

        client.core.on_output = answered
        return own

    def run(self) -> None:
        """So many syncs."""
        for _ in range(self._times):
            self._round()
        assert len(self._free) == _SYNCED_TOGETHER, "all are answered, so all requests are counted"

    def _round(self) -> None:
        free, self._free = self._free, []
        for core, frame, data, view in free:
            data[:] = frame
            core.feed(view)
        for waiting in (self._turn, self._jobs):
            now, waiting[:] = waiting[:], []
            for each in now:
                each(*([None] if waiting is self._jobs else []))


class Line(NamedTuple):
    """What is printed."""

    name: str
    load: Any
    #: What it is compared with.
    first: Any


def lines(folder: Path) -> list[Line]:
    """All there are."""
    bare = Broker(folder / "bare")
    found = [
        Line(name, load, load)
        for name, load in (
            ("Fetch, a batch", Load(bare, "fetch", 1, 50, "t")),
            ("Fetch, nothing", Load(bare, "fetch", 1, 50, "empty")),
            ("ApiVersions", Load(bare, "ApiVersions", 1, 50, 2, {})),
            ("Metadata", Load(bare, "Metadata", 1, 50, 9, {"topics": []})),
        )
    ]
    name = "Produce, fsync, one in flight of 64"
    synced = SyncedLoad(bare, 2)
    found.append(Line(name, synced, synced))
    found += [
        Line(f"{name}, {has}", SyncedLoad(Broker(folder / f"synced-{has}", has), 2), synced)
        for has in ("metrics", "quotas")
    ]
    sets = [(), ("metrics",), ("quotas",), ("ACLs",), ("metrics", "quotas", "ACLs")]
    brokers = [(" + ".join(has), Broker(folder / "-".join(("with", *has)), *has)) for has in sets]
    for name, together, times in (("Produce, one in flight", 1, 100), ("Produce, 200 a read", 200, 1)):
        loads = [
            (f"{name}, {has}" if has else name, Load(each, "produce", together, times))
            for has, each in brokers
        ]
        found += [Line(full, load, loads[0][1]) for full, load in loads]
    return found


def main() -> None:
    """Measure and print."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory() as folder:
        all_lines = [line for line in lines(Path(folder)) if wanted in line.name]
        least: dict[Any, float] = {}
        for _ in range(repetitions):
            for line in all_lines:
                line.load.run()  # the caches are those of another
                began = process_time_ns()
                line.load.run()
                took = (process_time_ns() - began) / line.load.requests / 1000
                least[line.load] = min(least.get(line.load, took), took)
        for line in all_lines:
            us = least[line.load]
            more = (
                f"{100 * (us / least[line.first] - 1):+6.1f} %"
                if line.first in least and line.first is not line.load
                else ""
            )
            print(f"{line.name:48}{us:8.2f} us {more}")


main()
