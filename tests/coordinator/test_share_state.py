"""The share coordinator's shard: snapshots and updates, fencing, and the same state after a replay."""

from __future__ import annotations

import pytest

from kbroker.coordinator.share.spans import StateBatch
from kbroker.coordinator.share.state_shard import ShareKey, ShareState, ShareStateShard, Written
from kbroker.errors import ApiError, ErrorCode

KEY = ShareKey("g", bytes(15) + b"\1", 0)


class World:
    """A shard whose log is a list."""

    def __init__(self):
        self.log = []
        self.shard = ShareStateShard(lambda topic, partition: topic == KEY.topic_id, updates_max=2)

    def ask(self, decide):
        outcome, answers = decide(self.shard, "ticket"), []
        while outcome is not None:
            for record in outcome.records:
                self.log.append(record.encoded())
                self.shard.apply(record, len(self.log))
            answers += [reply.response for reply in outcome.replies]
            outcome = outcome.then() if outcome.then is not None else None
        (answer,) = answers
        return answer

    def write(self, *batches, state_epoch=1, leader_epoch=0, start=0):
        what = Written(state_epoch, leader_epoch, start, -1, list(batches))
        return self.ask(lambda shard, ticket: shard.write(ticket, KEY, what, 5))

    def read(self, leader_epoch=0):
        return self.ask(lambda shard, ticket: shard.read(ticket, KEY, leader_epoch))

    def begin(self, state_epoch=1):
        return self.ask(lambda shard, ticket: shard.initialize(ticket, KEY, state_epoch, -1, 5))


@pytest.fixture
def w():
    world = World()
    assert world.begin() is None
    return world


def code(answer):
    assert isinstance(answer, ApiError)
    return answer.code


def test_updates_then_a_snapshot_and_a_replay_knows_all(w):
    for first in range(4):
        assert w.write(StateBatch(first, first, 2, 1)) is None
    assert w.read().batches == (StateBatch(0, 3, 2, 1),)
    assert [key[1] for key, _ in w.log] == [0, 1, 1, 0, 1]
    again = World()
    for at, (key, value) in enumerate(w.log):
        again.shard.apply(again.shard.decode(key, value), at)
    assert again.shard.states == w.shard.states


def test_later_state_wins_and_what_lies_before_the_start_goes(w):
    w.write(StateBatch(0, 9, 0, 1))
    w.write(StateBatch(3, 4, 2, 2), start=2)
    assert w.read().batches == (StateBatch(2, 2, 0, 1), StateBatch(3, 4, 2, 2), StateBatch(5, 9, 0, 1))


def test_a_write_that_comes_late_undoes_nothing(w):
    w.write(StateBatch(0, 9, 2, 3), StateBatch(10, 19, 0, 2), start=0)
    w.write(StateBatch(0, 14, 0, 2), StateBatch(15, 24, 4, 2), start=0)
    assert w.read().batches == (
        StateBatch(0, 9, 2, 3),
        StateBatch(10, 14, 0, 2),
        StateBatch(15, 24, 4, 2),
    )
    w.write(start=10)
    w.write(StateBatch(0, 3, 0, 1), start=0)
    assert w.read().start_offset == 10
    assert w.read().batches[0].first == 10


def test_a_reader_becomes_the_leader_and_older_ones_are_fenced(w):
    assert w.read(leader_epoch=3).leader_epoch == 3
    assert code(w.write(StateBatch(0, 0, 2, 1), leader_epoch=2)) is ErrorCode.FENCED_LEADER_EPOCH
    assert code(w.read(leader_epoch=2)) is ErrorCode.FENCED_LEADER_EPOCH
    assert w.begin(state_epoch=4) is None
    assert code(w.write(state_epoch=1, leader_epoch=3)) is ErrorCode.FENCED_STATE_EPOCH
    assert code(w.begin(state_epoch=2)) is ErrorCode.FENCED_STATE_EPOCH


def test_what_never_began_is_empty_and_takes_neither_readers_nor_writes():
    w = World()
    assert code(w.read()) is ErrorCode.INVALID_REQUEST
    assert w.shard.summary(KEY, 0) == ShareState()
    assert code(w.write()) is ErrorCode.INVALID_REQUEST
    assert w.log == []


def test_a_key_that_rests_is_written_anew_where_it_holds_what_others_wrote():
    shard, log = ShareStateShard(lambda topic, partition: True, updates_max=2), []

    def perform(outcome):
        for record in outcome.records:
            shard.apply(record, len(log))
            log.append(record.encoded())

    busy, rests = KEY, KEY._replace(partition=1)
    for key in (busy, rests):
        perform(shard.initialize("ticket", key, 1, -1, 1_000))
    assert shard.needed_from == 0
    for first in range(7):
        batch = [StateBatch(first, first, 2, 1)]
        perform(shard.write("ticket", busy, Written(1, 0, 0, -1, batch), 2_000 + first))
    assert shard.needed_from == 1
    perform(shard.renewed(10_999, 10_000))
    assert (shard.needed_from, len(log)) == (1, 9)
    perform(shard.renewed(11_001, 10_000))
    assert (shard.needed_from, len(log)) == (7, 10)
    again = ShareStateShard(lambda topic, partition: True)
    for offset, (key, value) in enumerate(log[7:], 7):
        again.apply(again.decode(key, value), offset)
    assert (again.states, again.needed_from) == (shard.states, 7)
    perform(shard.renewed(99_000, 10_000))
    assert len(log) == 10, "there is little to gain"
    perform(shard.delete("ticket", busy))
    perform(shard.delete("ticket", rests))
    assert shard.needed_from == 12


def test_forgotten(w):
    assert w.ask(lambda shard, ticket: shard.delete(ticket, KEY)) is None
    assert w.shard.summary(KEY, 0) == ShareState()
    assert w.log[-1][1] is None


def test_a_write_changes_no_epoch_nor_brings_the_start_back(w):
    """As Kafka 4.4: state epochs come with Initialize, leader epochs with Read."""
    assert w.read(leader_epoch=4).state_epoch == 1
    assert w.write(StateBatch(12, 13, 0, 1), state_epoch=7, leader_epoch=6, start=12) is None
    assert w.write(StateBatch(14, 14, 2, 1), state_epoch=1, leader_epoch=4, start=5) is None
    found = w.read(leader_epoch=4)
    assert (found.state_epoch, found.leader_epoch, found.start_offset) == (1, 4, 12)
    assert found.batches == (StateBatch(12, 13, 0, 1), StateBatch(14, 14, 2, 1))


def test_the_order_of_refusals(w):
    """What is negative, then what never began, then what is fenced, then what does not exist."""
    for key in (ShareKey("g", KEY.topic_id, -1), ShareKey("g", bytes(16), -1)):
        assert "partition id" in w.ask(lambda shard, ticket, key=key: shard.read(ticket, key, -1)).text
        assert "partition id" in w.shard.summary(key, -1).text
    other = ShareKey("g", bytes(16), 0)
    what = Written(-1, -1, 0, 0, [])
    for said, state_epoch, leader_epoch in (
        ("leader epoch", -1, -1),
        ("state epoch", -1, 0),
        ("uninitialized", 0, 0),
    ):
        what = what._replace(state_epoch=state_epoch, leader_epoch=leader_epoch)
        assert said in w.ask(lambda shard, ticket, what=what: shard.write(ticket, other, what, 5)).text
    assert "uninitialized" in w.ask(lambda shard, ticket: shard.read(ticket, other, 0)).text
    assert code(w.shard.summary(other, 0)) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert (
        code(w.ask(lambda shard, ticket: shard.delete(ticket, other))) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
