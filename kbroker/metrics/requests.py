"""What becomes of requests, for each API: counts by version and error, and how long each phase took.

Most requests are answered at once, in one go: for them one time is noted, which is all there is to know. Only
who had to wait for something has times of its own for that phase; for all others it was 0 (docs/metrics.md).
Times are in seconds of the clock that `RequestBook` is given, and in µs in the histograms. Where nobody looks
(`RequestBook.timed`) requests are counted and no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from kbroker.metrics.histogram import RECENT_MAX, Histogram

#: A request that had to wait for its turn shorter than this has not waited.
QUEUE_S_MIN = 50e-6


class ApiStats:
    """Of one kind of request.

    Args:
        name: as the metrics call it.
        now_s: the clock.
    """

    __slots__ = (
        "_size",
        "_sized",
        "_sizes",
        "at_once",
        "errors",
        "name",
        "now_s",
        "queued",
        "sending",
        "throttled",
        "versions",
        "waited",
        "waited_local",
        "waited_remote",
    )

    def __init__(self, name: str, now_s: Callable[[], float]) -> None:
        self.name = name
        self.now_s = now_s
        self.versions: defaultdict[int, int] = defaultdict(int)
        #: Answers by error code; what `versions` count and is not here had none.
        self.errors: dict[int, int] = {}
        #: Answered in one go: all their time was local.
        self.at_once = Histogram(0.001)
        self._sizes = Histogram()
        #: The newest size, and how many in a row had it: those of a client seldom change.
        self._size = self._sized = 0
        self.waited: Histogram | None = None
        self.waited_local: Histogram | None = None
        self.waited_remote: Histogram | None = None
        #: Those that waited for their turn, until the peer read, for a quota.
        self.queued: Histogram | None = None
        self.sending: Histogram | None = None
        self.throttled: Histogram | None = None

    def done(
        self, version: int, size: int, started_s: float, times: int = 1, read_s: float | None = None
    ) -> None:
        """Requests whose turn came at `started_s` are answered; they were read then, or at `read_s`."""
        queued = read_s is not None and started_s - read_s >= QUEUE_S_MIN
        if times == 1 and not queued:
            self.done_one(version, size, started_s)
            return
        now_s = self.now_s()
        self.versions[version] += times
        if size == self._size:
            self._sized += times
        else:
            self._new_size(size, times)
        if queued:
            self.note_waited(read_s, started_s, now_s, now_s, times)  # type: ignore[arg-type]
        else:
            self.at_once.record(int((now_s - started_s) * 1e6), times)

    def done_one(self, version: int, size: int, started_s: float) -> None:
        """`done` for the usual case: one request, which did not wait for its turn."""
        recent_s = self.at_once.recent_s
        recent_s.append(self.now_s() - started_s)
        self.versions[version] += 1
        if size == self._size:
            self._sized += 1
        else:
            self._new_size(size, 1)
        if len(recent_s) >= RECENT_MAX:
            self.at_once.sort()

    def _new_size(self, size: int, times: int) -> None:
        if self._sized:
            self._sizes.record(self._size, self._sized)
        self._size, self._sized = size, times

    @property
    def sizes(self) -> Histogram:
        """Bytes of requests."""
        self._new_size(0, 0)
        return self._sizes

    def take_sizes(self, sizes: Histogram) -> None:
        """Add those of others."""
        self._sizes = self._sizes.merged(sizes)

    def wait(
        self, version: int, size: int, read_s: float, times: int = 1, started_s: float | None = None
    ) -> Waiting:
        """What could be done at once for a request is done; tell the result when it is answered."""
        if size == self._size:
            self._sized += times
        else:
            self._new_size(size, times)
        return Waiting(self, version, read_s, read_s if started_s is None else started_s, times)

    def note_waited(
        self, read_s: float, started_s: float, parked_s: float, answered_s: float, times: int
    ) -> None:
        """Requests that did not go through in one go."""
        if self.waited is None:
            self.waited, self.waited_local, self.waited_remote = (Histogram(0.001) for _ in range(3))
        assert self.waited_local is not None
        assert self.waited_remote is not None
        if times == 1:
            recent_s = self.waited.recent_s
            recent_s.append(answered_s - read_s)
            self.waited_local.recent_s.append(parked_s - started_s)
            self.waited_remote.recent_s.append(answered_s - parked_s)
            if len(recent_s) >= RECENT_MAX:
                for each in (self.waited, self.waited_local, self.waited_remote):
                    each.sort()
        else:
            self.waited.record(int((answered_s - read_s) * 1e6), times)
            self.waited_local.record(int((parked_s - started_s) * 1e6), times)
            self.waited_remote.record(int((answered_s - parked_s) * 1e6), times)
        if started_s - read_s >= QUEUE_S_MIN:
            if self.queued is None:
                self.queued = Histogram(0.001)
            self.queued.record(int((started_s - read_s) * 1e6), times)

    def sent(self, us: int) -> None:
        """The peer took so long to read an answer."""
        if self.sending is None:
            self.sending = Histogram(0.001)
        self.sending.record(us)

    def throttle(self, ms: int) -> None:
        """An answer told its client to wait so long."""
        if self.throttled is None:
            self.throttled = Histogram(0.001)
        self.throttled.record(ms * 1000)

    def error(self, code: int, times: int = 1) -> None:
        """Answers said so."""
        self.errors[code] = self.errors.get(code, 0) + times

    # -- at a scrape --

    @property
    def count(self) -> int:
        """Requests that are answered."""
        return sum(self.versions.values())

    def phases(self) -> Iterator[tuple[str, Histogram]]:
        """How long they took, under JMX's names."""
        waited, local, remote = (
            each or _NONE for each in (self.waited, self.waited_local, self.waited_remote)
        )
        count = self.at_once.count + waited.count
        yield "TotalTimeMs", self.at_once.merged(waited)
        yield "LocalTimeMs", self.at_once.merged(local)
        yield "RemoteTimeMs", remote.with_zeros(self.at_once.count)
        # There is one queue, that of the connection: an answer is sent as soon as it is made.
        yield "ResponseQueueTimeMs", _NONE.with_zeros(count)
        for name, some in (
            ("RequestQueueTimeMs", self.queued),
            ("ResponseSendTimeMs", self.sending),
            ("ThrottleTimeMs", self.throttled),
        ):
            some = some or _NONE
            yield name, some.with_zeros(max(count - some.count, 0))

    def rotate(self, now_ms: int) -> None:
        """See `Histogram.rotate`."""
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, Histogram):
                value.rotate(now_ms)


