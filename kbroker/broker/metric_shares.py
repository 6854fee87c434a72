"""Share groups as Kafka's metrics name them; loaded when somebody looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbroker.metrics.registry import METER

if TYPE_CHECKING:
    from kbroker.broker.services import Services
    from kbroker.broker.shares import Shares

_SERVER = "kafka.server"
_ACKS = {1: "Accept", 2: "Release", 3: "Reject", 4: "Renew"}


def add(services: Services) -> None:
    """Add the families. A broker that no share group has asked yet has nothing but zeros."""
    registry = services.metrics

    def of_shares(ask: Callable[[Shares], int]) -> Callable[[], int]:
        def value() -> int:
            found = services.extras.get("shares")
            return 0 if found is None else ask(found)

        return value

    kind = "ShareSessionCache"
    registry.gauge(_SERVER, kind, "ShareSessionsCount", of_shares(lambda shares: len(shares.sessions)))
    registry.gauge(
        _SERVER, kind, "SharePartitionsCount", of_shares(lambda shares: shares.sessions.partition_count)
    )
    registry.rows(
        _SERVER,
        "ShareGroupMetrics",
        "RecordAcknowledgementsPerSec",
        METER,
        ("ackType",),
        lambda: [
            ((name,), of_shares(lambda shares, number=number: shares.acked[number])())  # type: ignore[misc]
            for number, name in _ACKS.items()
        ],
        event="records",
    )
    # Kafka names these events; they make no sense, but tools read them.
    for name, what, event in (
        ("DeadLetterQueueRecordCount", "written", "requests"),
        ("DeadLetterQueueTotalProduceRequestsPerSec", "sent", "errors"),
        ("DeadLetterQueueFailedProduceRequestsPerSec", "failed", "errors"),
    ):
        registry.rows(
            _SERVER,
            "ShareGroupMetrics",
            name,
            METER,
            ("group",),
            lambda what=what: _by_group(services, what),  # type: ignore[misc]
            event=event,
        )
    book = services.requests
    for request, name in (("ShareFetch", "ShareFetch"), ("ShareAcknowledge", "ShareAcknowledgement")):
        registry.rows(
            _SERVER,
            "BrokerTopicMetrics",
            f"Total{name}RequestsPerSec",
            METER,
            (),
            lambda request=request: [((), book.of(request).count)],  # type: ignore[misc]
            event="requests",
        )
        registry.rows(
            _SERVER,
            "BrokerTopicMetrics",
            f"Failed{name}RequestsPerSec",
            METER,
            (),
            lambda request=request: [((), sum(book.of(request).errors.values()))],  # type: ignore[misc]
            event="requests",
        )


def _by_group(services: Services, what: str) -> list[tuple[tuple[str], int]]:
    found: Shares | None = services.extras.get("shares")
    if found is None:
        return []
    counts: Counter[str] = getattr(found.dead_letters, what)
    return [((group_id,), count) for group_id, count in counts.items()]
