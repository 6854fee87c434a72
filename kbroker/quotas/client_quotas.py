"""The quotas of clients by user and client id, and what is left of them on this node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kbroker.quotas.allowance import Allowance
from kbroker.quotas.leases import Health, LeasedAllowance
from kbroker.quotas.request_share import RequestShare
from kbroker.quotas.sensors import Sensors
from kbroker.quotas.shares import Key
from kbroker.quotas.table import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    Entity,
    Match,
    QuotaTable,
)
from kbroker.quotas.token_bucket import TokenBucket
from kbroker.quotas.windows import Windows

#: What a cluster may have in common.
_SHARED = (PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE)


class ClientLimits(NamedTuple):
    """What holds for one client; None: unlimited. Worth asking for anew when `generation` has changed."""

    generation: int
    produce: Allowance | None
    fetch: Allowance | None
    request: RequestShare | None


class ClientQuotas:
    """All quotas of clients of one node.

    Args:
        windows: `quota.window.…`.
        controller_windows: `controller.quota.window.…`.
    """

    def __init__(self, windows: Windows, controller_windows: Windows) -> None:
        #: Makes a table of quotas.
        self.table_of: Callable[[Mapping[Entity, Mapping[str, float]]], QuotaTable] = QuotaTable
        self.table = QuotaTable({})
        #: Changes with the quotas.
        self.generation = 0
        #: This node's part of each quota of the cluster, and of one that it was not told of; None: a quota is
        #: each node's own, as Kafka has it.
        self.parts: Mapping[Key, float] = {}
        self.even_part: float | None = None
        #: Of the central counter; None: nothing is counted there.
        self.central: Health | None = None
        self._windows = windows
        self._sensors: dict[str, Sensors[Any]] = {
            PRODUCER_BYTE_RATE: Sensors(self._allowance),
            CONSUMER_BYTE_RATE: Sensors(self._allowance),
            REQUEST_PERCENTAGE: Sensors(lambda limit, now: RequestShare(limit, windows, now)),
        }
        self._mutations: Sensors[TokenBucket] = Sensors(
            lambda limit, now: TokenBucket(limit, controller_windows.all_s, now)
        )

    @property
    def has_any(self) -> bool:
        """Whether anybody has a quota."""
        return self.table.has(
            PRODUCER_BYTE_RATE, CONSUMER_BYTE_RATE, REQUEST_PERCENTAGE, CONTROLLER_MUTATION_RATE
        )

    def apply(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        """The quotas are these now. What was done counts on, against the new limits."""
        self.table = self.table_of(quotas)
        self.generation += 1

    def take_parts(self, parts: Mapping[Key, float], even_part: float | None) -> None:
        """From now on this node's part of quotas is so large."""
        self.parts, self.even_part = parts, even_part
        self.generation += 1

    def count_centrally(self, health: Health | None, even_part: float | None) -> None:
        """Count byte quotas by leases of a central counter, or not any more. What was done is forgotten."""
        self.central = health
        for kind in _SHARED:
            self._sensors[kind].clear()
        self.take_parts({}, even_part)

    def _allowance(self, limit: float, now_ms: float) -> Allowance:
        if self.central is None:
            return Allowance(limit, self._windows, now_ms)
        return LeasedAllowance(limit, self.even_part or 1.0, self._windows, now_ms, self.central)

    def measured(self) -> list[tuple[Key, Allowance]]:
        """What can be shared with other nodes."""
        return [
            ((kind, user, client_id), allowance)
            for kind in _SHARED
            for (user, client_id), allowance in self._sensors[kind].items()
        ]

    def sensors(self, kind: str) -> list[tuple[tuple[str, str], Any]]:
        """Who shares a quota of one kind, and what measures it."""
        if kind == CONTROLLER_MUTATION_RATE:
            return list(self._mutations.items())
        return self._sensors[kind].items()

    def of(self, user: str, client_id: str, now_ms: float) -> ClientLimits:
        """What holds for a client."""
        return ClientLimits(
            self.generation,
            self._sensor(PRODUCER_BYTE_RATE, user, client_id, now_ms),
            self._sensor(CONSUMER_BYTE_RATE, user, client_id, now_ms),
            self._sensor(REQUEST_PERCENTAGE, user, client_id, now_ms),
        )

    def mutations(self, user: str, client_id: str, now_ms: float) -> TokenBucket | None:
        """What it may still change in the cluster; None: unlimited."""
        match = self.table.find(CONTROLLER_MUTATION_RATE, user, client_id)
        if match is None:
            return None
        bucket = self._mutations.get(match.sharers, match.limit, now_ms)
        if bucket.rate != match.limit:
            bucket.change_rate(match.limit, now_ms)
        return bucket

    def explain(self, user: str, client_id: str, now_ms: float) -> list[tuple[str, Match, float | None]]:
        """For each kind that is limited: which quota holds, and what was seen lately of all who share it."""
        found = []
        for key, sensors in self._sensors.items():
            match = self.table.find(key, user, client_id)
            if match is not None:
                sensor = dict(sensors.items()).get(match.sharers)
                found.append((key, match, None if sensor is None else sensor.observed(now_ms)))
        match = self.table.find(CONTROLLER_MUTATION_RATE, user, client_id)
        if match is not None:
            found.append((CONTROLLER_MUTATION_RATE, match, None))
        return found

    def _sensor(self, key: str, user: str, client_id: str, now_ms: float) -> Any:
        match = self.table.find(key, user, client_id)
        if match is None:
            return None
        limit = match.limit
        if self.even_part is None or self.central is not None or key not in _SHARED:
            sensor = self._sensors[key].get(match.sharers, limit, now_ms)
        else:
            limit *= self.parts.get((key, *match.sharers), self.even_part)
            sensor = self._sensors[key].get(match.sharers, limit, now_ms)
            if sensor.whole == match.limit:
                sensor.share(limit, now_ms)
            sensor.whole = match.limit
        sensor.change(limit, now_ms)
        return sensor
