"""The command `quotas`: which quotas hold for a client here, and why (`kbroker-admin quotas explain`).

Arguments: `user`, `client_id`, `ip`. Result: `quotas`, one for each kind that is limited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.handlers.kbroker_command import argument
from kbroker.quotas.explaining import explained, explained_address

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    user = argument(arguments, "user", str, "ANONYMOUS")
    client_id = argument(arguments, "client_id", str, "")
    address = argument(arguments, "ip", str, None)
    keeper = services.quotas
    if keeper is None:
        return {"quotas": []}
    found = explained(keeper.quotas.explain(user, client_id, keeper.now_ms()))
    if address is not None:
        found += explained_address(keeper.quotas.table, address)
    return {"quotas": found}
