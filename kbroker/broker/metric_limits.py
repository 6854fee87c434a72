"""Quotas as Kafka's metrics name them; loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any

from kbroker.broker.connection_meter import KINDS
from kbroker.metrics.registry import ATTRIBUTES, GAUGE, METER
from kbroker.quotas.table import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)

if TYPE_CHECKING:
    from kbroker.broker.restrictions import Restrictions
    from kbroker.broker.services import Services

_SERVER = "kafka.server"
#: Users and clients of one kind of quota that are told of.
_ROWS_MAX = 5000
_SHARERS = ("user", "client-id")


def add(services: Services) -> None:
    """Add the families."""
    for kind, setting in (("Produce", PRODUCER_BYTE_RATE), ("Fetch", CONSUMER_BYTE_RATE)):
        services.metrics.rows(
            _SERVER,
            kind,
            "",
            ATTRIBUTES,
            _SHARERS,
            lambda setting=setting: _byte_rates(services, setting),  # type: ignore[misc]
        )
    _add_times(services)
    for kind in KINDS:
        services.metrics.rows(
            _SERVER,
            kind,
            "",
            ATTRIBUTES,
            (),
            lambda kind=kind: [((), {"queue-size": _waiting(services, kind)})],  # type: ignore[misc]
        )
    _add_protection(services)


def _waiting(services: Services, kind: str) -> int:
    return 0 if services.quotas is None else services.quotas.waiting[kind]


def _add_times(services: Services) -> None:
    """What is not bytes: the time of requests, and what may still be changed in the cluster."""
    registry = services.metrics

    def shares() -> list[tuple[tuple[str, str], dict[str, float]]]:
        now_ms = services.clock.monotonic_ms()
        return [
            (sharers, {"request-time": share.observed(now_ms)})
            for sharers, share in islice(_of_kind(services, REQUEST_PERCENTAGE), _ROWS_MAX)
        ]

    def buckets() -> list[tuple[tuple[str, str], dict[str, float]]]:
        return [
            (sharers, {"tokens": bucket.tokens, "throttle-time": float(bucket.wait_ms())})
            for sharers, bucket in islice(_of_kind(services, CONTROLLER_MUTATION_RATE), _ROWS_MAX)
        ]

    registry.rows(_SERVER, "Request", "", ATTRIBUTES, _SHARERS, shares)
    registry.rows(_SERVER, "ControllerMutation", "", ATTRIBUTES, _SHARERS, buckets)


def _of_kind(services: Services, kind: str) -> list[tuple[tuple[str, str], Any]]:
    return [] if services.quotas is None else services.quotas.quotas.sensors(kind)


def _add_protection(services: Services) -> None:
    """How far the broker protects itself (0 open, 1 delayed, 2 refused), and by which figures; our own."""
    registry, domain, kind = services.metrics, "kbroker.server", "Protection"

    def of_restrictions(ask: Callable[[Restrictions], int]) -> Callable[[], int]:
        return lambda: 0 if services.restrictions is None else ask(services.restrictions)

    registry.gauge(domain, kind, "Level", of_restrictions(lambda found: int(found.protection.level)))
    for name, ask in (
        ("RefusedRequestsPerSec", of_restrictions(lambda found: found.refused)),
        ("DelayedRequestsPerSec", of_restrictions(lambda found: found.delayed)),
    ):
        registry.rows(
            domain,
            kind,
            name,
            METER,
            (),
            lambda ask=ask: [((), ask())],  # type: ignore[misc]
            event="requests",
        )
    registry.rows(
        domain,
        kind,
        "Figure",
        GAUGE,
        ("figure",),
        lambda: (
            []
            if services.restrictions is None
            else [((name,), value) for name, value in services.restrictions.protection.figures.items()]
        ),
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
