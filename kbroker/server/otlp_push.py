"""Pushes the node's metrics to a collector, by OTLP over HTTP (`kbroker.metrics.otlp.endpoint`).

Messages are made on the event loop in slices, and sent in a thread. Nothing is kept for later: a collector
that does not answer gets the next round, whose counts tell the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import logging
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from kbroker import __version__
from kbroker.errors import ConfigError
from kbroker.metrics.otlp import messages
from kbroker.server.outward_tls import http_connection
from kbroker.server.runtime import BlockingRunner
from kbroker.server.tiny_http import SLICE_S

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_log = logging.getLogger(__name__)
_SETTING = "kbroker.metrics.otlp.endpoint"
_TIMEOUT_S = 10.0


class OtlpPush:
    """Of one node.

    Args:
        services: the node.

    Raises:
        ConfigError: the endpoint or the headers are none.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._endpoint = _parse(services.config.get_str(_SETTING))
        self._headers = _headers(services.config.get_str("kbroker.metrics.otlp.headers"))
        self._interval_s = services.config.get_int("kbroker.metrics.otlp.interval.ms") / 1000
        self._threads = BlockingRunner(asyncio.get_running_loop(), threads=1, name="otlp")
        self._start_ns = services.clock.now_ms() * 1_000_000
        self._has_failed = False
        #: Rounds that arrived as a whole, and that did not.
        self.pushed = self.failed = 0
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Push no more; what is being sent goes on in its thread, which does not keep the process."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            await self.push()

    async def push(self) -> None:
        """One round."""
        try:
            await self._push()
        except (OSError, http.client.HTTPException) as error:
            self.failed += 1
            if not self._has_failed:
                _log.warning("metrics cannot be pushed to %s: %s", self._endpoint.netloc, error)
            self._has_failed = True
        else:
            self.pushed += 1
            self._has_failed = False

    async def _push(self) -> None:
        services = self._services
        services.metrics.tick(int(services.clock.monotonic_ms()))
        resource = {
            "service.name": "kbroker",
            "service.instance.id": str(services.broker_id),
            "service.version": __version__,
            "kafka.cluster.id": services.cluster_id,
        }
        now_ns = services.clock.now_ms() * 1_000_000
        turn_ends_s = perf_counter() + SLICE_S
        for message in messages(services.metrics, resource, __version__, self._start_ns, now_ns):
            if message:
                await self._send(message)
            elif perf_counter() >= turn_ends_s:
                await asyncio.sleep(0)
            else:
                continue
            turn_ends_s = perf_counter() + SLICE_S

    async def _send(self, message: bytes) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def sent(error: BaseException | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        self._threads.run(lambda: self._post(message), sent)
        await done

    def _post(self, message: bytes) -> None:
        parts = self._endpoint
        connection = http_connection(parts, _TIMEOUT_S)
        try:
            path = parts.path if parts.path not in ("", "/") else "/v1/metrics"
            headers = {"Content-Type": "application/x-protobuf", "User-Agent": f"kbroker/{__version__}"}
            connection.request("POST", path, message, headers | self._headers)
            answer = connection.getresponse()
            answer.read(65_536)
            if not 200 <= answer.status < 300:
                raise http.client.HTTPException(f"HTTP {answer.status}")
        finally:
            connection.close()


def _parse(text: str) -> SplitResult:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{_SETTING}: {text} is no http:// or https:// address")
    return parts


def _headers(text: str) -> dict[str, str]:
    found = {}
    for item in filter(None, (each.strip() for each in (text or "").split(","))):
        name, equals, value = item.partition("=")
        # The value may be a secret: it is in no error.
        if not equals or not name.replace("-", "").isalnum() or not value.isprintable():
            raise ConfigError("kbroker.metrics.otlp.headers: not name=value, separated by commas")
        found[name] = value
    return found
