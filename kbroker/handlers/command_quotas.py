"""The command `quotas`: which quotas hold for a client here, and why (`kbroker-admin quotas explain`).

Arguments: `user`, `client_id`, `ip`. Result: `quotas`, one for each kind that is limited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.handlers.kbroker_command import argument
from kbroker.quotas.table import CONNECTION_CREATION_RATE

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.quotas.table import Match


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    user = argument(arguments, "user", str, "ANONYMOUS")
    client_id = argument(arguments, "client_id", str, "")
    address = argument(arguments, "ip", str, None)
    keeper = services.quotas
    if keeper is None:
        return {"quotas": []}
    found = [
        {
            "key": key,
            "limit": match.limit,
            "observed": observed,
            "level": match.level.number,
            "why": match.level.text,
            "entity": dict(match.level.entity),
            "shared_by": _sharers(match),
        }
        for key, match, observed in keeper.quotas.explain(user, client_id, keeper.now_ms())
    ]
    rate = None if address is None else keeper.quotas.table.connection_rate(address)
    if rate is not None:
        found.append(
            {
                "key": CONNECTION_CREATION_RATE,
                "limit": rate,
                "observed": None,
                "level": None,
                "why": "this address, or any",
                "entity": {"ip": address},
                "shared_by": f"all from {address}",
            }
        )
    return {"quotas": found}


def _sharers(match: Match) -> str:
    user, client_id = match.sharers
    if user and client_id:
        return f"user {user} as client id {client_id}"
    return f"all clients of user {user}" if user else f"all users of client id {client_id}"
