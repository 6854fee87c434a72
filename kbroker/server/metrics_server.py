"""The listener for metrics and health: `/metrics`, `/jolokia`, `/health`, `/ready` (docs/metrics.md).

Also the tick that keeps rates up to date; without a listener nobody ticks, and what is shown is worked out
where it is asked for.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kbroker import __version__
from kbroker.errors import ConfigError
from kbroker.metrics.column_text import ColumnTexts
from kbroker.metrics.jolokia import REQUESTS_MAX, Jolokia, Steps, of_path
from kbroker.metrics.prometheus import CONTENT_TYPE, pieces
from kbroker.server.binding import bind_sockets
from kbroker.server.tiny_http import SLICE_S, Answer, Request, TinyHttp

if TYPE_CHECKING:
    import socket

    from kbroker.broker.services import Services

_log = logging.getLogger(__name__)
_TICK_MS = 5000
#: How deep JSON is written part by part: answers, each, its value, domains or beans. And how much at once.
_DEPTH, _PIECE = 4, 16_384
#: How long text of a scrape is kept for the next.
_KEEP_TICKS = 300_000 // _TICK_MS
_SETTING = "kbroker.metrics.listener"


def parse_address(text: str) -> tuple[str, int]:
    """`host:port`, or a port alone: on this machine only.

    Raises:
        ConfigError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"{_SETTING}: {text} is no host:port")
    return (host.strip("[]") if colon else "127.0.0.1"), int(port)


class MetricsServer:
    """Of one node.

    Args:
        services: the node.
        address: see `parse_address`; port 0 takes any free one.

    Raises:
        ConfigError: the address cannot be used.
    """

    def __init__(self, services: Services, address: str) -> None:
        host, port = parse_address(address)
        self._services, self._host = services, host
        self._jolokia = Jolokia(services.metrics, __version__)
        self._http = TinyHttp(self._answer)
        self._sockets: list[socket.socket] = bind_sockets(_SETTING, host, port)
        self._one_at_a_time = asyncio.Lock()
        self._stopped = False
        self._columns, self._ticks, self._used_at = ColumnTexts(), 0, 0
        #: Where it listens.
        self.port: int = self._sockets[0].getsockname()[1]

    async def start(self) -> None:
        """Accept from now on."""
        await self._http.listen(self._sockets)
        _log.info("metrics: http://%s:%d/metrics", self._host, self.port)
        self._tick()

    async def stop(self) -> None:
        """Close everything."""
        self._stopped = True
        await self._http.close()
        for sock in self._sockets:
            sock.close()

    def _tick(self) -> None:
        if not self._stopped:
            services = self._services
            if self._ticks == 1:
                # So that the first scrape does not hold up clients for the time that loading takes.
                services.metrics.families()
            self._ticks += 1
            services.metrics.tick(int(services.clock.monotonic_ms()))
            services.timer.call_later(_TICK_MS, self._tick)
            if self._ticks - self._used_at == _KEEP_TICKS:
                self._columns.clear()

    async def _answer(self, request: Request) -> Answer:
        path = request.path.rstrip("/")
        if path == "/jolokia" or path.startswith("/jolokia/"):
            return await self._ask_jolokia(request)
        if request.method == "POST":
            return Answer(405, "text/plain", ["GET\n"])
        if path == "/metrics":
            self._used_at = self._ticks
            return Answer(200, CONTENT_TYPE, pieces(self._services.metrics, self._columns))
        if path in ("", "/health"):
            return _json(200, {"status": "ok", "version": __version__, "node": self._services.broker_id})
        if path == "/ready":
            why = not_ready(self._services)
            return _json(503 if why else 200, {"ready": not why} | ({"why": why} if why else {}))
        return Answer(404, "text/plain", ["/metrics /jolokia /health /ready\n"])

    async def _ask_jolokia(self, request: Request) -> Answer:
        now_ms = int(self._services.clock.monotonic_ms())
        wall_s = self._services.clock.now_ms() // 1000
        asked: Any
        if request.method == "POST":
            try:
                asked = json.loads(request.body)
            except (ValueError, RecursionError):
                return _json(400, {"status": 400, "error": "no JSON"})
        else:
            asked = of_path(request.path.removeprefix("/jolokia").lstrip("/"))
        many = asked if isinstance(asked, list) else [asked]
        if len(many) > REQUESTS_MAX or not all(isinstance(each, dict) for each in many):
            return _json(400, {"status": 400, "error": f"at most {REQUESTS_MAX} requests, each an object"})
        answers = [
            await _in_slices(self._jolokia.steps(each, now_ms)) | {"timestamp": wall_s} for each in many
        ]
        return _json(200, answers if isinstance(asked, list) else answers[0])


def not_ready(services: Services) -> str:
    """Why clients should not be sent here; "" if they may."""
    if not services.metadata.published:
        return "the node has not started yet"
    if services.extras.get("is_broker", True):
        own = services.metadata.image.brokers.get(services.broker_id)
        if own is None or own.fenced:
            return "the broker is fenced"
        if own.in_controlled_shutdown:
            return "the broker is shutting down"
    elif services.metadata.image.controller_id < 0:
        return "there is no active controller"
    return ""


async def _in_slices(steps: Steps[dict[str, Any]]) -> dict[str, Any]:
    """Do the work, and let others have their turn between two steps."""
    turn_ends_s = perf_counter() + SLICE_S
    while True:
        try:
            next(steps)
        except StopIteration as done:
            found: dict[str, Any] = done.value
            return found
        if perf_counter() >= turn_ends_s:
            await asyncio.sleep(0)
            turn_ends_s = perf_counter() + SLICE_S


def _json(status: int, value: Any) -> Answer:
    return Answer(status, "application/json", _encoded(value))


def _encoded(value: Any) -> Iterator[str]:
    """JSON, some kilobytes at a time."""
    parts: list[str] = []
    size = 0
    for part in _parts(value, _DEPTH):
        parts.append(part)
        size += len(part)
        if size >= _PIECE:
            yield "".join(parts)
            parts, size = [], 0
    yield "".join(parts) + "\n"


def _parts(value: Any, depth: int) -> Iterator[str]:
    if depth and isinstance(value, dict):
        before = "{"
        for key, each in value.items():
            yield f"{before}{json.dumps(str(key))}:"
            yield from _parts(each, depth - 1)
            before = ","
        yield "}" if value else "{}"
    elif depth and isinstance(value, list):
        before = "["
        for each in value:
            yield before
            yield from _parts(each, depth - 1)
            before = ","
        yield "]" if value else "[]"
    else:
        # Numbers that JSON does not have, as Jolokia writes them, are text.
        yield json.dumps(_finite(value), separators=(",", ":"))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


async def serve_metrics(services: Services, undo: list[Any]) -> MetricsServer:
    """Serve what `kbroker.metrics.listener` asks for, until it is undone.

    Raises:
        ConfigError: the address cannot be used.
    """
    server = MetricsServer(services, services.config.get_str(_SETTING))
    undo.append(server.stop)
    await server.start()
    return server
