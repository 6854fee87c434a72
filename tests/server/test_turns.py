from __future__ import annotations

import pytest

from kbroker.server.turns import SHARE, SLICE_S, SLICE_S_MIN, Slices, Turns


class Loop:
    def __init__(self, kind=Turns):
        self.now = 0.0
        self.soon = []
        self.turns = kind(self.soon.append, lambda: self.now)

    def turn(self):
        soon, self.soon[:] = list(self.soon), []
        for call in soon:
            call()


def test_all_that_wait_share_one_slice_in_their_order():
    loop, done = Loop(), []

    def work(name):
        def go_on():
            done.append(name)
            loop.now += SLICE_S / 2
            if done.count(name) < 2:
                loop.turns.wait(go_on)

        return go_on

    for name in "abc":
        loop.turns.wait(work(name))
    assert len(loop.soon) == 1
    assert not done
    for expected in ("ab", "abca", "abcabc"):
        loop.turn()
        assert "".join(done) == expected
    assert not loop.soon


def test_what_fails_holds_up_nobody():
    loop, done = Loop(), []

    def fail():
        raise ValueError

    loop.turns.wait(fail)
    loop.turns.wait(lambda: done.append(1))
    with pytest.raises(ValueError):
        loop.turn()
    loop.turn()
    loop.turns.wait(lambda: done.append(2))
    loop.turn()
    assert done == [1, 2]
    assert not loop.soon


@pytest.mark.parametrize(
    ("others_s", "slice_s"),
    [(0, SLICE_S_MIN), (SLICE_S_MIN, SLICE_S_MIN), (0.004, 0.004 * SHARE), (1, SLICE_S)],
)
def test_a_slice_is_a_part_of_what_others_take(others_s, slice_s):
    loop, done = Loop(Slices), []

    def work():
        done.append(loop.now)
        loop.now += slice_s / 4 * 1.001

    loop.now = 10  # it was idle for long
    for _ in range(12):
        loop.turns.wait(work)
    for count in (4, 8, 12):
        loop.now += others_s
        loop.turn()
        assert len(done) == count
    assert not loop.soon


def test_what_is_done_at_once_has_a_short_slice_of_each_turn():
    loop, done = Loop(Slices), []

    def ask():
        began_s = loop.turns.begin()
        if began_s is not None:
            loop.now += SLICE_S_MIN * 0.6
            loop.turns.end(began_s)
        return began_s is not None

    assert [ask() for _ in range(3)] == [True, True, False]
    loop.turn()
    assert ask()
    loop.turns.wait(lambda: done.append(1))
    assert not ask(), "nobody overtakes those that wait"
    loop.turn()
    assert done
    assert ask()
