"""The comparison's table, and one short line measured on a broker of ours, so that the tool keeps working."""

from __future__ import annotations

import sys

import pytest

from tests.needs import need


@pytest.fixture(autouse=True)
def _linux():
    need(sys.platform == "linux", "Linux (/proc, epoll)")


def test_the_table_tells_how_many_times_better():
    from tools.bench.__main__ import table
    from tools.bench.lines import Measured

    ours = {
        "rate": Measured(200.0, "requests/s", cpu=4.0, cpu_unit="µs/request"),
        "memory": Measured(40.0, "MB", less_is_better=True),
        "ours alone": Measured(1.0, "s"),
    }
    theirs = {
        "rate": Measured(50.0, "requests/s", cpu=40.0, cpu_unit="µs/request"),
        "memory": Measured(400.0, "MB", less_is_better=True),
    }
    lines = table({"kbroker": ours, "Kafka": theirs}).splitlines()
    assert lines[0].split("  ")[-1].strip() == "times less"
    assert lines[2].split() == [
        *("rate", "200", "requests/s", "50.0", "requests/s", "4.0"),
        *("4.00", "µs/request", "40.0", "µs/request", "10.0"),
    ]
    assert lines[3].split() == ["memory", "40.0", "MB", "400", "MB", "10.0"]
    assert lines[4].split() == ["ours", "alone", "1.00", "s"]


def test_one_broker_alone_has_no_ratios():
    from tools.bench.__main__ import table
    from tools.bench.lines import Measured

    text = table({"kbroker": {"start": Measured(0.25, "s", less_is_better=True)}})
    assert "times" not in text
    assert text.splitlines()[2].split() == ["start", "0.250", "s"]


def test_measures_a_broker():
    from tools.bench.brokers import Kbroker
    from tools.bench.lines import Options, measure

    class Short(Options):
        seconds = warm_up_seconds = 0.1

    class Unwarmed(Kbroker):
        warm_up_rounds = 1

    broker = Unwarmed()
    told: list[str] = []
    lines = ["start, empty folder", "produce 100 B", "produce 16 KB", "fetch"]
    try:
        results = measure(broker, Short(quick=True, only=lines), told.append)
    finally:
        broker.remove()
    assert len(told) == len(results) == 11
    assert all(measured.value > 0 for measured in results.values())
    assert not broker.folder.exists()
