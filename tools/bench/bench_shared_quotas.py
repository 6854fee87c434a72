"""Quotas of the whole cluster over three brokers and 10 seconds: what passes of T, however the load lies.

Run: python -m tools.bench.bench_shared_quotas [--seconds 10]

For `cluster` (split by what each broker needs) and `central` (a Redis or Valkey server counts, and is stopped
and killed as well). The brokers are processes. Clients do not wait when they are told to.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from kbroker.client.cluster import Cluster as Client
from kbroker.client.configs import ResourceType, alter_configs
from kbroker.client.quotas import alter_quotas
from kbroker.testing.cluster import Cluster
from kbroker.testing.cluster_node import ClusterNode
from tools.bench import wire
from tools.bench.bench_quotas import client_frame

_LIMIT = 1_500_000.0
_SIZE = 8_000
#: What clients of each broker would do, in parts of T.
_LOADS = {
    "all on one": (4.0, 0.0, 0.0),
    "one, and a little": (4.0, 0.1, 0.02),
    "two, and a little": (4.0, 4.0, 0.05),
    "three alike": (4.0, 4.0, 4.0),
    "less than T": (0.6, 0.2, 0.0),
}
_SCOPE = "kbroker.quota.scope"
_GONE = "quotas are counted by each broker"


def main() -> None:
    """Measure and print, one line a figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=int, default=10)
    seconds = parser.parse_args().seconds
    with tempfile.TemporaryDirectory() as folder, _Redis(Path(folder)) as redis:
        settings = {"kbroker.quota.central.url": redis.url, "kbroker.log.format": "json"}
        with Cluster(3, links=False, config=settings) as cluster:
            asyncio.run(_measure(cluster, redis, seconds))


async def _measure(cluster: Cluster, redis: _Redis, seconds: int) -> None:
    cluster.create_topic("load", partitions=3, replication_factor=1)
    with Client(cluster.bootstrap) as client:
        for scope, settle_s in (("cluster", 20), ("central", 5)):
            alter_configs(client, ResourceType.BROKER, "", set_={_SCOPE: scope})
            for name, wanted in _LOADS.items():
                _say(f"{scope}: {name}", await _passes(client, cluster, wanted, settle_s, seconds), wanted)
        for name, how in (("hangs", signal.SIGSTOP), ("is gone", signal.SIGKILL)):
            for load in ("all on one", "three alike"):
                wanted = _LOADS[load]
                async with _Crowd(client, cluster, wanted) as crowd:
                    await asyncio.sleep(3)
                    at = time.time()
                    redis.process.send_signal(how)
                    left_ms = await _said_after(crowd.nodes, at)
                    await asyncio.sleep(12)
                    without = await crowd.rate(seconds)
                    redis.again(how)
                    await asyncio.sleep(3)
                    again = await crowd.rate(seconds)
                even = 1 if load == "three alike" else 1 / 3
                print(
                    f"server {name}, {load}: each broker by itself after {left_ms:.0f} ms; "
                    f"{without / _LIMIT:.3f} (even shares: {even:.3f}); when it is back {again / _LIMIT:.3f}",
                    flush=True,
                )


def _say(name: str, rate: float, wanted: Sequence[float]) -> None:
    print(f"{name:32s} {rate / (_LIMIT * min(sum(wanted), 1)):.3f}", flush=True)


async def _passes(
    client: Client, cluster: Cluster, wanted: Sequence[float], settle_s: float, seconds: float
) -> float:
    async with _Crowd(client, cluster, wanted) as crowd:
        await asyncio.sleep(settle_s)
        return await crowd.rate(seconds)


async def _said_after(nodes: Iterable[ClusterNode], at: float) -> float:
    """Until the last of these has said that it goes by itself; ms."""
    await asyncio.sleep(1)
    late = 0.0
    for node in nodes:
        lines = [json.loads(line) for line in node.log.splitlines() if _GONE in line]
        said = [datetime.datetime.fromisoformat(line["time"]).timestamp() for line in lines]
        late = max(late, min(each for each in said if each >= at) - at)
    return late * 1000


class _Crowd:
    """Producers at each broker, with a quota that nobody has used yet; a context manager."""

    _number = 0

    def __init__(self, client: Client, cluster: Cluster, wanted: Sequence[float]) -> None:
        _Crowd._number += 1
        client_id = f"crowd-{_Crowd._number}"
        alter_quotas(client, (("client-id", client_id),), {"producer_byte_rate": _LIMIT})
        self._done = 0.0
        self._loads: list[tuple[str, bytes, float]] = []
        self.nodes: set[ClusterNode] = set()
        for partition, part in enumerate(wanted):
            node = cluster.nodes[cluster.leader("load", partition)]
            framed = client_frame(wire.produce_frame("load", _SIZE, partition=partition), client_id)
            if part:
                self.nodes.add(node)
            for _ in range(4 if part else 0):
                self._loads.append((node.bootstrap, framed, part * _LIMIT / 4))

    async def __aenter__(self) -> _Crowd:
        self._tasks = [asyncio.ensure_future(self._produce(*load)) for load in self._loads]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def rate(self, seconds: float) -> float:
        """Bytes a second that pass from now on."""
        began, before = time.monotonic(), self._done
        await asyncio.sleep(seconds)
        return (self._done - before) / (time.monotonic() - began)

    async def _produce(self, address: str, framed: bytes, rate: float) -> None:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        due = time.monotonic()
        while True:
            writer.write(framed)
            await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
            self._done += len(framed) - 4
            due = max(due + len(framed) / rate, time.monotonic() - 1)
            await asyncio.sleep(max(due - time.monotonic(), 0))


class _Redis:
    """A server at a socket; a context manager."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "redis.sock"
        self.url = f"unix://{self._path}"
        self._start()

    def _start(self) -> None:
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        assert program, "there is no redis-server"
        command = [program, "--port", "0", "--unixsocket", str(self._path), "--save", ""]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=self._path.parent)

    def again(self, how: int) -> None:
        """After that signal."""
        if how == signal.SIGSTOP:
            self.process.send_signal(signal.SIGCONT)
        else:
            self.process.wait()
            self._start()

    def __enter__(self) -> _Redis:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    main()
