"""Quotas as Kafka's metrics name them; loaded when somebody looks."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from kbroker.metrics.registry import ATTRIBUTES
from kbroker.quotas.table import CONSUMER_BYTE_RATE, PRODUCER_BYTE_RATE

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_SERVER = "kafka.server"
#: Users and clients of one kind of quota that are told of.
_ROWS_MAX = 5000


def add(services: Services) -> None:
    """Add the families."""
    for kind, setting in (("Produce", PRODUCER_BYTE_RATE), ("Fetch", CONSUMER_BYTE_RATE)):
        services.metrics.rows(
            _SERVER,
            kind,
            "",
            ATTRIBUTES,
            ("user", "client-id"),
            lambda setting=setting: _byte_rates(services, setting),  # type: ignore[misc]
        )


def _byte_rates(services: Services, setting: str) -> list[tuple[tuple[str, str], dict[str, float]]]:
    keeper = services.quotas
    if keeper is None:
        return []
    now_ms = services.clock.monotonic_ms()
    return [
        (
            (user, client_id),
            {
                "byte-rate": allowance.observed(now_ms),
                "throttle-time": max(allowance.held_until_ms - now_ms, 0.0),
            },
        )
        for (kind, user, client_id), allowance in islice(keeper.quotas.measured(), _ROWS_MAX * 2)
        if kind == setting
    ]
