"""How fast connections may be opened: at the broker, at one listener, from one address (KIP-612).

What is too much for the broker or a listener has to wait for its turn; who opens too many from one address is
closed after a moment, so that trying again at once brings nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from kbroker.quotas.allowance import Allowance
from kbroker.quotas.sensors import Sensors
from kbroker.quotas.windows import Windows

#: A rate of this, the default of the settings, is none.
UNLIMITED = 2**31 - 1


class Admission(NamedTuple):
    """What is to become of a connection: it waits so long, then it is served or closed."""

    delay_ms: int = 0
    is_refused: bool = False


class ConnectionRates:
    """The rates of one node's listeners.

    Args:
        windows: how rates are measured.
        addresses_max: addresses remembered.
    """

    def __init__(self, windows: Windows, addresses_max: int = 100_000) -> None:
        self._windows = windows
        #: By listener; "" is the whole broker.
        self._allowances: dict[str, Allowance] = {}
        self._addresses: Sensors[Allowance] = Sensors(
            lambda limit, now: Allowance(limit, windows, now), addresses_max
        )

    def admit_address(self, address: str, limit: float | None, now_ms: float) -> Admission:
        """A connection from there; it does not count if it is refused."""
        if limit is None:
            return Admission()
        known = self._addresses.get((address, ""), limit, now_ms)
        known.change(limit, now_ms)
        delay_ms = known.ask(1, now_ms)
        return Admission(min(delay_ms, self._windows.ms), is_refused=delay_ms > 0)

    def admit(self, listener: str, limit: float, now_ms: float) -> int:
        """A connection to a listener ("": to the broker); the ms until its turn."""
        if limit >= UNLIMITED:
            self._allowances.pop(listener, None)
            return 0
        limit = max(limit, 0.001)  # 0: next to nobody
        allowance = self._allowances.get(listener)
        if allowance is None:
            allowance = self._allowances[listener] = Allowance(limit, self._windows, now_ms)
        allowance.change(limit, now_ms)
        return allowance.charge(1, now_ms)
