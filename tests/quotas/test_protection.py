from __future__ import annotations

from kbroker.quotas.protection import CALM_MS, Level, Protection, Threshold

THRESHOLDS = {"cpu": Threshold(80, 95), "disk": Threshold(1000, 500, is_low_bad=True)}


def test_the_worst_figure_counts_at_once():
    protection = Protection(THRESHOLDS)
    assert not protection.look({"cpu": 50, "disk": 5000}, 0)
    assert protection.look({"cpu": 85, "disk": 5000}, 1)
    assert (protection.level, protection.reasons) == (Level.DELAYED, ["cpu"])
    assert protection.look({"cpu": 85, "disk": 400}, 2)
    assert (protection.level, protection.reasons) == (Level.REFUSED, ["cpu", "disk"])


def test_it_is_left_only_after_a_calm_while():
    protection = Protection(THRESHOLDS)
    protection.look({"cpu": 96}, 0)
    assert not protection.look({"cpu": 90}, 100_000)  # not a tenth better
    assert not protection.look({"cpu": 82}, 200_000)
    assert not protection.look({"cpu": 96}, 200_000 + CALM_MS - 1)
    protection.look({"cpu": 10}, 300_000)
    assert not protection.look({"cpu": 10}, 300_000 + CALM_MS - 1)
    assert protection.look({"cpu": 10}, 300_000 + CALM_MS)
    assert (protection.level, protection.reasons) == (Level.OPEN, [])


def test_it_goes_down_step_by_step():
    protection = Protection(THRESHOLDS)
    protection.look({"cpu": 96}, 0)
    protection.look({"cpu": 82}, 1)
    protection.look({"cpu": 82}, 1 + CALM_MS)
    assert protection.level is Level.DELAYED


def test_what_nobody_asked_about_does_not_count():
    assert not Protection({"cpu": Threshold(80, None)}).look({"cpu": 10, "memory": 10**12}, 0)
