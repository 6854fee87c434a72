from hypothesis import given, strategies as st

from kbroker.coordinator.timers import Timer, TimerQueue


def due(queue, now):
    fired = []
    while (timer := queue.pop_due(now)) is not None:
        fired.append(timer.action(now))
    return fired


def test_a_deadline_moved_later_costs_no_entry_and_fires_then():
    queue = TimerQueue()
    timer = Timer(lambda now: now)
    queue.start(timer, 10)
    for deadline in range(11, 2000):
        queue.start(timer, deadline)
    assert len(queue) == 1
    assert due(queue, 1998) == []
    assert queue.deadline() == 1999
    assert due(queue, 1999) == [1999]
    assert not timer.running
    assert queue.deadline() is None


def test_a_deadline_moved_earlier_fires_once():
    queue = TimerQueue()
    timer = Timer(lambda now: now)
    queue.start(timer, 100)
    queue.start(timer, 50)
    assert due(queue, 60) == [60]
    assert due(queue, 200) == []


def test_a_cancelled_timer_does_not_fire_and_may_start_again():
    queue = TimerQueue()
    timer = Timer(lambda now: now)
    queue.start(timer, 10)
    timer.cancel()
    assert due(queue, 20) == []
    queue.start(timer, 30)
    assert due(queue, 30) == [30]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), max_size=60))
def test_fires_exactly_what_a_plain_dict_would(steps):
    """Steps: start timer 0..2 in so many ms, or (3) let so many ms pass."""
    queue, now, fired = TimerQueue(), 0, []
    timers = [Timer(lambda at, i=i: fired.append((i, at))) for i in range(3)]
    model = {}
    for which, ms in steps:
        if which < 3:
            queue.start(timers[which], now + ms)
            model[which] = now + ms
        else:
            now += ms
            fired.clear()
            due(queue, now)
            expected = {i for i, deadline in model.items() if deadline <= now}
            assert {i for i, _ in fired} == expected
            assert len(fired) == len(expected)
            for i in expected:
                del model[i]
        assert len(queue) <= len(steps) + 3
