from __future__ import annotations

from hypothesis import given, strategies as st

from kbroker.replication.timing_wheel import TimingWheel

DELAYS = st.lists(st.integers(0, 5000), max_size=60)


@given(DELAYS, st.lists(st.integers(1, 900), max_size=30), st.integers(1, 20))
def test_everything_comes_out_in_order_never_early_and_at_most_a_tick_late(delays, steps, tick):
    wheel = TimingWheel(tick)
    fired = []
    now = 0
    for index, delay in enumerate(delays):
        wheel.add(delay, lambda index=index, delay=delay: fired.append((now, delay, index)))
    assert len(wheel) == len(delays)
    for step in [*steps, 10_000]:
        before = now
        now += step
        deadline = wheel.next_deadline_ms()
        count = len(fired)
        wheel.advance(now)
        assert (len(fired) > count) == (deadline is not None and deadline <= now)
        for at, delay, _ in fired[count:]:
            assert delay <= at
            assert delay + tick > before
    assert sorted(index for _, _, index in fired) == list(range(len(delays)))
    ticks = [-(-delay // tick) for _, delay, _ in fired]
    assert ticks == sorted(ticks)
    assert wheel.next_deadline_ms() is None


@given(DELAYS, st.data())
def test_what_is_cancelled_never_comes_and_wakes_nobody(delays, data):
    wheel = TimingWheel()
    fired = []
    entries = [wheel.add(delay, lambda index=i: fired.append(index)) for i, delay in enumerate(delays)]
    cancelled = data.draw(st.sets(st.integers(0, max(len(delays) - 1, 0))))
    for index in cancelled:
        if index < len(entries):
            entries[index].cancel()
            entries[index].cancel()
    left = [delay for index, delay in enumerate(delays) if index not in cancelled]
    assert wheel.next_deadline_ms() == (min(left) if left else None)
    assert wheel.advance(10_000) == len(left)
    assert set(fired) == {index for index in range(len(delays)) if index not in cancelled}


def test_callbacks_may_add_and_cancel():
    wheel = TimingWheel()
    fired = []
    second = wheel.add(5, lambda: fired.append("second"))
    wheel.add(5, lambda: fired.append("third"))

    def first():
        second.cancel()
        wheel.add(5, lambda: fired.append("due at once"))
        wheel.add(50, lambda: fired.append("later"))

    wheel.add(4, first)
    wheel.advance(10)
    assert fired == ["third", "due at once"]
    assert wheel.next_deadline_ms() == 50
    wheel.advance(50)
    assert fired[-1] == "later"


def test_a_bucket_refilled_while_it_is_run_is_not_lost():
    wheel = TimingWheel(10)
    fired = []

    def again():
        fired.append("first")
        wheel.add(7, lambda: fired.append("again"))

    wheel.add(5, again)
    assert wheel.advance(10) == 2
    assert fired == ["first", "again"]
    assert len(wheel) == 0
