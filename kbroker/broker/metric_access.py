"""Metrics of the authorizer, under Kafka 4.4's names, and of the audit log."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbroker.broker.access import Access
    from kbroker.broker.services import Services

_WINDOW_MS = 60_000


class PerMinute:
    """How many decisions there were in about the last minute.

    Args:
        access: counts them.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._counts: deque[tuple[int, int, int]] = deque()

    def tick(self, now_ms: int) -> None:
        """Take the counts of now."""
        self._counts.append((now_ms, self._access.allowed_count, self._access.denied_count))
        while len(self._counts) > 2 and self._counts[1][0] <= now_ms - _WINDOW_MS:
            self._counts.popleft()

    def rates(self) -> tuple[float, float]:
        """Allowed and denied a minute; 0 until there were two ticks."""
        if len(self._counts) < 2:
            return 0.0, 0.0
        (first_ms, *first), (last_ms, *last) = self._counts[0], self._counts[-1]
        minutes = max(last_ms - first_ms, 1) / 60_000
        return (last[0] - first[0]) / minutes, (last[1] - first[1]) / minutes


def add(services: Services) -> None:
    """Add the families, if somebody decides."""
    access, registry = services.authorizer, services.metrics
    file = services.extras.get("audit_file")
    if file is not None:
        registry.gauge("kbroker", "AuditLog", "DroppedLines", lambda: file.dropped)
    if access is None:
        return
    minute = PerMinute(access)
    registry.on_tick.append(minute.tick)

    def attributes() -> dict[str, int | float]:
        allowed, denied = minute.rates()
        return {
            "acls-total-count": len(services.metadata.image.acls),
            "authorization-allowed-rate-per-minute": allowed,
            "authorization-denied-rate-per-minute": denied,
            "authorization-request-rate-per-minute": allowed + denied,
        }

    roles = services.config.get_list("process.roles") or ["broker", "controller"]
    for role in roles:
        registry.attributes(
            "kafka.server",
            "plugins",
            attributes,
            config="authorizer.class.name",
            **{"class": "StandardAuthorizer"},
            role=role,
        )
