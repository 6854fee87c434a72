from __future__ import annotations

import pytest

from kbroker.server.turns import SLICE_S, Turns


class Loop:
    def __init__(self):
        self.now = 0.0
        self.soon = []
        self.turns = Turns(self.soon.append, lambda: self.now)

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
