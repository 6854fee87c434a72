from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess

import pytest

from kbroker.errors import ConfigError
from kbroker.quotas.client_quotas import ClientQuotas
from kbroker.quotas.leases import LEASE_S, CentralBucket
from kbroker.quotas.windows import Windows

pytest.importorskip("redis")
from kbroker.server.central_quotas import CentralQuotas


class Server:
    """A central server as redis-py would show it; may be silent, or gone."""

    def __init__(self):
        self.buckets = {}
        self.silent = False
        self.pings = 0
        self.now_s = 0.0

    async def eval(self, script, count, *rest):
        keys, numbers = rest[:count], rest[count:]
        await self._answer()
        self.now_s += 0.1
        given = []
        for key, rate, wanted in zip(keys, numbers[::2], numbers[1::2]):
            bucket = self.buckets.setdefault(key, CentralBucket(rate, 0.0))
            given.append(str(bucket.take(wanted, self.now_s)).encode())
        return given

    async def ping(self):
        self.pings += 1
        await self._answer()

    async def aclose(self):
        pass

    async def _answer(self):
        if self.silent:
            await asyncio.Event().wait()


@pytest.fixture
def central():
    quotas = ClientQuotas(Windows(), Windows())
    quotas.apply({(("user", "u"),): {"producer_byte_rate": 3000.0}})
    central = CentralQuotas(quotas, "redis://127.0.0.1:1/0", "cluster")
    central._client = Server()
    quotas.count_centrally(central.health, 1 / 3)
    return central


def allowance(central):
    return central._quotas.of("u", "", 0).produce


async def test_tokens_are_taken_for_what_is_used(central):
    central.health.is_up = True
    allowance(central).charge(500, 0)
    await central.round()
    assert list(central._client.buckets) == ["{kbroker-quota}:cluster:producer_byte_rate:u:"]
    assert allowance(central).charge(0, 0) == 0


async def test_a_server_that_is_silent_is_left_and_found_again(central, caplog):
    async def until(is_up):
        while central.health.is_up is not is_up:
            await asyncio.sleep(0.01)

    central.start()
    await asyncio.wait_for(until(True), 60)
    central._client.silent = True
    await asyncio.wait_for(until(False), 60)
    assert allowance(central).charge(10_000 + 1_000, 0) == pytest.approx(1_000, abs=1)  # an even share's
    central._client.silent = False
    await asyncio.wait_for(until(True), 60)
    central.stop()
    assert not central.health.is_up


def test_a_bad_url_is_a_config_error():
    with pytest.raises(ConfigError, match=r"central\.url"):
        CentralQuotas(ClientQuotas(Windows(), Windows()), "http://x", "c")


# -- a real server -------------------------------------------------------------------------------------------


@pytest.fixture
def redis(tmp_path):
    """Debian's Redis (Valkey does as well), at a socket in a folder; `url` and `process`."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        pytest.skip("there is no redis-server (Debian package redis-server)")
    path = tmp_path / "redis.sock"
    arguments = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(tmp_path)]
    with subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL) as process:
        while not path.exists():
            assert process.poll() is None
        process.url = f"unix://{path}"
        yield process
        process.send_signal(signal.SIGCONT)
        process.kill()


def node(redis, rate):
    quotas = ClientQuotas(Windows(), Windows())
    quotas.apply({(("user", "u"),): {"producer_byte_rate": rate}})
    central = CentralQuotas(quotas, redis.url, "cluster")
    quotas.count_centrally(central.health, 1 / 3)
    return central


async def test_a_real_server_counts_for_three_brokers(redis):
    """Load that is all over the place: together they are given what the quota is, and no more."""
    rate = 100_000.0
    nodes = [node(redis, rate) for _ in range(3)]
    loop, given = asyncio.get_running_loop(), 0.0
    for central in nodes:
        central.health.is_up = True
    began_s = loop.time()
    for number in range(12):
        for share, central in zip((20, 3, 1), nodes):
            found = allowance(central)
            # Far more than there is, of which the first broker wants most.
            found.charge(rate * share, number * 50)
            before = found._pool
            await central.round()
            given += found._pool - before
        await asyncio.sleep(0.05)
    taken_s = loop.time() - began_s
    assert rate * LEASE_S < given <= rate * (taken_s + LEASE_S) + 1
    for central in nodes:
        await central._client.aclose()


async def test_a_real_server_that_hangs_is_left_and_found_again(redis):
    central = node(redis, 3000.0)

    async def until(is_up):
        while central.health.is_up is not is_up:
            await asyncio.sleep(0.01)

    central.start()
    for process_signal, is_up in ((signal.SIGCONT, True), (signal.SIGSTOP, False), (signal.SIGCONT, True)):
        redis.send_signal(process_signal)
        await asyncio.wait_for(until(is_up), 60)
    central.stop()
