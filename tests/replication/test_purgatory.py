from __future__ import annotations

from hypothesis import given, strategies as st

from kbroker.errors import ErrorCode
from kbroker.replication.delayed_fetch import DelayedFetch
from kbroker.replication.delayed_produce import CommitQueue, DelayedProduce
from kbroker.replication.purgatory import Purgatory
from kbroker.replication.timing_wheel import TimingWheel


class World:
    def __init__(self):
        self.wheel = TimingWheel()
        self.now = 0
        self.purgatory = Purgatory(lambda delay, callback: self.wheel.add(self.now + delay, callback))

    def advance(self, ms):
        self.now += ms
        self.wheel.advance(self.now)


class Wait:
    def __init__(self, needed):
        self.needed = needed
        self.looked = []
        self.outcome = None

    def try_complete(self, key):
        assert self.outcome is None
        self.looked.append(key)
        if len(self.looked) >= self.needed:
            self.outcome = "done"
        return self.outcome is not None

    def expire(self):
        assert self.outcome is None
        self.outcome = "late"


ACTIONS = st.lists(
    st.one_of(
        st.tuples(
            st.just("park"), st.lists(st.integers(0, 3), min_size=1), st.integers(1, 3), st.integers(1, 50)
        ),
        st.tuples(st.just("check"), st.integers(0, 3)),
        st.tuples(st.just("advance"), st.integers(1, 30)),
        st.tuples(st.just("remove"), st.integers(0, 9)),
    ),
    max_size=40,
)


@given(ACTIONS)
def test_every_operation_ends_exactly_once_and_leaves_nothing_behind(actions):
    world = World()
    parked = []
    removed = set()
    for action in actions:
        if action[0] == "park":
            _, keys, needed, timeout = action
            wait = Wait(needed)
            parked.append((wait, set(keys), world.now + timeout))
            world.purgatory.park(wait, keys, timeout)
        elif action[0] == "check":
            before = {id(wait): len(wait.looked) for wait, _, _ in parked}
            watching = [
                wait
                for wait, keys, _ in parked
                if action[1] in keys and wait.outcome is None and id(wait) not in removed
            ]
            world.purgatory.check(action[1])
            for wait in watching:
                assert len(wait.looked) == before[id(wait)] + 1
        elif action[0] == "advance":
            world.advance(action[1])
        elif action[1] < len(parked):
            wait = parked[action[1]][0]
            assert world.purgatory.remove(wait) == (wait.outcome is None and id(wait) not in removed)
            if wait.outcome is None:
                removed.add(id(wait))
        for wait, _, deadline in parked:
            if id(wait) not in removed:
                assert (wait.outcome is None) == (len(wait.looked) < wait.needed and world.now < deadline)
        alive = sum(wait.outcome is None and id(wait) not in removed for wait, _, _ in parked)
        assert len(world.purgatory) == alive
    world.advance(1000)
    assert not world.purgatory._watchers
    assert not world.purgatory._parked
    assert len(world.wheel) == 0


def test_one_that_finishes_may_finish_others():
    world = World()
    second = Wait(1)

    class First(Wait):
        def try_complete(self, key):
            world.purgatory.check("b")
            return super().try_complete(key)

    first = First(1)
    world.purgatory.park(first, ["a"], 10)
    world.purgatory.park(second, ["a", "b"], 10)
    assert world.purgatory.check("a") == 1
    assert (first.outcome, second.outcome) == ("done", "done")


def test_a_delayed_fetch_sums_over_its_partitions():
    readable = {"a": 0, "b": 30}
    finished = []
    fetch = DelayedFetch(100, dict(readable), lambda key: readable[key], lambda: finished.append(True))
    readable["a"] = 60
    assert not fetch.try_complete("a")
    readable["a"] = 50
    assert not fetch.try_complete("a")
    readable["b"] = 50
    assert fetch.try_complete("b")
    assert finished == [True]


def test_a_delayed_fetch_answers_at_once_when_a_partition_has_an_error():
    finished = []
    fetch = DelayedFetch(100, {"a": 0}, lambda key: None, lambda: finished.append(True))
    assert fetch.try_complete("a")
    assert finished == [True]


@given(st.lists(st.integers(0, 20), max_size=20), st.lists(st.integers(0, 22), max_size=10))
def test_commits_are_released_by_offset_and_in_order_of_arrival(offsets, marks):
    queue = CommitQueue()
    for index, offset in enumerate(offsets):
        queue.add(offset, (offset, index))
    high_watermark = 0
    waiting = sorted((offset, index) for index, offset in enumerate(offsets))
    for mark in sorted(marks):
        high_watermark = max(high_watermark, mark)
        assert queue.release(high_watermark) == [w for w in waiting if w[0] < high_watermark]
        waiting = [w for w in waiting if w[0] >= high_watermark]
        assert len(queue) == len(waiting)
    assert queue.drain() == waiting
    assert len(queue) == 0


def test_a_delayed_produce_finishes_with_its_last_partition():
    finished = []
    delayed = DelayedProduce(2, finished.append)
    delayed.settle(1, ErrorCode.NONE)
    assert not delayed.done
    delayed.settle(0, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    assert finished == [[ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NONE]]
    delayed.expire()
    assert len(finished) == 1


def test_a_delayed_produce_that_expires_says_which_were_late():
    finished = []
    delayed = DelayedProduce(2, finished.append)
    delayed.settle(1, ErrorCode.NONE)
    delayed.expire()
    delayed.settle(0, ErrorCode.NONE)
    assert finished == [[ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NONE]] or delayed.done
    assert len(finished) == 1
