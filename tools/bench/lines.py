"""The lines of the table: what is measured on one broker, in order."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tools.bench import consumer_groups, groups, librdkafka, shares, transactions, wire
from tools.bench.brokers import BrokerProcess
from tools.bench.load import Load, one_in_flight, pipelined

MB = 1_000_000
_TOPICS = 100
_MEMBERS = 500
_SHARE_MEMBERS = 4
#: flush.messages as it is by default: acknowledged when written, not when forced to disk.
_NEVER = str(2**63 - 1)


@dataclass
class Options:
    """How long, and which lines (their names contain one of `only`; empty: all)."""

    quick: bool = False
    only: list[str] = field(default_factory=list)

    def wants(self, name: str) -> bool:
        return not self.only or any(text.lower() in name.lower() for text in self.only)

    @property
    def seconds(self) -> float:
        """The length of one load."""
        return 1.0 if self.quick else 2.5

    @property
    def warm_up_seconds(self) -> float:
        """Before each load; a JVM compiles what is hot."""
        return 0.5 if self.quick else 1.5


@dataclass(frozen=True)
class Measured:
    """One figure; `cpu` is what the broker's core spent on it, per request or per GB."""

    value: float
    unit: str
    less_is_better: bool = False
    cpu: float | None = None
    cpu_unit: str = ""


Results = dict[str, Measured]
Progress = Callable[[str], None]


def first_produce(broker: BrokerProcess, topic: str) -> float:
    """Start the broker: seconds from its first process to the first acknowledged produce."""
    framed = wire.produce_frame(topic, 100)
    started = time.perf_counter()
    if not broker.folder.joinpath("data").exists():
        broker.prepare()
    broker.start()
    while True:
        try:
            sock = wire.connect(broker.address)
            wire.create_topics(sock, topic)
            wire.produce_until_accepted(sock, framed)
        except OSError:
            broker.check_alive()
            time.sleep(0.002)
            continue
        sock.close()
        return time.perf_counter() - started


def measure(broker: BrokerProcess, options: Options, progress: Progress) -> Results:
    """All lines that `options` want, on a broker that was never started."""
    results: Results = {}

    def note(name: str, measured: Measured) -> None:
        if options.wants(name):
            results[name] = measured
            progress(f"{broker.label}: {name}: {measured.value:,.4g} {measured.unit}")

    seconds = first_produce(broker, "first")
    note("start, empty folder", Measured(seconds, "s", less_is_better=True))
    idle = ("memory, idle", "CPU, idle")
    if any(map(options.wants, idle)):
        for name, measured in zip(idle, _idle(broker, options)):
            note(name, measured)
    loads = [(name, run) for name, run in _loads() if options.wants(name)]
    if loads:
        _warm_up(broker, options)
    for name, run in loads:
        note(name, run(broker, options))
    for name, measured in _librdkafka(broker, options):
        note(name, measured)
    for name, measured in _groups(broker, options):
        note(name, measured)
    for name, measured in _consumer_groups(broker, options):
        note(name, measured)
    for name, measured in _shares(broker, options):
        note(name, measured)
    for name, measured in _transactions(broker, options):
        note(name, measured)
    note("memory, after the load", Measured(broker.resident_mb(), "MB", less_is_better=True))
    if options.wants("start, 100 topics") or options.wants("stop"):
        with _connection(broker) as sock:
            wire.create_topics(sock, *(f"topic-{i}" for i in range(_TOPICS)))
        note("stop", Measured(broker.stop(), "s", less_is_better=True))
        seconds = first_produce(broker, "topic-7")
        note("start, 100 topics", Measured(seconds, "s", less_is_better=True))
    return results


@contextmanager
def _connection(broker: BrokerProcess) -> Iterator[socket.socket]:
    sock = wire.connect(broker.address)
    try:
        yield sock
    finally:
        sock.close()


def _idle(broker: BrokerProcess, options: Options) -> tuple[Measured, Measured]:
    time.sleep(1 if options.quick else 3)  # what a start leaves to do is not idleness
    seconds = 2 if options.quick else 5
    before = broker.idle_cpu_seconds()
    time.sleep(seconds)
    percent = 100 * (broker.idle_cpu_seconds() - before) / seconds
    memory = Measured(broker.resident_mb(), "MB", less_is_better=True)
    return memory, Measured(percent, "%", less_is_better=True)


