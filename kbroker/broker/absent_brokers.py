"""What clients are told of brokers that have just died.

A client that loses its connection to a leader asks another broker at once. librdkafka, if it hears the same
leader again, next asks up to a second later; if it hears that there is none it asks again and again. And it
needs a second more where the answer that names the new leader lacks the old one altogether. So:

- from the moment a live broker's connection ends, no partition is told to be led by it (`missing`);
- one that was fenced without having said good-bye is named a moment longer (`former`);
- a client that asks again, out of the blue, waits a moment: it may know sooner than this node does that a
  broker has died.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kbroker.broker.timer import Timer
    from kbroker.clock import Clock

#: How long a dead broker is named. librdkafka looks at its topics once a second.
_FORMER_MS = 1500.0
#: How long a client waits that asks again, and what that means: it has been connected for so long, and so
#: long nothing has changed, which would be reason enough to ask.
PAUSE_MS = 15.0
_SETTLED_MS = 1000.0


class Absent(NamedTuple):
    """Ids of brokers; equal as long as no answer changes."""

    #: Alive by the metadata, but not there: they lead nothing.
    missing: frozenset[int] = frozenset()
    #: Fenced a moment ago: named, though they lead nothing.
    former: frozenset[int] = frozenset()


class AbsentBrokers:
    """See the module. `failure_watch.py` tells it what happens.

    Args:
        timer, clock: of this node.
    """

    def __init__(self, timer: Timer, clock: Clock) -> None:
        self.now = Absent()
        self._timer = timer
        self._clock = clock
        self._changed_ms = clock.monotonic_ms()

    def is_missing(self, broker_id: int, missing: bool) -> None:
        """The connection to a live broker has ended; or it is there again, or not alive any more."""
        if (broker_id in self.now.missing) != missing:
            self.now = self.now._replace(missing=self.now.missing ^ {broker_id})

    def fenced(self, broker_id: int) -> None:
        """A broker that had not said that it stops."""
        self.now = self.now._replace(former=self.now.former | {broker_id})
        self._timer.call_later(_FORMER_MS, lambda: self._forget(broker_id))

    def _forget(self, broker_id: int) -> None:
        self.now = self.now._replace(former=self.now.former - {broker_id})

    def metadata_changed(self) -> None:
        """There is news, which clients may have heard of."""
        self._changed_ms = self._clock.monotonic_ms()

    def may_be_unheard_of(self, connected_ms: int) -> bool:
        """Whether a client that has been connected since then (wall clock) may know of a death before us."""
        if self.now.missing or self._clock.monotonic_ms() - self._changed_ms < _SETTLED_MS:
            return False
        return 0 <= connected_ms < self._clock.now_ms() - _SETTLED_MS