class Waiting:
    """A request whose answer is parked."""

    __slots__ = ("_parked_s", "_read_s", "_started_s", "_stats", "_times", "_version")

    def __init__(self, stats: ApiStats, version: int, read_s: float, started_s: float, times: int) -> None:
        self._stats = stats
        self._version = version
        self._read_s = read_s
        self._started_s = started_s
        self._times = times
        self._parked_s = stats.now_s()

    def over(self) -> None:
        """It is answered."""
        stats, version = self._stats, self._version
        stats.versions[version] += self._times
        stats.note_waited(self._read_s, self._started_s, self._parked_s, stats.now_s(), self._times)


class RequestBook:
    """Every kind of request that came.

    Args:
        now_s: a clock that never runs backwards, in seconds.
    """

    __slots__ = ("_by_name", "now_s", "timed")

    def __init__(self, now_s: Callable[[], float]) -> None:
        self.now_s = now_s
        #: Whether sizes and times are noted, too.
        self.timed = True
        self._by_name: dict[str, ApiStats] = {}

    def of(self, name: str) -> ApiStats:
        """Those of that name, from the schemas; of Fetch there are FetchConsumer and FetchFollower."""
        stats = self._by_name.get(name)
        if stats is None:
            stats = self._by_name[name] = ApiStats(name, self.now_s)
        return stats

    def all(self) -> list[ApiStats]:
        """All that came so far, by name."""
        return [stats for _, stats in sorted(self._by_name.items())]


_NONE = Histogram(0.001)
