"""KbrokerCommand: what `kbroker-admin` asks that Kafka's protocol has no words for (decision 8).

v0 first. A command has a name, arguments and a result, both JSON. Only a client that calls itself `kbroker`
in ApiVersions is served, for all others the API does not exist.

A command is a module `command_<name>.py` here, imported when first asked for, with `run(services, context,
arguments)`: it returns what JSON can hold, or a Deferred of it, or raises ApiError.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from kbroker.broker.deferred import Deferred
from kbroker.errors import ApiError, ErrorCode, ProtocolError
from kbroker.handlers.api_table import OWN_CLIENT
from kbroker.handlers.context import CONTROLLER
from kbroker.protocol.generated.kbroker_command_response import KbrokerCommandResponse

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext
    from kbroker.protocol.generated.kbroker_command_request import KbrokerCommandRequest

VERSIONS = (0, 0)

COMMANDS = frozenset(
    {
        "audit",
        "clients",
        "client_metrics",
        "metrics",
        "quotas",
        "limits",
        "quota_shares",
        "disconnect",
        "migrate",
    }
)
#: Those that a controller by itself is asked, too.
OF_CONTROLLERS = frozenset({"migrate"})
#: Of the arguments' JSON.
_ARGUMENTS_BYTES_MAX = 65_536


def handle(
    services: Services, context: RequestContext, request: KbrokerCommandRequest
) -> KbrokerCommandResponse | Deferred[KbrokerCommandResponse]:
    """Run a command."""
    if context.client_software_name != OWN_CLIENT:
        raise ProtocolError(f"no API with key {context.api_key} and version {context.version}")
    if request.command not in COMMANDS:
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"this kbroker does not know the command {request.command[:100]!r}"
        )
    if context.connection.role == CONTROLLER and request.command not in OF_CONTROLLERS:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"only brokers know the command {request.command}")
    arguments = _parse(request.arguments)
    module = import_module(f"kbroker.handlers.command_{request.command}")
    result = module.run(services, context, arguments)
    return result.map(_answer) if isinstance(result, Deferred) else _answer(result)


def _answer(result: Any) -> KbrokerCommandResponse:
    return KbrokerCommandResponse(result=json.dumps(result, separators=(",", ":"), allow_nan=False).encode())


def _parse(text: bytes | memoryview) -> dict[str, Any]:
    if len(text) > _ARGUMENTS_BYTES_MAX:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"arguments of more than {_ARGUMENTS_BYTES_MAX} bytes")
    try:
        arguments = json.loads(bytes(text) or b"{}")
    except (ValueError, RecursionError):
        raise ApiError(ErrorCode.INVALID_REQUEST, "the arguments are no JSON") from None
    if not isinstance(arguments, dict):
        raise ApiError(ErrorCode.INVALID_REQUEST, "the arguments are no JSON object")
    return arguments


def argument(arguments: dict[str, Any], name: str, kind: type, default: Any) -> Any:
    """One argument of a command.

    Raises:
        ApiError: it is of another type.
    """
    value = arguments.get(name, default)
    if value is not default and type(value) is not kind:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"the argument {name} is no {kind.__name__}")
    return value


def error_response(
    request: KbrokerCommandRequest, version: int, code: ErrorCode, message: str | None
) -> KbrokerCommandResponse:
    """Nothing but the error."""
    return KbrokerCommandResponse(error_code=code, error_message=message)
