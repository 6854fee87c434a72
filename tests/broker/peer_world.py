"""Other nodes for tests of drivers: what is sent to them, and what they answer when the test says so."""

from __future__ import annotations

from heapq import heappop, heappush

from kbroker.broker.deferred import Deferred


class ManualTimer:
    """A clock and a timer that move when they are told."""

    def __init__(self):
        self.now = 1_000.0
        self._calls = []
        self._serial = 0

    def now_ms(self):
        return int(self.now)

    def monotonic_ms(self):
        return int(self.now)

    def call_later(self, delay_ms, callback):
        self._serial += 1
        call = _Call(callback)
        heappush(self._calls, (self.now + delay_ms, self._serial, call))
        return call

    def advance(self, ms):
        end = self.now + ms
        while self._calls and self._calls[0][0] <= end:
            self.now, _, call = heappop(self._calls)
            if call.callback is not None:
                call.callback()
        self.now = end


class _Call:
    def __init__(self, callback):
        self.callback = callback

    def cancel(self):
        self.callback = None


class FakeWatch:
    def __init__(self):
        self.gone = False
        self.cancelled = False

    def cancel(self):
        self.cancelled = True


class FakePeers:
    """A `Peers`: `sent` has (address, request, channel, deferred)."""

    def __init__(self):
        self.sent = []
        self.closed = []
        self.watches = {}

    def send(self, address, request, *, timeout_ms, channel, version=None):
        deferred = Deferred()
        self.sent.append((address, request, channel, deferred))
        return deferred

    def close_channel(self, address, channel):
        self.closed.append((address, channel))

    def watch(self, address, on_gone, on_back=None, on_lost=None):
        watch = FakeWatch()
        watch.on_back, watch.on_lost = on_back, on_lost
        self.watches[address] = watch, on_gone
        return watch

    def answer(self, response):
        """The newest request is answered."""
        self.sent[-1][3].resolve(response)

    def fail(self, error):
        """It has no answer."""
        self.sent[-1][3].fail(error)

    def fail_all(self, error):
        for _, _, _, deferred in self.sent:
            deferred.fail(error)

    def die(self, address):
        """The process there is gone."""
        watch, on_gone = self.watches[address]
        watch.gone = True
        on_gone()
