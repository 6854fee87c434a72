"""Starts what tells of a node's metrics, as far as the settings ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kbroker.broker.metric_wiring import wire_metrics
from kbroker.broker.request_log import open_request_log

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.server.metrics_server import MetricsServer
    from kbroker.server.otlp_push import OtlpPush


class Tellers(NamedTuple):
    """What tells of a node's metrics; None where the settings do not ask for it."""

    server: MetricsServer | None = None
    push: OtlpPush | None = None


async def start_metrics(services: Services, undo: list[Any], **parts: Any) -> Tellers:
    """Let `services.metrics` tell of the node; serve and push it if wanted.

    Args:
        undo: gets what stops it.
        parts: see `wire_metrics`.

    Raises:
        ConfigError: an address cannot be used.
    """
    wire_metrics(services, **parts)
    # A node without them loads nothing of them, and has no need of times until somebody asks otherwise.
    services.requests.timed = False
    open_request_log(services)
    server = push = None
    if services.config.get_str("kbroker.metrics.listener"):
        from kbroker.server.metrics_server import serve_metrics

        services.requests.timed = True
        server = await serve_metrics(services, undo)
    if services.config.get_str("kbroker.metrics.otlp.endpoint"):
        from kbroker.server.otlp_push import OtlpPush

        services.requests.timed = True
        push = OtlpPush(services)
        undo.append(push.stop)
    return Tellers(server, push)
