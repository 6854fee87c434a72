"""A quota of the whole cluster, split over its nodes by what they need.

Every node tells the collector (the active controller, or another broker) every few seconds how much its
clients do and whether they are held up. Whoever is not held up keeps a little more than it uses; the rest
goes to those that are. Nobody gets less than a floor, so that a client that moves to another node is not
locked out until the next report. A node that is not heard of any more keeps what it has until it must have
noticed itself that nobody hears it, and then counts as having the floor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

#: How often nodes report.
REPORT_MS = 2_000
#: A node that has not heard of the collector for so long falls back to the even share, or less.
LEASE_MS = 3 * REPORT_MS
#: Of an even share.
FLOOR = 0.02
#: What a node that is not held up gets on top of what it uses.
HEADROOM = 1.05
#: And of the whole quota, as what it uses is only known by and large.
SPARE = 0.005
#: A node is held up if its clients had to wait for more than this part of the time. Who does no more than its
#: share may be early now and then.
HELD_PART = 0.2
#: What one that is held up gets besides twice of what it does, so that it grows from nothing.
GROWTH = 0.02
#: Quotas that one report may tell of: the busiest.
QUOTAS_MAX = 1_000


class Demand(NamedTuple):
    """What the clients of one node do against one quota.

    Attributes:
        rate: units a second.
        is_held: they had to wait for much of the time since the last report.
        limit: of the whole cluster, as the node knows it.
    """

    rate: float
    is_held: bool
    limit: float = 0.0


_NOTHING = Demand(0.0, is_held=False)


def split(limit: float, demands: Mapping[int, Demand], nodes: Iterable[int]) -> dict[int, float]:
    """Shares of all nodes; they come to `limit`. Nodes without a demand have none."""
    ids = sorted(set(nodes) | set(demands))
    if not ids:
        return {}
    even = limit / len(ids)
    wanted = {}
    for node in ids:
        demand = demands.get(node, _NOTHING)
        # What somebody who is held up would do nobody knows: twice as much, until he has enough.
        factor, more = (2, GROWTH) if demand.is_held else (HEADROOM, SPARE)
        wanted[node] = max(demand.rate * factor + limit * more, even * FLOOR)
    shares = _fill(limit, wanted)
    rest = limit - sum(shares.values())
    if rest > 0:
        # Nobody needs it, as far as is known: to those that are held up, else to all.
        takers = [node for node in ids if demands.get(node, _NOTHING).is_held] or ids
        for node in takers:
            shares[node] += rest / len(takers)
    return shares


def _fill(limit: float, wanted: Mapping[int, float]) -> dict[int, float]:
    """All get what they want, as long as there is enough; who wants most gets the same as others like it."""
    shares: dict[int, float] = {}
    left, open_nodes = limit, len(wanted)
    for node in sorted(wanted, key=lambda each: wanted[each]):
        shares[node] = min(wanted[node], left / open_nodes)
        left -= shares[node]
        open_nodes -= 1
    return dict(sorted(shares.items()))


#: A kind of quota, and who shares it.
Key = tuple[str, str, str]


class _Report(NamedTuple):
    at_ms: float
    demands: Mapping[Key, Demand]
    told: Mapping[Key, Demand]


class Collector:
    """Takes reports, gives shares."""

    def __init__(self) -> None:
        self._reports: dict[int, _Report] = {}

    def report(
        self, node: int, demands: Mapping[Key, Demand], nodes: Iterable[int], now_ms: float
    ) -> dict[Key, float]:
        """What a node is told: its part (of 1) of each quota that it tells of.

        Args:
            nodes: that are alive.
        """
        told = demands
        alive = set(nodes) | {node}
        before = self._reports.get(node)
        if before is not None and now_ms - before.at_ms <= LEASE_MS:
            # Who sends seldom is measured by his better report.
            demands = {
                key: demand._replace(rate=max(demand.rate, before.told.get(key, demand).rate))
                for key, demand in demands.items()
            }
        self._reports[node] = _Report(now_ms, demands, told)
        for other in [each for each in self._reports if each not in alive]:
            if now_ms - self._reports[other].at_ms > LEASE_MS:
                del self._reports[other]
        return {
            key: split(demand.limit, self._demands(key, now_ms), alive)[node] / demand.limit
            for key, demand in demands.items()
            if demand.limit > 0
        }

    def _demands(self, key: Key, now_ms: float) -> dict[int, Demand]:
        return {
            node: report.demands[key]
            for node, report in self._reports.items()
            if key in report.demands and now_ms - report.at_ms <= LEASE_MS
        }
