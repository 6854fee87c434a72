"""The command `quota_shares`: a broker tells what its clients do, and hears its parts of quotas.

Arguments: `node`, and `demands`, rows of kind, user, client id, rate, whether they are held up, the limit.
Result: rows of kind, user, client id and part. Between brokers (`broker/cluster_quotas.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.kbroker_command import argument
from kbroker.quotas.shares import QUOTAS_MAX, Demand
from kbroker.security.acl import Operation

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.quotas.shares import Key

#: Only brokers have a part in it.
OPERATION = Operation.CLUSTER_ACTION


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> list[list[Any]]:
    """See the module."""
    shared = services.extras.get("cluster_quotas")
    if shared is None:
        return []
    node = argument(arguments, "node", int, -1)
    if node not in services.metadata.image.brokers:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"there is no broker {node}")
    demands: dict[Key, Demand] = {}
    try:
        for kind, user, client_id, rate, is_held, limit in argument(arguments, "demands", list, [])[
            :QUOTAS_MAX
        ]:
            demands[(str(kind), str(user), str(client_id))] = Demand(float(rate), bool(is_held), float(limit))
    except (ValueError, TypeError):
        raise ApiError(ErrorCode.INVALID_REQUEST, "the demands are no rows of six") from None
    parts = shared.report(node, demands)
    return [[*key, round(part, 6)] for key, part in parts.items()]
