"""From settings to the limits of the socket server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.config.broker_config import BrokerConfig
from kbroker.config.listeners import inter_broker_listener
from kbroker.errors import ConfigError
from kbroker.quotas.windows import Windows
from kbroker.server.listener import ServerLimits

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.server.listener import SocketServer

_MAX, _RATE = "max.connections", "max.connection.creation.rate"
#: What `server_limits` reads, also behind the prefix of a listener; a change of any means new limits.
LIMIT_SETTINGS = frozenset(
    {
        "socket.request.max.bytes",
        "connections.max.idle.ms",
        _MAX,
        _RATE,
        "max.connections.per.ip",
        "max.connections.per.ip.overrides",
    }
)


def server_limits(config: BrokerConfig) -> ServerLimits:
    """The limits that the settings come to; an override that is no host:count is left out."""
    overrides: dict[str, int] = {}
    for pair in config.get_str("max.connections.per.ip.overrides").split(","):
        host, _, count = pair.strip().rpartition(":")
        if host and count.isascii() and count.isdigit():
            overrides[host] = int(count)
    return ServerLimits(
        request_bytes_max=config.get_int("socket.request.max.bytes"),
        send_buffer_bytes=config.get_int("socket.send.buffer.bytes"),
        idle_ms_max=config.get_int("connections.max.idle.ms"),
        connections_max=config.get_int(_MAX),
        connections_max_per_ip=config.get_int("max.connections.per.ip"),
        connections_max_per_ip_overrides=overrides,
        creation_rate=config.get_int(_RATE),
        listener_limits=lambda name: (
            config.get_int(f"listener.name.{name.lower()}.{_MAX}"),
            config.get_int(f"listener.name.{name.lower()}.{_RATE}"),
        ),
        protected_listener=_inter_broker(config),
    )


def follow_limits(server: SocketServer, services: Services) -> None:
    """Keep the limits of a server as the settings and quotas are."""
    config = services.config

    def changed(names: frozenset[str]) -> None:
        if any(name in LIMIT_SETTINGS or name.endswith((f".{_MAX}", f".{_RATE}")) for name in names):
            server.limits = server_limits(config)

    def address_rate(address: str) -> float | None:
        quotas = services.quotas
        return None if quotas is None else quotas.quotas.table.connection_rate(address)

    config.subscribe(changed)
    services.extras["disconnect"] = server.disconnect_clients
    server.address_rate = address_rate
    server.use_windows(
        Windows(config.get_int("quota.window.num"), config.get_int("quota.window.size.seconds"))
    )


def _inter_broker(config: BrokerConfig) -> str:
    try:
        return inter_broker_listener(config)
    except ConfigError:
        return ""  # a controller has none
