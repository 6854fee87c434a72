"""Kafka's client quotas over a minute: what passes of T, with 1 client and with 50 that share the quota.

Run: python -m tools.bench.bench_quotas [--kafka] [--only produce] [--seconds 60]

Loads that do not disturb each other run at the same time, against both brokers: each has a client id (or an
address) of its own, and so a quota of its own. Clients do not wait when they are told to: the broker has to
keep them off. --precedence (root, Linux) lets brokers and load go before all others; start it with `setsid`.

What requests take is told by the broker's own `request-time`, a rate over the last 11 s that takes its time
to rise. So it is read every 11 s from the beginning of the load on: these windows lie side by side, and their
mean is what was taken.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.quotas import alter_quotas
from kbroker.protocol.api_keys import ApiKey, response_class
from kbroker.protocol.generated.api_versions_request import ApiVersionsRequest
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from tools.bench import wire
from tools.bench.brokers import BrokerProcess, Kafka, Kbroker, free_port, go_first
from tools.bench.lines import first_produce
from tools.frame_headers import parse_response_header, request_header_bytes

_CACHE = Path.home() / ".cache" / "kbroker-tests"
_BURST_S = 11


class Quota(NamedTuple):
    """What is limited, to how much; a bucket that starts full lets so many seconds of it pass besides."""

    name: str
    limit: float
    burst_s: int = 0


_PRODUCE = Quota("producer_byte_rate", 1e6)
_CONSUME = Quota("consumer_byte_rate", 1e6)
_REQUEST = Quota("request_percentage", 5)
_MUTATIONS = Quota("controller_mutation_rate", 2, burst_s=11)
_CONNECTIONS = Quota("connection_creation_rate", 10)
_LISTENER = Quota("max.connection.creation.rate", 10)
_GROUPS = ([_PRODUCE, _CONSUME], [_REQUEST], [_MUTATIONS, _CONNECTIONS], [_LISTENER])
_CROWDS = (1, 50)


def main() -> None:
    """Measure and print, one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--kafka", action="store_true", help="measure Apache Kafka in the same run")
    parser.add_argument("--only", default="", metavar="TEXT", help="quotas whose name contains it")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--precedence", action="store_true", help="go before all others on this machine")
    arguments = parser.parse_args()
    brokers: list[BrokerProcess] = [_Kbroker()]
    if arguments.kafka:
        brokers.append(_Kafka(Path(os.environ.get("KBROKER_TEST_CACHE") or _CACHE)))
    try:
        for broker in brokers:
            broker.one_core = False
            first_produce(broker, "load")
            if arguments.precedence:
                go_first(broker)
        for group in _GROUPS:
            if quotas := [quota for quota in group if arguments.only in quota.name]:
                asyncio.run(_measure(brokers, quotas, arguments.seconds))
    finally:
        for broker in brokers:
            broker.remove()


# -- brokers ---------------------------------------------------------------------------------------------


class _Kbroker(Kbroker):
    def __init__(self) -> None:
        super().__init__()
        self._metrics = free_port()

    def command(self) -> list[str]:
        return [*super().command(), "--set", f"kbroker.metrics.listener=127.0.0.1:{self._metrics}"]

    async def request_times(self, client_id: str) -> AsyncIterator[float]:
        """What the broker itself measures, once a second, in per cent."""
        name = urllib.parse.quote(f"kafka.server:type=Request,client-id={client_id}")
        url = f"http://127.0.0.1:{self._metrics}/jolokia/read/{name}/request-time"

        def read() -> float:
            with urllib.request.urlopen(url) as answer:
                return float(json.load(answer).get("value") or 0)

        while True:
            yield await asyncio.to_thread(read)
            await asyncio.sleep(1)


