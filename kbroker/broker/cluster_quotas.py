"""Byte quotas that count for the whole cluster: `kbroker.quota.scope=cluster`, or `central`.

Each broker tells one of them, the collector, every two seconds what its clients do, and is told its parts
(`quotas/shares.py`). The collector is the active controller if that is a broker, else the lowest live broker;
when it changes, the new one begins with even shares and knows all after one report of each.

`central`: a server counts for all, and this only switches whoever asks it (`server/central_quotas.py`) on and
off.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from kbroker.errors import ApiError
from kbroker.protocol.generated.kbroker_command_request import KbrokerCommandRequest
from kbroker.quotas.shares import HELD_PART, LEASE_MS, QUOTAS_MAX, REPORT_MS, Collector, Demand, Key

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.broker.deferred import Deferred
    from kbroker.broker.services import Services
    from kbroker.protocol.primitives import Message
    from kbroker.quotas.leases import Health

SCOPE, URL = "kbroker.quota.scope", "kbroker.quota.central.url"
BROKER, CLUSTER, CENTRAL = "broker", "cluster", "central"
COMMAND = "quota_shares"


class Central(Protocol):
    """Asks a central server."""

    health: Health

    def start(self) -> None:
        """Ask from now on."""

    def stop(self) -> None:
        """Ask no more."""


class ClusterQuotas:
    """This broker's part in shared quotas.

    Args:
        services: the node.
        ask_broker: the answer of another broker to a request.
    """

    def __init__(self, services: Services, ask_broker: Callable[[int, Message], Deferred[Any]]) -> None:
        assert services.quotas is not None
        self._services = services
        self._quotas = services.quotas.quotas
        self._ask_broker = ask_broker
        self.collector = Collector()
        self._timer: Any = None
        self._asked_ms = 0.0
        self._heard_ms = 0.0
        #: Of each quota what was done at the last report.
        self._done: dict[Key, float] = {}
        #: And for how long its clients had been held up.
        self._held_ms: dict[Key, float] = {}
        self._is_on = False
        #: Starts and stops asking a central server.
        self.central: Central | None = None

    def follow_settings(self) -> None:
        """Obey the setting, now and when it changes."""
        self._services.config.subscribe(lambda _: self._switch(), (SCOPE, URL))
        self._switch()

    def close(self) -> None:
        """Report, and ask, no more."""
        if self.central is not None:
            self.central.stop()
        self._report_no_more()

    def _report_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def report(self, node: int, demands: dict[Key, Demand]) -> dict[Key, float]:
        """A broker, or this one, reports: what it is told."""
        nodes = [broker.id for broker in self._services.metadata.image.live_brokers()]
        return self.collector.report(node, demands, nodes, self._now_ms())

    def _switch(self) -> None:
        scope = self._services.config.get_str(SCOPE)
        self._switch_central(scope == CENTRAL)
        is_on = scope == CLUSTER
        if is_on == self._is_on:
            return
        self._is_on = is_on
        self._report_no_more()
        if is_on:
            self._asked_ms = self._heard_ms = self._now_ms()
            self._fall_back()
            self._timer = self._services.timer.call_later(REPORT_MS, self._tick)
        elif scope == BROKER:
            self._quotas.take_parts({}, None)

    def _switch_central(self, is_central: bool) -> None:
        if self.central is None or is_central == (self._quotas.central is not None):
            return
        if is_central:
            self._quotas.count_centrally(self.central.health, self._even())
            self.central.start()
        else:
            self.central.stop()
            self._quotas.count_centrally(None, None)

    def _tick(self) -> None:
        self._timer = self._services.timer.call_later(REPORT_MS, self._tick)
        now_ms = self._now_ms()
        if now_ms - self._heard_ms > LEASE_MS:
            self._fall_back()
        demands = self._demands(now_ms)
        collector = self._collector()
        if collector == self._services.broker_id:
            self._take(self.report(collector, demands), now_ms)
        elif collector >= 0 and demands:
            request = KbrokerCommandRequest(
                command=COMMAND, arguments=encode_report(self._services.broker_id, demands)
            )
            self._ask_broker(collector, request).then(self._answered)
        elif not demands:
            self._heard_ms = now_ms

    def _collector(self) -> int:
        image = self._services.metadata.image
        live = [broker.id for broker in image.live_brokers()]
        return image.controller_id if image.controller_id in live else min(live, default=-1)

    def _demands(self, now_ms: float) -> dict[Key, Demand]:
        before_ms, self._asked_ms = self._asked_ms, now_ms
        passed_s = max(now_ms - before_ms, 1) / 1000
        done, self._done = self._done, {}
        held, self._held_ms = self._held_ms, {}
        demands: dict[Key, Demand] = {}
        for key, allowance in self._quotas.measured():
            rate = (allowance.done - done.get(key, 0.0)) / passed_s
            self._done[key] = allowance.done
            held_ms = allowance.held_ms(now_ms)
            is_held = held_ms - held.get(key, 0.0) > HELD_PART * 1000 * passed_s
            self._held_ms[key] = held_ms
            if rate or is_held:
                demands[key] = Demand(rate, is_held, allowance.whole)
        busiest = sorted(demands, key=lambda key: -demands[key].rate)[:QUOTAS_MAX]
        return {key: demands[key] for key in busiest}

    def _answered(self, done: Deferred[Any]) -> None:
        try:
            answer = done.result()
        except ApiError:
            return
        if not self._is_on or answer.error_code:
            return
        try:
            parts = {tuple(key): float(part) for *key, part in json.loads(bytes(answer.result or b"[]"))}
        except (ValueError, TypeError):
            return
        self._take(parts, self._now_ms())

    def _take(self, parts: dict[Key, float], now_ms: float) -> None:
        self._heard_ms = now_ms
        self._quotas.take_parts(parts, self._even())

    def _fall_back(self) -> None:
        """Nobody tells: no more than the even part, and no more than before."""
        even = self._even()
        self._quotas.take_parts({key: min(part, even) for key, part in self._quotas.parts.items()}, even)

    def _even(self) -> float:
        return 1 / max(len(self._services.metadata.image.live_brokers()), 1)

    def _now_ms(self) -> float:
        return self._services.clock.monotonic_ms()


def encode_report(node: int, demands: dict[Key, Demand]) -> bytes:
    """The arguments of the command."""
    rows = [[*key, round(each.rate, 1), each.is_held, each.limit] for key, each in demands.items()]
    return json.dumps({"node": node, "demands": rows}, separators=(",", ":")).encode()
