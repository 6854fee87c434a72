from __future__ import annotations

import asyncio

import pytest

from kbroker.errors import ConfigError
from kbroker.quotas.client_quotas import ClientQuotas
from kbroker.quotas.leases import CentralBucket
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