def _loads() -> list[tuple[str, Callable[[BrokerProcess, Options], Measured]]]:
    return [
        ("produce 100 B, pipelined", lambda b, o: _produce(b, o, 100, together=128, ahead=1024)),
        ("produce 100 B, 16 connections", lambda b, o: _produce_one_in_flight(b, o, 16)),
        ("produce 100 B, 64 connections, fsync", lambda b, o: _produce_one_in_flight(b, o, 64, "1")),
        # max.in.flight.requests.per.connection of Java's producer.
        (
            "produce 100 B, 64 connections, 5 in flight, fsync",
            lambda b, o: _produce_one_in_flight(b, o, 64, "1", together=5),
        ),
        (
            "produce 100 B, pipelined, fsync",
            lambda b, o: _produce(b, o, 100, together=64, ahead=512, flush_messages="1"),
        ),
        (
            "produce 16 KB",
            lambda b, o: _produce(b, o, 1000, records=16, together=4, ahead=64, most_bytes=600 * MB),
        ),
        (
            "produce 1 MB",
            lambda b, o: _produce(b, o, 1000, records=980, together=1, ahead=4, most_bytes=1200 * MB),
        ),
        ("fetch 200 B", lambda b, o: _fetch(b, o, 1, 100, together=16, ahead=128)),
        ("fetch 64 KB", lambda b, o: _fetch(b, o, 64, 1000, together=1, ahead=8)),
        ("fetch 1 MB", lambda b, o: _fetch(b, o, 980, 1000, together=1, ahead=3)),
    ]


def _warm_up(broker: BrokerProcess, options: Options) -> None:
    """Produce and fetch for as long as the broker needs to reach its speed."""
    produce = wire.produce_frame("warm", 100)
    fetch = wire.fetch_frame("warm", 0, 1)
    sockets = [wire.connect(broker.address) for _ in range(16)]
    first = sockets[0]
    wire.create_topics(first, "warm")
    produce_size = wire.produce_until_accepted(first, produce)
    _, fetch_size = wire.ask(first, fetch)
    rounds = broker.warm_up_rounds // (2 if options.quick else 1)
    for _ in range(rounds):
        pipelined(first, produce, produce_size, together=128, ahead=1024, seconds=0.5, most=10**9)
        one_in_flight(sockets, produce, produce_size, seconds=0.5)
        pipelined(first, fetch, fetch_size, together=16, ahead=128, seconds=0.3, most=10**9)
    for sock in sockets:
        sock.close()
    with _connection(broker) as sock:
        wire.delete_topic(sock, "warm")


def _produce(
    broker: BrokerProcess,
    options: Options,
    value_bytes: int,
    *,
    records: int = 1,
    together: int,
    ahead: int,
    most_bytes: int = 10**12,
    flush_messages: str = _NEVER,
) -> Measured:
    framed = wire.produce_frame("load", value_bytes, records)
    with _connection(broker) as sock:
        wire.create_topics(sock, "load", flush_messages=flush_messages)
        size = wire.produce_until_accepted(sock, framed)
        most = most_bytes // len(framed)
        warm = pipelined(
            sock,
            framed,
            size,
            together=together,
            ahead=ahead,
            seconds=options.warm_up_seconds,
            most=most // 2,
        )
        before = broker.cpu_seconds()
        load = pipelined(
            sock, framed, size, together=together, ahead=ahead, seconds=options.seconds, most=most
        )
        cpu = broker.cpu_seconds() - before
        _check_end(sock, (1 + warm.requests + load.requests) * records)
        wire.delete_topic(sock, "load")
    return _per_request(load, cpu)


def _produce_one_in_flight(
    broker: BrokerProcess,
    options: Options,
    connections: int,
    flush_messages: str = _NEVER,
    together: int = 1,
) -> Measured:
    """Each connection sends so many requests together, and the next when all are answered."""
    framed = wire.produce_frame("load", 100)
    sockets = [wire.connect(broker.address) for _ in range(connections)]
    wire.create_topics(sockets[0], "load", flush_messages=flush_messages)
    size = wire.produce_until_accepted(sockets[0], framed)
    framed, size = framed * together, size * together
    warm = one_in_flight(sockets, framed, size, seconds=options.warm_up_seconds)
    before = broker.cpu_seconds()
    load = one_in_flight(sockets, framed, size, seconds=options.seconds)
    cpu = broker.cpu_seconds() - before
    _check_end(sockets[0], 1 + (warm.requests + load.requests) * together)
    load = Load(load.requests * together, load.seconds)
    wire.delete_topic(sockets[0], "load")
    for sock in sockets:
        sock.close()
    return _per_request(load, cpu)


def _check_end(sock: socket.socket, expected: int) -> None:
    """A fast answer counts only if the record is there."""
    end = wire.end_offset(sock, "load")
    if end != expected:
        raise RuntimeError(f"{expected} records were acknowledged, the log ends at {end}")


def _per_request(load: Load, cpu: float) -> Measured:
    return Measured(load.rate, "requests/s", cpu=1e6 * cpu / load.requests, cpu_unit="µs/request")


