"""Starts what tells of a node's metrics, as far as the settings ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.broker.metric_wiring import wire_metrics
from kbroker.broker.request_log import open_request_log

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.server.metrics_server import MetricsServer


async def start_metrics(services: Services, undo: list[Any], **parts: Any) -> MetricsServer | None:
    """Let `services.metrics` tell of the node; serve and push it if wanted.

    Args:
        undo: gets what stops it.
        parts: see `wire_metrics`.

    Raises:
        ConfigError: an address cannot be used.
    """
    wire_metrics(services, **parts)
    open_request_log(services)
    if services.config.get_str("kbroker.metrics.listener"):
        # A node without it loads nothing of it.
        from kbroker.server.metrics_server import serve_metrics

        return await serve_metrics(services, undo)
    return None
