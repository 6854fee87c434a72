"""Slots, rates and histograms."""

from __future__ import annotations

import random

import pytest

from kbroker.metrics.histogram import BUCKETS, VALUE_MAX, WINDOW_MS, Histogram, middle
from kbroker.metrics.jolokia import canonical, keys_of
from kbroker.metrics.rates import Rates, RecentRates, RecentTimes
from kbroker.metrics.registry import GAUGE, METER, Registry


def name_of(family, labels):
    return canonical(family.domain, keys_of(family, labels))


def test_a_meter_is_counted_by_adding_and_found_again():
    registry = Registry()
    meter = registry.meter("kafka.server", "ReplicaManager", "IsrShrinksPerSec", "shrinks")
    meter.value += 3
    assert registry.meter("kafka.server", "ReplicaManager", "IsrShrinksPerSec") is meter
    (family,) = registry.families()
    assert list(family.rows()) == [((), 3)]
    assert name_of(family, ()) == "kafka.server:name=IsrShrinksPerSec,type=ReplicaManager"


def test_gauges_are_asked_when_somebody_looks():
    registry = Registry()
    values = [1]
    registry.gauge("kafka.log", "LogManager", "LogDirectoryOffline", lambda: values[0], logDirectory="/d")
    values[0] = 7
    (family,) = registry.families()
    assert list(family.rows()) == [(("/d",), 7)]
    assert name_of(family, ("/d",)) == "kafka.log:logDirectory=/d,name=LogDirectoryOffline,type=LogManager"


def test_rows_come_and_go_and_empty_labels_have_no_place_in_the_name():
    registry = Registry()
    rows = [(("t",), 5), (("",), 6)]
    family = registry.rows(
        "kafka.server", "BrokerTopicMetrics", "BytesInPerSec", METER, ("topic",), lambda: rows
    )
    assert list(family.rows()) == rows
    assert name_of(family, ("",)) == "kafka.server:name=BytesInPerSec,type=BrokerTopicMetrics"
    rows.clear()
    assert list(family.rows()) == []


def test_what_nobody_needs_before_is_added_at_the_first_look():
    registry = Registry()
    registry.on_first_use.append(lambda: registry.gauge("a", "b", "c", lambda: 1))
    assert [family.kind for family in registry.families()] == [GAUGE]
    assert len(registry.families()) == 1


def test_rates_follow_what_was_counted():
    rates = Rates(0)
    for second in range(5, 65, 5):
        rates.update(100 * second, second * 1000)
    assert rates.averages == pytest.approx((100, 100, 100))
    assert rates.mean == pytest.approx(100)
    for second in range(65, 125, 5):
        rates.update(6000, second * 1000)
    one, five, fifteen = rates.averages
    assert one == pytest.approx(100 / 2.718, rel=0.01)
    assert five == pytest.approx(81.9, rel=0.01)
    assert fifteen > five
    assert rates.mean == pytest.approx(50)


def test_tick_forgets_the_rates_of_rows_that_went():
    registry = Registry()
    rows = [(("t",), 500)]
    family = registry.rows("d", "T", "XPerSec", METER, ("topic",), lambda: rows)
    registry.tick(5000)
    assert family.rates[("t",)].averages[0] == pytest.approx(100)
    rows.clear()
    registry.tick(10_000)
    assert family.rates == {}


def test_quantiles_are_near_those_of_the_values():
    chance = random.Random(1)
    values = sorted(int(chance.lognormvariate(6, 2)) for _ in range(20_000))
    histogram = Histogram(0.001)
    for value in values:
        histogram.record(value)
    summary = histogram.summary()
    for share, name in ((0.5, "50thPercentile"), (0.99, "99thPercentile"), (0.999, "999thPercentile")):
        assert summary[name] == pytest.approx(values[int(share * len(values)) - 1] / 1000, rel=0.07)
    assert summary["Count"] == len(values)
    assert summary["Mean"] == pytest.approx(sum(values) / len(values) / 1000)
    assert summary["Max"] == values[-1] / 1000
    assert summary["Min"] == values[0] / 1000


def test_every_value_has_a_bucket_whose_middle_is_near():
    for value in [*range(5000), 2**20, 2**39 + 12345, VALUE_MAX]:
        histogram = Histogram()
        histogram.record(value)
        assert middle(histogram.counts.index(1)) == pytest.approx(value, rel=0.065)
    histogram = Histogram()
    histogram.record(VALUE_MAX * 4)
    assert histogram.counts[BUCKETS - 1] == 1


def test_quantiles_forget_but_counts_do_not():
    histogram = Histogram()
    histogram.rotate(0)
    histogram.record(1000, times=3)
    histogram.rotate(WINDOW_MS)
    histogram.record(1)
    assert histogram.summary()["99thPercentile"] == pytest.approx(1000, rel=0.07)
    histogram.rotate(2 * WINDOW_MS)
    assert histogram.summary()["99thPercentile"] == 1
    assert histogram.count == 4
    histogram.rotate(9 * WINDOW_MS)
    assert histogram.summary()["99thPercentile"] == 0
    assert histogram.summary()["Max"] == 1000


def test_zeros_and_merging():
    first, second = Histogram(), Histogram()
    first.record(10)
    second.record(20, times=2)
    both = first.merged(second)
    assert (both.count, both.total, both.lowest, both.highest) == (3, 50, 10, 20)
    with_zeros = both.with_zeros(7)
    assert with_zeros.count == 10
    assert with_zeros.summary()["50thPercentile"] == 0
    assert with_zeros.summary()["Min"] == 0


def test_recent_rates_are_of_the_last_half_minute():
    total = 0
    rates = RecentRates(lambda: {"a": total})
    assert rates.of("a") == 0
    for tick in range(13):
        rates.tick(tick * 5000)
        total += 500 if tick < 6 else 50
    assert rates.of("a") == pytest.approx(10)
    assert rates.of("b") == 0


def test_times_of_the_last_half_a_minute():
    now = [0.0]
    times = RecentTimes(lambda: now[0])
    assert (times.mean, times.most) == (0, 0)
    for now[0], value in ((1.2, 4), (1.9, 8), (20, 3)):
        times.record(value)
    assert (times.mean, times.most) == (5, 8)
    now[0] = 31.5
    assert (times.mean, times.most) == (3, 3)
    now[0] = 51
    assert (times.mean, times.most) == (0, 0)
