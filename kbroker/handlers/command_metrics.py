"""The command `metrics`: the node's metrics by JMX names (docs/metrics.md).

Arguments: `mbeans`, patterns of object names, at most 20; `attributes`, only these. Result: `time_ms` of a
clock that never runs backwards, `beans`, name to attributes, and whether some had to be left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbroker import __version__
from kbroker.errors import ApiError, ErrorCode
from kbroker.handlers.kbroker_command import argument
from kbroker.metrics.jolokia import Jolokia, JolokiaError

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

PATTERNS_MAX = 20
#: About a megabyte of JSON.
BEANS_MAX = 3000


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    patterns = argument(arguments, "mbeans", list, ["*:*"])
    attributes = argument(arguments, "attributes", list, None)
    if len(patterns) > PATTERNS_MAX or not all(isinstance(each, str) for each in patterns):
        raise ApiError(
            ErrorCode.INVALID_REQUEST, f"mbeans has to be a list of at most {PATTERNS_MAX} patterns"
        )
    now_ms = int(services.clock.monotonic_ms())
    services.metrics.tick(now_ms)
    services.requests.timed = True
    jolokia = Jolokia(services.metrics, __version__)
    beans: dict[str, Any] = {}
    left_out = False
    for pattern in patterns:
        try:
            for name, values in jolokia.beans(pattern, attributes, now_ms):
                if len(beans) >= BEANS_MAX:
                    left_out = True
                    break
                beans[name] = values
        except JolokiaError as error:
            raise ApiError(ErrorCode.INVALID_REQUEST, error.text) from None
    return {"time_ms": now_ms, "beans": beans, "left_out": left_out}
