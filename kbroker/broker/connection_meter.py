"""What one connection's requests take of its client's quotas, and how the client is made to wait.

A connection has a meter only while there are quotas. An answer leaves at once and says for how long the
client is throttled; then nothing more is read from it (`mute`) until that time is over (KIP-219).
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from kbroker.broker.deferred import Deferred

if TYPE_CHECKING:
    from kbroker.broker.client_quotas import QuotaKeeper
    from kbroker.broker.restrictions import Restrictions
    from kbroker.broker.timer import TimerHandle
    from kbroker.quotas.client_quotas import ClientLimits

T = TypeVar("T")
#: What dispatch gives for a request.
Answer: TypeAlias = "bytes | list[Any] | Deferred[Any] | None"

_PRODUCE, _FETCH, _SHARE_FETCH = 0, 1, 78
#: API key, version, length of the client id.
_HEADER = Struct(">hh4xh")
#: A bare SASL message may be shorter than any request.
_HEADER_BYTES_MIN = 10
_INT = Struct(">i")
#: The most of a connection's time that may be left uncharged while bytes are paid for, and most of those.
_UNCHARGED_S_MAX = 0.005
_PREPAID_BYTES = 65_536.0
#: A Fetch of an older version goes another way and is charged when it is answered.
_FETCH_CHARGES_SINCE = 4
_PRODUCE_TAGS_SINCE = 9
#: What the controller decides tells by itself for how long the client is throttled.
_MUTATIONS = frozenset({19, 20, 37})
#: Kinds of quotas that a client waits for.
_OF_PRODUCE, _OF_FETCH, _OF_REQUESTS, _OF_MUTATIONS = KINDS = (
    "Produce",
    "Fetch",
    "Request",
    "ControllerMutation",
)
#: Logging in, and what brokers ask each other.
_EXEMPT = frozenset({17, 27, 36, 56, 58, 62, 63, 64, 67, 73, 83, 84, 85, 86, 87})


class Muted(Protocol):
    """A connection."""

    muted: bool

    def unmute(self) -> None:
        """Go on."""


class Named(Protocol):
    """Who is at the other end."""

    principal: str
    client_address: str


class ConnectionMeter:
    """The meter of one connection.

    Args:
        keeper: of the node.
        context: the connection's.
    """

    __slots__ = (
        "_client_id",
        "_context",
        "_head_end",
        "_keeper",
        "_limits",
        "_mark_s",
        "_muted_for",
        "_principal",
        "_unmute",
        "_until_ms",
        "core",
        "free",
        "head",
        "is_slow",
        "spare_s",
        "timed",
        "used_s",
    )

    def __init__(self, keeper: QuotaKeeper, context: Named) -> None:
        self._keeper = keeper
        self._context = context
        self.core: Muted | None = None
        #: Who the limits are of.
        self._client_id, self._principal = b"", ""
        self._limits: ClientLimits | None = None
        #: Whether requests must not be taken for others seen before: they may be refused now.
        self.is_slow = keeper.is_slow
        #: Bytes of Produce frames that are paid for: for one that is no longer, and has this client id (with
        #: its length; up to so many bytes of the frame), nothing is due but to take it off.
        self.free = 0.0
        self.head, self._head_end = b"", 0
        #: Whether the time of requests counts, what is not charged yet, and what need not be until then.
        self.timed = True
        self.used_s = self.spare_s = 0.0
        #: Until when the time is accounted for; 0: nothing is being handled.
        self._mark_s = 0.0
        self._unmute: TimerHandle | None = None
        self._until_ms = 0.0
        #: For which kind of quota, as Kafka names them; "": it is not muted.
        self._muted_for = ""

    # -- the connection calls --

    def begin(self, core: Muted) -> None:
        """Frames are handled from now on."""
        self.core = core
        self._mark_s = self._keeper.now_s()

    def end(self) -> None:
        """All that came with one read is handled."""
        if self._mark_s:
            self.used_s += self._keeper.now_s() - self._mark_s
            self._mark_s = 0.0
            if self.used_s > self.spare_s:
                self.free = 0.0

    def forget(self) -> None:
        """Look everything up anew: quotas or restrictions have changed."""
        self.free = 0.0
        self.is_slow = self._keeper.is_slow

    def after(self, data: memoryview, start: int, end: int, answer: Answer) -> Answer:
        """The request at `data[start:end]` was handled; the answer as the client is to see it."""
        paid = self.free
        if paid:
            if data[start + 1] or data[start] or data[start + 8 : start + self._head_end] != self.head:
                paid = 0.0
            elif end - start <= paid:
                self.free = paid - (end - start)
                return answer
            self.free = 0.0
        if end - start < _HEADER_BYTES_MIN:
            return answer
        keeper = self._keeper
        key, version, length = _HEADER.unpack_from(data, start)
        limits = self._limits_for(bytes(data[start + 10 : start + 10 + length]) if length > 0 else b"")
        now_ms = keeper.now_ms()
        delay_ms = 0
        if key == _PRODUCE:
            if limits.produce is not None:
                delay_ms = limits.produce.charge(end - start - paid, now_ms)
        elif key == _FETCH and version >= _FETCH_CHARGES_SINCE:
            if isinstance(answer, Deferred):
                self._time_parked(limits, now_ms)
            if keeper.restrictions is not None:
                delay_ms = self._restricted_ms(keeper.restrictions, key)
                if delay_ms:
                    self.mute(delay_ms, _OF_REQUESTS)
            return answer
        elif key in (_FETCH, _SHARE_FETCH):
            if limits.fetch is not None:
                answer = self._when_answered(answer, self._charge_fetched(key, version))
        elif key in _MUTATIONS:
            answer = self._when_answered(answer, self._mute_as_told(key, version))
        of_bytes_ms = delay_ms
        if limits.request is not None and key not in _EXEMPT:
            delay_ms = max(delay_ms, limits.request.charge(self._time(), now_ms))
        if key == _PRODUCE and not delay_ms and keeper.restrictions is None:
            self._pay_ahead(limits, now_ms)
            self._head_end = 10 + max(length, 0)
            self.head = bytes(data[start + 8 : start + self._head_end])
        if keeper.restrictions is not None:
            delay_ms = max(delay_ms, self._restricted_ms(keeper.restrictions, key))
        if delay_ms:
            keeper.throttled(key, delay_ms)
            self.mute(delay_ms, _OF_PRODUCE if delay_ms == of_bytes_ms else _OF_REQUESTS)
            return self._tell(answer, key, version, delay_ms)
        return answer

    def closed(self) -> None:
        """The connection is over."""
        self.core = None
        if self._unmute is not None:
            self._unmute.cancel()
            self._unmute = None
        self._leave()

    # -- Fetch calls --

    def fetch_bytes_max(self, client_id: str | None) -> float:
        """The most that a Fetch may answer: more would be delayed in any case."""
        fetch = self._limits_for((client_id or "").encode()).fetch
        return float("inf") if fetch is None else fetch.window_max

    def fetched(self, client_id: str | None, size: int) -> int:
        """An answer of that size is ready; 0, or the ms for which an empty one throttles the client."""
        limits, keeper = self._limits_for((client_id or "").encode()), self._keeper
        now_ms = keeper.now_ms()
        delay_ms, kind = 0, _OF_REQUESTS
        if limits.request is not None:
            delay_ms = limits.request.charge(self._time(), now_ms)
        if limits.fetch is not None and not delay_ms:
            delay_ms, kind = limits.fetch.ask(size, now_ms), _OF_FETCH
        if delay_ms:
            keeper.throttled(_FETCH, delay_ms)
            self.mute(delay_ms, kind)
        return delay_ms

    def mute(self, delay_ms: float, kind: str) -> None:
        """Read nothing more for so long; it is a quota of that kind that is used up."""
        core = self.core
        until_ms = self._keeper.now_ms() + delay_ms
        if core is None or (core.muted and until_ms <= self._until_ms):
            return
        if self._unmute is not None:
            self._unmute.cancel()
        core.muted = True
        self._leave()
        self._muted_for = kind
        self._keeper.waiting[kind] += 1
        self._until_ms = until_ms
        self._unmute = self._keeper.timer.call_later(delay_ms, self._go_on)

    # -- inside --

    def _restricted_ms(self, restrictions: Restrictions, key: int) -> int:
        address, client_id = self._context.client_address, self._client_id.decode(errors="replace")
        return restrictions.delay_ms(key, self._context.principal, client_id, address)

    def _leave(self) -> None:
        if self._muted_for:
            self._keeper.waiting[self._muted_for] -= 1
            self._muted_for = ""

    def _go_on(self) -> None:
        self._unmute = None
        self._leave()
        if self.core is not None:
            self.core.unmute()

    def _time(self) -> float:
        """The seconds since the last charge; what is woken later takes next to none."""
        used_s, self.used_s = self.used_s, 0.0
        before = self._mark_s
        if before:
            self._mark_s = self._keeper.now_s()
            used_s += self._mark_s - before
        return used_s

    def _pay_ahead(self, limits: ClientLimits, now_ms: float) -> None:
        if limits.request is not None:
            self.spare_s = min(limits.request.spare_s, _UNCHARGED_S_MAX)
            if not self.spare_s:
                return
        produce = limits.produce
        self.free = _PREPAID_BYTES if produce is None else produce.prepay(_PREPAID_BYTES, now_ms)

    def _time_parked(self, limits: ClientLimits, now_ms: float) -> None:
        if limits.request is not None:
            limits.request.charge(self._time(), now_ms)
        self._mark_s = 0.0

    def _limits_for(self, client_id: bytes) -> ClientLimits:
        limits, principal = self._limits, self._context.principal
        if (
            limits is None
            or limits[0] != self._keeper.quotas.generation
            or self._client_id != client_id
            or self._principal != principal
        ):
            self._client_id, self._principal = client_id, principal
            limits = self._limits = self._keeper.limits_of(principal, client_id.decode(errors="replace"))
            self.timed = limits.request is not None
            if not self.timed:
                self._mark_s = self.used_s = 0.0
        return limits

    def _charge_fetched(self, key: int, version: int) -> Callable[[Any], Any]:
        """For answers that leave as they are: what is too much is waited for after them."""

        def charge(answer: Any) -> Any:
            size = (
                sum(len(part) if isinstance(part, bytes) else part.length for part in answer)
                if isinstance(answer, list)
                else len(answer or b"")
            )
            fetch = None if self._limits is None else self._limits.fetch
            delay_ms = 0 if fetch is None else fetch.charge(size, self._keeper.now_ms())
            if not delay_ms:
                return answer
            self._keeper.throttled(key, delay_ms)
            self.mute(delay_ms, _OF_FETCH)
            return self._tell(answer, key, version, delay_ms)

        return charge

    def _mute_as_told(self, key: int, version: int) -> Callable[[Any], Any]:
        def look(answer: Any) -> Any:
            place = self._keeper.throttle_place(key, version)
            if isinstance(answer, bytes) and place is not None and len(answer) >= place + 4:
                (delay_ms,) = _INT.unpack_from(answer, place)
                if delay_ms > 0:
                    self.mute(delay_ms, _OF_MUTATIONS)
            return answer

        return look

    @staticmethod
    def _when_answered(answer: Answer, look: Callable[[Any], Any]) -> Answer:
        return answer.map(look) if isinstance(answer, Deferred) else look(answer)

    def _tell(self, answer: Answer, key: int, version: int, delay_ms: int) -> Answer:
        """Write the delay into an answer; one that waits for the disk has it written when it comes."""
        if key == _PRODUCE:
            place = -5 if version >= _PRODUCE_TAGS_SINCE else -4 if version else None
        else:
            place = self._keeper.throttle_place(key, version)
        if place is None:
            return answer

        def write(whole: Any) -> Any:
            if type(whole) is not bytes or len(whole) < 12:
                return whole
            at = place + len(whole) if place < 0 else place
            (told,) = _INT.unpack_from(whole, at)
            return whole[:at] + _INT.pack(max(told, delay_ms)) + whole[at + 4 :]

        return self._when_answered(answer, write)
