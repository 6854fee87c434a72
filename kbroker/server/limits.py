"""From settings to the limits of the socket server."""

from __future__ import annotations

from kbroker.config.broker_config import BrokerConfig
from kbroker.server.listener import ServerLimits

#: What `server_limits` reads; a change of any of these means new limits.
LIMIT_SETTINGS = (
    "socket.request.max.bytes",
    "connections.max.idle.ms",
    "max.connections",
    "max.connections.per.ip",
    "max.connections.per.ip.overrides",
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
        connections_max=config.get_int("max.connections"),
        connections_max_per_ip=config.get_int("max.connections.per.ip"),
        connections_max_per_ip_overrides=overrides,
    )
