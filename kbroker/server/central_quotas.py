"""Leases of quota tokens from a Redis or Valkey server (`quotas/leases.py`), by redis-py.

One script call every twentieth of a second, for all quotas together. When there is no answer in that time the
brokers go by their even shares until it comes. No request ever waits for the server.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from kbroker.errors import ConfigError
from kbroker.quotas.leases import CAPACITY_S, LEASE_S, Health, LeasedAllowance

if TYPE_CHECKING:
    from kbroker.quotas.client_quotas import ClientQuotas

_log = logging.getLogger(__name__)
#: With it all keys lie in one slot of a Redis cluster.
_PREFIX = "{kbroker-quota}:"
#: Keys of quotas that nobody uses go after so many seconds.
_EXPIRY_S = 60
#: Rounds without anything to ask, until the server is asked whether it is there.
_IDLE_ROUNDS = 20
#: An answer that is not there by then is waited for no more.
_PATIENCE_S = 0.5
#: Quotas of one call.
_QUOTAS_MAX = 1_000
#: `CentralBucket.take` for each key; arguments are rate and tokens wanted, in turn.
_SCRIPT = f"""
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
local given = {{}}
for i = 1, #KEYS do
  local rate, wanted = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local kept = redis.call('HMGET', KEYS[i], 'tokens', 'at')
  local tokens = tonumber(kept[1]) or rate * {LEASE_S}
  tokens = math.min(tokens + (now - (tonumber(kept[2]) or now)) * rate, rate * {CAPACITY_S})
  local give = math.max(math.min(wanted, tokens), 0)
  redis.call('HSET', KEYS[i], 'tokens', tostring(tokens - give), 'at', string.format('%.6f', now))
  redis.call('EXPIRE', KEYS[i], {_EXPIRY_S})
  given[i] = tostring(give)
end
return given
"""


class CentralQuotas:
    """Asks the server while it is switched on.

    Args:
        quotas: of the node.
        url: of the server.
        cluster_id: brokers of one cluster count together.

    Raises:
        ConfigError: redis-py is missing, or the URL is none.
    """

    def __init__(self, quotas: ClientQuotas, url: str, cluster_id: str) -> None:
        try:
            from redis import asyncio as redis
        except ImportError:
            raise ConfigError(
                "kbroker.quota.central.url needs redis-py: pip install kbroker[central]"
            ) from None
        try:
            self._client: Any = redis.Redis.from_url(
                url, socket_connect_timeout=_PATIENCE_S, max_connections=2
            )
        except ValueError as error:
            raise ConfigError(f"kbroker.quota.central.url: {error}") from None
        self.health = Health()
        self._quotas = quotas
        self._prefix = f"{_PREFIX}{cluster_id}:"
        self._task: asyncio.Task[None] | None = None
        self._idle_rounds = 0
        #: As it was told last; None: never.
        self._was_up: bool | None = None

    def start(self) -> None:
        """Ask from now on."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    def stop(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self.health.is_up = False

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        question: asyncio.Task[None] | None = None
        asked_s = 0.0
        try:
            while True:
                next_s = loop.time() + LEASE_S
                if question is None:
                    question, asked_s = asyncio.ensure_future(self.round()), loop.time()
                done, _ = await asyncio.wait((question,), timeout=LEASE_S)
                if done:
                    error, question = question.exception(), None
                    self._note(None if error is None else str(error) or type(error).__name__)
                else:
                    self._note("no answer")
                    if loop.time() - asked_s > _PATIENCE_S:
                        question.cancel()
                        question = None
                await asyncio.sleep(max(next_s - loop.time(), 0.001))
        finally:
            if question is not None:
                question.cancel()
            await self._client.aclose()

    def _note(self, problem: str | None) -> None:
        """Whether the server answers; whatever the problem is, the brokers go on without."""
        if problem is not None and self._was_up is not False:
            _log.warning("quotas are counted by each broker: %s", problem)
        if problem is None and self._was_up is False:
            _log.info("the central server counts quotas again")
        self.health.is_up = self._was_up = problem is None

    async def round(self) -> None:
        """Ask once for all that is needed."""
        asked: list[LeasedAllowance] = []
        keys: list[str] = []
        numbers: list[float] = []
        for (kind, user, client_id), allowance in self._quotas.measured()[:_QUOTAS_MAX]:
            if isinstance(allowance, LeasedAllowance) and (wanted := allowance.wants()) > 0:
                asked.append(allowance)
                keys.append(f"{self._prefix}{kind}:{user}:{client_id}")
                numbers += (allowance.whole, wanted)
        if keys:
            self._idle_rounds = 0
            given = await self._client.eval(_SCRIPT, len(keys), *keys, *numbers)
            for allowance, tokens in zip(asked, given):
                allowance.granted(float(tokens))
        else:
            self._idle_rounds += 1
            if self._idle_rounds >= _IDLE_ROUNDS or not self.health.is_up:
                self._idle_rounds = 0
                await self._client.ping()
