"""Listeners, connections and the event loop as Kafka names them; loaded when somebody looks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kbroker.metrics.rates import RecentRates
from kbroker.metrics.registry import ATTRIBUTES, GAUGE, METER
from kbroker.metrics.traffic import ListenerStats

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_SERVER, _KIND = "kafka.server", "socket-server-metrics"
#: Kafka's name -> what is counted; `-total` and `-rate` of each are told.
_COUNTED = {
    "connection-creation": "opened",
    "connection-close": "closed",
    "incoming-byte": "bytes_in",
    "outgoing-byte": "bytes_out",
    "successful-authentication": "logins",
    "failed-authentication": "login_failures",
    "successful-reauthentication": "relogins",
    "failed-reauthentication": "relogin_failures",
}


class LoopIdle:
    """How much of the time the thread of the event loop had nothing to do, from tick to tick (5 s)."""

    def __init__(self) -> None:
        self.ratio = 1.0
        self._cpu_s, self._wall_s = time.thread_time(), time.monotonic()

    def tick(self, now_ms: int) -> None:
        """Look at the clocks."""
        cpu_s, wall_s = time.thread_time(), time.monotonic()
        if wall_s > self._wall_s:
            self.ratio = min(max(1 - (cpu_s - self._cpu_s) / (wall_s - self._wall_s), 0.0), 1.0)
        self._cpu_s, self._wall_s = cpu_s, wall_s


def add(services: Services) -> None:
    """Add the families."""
    _add_listeners(services)
    _add_idle(services)
    keys = ("clientSoftwareName", "clientSoftwareVersion", "listener", "networkProcessor")
    services.metrics.rows(_SERVER, _KIND, "", ATTRIBUTES, keys, lambda: _software(services))


def _add_listeners(services: Services) -> None:
    registry, traffic = services.metrics, services.traffic

    def totals() -> dict[tuple[str, str], int]:
        return {
            (listener, name): getattr(stats, attribute)
            for listener, stats in traffic.items()
            for name, attribute in _COUNTED.items()
        }

    rates = RecentRates(totals)
    registry.on_tick.append(rates.tick)

    idle = loop_idle(services)

    def told(listener: str, stats: ListenerStats) -> dict[str, int | float]:
        found: dict[str, int | float] = {
            "io-wait-ratio": idle.ratio,
            "io-ratio": 1 - idle.ratio,
            "connection-count": stats.opened - stats.closed,
            "expired-connections-killed-count": stats.expired,
            "refused-connections-total": stats.refused,
        }
        for name, attribute in _COUNTED.items():
            found[f"{name}-total"] = getattr(stats, attribute)
            found[f"{name}-rate"] = rates.of((listener, name))
        return found

    def listeners() -> Iterator[Any]:
        for name, stats in list(traffic.items()):
            yield (name, "0"), told(name, stats)
            yield (name, ""), {"connection-accept-rate": rates.of((name, "connection-creation"))}

    registry.rows(_SERVER, _KIND, "", ATTRIBUTES, ("listener", "networkProcessor"), listeners)
    registry.attributes(
        _SERVER,
        _KIND,
        lambda: {
            "broker-connection-accept-rate": sum(rates.of((each, "connection-creation")) for each in traffic)
        },
    )
    registry.gauge(
        "kafka.network",
        "SocketServer",
        "ExpiredConnectionsKilledCount",
        lambda: sum(stats.expired for stats in traffic.values()),
    )
    # Nobody who accepts is ever blocked by a queue.
    registry.rows(
        "kafka.network",
        "Acceptor",
        "AcceptorBlockedPercent",
        METER,
        ("listener",),
        lambda: [((name,), 0) for name in list(traffic)],
        event="blocked time",
    )


def loop_idle(services: Services) -> LoopIdle:
    """That of this node's loop."""
    idle: LoopIdle | None = services.extras.get("loop idle")
    if idle is None:
        idle = services.extras["loop idle"] = LoopIdle()
        services.metrics.on_tick.append(idle.tick)
    return idle


def _add_idle(services: Services) -> None:
    """Everything is done by one thread, so these are one figure."""
    registry, idle = services.metrics, loop_idle(services)

    def ratio() -> float:
        return idle.ratio

    registry.gauge("kafka.network", "SocketServer", "NetworkProcessorAvgIdlePercent", ratio)
    registry.rows(
        "kafka.network",
        "Processor",
        "IdlePercent",
        GAUGE,
        ("networkProcessor",),
        lambda: [(("0",), idle.ratio)],
    )
    for role in ("", "Broker", "Controller"):
        name = f"{role}RequestHandlerAvgIdlePercent"
        # A meter in Kafka's JMX: scripts look at its OneMinuteRate.
        family = registry.family(_SERVER, "KafkaRequestHandlerPool", name, GAUGE, event="idle time")
        family.add((), ratio)
    registry.gauge("kafka.controller", "ControllerEventManager", "AvgIdleRatio", ratio)
    registry.gauge(_SERVER, "MetadataLoader", "AvgIdleRatio", ratio)


def _software(services: Services) -> list[tuple[tuple[str, ...], dict[str, int]]]:
    found: dict[tuple[str, ...], int] = {}
    for client in services.clients.clients():
        key = client.name.software, client.name.software_version, client.name.listener, "0"
        found[key] = found.get(key, 0) + client.connections
    return [(key, {"connections": count}) for key, count in found.items()]
