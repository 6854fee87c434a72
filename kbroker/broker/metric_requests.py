"""Requests as Kafka's metrics name them (kafka.network:type=RequestMetrics); loaded when somebody looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kbroker.errors import error_name
from kbroker.metrics.histogram import Histogram
from kbroker.metrics.registry import HISTOGRAM, METER
from kbroker.metrics.requests import ApiStats

if TYPE_CHECKING:
    from kbroker.broker.services import Services

_PHASES = (
    "LocalTimeMs",
    "RemoteTimeMs",
    "RequestQueueTimeMs",
    "ResponseQueueTimeMs",
    "ResponseSendTimeMs",
    "ThrottleTimeMs",
    "TotalTimeMs",
)
_CONSUMER, _FOLLOWER, _FETCH = "FetchConsumer", "FetchFollower", "Fetch"


def add(services: Services) -> None:
    """Add the families."""
    registry, book = services.metrics, services.requests
    source = _Source(services)

    def requests() -> Iterator[Any]:
        for name, stats in source.names():
            for version, count in sorted(stats.versions.items()):
                yield (name, str(version)), count

    def errors() -> Iterator[Any]:
        for name, stats in source.names():
            told = dict(stats.errors)
            fine = stats.count - sum(told.values())
            if fine > 0:
                yield (name, "NONE"), fine
            for code, count in sorted(told.items()):
                yield (name, error_name(code)), count

    domain, kind = "kafka.network", "RequestMetrics"
    registry.rows(domain, kind, "RequestsPerSec", METER, ("request", "version"), requests, event="requests")
    registry.rows(domain, kind, "ErrorsPerSec", METER, ("request", "error"), errors, event="requests")
    for phase in _PHASES:
        registry.rows(domain, kind, phase, HISTOGRAM, ("request",), source.rows(phase))
    registry.rows(domain, kind, "RequestBytes", HISTOGRAM, ("request",), source.rows("RequestBytes"))
    registry.on_tick.append(lambda now_ms: _rotate(book.all(), now_ms))


class _Source:
    """Histograms of one scrape."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._scrape = -1
        self._found: dict[str, list[tuple[tuple[str], Histogram]]] = {}

    def names(self) -> Iterator[tuple[str, ApiStats]]:
        """Every kind of request, and Fetch, which is two kinds."""
        found = {stats.name: stats for stats in self._services.requests.all() if stats.count}
        yield from found.items()
        fetches = [found[name] for name in (_CONSUMER, _FOLLOWER) if name in found]
        if fetches:
            yield _FETCH, both(fetches)

    def rows(self, phase: str) -> Any:
        """What gives the rows of one phase."""

        def rows() -> list[tuple[tuple[str], Histogram]]:
            if self._scrape != self._services.metrics.scrapes:
                self._scrape = self._services.metrics.scrapes
                self._found = {name: [] for name in (*_PHASES, "RequestBytes")}
                for name, stats in self.names():
                    for each, histogram in stats.phases():
                        self._found[each].append(((name,), histogram))
                    self._found["RequestBytes"].append(((name,), stats.sizes))
            return self._found[phase]

        return rows


def both(parts: list[ApiStats]) -> ApiStats:
    """Several kinds of requests as one."""
    sum_of = ApiStats(_FETCH, parts[0].now_s)
    for stats in parts:
        for version, count in stats.versions.items():
            sum_of.versions[version] += count
        for code, count in stats.errors.items():
            sum_of.error(code, count)
        sum_of.at_once = sum_of.at_once.merged(stats.at_once)
        sum_of.take_sizes(stats.sizes)
        for name in ("waited", "waited_local", "waited_remote", "queued", "sending", "throttled"):
            mine, its = getattr(sum_of, name), getattr(stats, name)
            if its is not None:
                setattr(sum_of, name, its if mine is None else mine.merged(its))
    return sum_of


def _rotate(found: list[ApiStats], now_ms: int) -> None:
    for stats in found:
        stats.rotate(now_ms)
