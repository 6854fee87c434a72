"""A distribution of integers in buckets that grow with the value: 8 to an octave, so 6 % off at most.

Quantiles are of the last 5 to 10 minutes (two windows; `Registry` or whoever ticks calls `rotate`), counts
and sums of all time.

The times of single events collect in `recent_s`, a list of at most `RECENT_MAX`, and are sorted into buckets
together: appending to it costs a fifth of doing it each time.
"""

from __future__ import annotations

from collections import Counter

#: Values above are taken as this: 12 days in µs, a terabyte in bytes.
VALUE_MAX = (1 << 40) - 1
#: Buckets: 16 that are exact, then 8 for each of the 36 octaves from 16 on.
BUCKETS = 16 + 36 * 8
#: The quantiles that are told, and how JMX calls them.
QUANTILES = (
    (0.5, "50thPercentile"),
    (0.75, "75thPercentile"),
    (0.95, "95thPercentile"),
    (0.98, "98thPercentile"),
    (0.99, "99thPercentile"),
    (0.999, "999thPercentile"),
)
WINDOW_MS = 300_000
RECENT_MAX = 512


class Histogram:
    """See the module.

    Args:
        scale: what one is worth when it is shown.
    """

    __slots__ = (
        "_before",
        "_count",
        "_counts",
        "_maximum",
        "_minimum",
        "_rotated_ms",
        "_total",
        "recent_s",
        "scale",
    )

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        #: Seconds, of which the values are µs. Whoever appends calls `sort` when there are `RECENT_MAX`.
        self.recent_s: list[float] = []
        self._count = 0
        self._total = 0
        self._minimum = VALUE_MAX
        self._maximum = 0
        self._counts = [0] * BUCKETS
        self._before: list[int] | None = None
        self._rotated_ms = -1

    def record(self, value: int, times: int = 1) -> None:
        """Take a value, not below 0; `times` if as many had it."""
        self._count += times
        self._total += value * times
        if value > self._maximum:
            self._maximum = value
        if value < self._minimum:
            self._minimum = value
        octave = value.bit_length() - 4
        if octave <= 0:
            self._counts[value] += times
        elif octave <= 36:
            self._counts[(octave << 3) + (value >> octave)] += times
        else:
            self._counts[-1] += times

    def sort(self) -> None:
        """Put what is recent into its buckets."""
        for value, times in Counter([int(seconds * 1e6) for seconds in self.recent_s]).items():
            self.record(value, times)
        self.recent_s.clear()

    @property
    def count(self) -> int:
        """Values of all time."""
        return self._count + len(self.recent_s)

    @property
    def total(self) -> int:
        """Their sum."""
        self.sort()
        return self._total

    @property
    def counts(self) -> list[int]:
        """Of the newest window, by bucket."""
        self.sort()
        return self._counts

    def rotate(self, now_ms: int) -> None:
        """Forget what is older than two windows, if a window is over."""
        self.sort()
        if self._rotated_ms < 0:
            self._rotated_ms = now_ms
        elif now_ms - self._rotated_ms >= WINDOW_MS:
            old = now_ms - self._rotated_ms >= 2 * WINDOW_MS
            self._before = None if old else self._counts
            self._counts = [0] * BUCKETS
            self._rotated_ms = now_ms

    def window(self) -> list[int]:
        """How many of the last windows' values lay in each bucket."""
        if self._before is None:
            return list(self.counts)
        return [a + b for a, b in zip(self.counts, self._before)]

    @property
    def mean(self) -> float:
        """Of all time, to scale."""
        return self.total / self.count * self.scale if self.count else 0.0

    @property
    def lowest(self) -> float:
        """Of all time, to scale."""
        self.sort()
        return self._minimum * self.scale if self._count else 0.0

    @property
    def highest(self) -> float:
        """Of all time, to scale."""
        self.sort()
        return self._maximum * self.scale

    def summary(self) -> dict[str, float]:
        """What JMX tells of it, by attribute."""
        return {"Count": self.count, "Min": self.lowest, "Max": self.highest, "Mean": self.mean} | spread(
            self.window(), self.scale
        )

    def short(self) -> dict[str, float]:
        """Quantiles of the last windows as Kafka's own metrics have them, and the greatest of all time."""
        found = spread(self.window(), self.scale)
        short = {"p50": "50th", "p95": "95th", "p99": "99th", "p999": "999th"}
        return {name: found[f"{each}Percentile"] for name, each in short.items()} | {"max": self.highest}

    def merged(self, *others: Histogram) -> Histogram:
        """This and others, of the same scale, as one."""
        result = Histogram(self.scale)
        for each in (self, *others):
            window = each.window()
            result._count += each._count
            result._total += each._total
            result._minimum = min(result._minimum, each._minimum)
            result._maximum = max(result._maximum, each._maximum)
            result._counts = [a + b for a, b in zip(result._counts, window)]
        return result

    def with_zeros(self, count: int) -> Histogram:
        """As if so many zeros had been recorded besides."""
        result = self.merged()
        if count:
            result.record(0, count)
        return result


def middle(bucket: int) -> float:
    """The value that a bucket stands for."""
    if bucket < 16:
        return float(bucket)
    octave = (bucket >> 3) - 1
    lowest = (bucket - (octave << 3)) << octave
    return lowest + ((1 << octave) - 1) / 2


def spread(counts: list[int], scale: float) -> dict[str, float]:
    """Quantiles and standard deviation of values in buckets, by JMX attribute; all 0 where there is none."""
    total = sum(counts)
    found: dict[str, float] = {"StdDev": 0.0} | {name: 0.0 for _, name in QUANTILES}
    if not total:
        return found
    filled = [(middle(at), number) for at, number in enumerate(counts) if number]
    mean = sum(value * number for value, number in filled) / total
    if total > 1:
        variance = sum((value - mean) ** 2 * number for value, number in filled) / (total - 1)
        found["StdDev"] = variance**0.5 * scale
    wanted = list(QUANTILES)
    below = 0
    for value, number in filled:
        below += number
        while wanted and below >= wanted[0][0] * total:
            found[wanted.pop(0)[1]] = value * scale
    return found
