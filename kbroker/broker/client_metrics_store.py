"""The metrics that clients have pushed: the latest value of every series of every client instance.

Clients push differences (delta temporality); they are summed here, so that who reads sees totals. Bounded:
`INSTANCES_MAX` instances and `SERIES_MAX` series, of which one instance has at most `SERIES_OF_ONE_MAX`; who
has been silent longest goes first, and after `SILENT_MS_MAX` in any case.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TypeAlias

from kbroker.plain import made, plain
from kbroker.protocol.otlp import Attributes, Histogram, Point
from kbroker.types import Uuid

INSTANCES_MAX = 1000
SERIES_MAX = 50_000
SERIES_OF_ONE_MAX = 2000
SILENT_MS_MAX = 3_600_000
#: Characters of names and attributes of a series together; a series with more is not kept.
SERIES_TEXT_MAX = 2000

SeriesKey: TypeAlias = tuple[str, Attributes]


@plain(frozen=True)
class Push:
    """One push, decoded; `time_ms` is when it came."""

    instance_id: Uuid
    client_id: str
    software: str
    software_version: str
    address: str
    is_terminating: bool
    time_ms: int
    resource: Attributes
    points: list[Point]


@plain()
class Series:
    """The value of a metric now; totals for sums and histograms that came as differences."""

    kind: str
    unit: str
    value: float | int | Histogram
    time_ms: int


@plain()
class InstanceMetrics:
    """What one client instance has told; `last` is its latest push without the points."""

    instance_id: Uuid
    client_id: str = ""
    software: str = ""
    software_version: str = ""
    address: str = ""
    resource: Attributes = ()
    pushes: int = 0
    #: Points that were not kept, as there were too many series.
    left_out: int = 0
    last_ms: int = 0
    #: It said that this was its last push.
    has_ended: bool = False
    series: dict[SeriesKey, Series] = made(default_factory=dict)


class ClientMetricsStore:
    """See the module. Times come in as arguments, in ms since 1970."""

    def __init__(self) -> None:
        self._instances: OrderedDict[Uuid, InstanceMetrics] = OrderedDict()
        self._series_count = 0

    def add(self, push: Push) -> None:
        """Take what came."""
        instance = self._instances.get(push.instance_id)
        if instance is None:
            instance = self._instances[push.instance_id] = InstanceMetrics(push.instance_id)
        self._instances.move_to_end(push.instance_id)
        instance.client_id, instance.address = push.client_id, push.address
        instance.software, instance.software_version = push.software, push.software_version
        instance.resource, instance.has_ended = push.resource, push.is_terminating
        instance.last_ms = push.time_ms
        instance.pushes += 1
        before = len(instance.series)
        for point in push.points:
            _take(instance, point)
        self._series_count += len(instance.series) - before
        while self._series_count > SERIES_MAX or len(self._instances) > INSTANCES_MAX:
            self._drop_oldest()
        self._drop_silent(push.time_ms)

    def instances(self, now_ms: int) -> Iterator[InstanceMetrics]:
        """Those that have pushed within the last hour, the latest first."""
        self._drop_silent(now_ms)
        return reversed(self._instances.values())

    def _drop_silent(self, now_ms: int) -> None:
        while self._instances and next(iter(self._instances.values())).last_ms < now_ms - SILENT_MS_MAX:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, instance = self._instances.popitem(last=False)
        self._series_count -= len(instance.series)


def _take(instance: InstanceMetrics, point: Point) -> None:
    key = (point.name, point.attributes)
    known = instance.series.get(key)
    if known is not None and known.kind == point.kind:
        known.value = _sum(known.value, point.value) if point.is_delta else point.value
        known.unit, known.time_ms = point.unit, point.time_ms
    elif known is None and (len(instance.series) >= SERIES_OF_ONE_MAX or _is_too_long(point)):
        instance.left_out += 1
    else:
        instance.series[key] = Series(point.kind, point.unit, point.value, point.time_ms)


def _is_too_long(point: Point) -> bool:
    names = len(point.name) + len(point.unit) + sum(len(name) + len(text) for name, text in point.attributes)
    buckets = len(point.value.buckets) + len(point.value.bounds) if isinstance(point.value, Histogram) else 0
    return names + 8 * buckets > SERIES_TEXT_MAX


def _sum(total: float | int | Histogram, more: float | int | Histogram) -> float | int | Histogram:
    """A total and what came on top; a histogram with other buckets begins anew."""
    if isinstance(total, Histogram) or isinstance(more, Histogram):
        if not (isinstance(total, Histogram) and isinstance(more, Histogram)) or total.bounds != more.bounds:
            return more
        buckets = tuple(a + b for a, b in zip(total.buckets, more.buckets))
        return Histogram(total.value_count + more.value_count, total.sum + more.sum, total.bounds, buckets)
    return total + more
