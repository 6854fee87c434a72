"""The command `audit`: the newest lines of this node's audit log.

Arguments: `since`, a number from an earlier answer; `limit`, of lines. Result: `lines`, objects as in the
file, oldest first; `next`, what to give as `since`; `missed`, how many since then are not kept any more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.kbroker_command import argument
from kbroker.security.acl import Operation

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

#: Who may see who tried what.
OPERATION = Operation.ALTER
LIMIT_MAX = 1000


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    file = services.extras.get("audit_file")
    if file is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, "there is no audit log: kbroker.audit.log is not set")
    limit = max(min(argument(arguments, "limit", int, LIMIT_MAX), LIMIT_MAX), 0)
    since = argument(arguments, "since", int, None)
    fresh = file.count if since is None else max(file.count - since, 0)
    kept = list(file.recent)[max(len(file.recent) - min(fresh, limit), 0) :]
    return {
        "lines": [json.loads(line) for line in kept],
        "next": file.count,
        "missed": 0 if since is None else fresh - len(kept),
    }
