"""The node's metrics: plain slots that hot paths add to, and families of them under Kafka's JMX names.

The laws of this file:

* Counting costs an integer addition (`meter.value += n`); a histogram's `record` takes nothing from the heap.
* What can be asked is not counted: gauges, and rows, are callables that are asked at a scrape.
* Rates are worked out where they are read, or by `Registry.tick`, never where something is counted.
* A family is one JMX attribute set: `domain:type=T,name=N` and keys that vary from row to row. Families of
  kind ATTRIBUTES are Kafka's own metrics (`domain:type=group`, several attributes with dashed names).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from kbroker.metrics.histogram import Histogram
from kbroker.metrics.rates import Rates

__all__ = [
    "ATTRIBUTES",
    "COLUMN_PART",
    "COUNTER",
    "GAUGE",
    "HISTOGRAM",
    "METER",
    "Column",
    "Counter",
    "Family",
    "Histogram",
    "Meter",
    "Registry",
]

#: Kinds of families: a value now; one that only grows; a count with rates; a distribution; a mapping of
#: attributes to values.
GAUGE, COUNTER, METER, HISTOGRAM, ATTRIBUTES = "gauge", "counter", "meter", "histogram", "attributes"

Value: TypeAlias = "int | float | str | list[str]"
#: Values of the keys that vary, in the order of `Family.keys`.
Labels: TypeAlias = "tuple[str, ...]"
#: What a family has at the moment: a number or text, `int` of a meter, a Histogram, or attributes.
Row: TypeAlias = "tuple[Labels, Any]"
#: Rows of a family whose rates are kept up to date by `tick`; larger ones have their mean rate only.
TICKED_ROWS_MAX = 1000
#: How much of a column is looked at in one go.
COLUMN_PART = 500


class Counter:
    """Counts up: `counter.value += n`."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class Meter(Counter):
    """A count that is shown with its rates; they are the family's."""

    __slots__ = ()


class Column:
    """One value of each of many things that are listed once for many columns.

    Args:
        labels: of all things; the same list for columns that show the same labels.
        values: (from, to) -> the values of that part of the list.
    """

    __slots__ = ("labels", "values")

    def __init__(self, labels: list[Any], values: Callable[[int, int], list[int]]) -> None:
        self.labels = labels
        self.values = values

    def rows(self) -> Iterator[Row]:
        """As of any family."""
        for start in range(0, len(self.labels), COLUMN_PART):
            labels = self.labels[start : start + COLUMN_PART]
            yield from zip(labels, self.values(start, start + len(labels)))


class Family:
    """All that one name stands for.

    Args:
        domain: as `kafka.server`.
        type_name: JMX `type`.
        name: JMX `name`; "" for Kafka's own metrics.
        kind: GAUGE, METER, HISTOGRAM or ATTRIBUTES.
        keys: the keys that vary, in JMX order.
        rows: asked at a scrape for all that there is.
        help_text: a line for people.
        event: what a meter counts, as JMX tells it; a HISTOGRAM that has it is a timer, with
            rates; a GAUGE that has it is a ratio that Kafka shows as the rate of a meter.
    """

    __slots__ = (
        "_fixed",
        "_rows",
        "column",
        "domain",
        "event",
        "help_text",
        "keys",
        "kind",
        "name",
        "rates",
        "type_name",
    )

    def __init__(
        self,
        domain: str,
        type_name: str,
        name: str,
        kind: str,
        keys: tuple[str, ...] = (),
        rows: Callable[[], Iterable[Row]] | None = None,
        help_text: str = "",
        event: str = "",
    ) -> None:
        self.domain = domain
        self.type_name = type_name
        self.name = name
        self.kind = kind
        self.keys = keys
        self.help_text = help_text
        self.event = event
        #: Of meters, by labels.
        self.rates: dict[Labels, Rates] = {}
        #: What there is, for families of very many rows that are numbers.
        self.column: Callable[[], Column] | None = None
        self._rows = rows
        self._fixed: dict[Labels, Any] = {}

    def add(self, labels: Labels, value: Any) -> None:
        """A row that stays: a Meter, a Histogram, or a callable that gives a value (or attributes)."""
        self._fixed[labels] = value

    def get(self, labels: Labels) -> Any:
        """The row's object that was added; None if there is none."""
        return self._fixed.get(labels)

    def remove(self, labels: Labels) -> None:
        """The row is no more."""
        self._fixed.pop(labels, None)
        self.rates.pop(labels, None)

    def rows(self) -> Iterator[Row]:
        """What there is now, values asked."""
        for labels, value in list(self._fixed.items()):
            if isinstance(value, Counter):
                yield labels, value.value
            elif callable(value):
                yield labels, value()
            else:
                yield labels, value
        if self._rows is not None:
            yield from self._rows()

    def count(self) -> int:
        """How many rows there are."""
        if self.column is not None:
            return len(self.column().labels)
        return len(self._fixed) + (0 if self._rows is None else sum(1 for _ in self._rows()))