class _Kafka(Kafka):
    def __init__(self, cache: Path) -> None:
        super().__init__(cache)
        self._jmx = free_port()

    def command(self) -> list[str]:
        java, *rest = super().command()
        prefix = "-Dcom.sun.management.jmxremote"
        no = [f"{prefix}.{name}=false" for name in ("authenticate", "ssl")]
        return [java, f"{prefix}.port={self._jmx}", "-Djava.rmi.server.hostname=127.0.0.1", *no, *rest]

    async def request_times(self, client_id: str) -> AsyncIterator[float]:
        """As `_Kbroker.request_times`, by Kafka's JmxTool."""
        tool = ["org.apache.kafka.tools.JmxTool", "--reporting-interval", "1000", "--wait"]
        tool += ["--jmx-url", f"service:jmx:rmi:///jndi/rmi://127.0.0.1:{self._jmx}/jmxrmi"]
        tool += ["--object-name", f"kafka.server:type=Request,client-id={client_id}"]
        process = await asyncio.create_subprocess_exec(
            *self._java("-Xmx128M", *tool, "--attributes", "request-time"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                time_ms, _, value = line.decode().strip().partition(",")
                if time_ms.isdigit():
                    yield float(value)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


# -- loads -----------------------------------------------------------------------------------------------


class _Tally:
    """What passed, by second."""

    def __init__(self, seconds: int) -> None:
        self.began = time.monotonic()
        self._seconds = seconds
        self._by_second = [0.0] * seconds

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.began + self._seconds

    def add(self, amount: float) -> None:
        second = int(time.monotonic() - self.began)
        if second < self._seconds:
            self._by_second[second] += amount

    def rate(self, since: int = 0) -> float:
        return sum(self._by_second[since:]) / (self._seconds - since)


class _RequestTimes:
    """What a broker measures itself, with the time of each reading."""

    def __init__(self, broker: Any, client_id: str) -> None:
        self._began = asyncio.Event()
        self._readings: list[tuple[float, float]] = []
        self._task = asyncio.ensure_future(self._read(broker.request_times(client_id)))

    async def _read(self, values: AsyncIterator[float]) -> None:
        async for value in values:
            self._readings.append((time.monotonic(), value))
            self._began.set()

    async def begin(self) -> None:
        """There is a first reading."""
        await asyncio.wait_for(self._began.wait(), 60)

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def windows(self, began: float, seconds: int) -> list[float]:
        """Those of 11 s that lie side by side, from the beginning of the load on."""
        ends = [began + end for end in range(_BURST_S, seconds + 1, _BURST_S)]
        return [min(self._readings, key=lambda one: abs(one[0] - end))[1] for end in ends]


async def _measure(brokers: list[BrokerProcess], quotas: list[Quota], seconds: int) -> None:
    loads = []
    for broker in brokers:
        with Cluster(broker.bootstrap) as cluster, wire.connect(broker.address) as sock:
            wire.produce_until_accepted(sock, wire.produce_frame("load", 16_000))
            await _warm_up(broker)
            for quota in quotas:
                for crowd in _CROWDS:
                    _set(cluster, quota, crowd)
        loads += [(broker, quota, crowd) for quota in quotas for crowd in _CROWDS]
    times = {}
    for broker, quota, crowd in loads:
        if quota is _REQUEST:
            client_id = _client_id(quota, crowd)
            await _ask_once(broker, client_id)
            times[client_id, broker.label] = _RequestTimes(broker, client_id)
    if times:
        await asyncio.gather(*(each.begin() for each in times.values()))
        await asyncio.sleep(_BURST_S + 1)  # nothing is in the window any more
    runs = [_load(*load, seconds, times.get((_client_id(*load[1:]), load[0].label))) for load in loads]
    for line in await asyncio.gather(*runs):
        print(line, flush=True)
    if _LISTENER in quotas:
        for broker in brokers:
            with Cluster(broker.bootstrap) as cluster:
                alter_configs(cluster, ResourceType.BROKER, "", delete=[_LISTENER.name])


async def _warm_up(broker: BrokerProcess) -> None:
    """A JVM that compiles has other figures; without a quota, as the client id has none."""
    tally = _Tally(5)
    await _until_over([_produce(broker, "warm", tally) for _ in range(10)], tally)


def _set(cluster: Cluster, quota: Quota, crowd: int) -> None:
    if quota is _LISTENER:
        alter_configs(cluster, ResourceType.BROKER, "", set_={quota.name: f"{quota.limit:.0f}"})
    elif quota is _CONNECTIONS:
        alter_quotas(cluster, (("ip", _address(crowd)),), {quota.name: quota.limit})
    else:
        alter_quotas(cluster, (("client-id", _client_id(quota, crowd)),), {quota.name: quota.limit})


def _client_id(quota: Quota, crowd: int) -> str:
    return f"{quota.name}-{crowd}"


def _address(crowd: int) -> str:
    return f"127.0.1.{crowd}"


async def _load(broker: Any, quota: Quota, crowd: int, seconds: int, times: _RequestTimes | None) -> str:
    tally, client_id = _Tally(seconds), _client_id(quota, crowd)
    if quota is _LISTENER and crowd == 1:
        return ""  # both would share it
    run: Callable[..., Awaitable[None]] = {
        _PRODUCE: _produce,
        _CONSUME: _consume,
        _REQUEST: _ask,
        _MUTATIONS: _create,
        _CONNECTIONS: _connect,
        _LISTENER: _connect,
    }[quota]
    clients = [run(broker, client_id, tally) for _ in range(crowd)]
    await _until_over(clients, tally)
    if times is not None:
        await times.end()
        taken = times.windows(tally.began, seconds)
        used, late = fmean(taken), fmean(taken[1:] or [0.0])
    else:
        used, late = tally.rate() - quota.limit * quota.burst_s / seconds, tally.rate(_BURST_S)
    parts = f"{used / quota.limit:.3f}; from {_BURST_S} s on {late / quota.limit:.3f}"
    return f"{broker.label:12s} {f'{quota.name}, {crowd}':32s} {parts}"


async def _until_over(clients: list[Any], tally: _Tally) -> None:
    tasks = [asyncio.ensure_future(client) for client in clients]
    while not tally.is_over:
        await asyncio.sleep(0.1)
    for task in tasks:
        task.cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    failed = [each for each in done if isinstance(each, Exception)]
    if failed:
        print(f"{len(failed)} clients failed: {failed[0]!r}", file=sys.stderr)


def _frame(request: Any, client_id: str, version: int) -> bytes:
    payload = request_header_bytes(ApiKey(request.API_KEY), version, 1, client_id) + request.encode(version)
    return len(payload).to_bytes(4, "big") + payload


def client_frame(framed: bytes, client_id: str) -> bytes:
    """A frame of `wire`, as of another client."""
    head, name = framed[4:12], client_id.encode()
    payload = head + len(name).to_bytes(2, "big") + name + framed[14 + int.from_bytes(framed[12:14], "big") :]
    return len(payload).to_bytes(4, "big") + payload


async def _answer(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


async def _open(broker: BrokerProcess, source: str = "127.0.0.1") -> tuple[Any, Any]:
    return await asyncio.open_connection(*broker.address, local_addr=(source, 0))


async def _ask_for_ever(
    broker: BrokerProcess, framed: bytes, told: Callable[[bytes], None], pause_s: float = 0.0
) -> None:
    reader, writer = await _open(broker)
    try:
        while True:
            writer.write(framed)
            told(await _answer(reader))
            await asyncio.sleep(pause_s)
    finally:
        writer.close()


async def _produce(broker: BrokerProcess, client_id: str, tally: _Tally) -> None:
    framed = client_frame(wire.produce_frame("load", 16_000), client_id)
    await _ask_for_ever(broker, framed, lambda _: tally.add(len(framed) - 4))


async def _consume(broker: BrokerProcess, client_id: str, tally: _Tally) -> None:
    framed = client_frame(wire.fetch_frame("load", 1, 1), client_id)

    def told(answer: bytes) -> None:
        if len(answer) > 16_000:
            tally.add(len(answer))

    await _ask_for_ever(broker, framed, told)


async def _ask_once(broker: BrokerProcess, client_id: str) -> None:
    reader, writer = await _open(broker)
    writer.write(client_frame(wire.produce_frame("load", 100), client_id))
    await _answer(reader)
    writer.close()


async def _ask(broker: BrokerProcess, client_id: str, tally: _Tally) -> None:
    framed = client_frame(wire.produce_frame("load", 100), client_id)
    # A quota that keeps nobody off would have both brokers and the load run as fast as they can.
    pause_s = 0.005 if client_id.endswith("-50") else 0.0
    await _ask_for_ever(broker, framed, lambda _: tally.add(1), pause_s)


async def _create(broker: BrokerProcess, client_id: str, tally: _Tally) -> None:
    reader, writer = await _open(broker)
    version, made = 7, 0
    try:
        while True:
            name = f"{client_id}-{id(reader)}-{made}"
            topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
            writer.write(_frame(CreateTopicsRequest(topics=[topic], timeout_ms=30_000), client_id, version))
            body = await _answer(reader)
            _, start = parse_response_header(body, ApiKey.CREATE_TOPICS, version)
            answer = response_class(ApiKey.CREATE_TOPICS).decode(body, version, start)
            if answer.topics[0].error_code == 0:
                tally.add(1)
                made += 1
    finally:
        writer.close()


async def _connect(broker: BrokerProcess, client_id: str, tally: _Tally) -> None:
    source = _address(int(client_id.rpartition("-")[2]))
    framed = _frame(ApiVersionsRequest(), client_id, 2)
    while True:
        writer = None
        try:
            reader, writer = await _open(broker, source)
            # No TIME_WAIT: tens of thousands may be refused.
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, bytes([1] + [0] * 7)
            )
            writer.write(framed)
            await _answer(reader)
            tally.add(1)
        except (OSError, EOFError):
            await asyncio.sleep(0.1)
        finally:
            if writer is not None:
                writer.close()


if __name__ == "__main__":
    main()
