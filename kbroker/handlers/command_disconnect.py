"""The command `disconnect`: close the connections of clients, one after the other (`kbroker-admin drain`).

Arguments: `seconds`, over which they are spread. Result: how many `connections`. Those of our own nodes and
tools stay, and who connects anew is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.kbroker_command import argument
from kbroker.security.acl import Operation

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

OPERATION = Operation.ALTER
_SECONDS_MAX = 3600


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    seconds = float(argument(arguments, "seconds", float, 10.0))
    if not 0 <= seconds <= _SECONDS_MAX:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"seconds are 0 to {_SECONDS_MAX}")
    disconnect = services.extras.get("disconnect")
    return {"connections": 0 if disconnect is None else disconnect(seconds)}