def _fetch(
    broker: BrokerProcess, options: Options, records: int, value_bytes: int, *, together: int, ahead: int
) -> Measured:
    """One whole batch again and again: it stays in the page cache, as a tail that many consumers read."""
    with _connection(broker) as sock:
        wire.create_topics(sock, "load")
        wire.produce_until_accepted(sock, wire.produce_frame("load", value_bytes, records))
        framed = wire.fetch_frame("load", 0, 1)
        answer, size = wire.ask(sock, framed)
        if answer.responses[0].partitions[0].error_code or size < records * value_bytes:
            raise RuntimeError(f"fetch answers {answer}")

        def run(seconds: float) -> Load:
            return pipelined(sock, framed, size, together=together, ahead=ahead, seconds=seconds, most=10**9)

        run(options.warm_up_seconds)
        before = broker.cpu_seconds()
        load = run(options.seconds)
        cpu = broker.cpu_seconds() - before
        wire.delete_topic(sock, "load")
    if size < 10_000:
        return _per_request(load, cpu)
    gigabytes = load.requests * size / 1e9
    return Measured(gigabytes / load.seconds, "GB/s", cpu=cpu / gigabytes, cpu_unit="s/GB")


def _librdkafka(broker: BrokerProcess, options: Options) -> Iterator[tuple[str, Measured]]:
    names = [
        "latency, librdkafka, p50",
        "latency, librdkafka, p99",
        "produce, librdkafka",
        "consume, librdkafka",
    ]
    wanted = [options.wants(name) for name in names]
    if any(wanted):
        with _connection(broker) as sock:
            wire.create_topics(sock, "latency", "stream")
            wire.produce_until_accepted(sock, wire.produce_frame("latency", 100))
            wire.produce_until_accepted(sock, wire.produce_frame("stream", 100))
    if wanted[0] or wanted[1]:
        before = broker.cpu_seconds()
        p50, p99, count = librdkafka.latency_us(broker.bootstrap, "latency", 4000, 1.5 * options.seconds)
        cpu = 1e6 * (broker.cpu_seconds() - before) / count
        yield names[0], Measured(p50, "µs", less_is_better=True, cpu=cpu, cpu_unit="µs/message")
        yield names[1], Measured(p99, "µs", less_is_better=True)
    count = 100_000 if options.quick else 400_000
    if wanted[2] or wanted[3]:
        yield names[2], _stream(broker, librdkafka.produce_rate, count)
        yield names[3], _stream(broker, librdkafka.consume_rate, count)


def _stream(broker: BrokerProcess, run: Callable[[str, str, int], float], count: int) -> Measured:
    before = broker.cpu_seconds()
    rate = run(broker.bootstrap, "stream", count)
    cpu = 1e6 * (broker.cpu_seconds() - before) / count
    return Measured(rate, "messages/s", cpu=cpu, cpu_unit="µs/message")


#: Name, load, kind of request, whether all members are of one group.
_GROUP_LOADS = (
    ("offset commit, 16 members of a group", groups.each_in_flight, "commit", True),
    ("offset commit, 16 groups", groups.each_in_flight, "commit", False),
    ("offset commit, pipelined", groups.pipeline, "commit", False),
    ("offset fetch, 16 groups", groups.each_in_flight, "fetch", False),
    ("heartbeat, 16 groups", groups.each_in_flight, "heartbeat", False),
)


def _groups(broker: BrokerProcess, options: Options) -> Iterator[tuple[str, Measured]]:
    join = f"{_MEMBERS} members join one group"
    wanted = [line for line in _GROUP_LOADS if options.wants(line[0])]
    if not wanted and not options.wants(join):
        return
    with _connection(broker) as sock:
        wire.create_topics(sock, "load")
        wire.produce_until_accepted(sock, wire.produce_frame("load", 100))
    for name, run, kind, one_group in wanted:
        committers = groups.Committers(broker, 16, one_group=one_group)
        for _ in range(broker.warm_up_rounds):
            run(committers, kind, 0.3)
        before = broker.cpu_seconds()
        load = run(committers, kind, options.seconds)
        yield name, _per_request(load, broker.cpu_seconds() - before)
        committers.close()
    if options.wants(join):
        for attempt in range(min(4, broker.warm_up_rounds)):
            groups.join_seconds(broker, _MEMBERS, f"warm-{attempt}")
        before = broker.cpu_seconds()
        seconds = groups.join_seconds(broker, _MEMBERS, "many")
        cpu = 1e6 * (broker.cpu_seconds() - before) / _MEMBERS
        yield join, Measured(seconds, "s", less_is_better=True, cpu=cpu, cpu_unit="µs/member")


