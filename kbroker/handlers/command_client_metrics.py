"""The command `client_metrics`: what clients have pushed (`broker/client_metrics_store.py`).

Arguments: `client_id`, only this one; `limit`, of values. Result: whether pushes are kept at all, the
instances with their series, and how many values the limit has left out.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from kbroker.handlers.kbroker_command import argument
from kbroker.protocol.otlp import Histogram
from kbroker.types import uuid_to_string

if TYPE_CHECKING:
    from kbroker.broker.client_metrics_store import InstanceMetrics
    from kbroker.broker.services import Services
    from kbroker.handlers.context import RequestContext

#: About two megabytes of JSON, 50 ms.
LIMIT_MAX = 10_000


def run(services: Services, context: RequestContext, arguments: dict[str, Any]) -> dict[str, Any]:
    """See the module."""
    client_id = argument(arguments, "client_id", str, None)
    left = min(argument(arguments, "limit", int, LIMIT_MAX), LIMIT_MAX)
    left_out, found = 0, []
    for instance in services.client_metrics.store.instances(services.clock.now_ms()):
        if client_id is not None and instance.client_id != client_id:
            continue
        series = list(instance.series.items())[: max(left, 0)]
        left_out += len(instance.series) - len(series)
        left -= len(series)
        if series or not instance.series:
            found.append(
                {
                    **_describe(instance),
                    "metrics": [
                        {
                            "name": name,
                            "kind": value.kind,
                            "unit": value.unit,
                            "attributes": dict(attributes),
                            "value": plain_value(value.value),
                            "time_ms": value.time_ms,
                        }
                        for (name, attributes), value in series
                    ],
                }
            )
    return {"kept": services.client_metrics.keeps, "instances": found, "left_out": left_out}


def _describe(instance: InstanceMetrics) -> dict[str, Any]:
    return {
        "instance_id": uuid_to_string(instance.instance_id),
        "client_id": instance.client_id,
        "software": instance.software,
        "software_version": instance.software_version,
        "address": instance.address,
        "resource": dict(instance.resource),
        "pushes": instance.pushes,
        "last_ms": instance.last_ms,
        "has_ended": instance.has_ended,
        "not_kept": instance.left_out,
    }


def plain_value(value: float | int | Histogram) -> Any:
    """A value as JSON can have it: no number becomes null."""
    if isinstance(value, Histogram):
        return {
            "count": value.value_count,
            "sum": plain_value(value.sum),
            "bounds": [plain_value(bound) for bound in value.bounds],
            "buckets": list(value.buckets),
        }
    return value if isfinite(value) else None