class Registry:
    """Every family of a node, in the order in which they came.

    Args:
        start_ms: when the node began to count, on the clock that `tick` is given.
    """

    def __init__(self, start_ms: int = 0) -> None:
        self.start_ms = start_ms
        self._families: dict[tuple[str, str, str, tuple[str, ...]], Family] = {}
        #: Called once, before the first scrape: adds the families that nobody needs before.
        self.on_first_use: list[Callable[[], None]] = []
        #: Asked at each scrape for families that come and go.
        self.dynamic: list[Callable[[], Iterable[Family]]] = []
        #: Asked at the beginning of a scrape that takes its time: work that others' values need, in steps.
        self.on_scrape: list[Callable[[], Iterator[None]]] = []
        #: Told of each tick: times in ms.
        self.on_tick: list[Callable[[int], None]] = []
        #: Grows with every scrape: what is looked up for one is kept until the next.
        self.scrapes = 0

    # -- slots for hot paths --

    def meter(self, domain: str, type_name: str, name: str, event: str = "", **keys: str) -> Meter:
        """A counter with rates; the same object when asked again."""
        family = self.family(domain, type_name, name, METER, tuple(keys), event=event)
        labels = tuple(keys.values())
        meter = family.get(labels)
        if meter is None:
            meter = Meter()
            family.add(labels, meter)
        assert isinstance(meter, Meter)
        return meter

    def histogram(
        self, domain: str, type_name: str, name: str, scale: float = 0.001, **keys: str
    ) -> Histogram:
        """A distribution of integers; `scale` makes of one what is shown (0.001: of µs, ms)."""
        family = self.family(domain, type_name, name, HISTOGRAM, tuple(keys))
        labels = tuple(keys.values())
        histogram = family.get(labels)
        if histogram is None:
            histogram = Histogram(scale)
            family.add(labels, histogram)
        assert isinstance(histogram, Histogram)
        return histogram

    # -- what is asked at a scrape --

    def gauge(
        self,
        domain: str,
        type_name: str,
        name: str,
        ask: Callable[[], Value],
        help_text: str = "",
        **keys: str,
    ) -> None:
        """A value that `ask` gives when somebody looks."""
        family = self.family(domain, type_name, name, GAUGE, tuple(keys), help_text=help_text)
        family.add(tuple(keys.values()), ask)

    def rows(
        self,
        domain: str,
        type_name: str,
        name: str,
        kind: str,
        keys: tuple[str, ...],
        rows: Callable[[], Iterable[Row]],
        *,
        help_text: str = "",
        event: str = "",
    ) -> Family:
        """Rows that come and go: `rows()` gives (labels, value) for all that there is now.

        The value is a number for GAUGE and METER (the count), a Histogram, or a mapping for ATTRIBUTES. An
        empty label is left out of the name.
        """
        return self.family(domain, type_name, name, kind, keys, rows, help_text=help_text, event=event)

    def attributes(
        self, domain: str, type_name: str, ask: Callable[[], Mapping[str, Value]], **keys: str
    ) -> None:
        """Kafka's own kind: a group's attributes, all from one call. Totals end in `-total` or `-count`."""
        family = self.family(domain, type_name, "", ATTRIBUTES, tuple(keys))
        family.add(tuple(keys.values()), ask)

    # -- reading --

    def family(
        self,
        domain: str,
        type_name: str,
        name: str,
        kind: str,
        keys: tuple[str, ...] = (),
        rows: Callable[[], Iterable[Row]] | None = None,
        *,
        help_text: str = "",
        event: str = "",
    ) -> Family:
        """The family of that name and keys, made if it is new."""
        at = (domain, type_name, name, keys)
        found = self._families.get(at)
        if found is None:
            found = Family(domain, type_name, name, kind, keys, rows, help_text, event)
            self._families[at] = found
        return found

    def families(self) -> list[Family]:
        """All of them, those of one name beside each other."""
        while self.on_first_use:
            self.on_first_use.pop(0)()
        self.scrapes += 1
        found = [*self._families.values(), *(family for source in self.dynamic for family in source())]
        return sorted(found, key=lambda each: (each.domain, each.type_name, each.name))

    def prepare(self) -> Iterator[None]:
        """What `on_scrape` asks for, step by step, after `families` and before values are asked."""
        for source in self.on_scrape:
            yield from source()

    def count(self) -> int:
        """How many names there are."""
        return sum(family.count() for family in self._families.values())

    def tick(self, now_ms: int) -> None:
        """Bring the rates of meters up to `now_ms`; every 5 s is what Kafka's are made of."""
        for family in self._families.values():
            if family.kind == METER:
                self._tick(family, now_ms)
            elif family.kind == HISTOGRAM:
                for _, histogram in family.rows():
                    histogram.rotate(now_ms)
                if family.event:
                    self._tick(family, now_ms)
        for listener in self.on_tick:
            listener(now_ms)

    def rates(self, family: Family, labels: Labels, count: int, now_ms: int) -> Rates:
        """The rates of a meter's row whose count is given."""
        rates = family.rates.get(labels)
        if rates is None:
            rates = Rates(self.start_ms)
            if len(family.rates) < TICKED_ROWS_MAX:
                family.rates[labels] = rates
        rates.update(count, now_ms)
        return rates

    def _tick(self, family: Family, now_ms: int) -> None:
        seen = set()
        for number, (labels, value) in enumerate(family.rows()):
            if number >= TICKED_ROWS_MAX:
                break
            seen.add(labels)
            count = value.count if isinstance(value, Histogram) else value
            self.rates(family, labels, count, now_ms)
        if len(seen) < len(family.rates):
            for labels in [each for each in family.rates if each not in seen]:
                del family.rates[labels]