def _consumer_groups(broker: BrokerProcess, options: Options) -> Iterator[tuple[str, Measured]]:
    name = f"{_MEMBERS} members of a new-protocol group"
    if not options.wants(name):
        return
    with _connection(broker) as sock:
        wire.create_topics(sock, consumer_groups.TOPIC, partitions=_MEMBERS)
    for attempt in range(min(2, broker.warm_up_rounds)):
        consumer_groups.stable_seconds(broker, _MEMBERS, f"new-warm-{attempt}")
    before = broker.cpu_seconds()
    seconds = consumer_groups.stable_seconds(broker, _MEMBERS, "new-many")
    cpu = 1e6 * (broker.cpu_seconds() - before) / _MEMBERS
    yield name, Measured(seconds, "s", less_is_better=True, cpu=cpu, cpu_unit="µs/member")


def _shares(broker: BrokerProcess, options: Options) -> Iterator[tuple[str, Measured]]:
    name = f"share group, {_SHARE_MEMBERS} members"
    if not options.wants(name):
        return
    # What is acknowledged is done with: each load has a group of its own, on a log that lasts.
    batches = 400 if options.quick else 800
    shares.fill(broker, "shared", _SHARE_MEMBERS, batches, 100)
    most = _SHARE_MEMBERS * batches * shares.RECORDS
    for attempt in range(broker.warm_up_rounds):
        _share(broker, f"share-warm-{attempt}", options.warm_up_seconds, most)
    count, seconds, cpu = _share(broker, "share-load", options.seconds, most)
    yield name, Measured(count / seconds, "/s", cpu=1e6 * cpu / count, cpu_unit="µs")
    with _connection(broker) as sock:
        wire.delete_topic(sock, "shared")


def _share(broker: BrokerProcess, group: str, seconds: float, most: int) -> tuple[int, float, float]:
    """Records delivered, in how many seconds, and the broker's CPU seconds."""
    members = shares.join(broker, group, "shared", _SHARE_MEMBERS)
    try:
        before = broker.cpu_seconds()
        count, took = shares.deliver(members, seconds, most)
        return count, took, broker.cpu_seconds() - before
    finally:
        for member in members:
            member.close()


_TXN_NAMES = (
    "transactions of 10 records, 1 producer",
    "commit, p50",
    "commit, p99",
    "transactions of 10 records, 50 producers",
    "produce in transactions, 64 KB",
)


def _transactions(broker: BrokerProcess, options: Options) -> Iterator[tuple[str, Measured]]:
    one, p50, p99, fifty, stream = _TXN_NAMES
    if not any(map(options.wants, _TXN_NAMES)):
        return
    with _connection(broker) as sock:
        wire.create_topics(sock, "load")
        wire.produce_until_accepted(sock, wire.produce_frame("load", 100))
    if any(map(options.wants, (one, p50, p99))):
        load, cpu, _ = _transact(broker, options, producers=1, records=10, size=100, batches=1)
        yield one, _per_transaction(load, cpu)
        commits = load.commits
        for name, part in ((p50, 0.5), (p99, 0.99)):
            yield name, Measured(1e6 * commits[int(part * len(commits))], "µs", less_is_better=True)
    if options.wants(fifty):
        load, cpu, _ = _transact(broker, options, producers=50, records=10, size=100, batches=1)
        yield fifty, _per_transaction(load, cpu)
    if options.wants(stream):
        load, cpu, written = _transact(broker, options, producers=1, records=64, size=1000, batches=32)
        gigabytes = written / 1e9
        yield stream, Measured(1000 * gigabytes / load.seconds, "MB/s", cpu=cpu / gigabytes, cpu_unit="s/GB")


def _transact(
    broker: BrokerProcess, options: Options, *, producers: int, records: int, size: int, batches: int
) -> tuple[transactions.Measure, float, int]:
    """What was done, the broker's CPU seconds, and the bytes that were written."""
    name = f"bench-{producers}-{batches}"
    made = [
        transactions.Producer(broker, f"{name}-{i}", "load", records, size, batches) for i in range(producers)
    ]
    try:
        for _ in range(broker.warm_up_rounds):
            transactions.run(made, 0.3)
        before = broker.cpu_seconds()
        load = transactions.run(made, options.seconds)
        cpu = broker.cpu_seconds() - before
    finally:
        for each in made:
            each.sock.close()
    return load, cpu, load.transactions * batches * made[0].batch_bytes


def _per_transaction(load: transactions.Measure, cpu: float) -> Measured:
    return Measured(load.rate, "transactions/s", cpu=1e6 * cpu / load.transactions, cpu_unit="µs/transaction")
