"""The command `clients`: who is connected and what it uses (`broker/clients.py`).

Arguments: `gone`, also those that have left; `old`, only those that Kafka 4 turns away; `client_id`, only
this one; `limit`, of clients. Result: `clients`, and how many the limit has left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.handlers.kbroker_command import argument
from kbroker.protocol.api_keys import FACTS

if TYPE_CHECKING:
    from kbroker.broker.clients import Client
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

#: About a megabyte of JSON, 20 ms.
LIMIT_MAX = 1000


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    gone, old = argument(arguments, "gone", bool, False), argument(arguments, "old", bool, False)
    client_id = argument(arguments, "client_id", str, None)
    limit = min(argument(arguments, "limit", int, LIMIT_MAX), LIMIT_MAX)
    clients = services.clients.clients(gone=gone)
    if client_id is not None:
        clients = [client for client in clients if client.name.client_id == client_id]
    if old:
        clients = [client for client in clients if client.dropped]
    return {
        "clients": [_describe(client) for client in clients[: max(limit, 0)]],
        "left_out": max(len(clients) - limit, 0),
    }


def _describe(client: Client) -> dict[str, Any]:
    return {
        **client.name._asdict(),
        "connections": client.connections,
        "since_ms": client.since_ms,
        "gone_ms": client.gone_ms,
        "apis": [
            {"key": key, "name": FACTS[key].name, "min": low, "max": high}
            for key, (low, high) in sorted(client.used.items())
        ],
        "dropped_by_kafka_4": [
            {"key": key, "name": FACTS[key].name, "used": client.used[key][0], "needed": needed}
            for key, needed in sorted(client.dropped.items())
        ],
    }
