from __future__ import annotations

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.producer_ids import ProducerIdSource
from kbroker.controller.producer_ids import ProducerIdBlock
from kbroker.errors import ApiError, ErrorCode


class Controller:
    def __init__(self, size=10):
        self.asked = []
        self.size = size
        self.first = 0

    def allocate(self):
        self.asked.append(Deferred())
        return self.asked[-1]

    def answer(self):
        self.asked.pop(0).resolve(ProducerIdBlock(self.first, self.size))
        self.first += self.size


def test_the_first_waits_for_a_block_and_others_join_it():
    controller = Controller()
    source = ProducerIdSource(controller.allocate)
    waiting = [source.next_id() for _ in range(3)]
    assert len(controller.asked) == 1
    controller.answer()
    assert [deferred.result() for deferred in waiting] == [0, 1, 2]


def test_the_next_block_is_asked_for_before_this_one_ends():
    controller = Controller()
    source = ProducerIdSource(controller.allocate)
    source.next_id()
    controller.answer()
    for _ in range(8):
        source.next_id()
    assert len(controller.asked) == 1
    controller.answer()
    assert [source.next_id().result() for _ in range(3)] == [9, 10, 11]


def test_more_wait_than_a_block_holds():
    controller = Controller(size=4)
    source = ProducerIdSource(controller.allocate)
    waiting = [source.next_id() for _ in range(10)]
    while controller.asked:
        controller.answer()
    assert [deferred.result() for deferred in waiting] == list(range(10))


def test_whoever_waits_hears_of_a_failure_and_the_next_asks_again():
    controller = Controller()
    source = ProducerIdSource(controller.allocate)
    waiting = source.next_id()
    controller.asked.pop().fail(ApiError(ErrorCode.NOT_CONTROLLER))
    with pytest.raises(ApiError):
        waiting.result()
    again = source.next_id()
    controller.answer()
    assert again.result() == 0
