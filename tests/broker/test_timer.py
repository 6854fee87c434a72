from __future__ import annotations

import pytest

from kbroker.broker.timer import WheelTimer


class Loop:
    def __init__(self):
        self.now = 1000.5
        self.alarms = []
        self.armed = 0

    def arm(self, delay_ms, callback):
        self.armed += 1
        alarm = [self.now + delay_ms, callback]
        self.alarms.append(alarm)

        class Handle:
            def cancel(_self):
                self.alarms.remove(alarm)

        return Handle()

    def run_until(self, now):
        while due := [alarm for alarm in self.alarms if alarm[0] <= now]:
            first = min(due, key=lambda alarm: alarm[0])
            self.alarms.remove(first)
            self.now = max(self.now, first[0])
            first[1]()
        self.now = now


def test_one_alarm_is_armed_for_the_next_deadline_and_none_when_idle():
    loop = Loop()
    timer = WheelTimer(lambda: loop.now, loop.arm)
    fired = []
    timer.call_later(50, lambda: fired.append(50))
    timer.call_later(10, lambda: fired.append(10))
    timer.call_later(70, lambda: fired.append(70))
    assert len(loop.alarms) == 1
    loop.run_until(1100)
    assert fired == [10, 50, 70]
    assert loop.alarms == []


def test_waits_that_are_cancelled_again_and_again_do_not_move_the_alarm():
    loop = Loop()
    timer = WheelTimer(lambda: loop.now, loop.arm)
    for _ in range(1000):
        timer.call_later(500, lambda: None).cancel()
        loop.run_until(loop.now + 1)
    assert loop.armed < 10


def test_a_callback_may_ask_again():
    loop = Loop()
    timer = WheelTimer(lambda: loop.now, loop.arm)
    fired = []

    def again():
        fired.append(loop.now)
        if len(fired) < 3:
            timer.call_later(10, again)

    timer.call_later(10, again)
    loop.run_until(2000)
    assert len(fired) == 3


def test_a_closed_timer_calls_nothing():
    loop = Loop()
    timer = WheelTimer(lambda: loop.now, loop.arm)
    timer.call_later(10, lambda: 1 / 0)
    timer.close()
    loop.run_until(2000)


def test_what_fails_holds_up_nothing_that_is_due_after_it():
    loop = Loop()
    timer = WheelTimer(lambda: loop.now, loop.arm)
    fired = []
    timer.call_later(10, lambda: 1 / 0)
    timer.call_later(10, lambda: fired.append(10))
    timer.call_later(50, lambda: fired.append(50))
    with pytest.raises(ZeroDivisionError):
        loop.run_until(1100)
    loop.run_until(1100)
    assert fired == [10, 50]
