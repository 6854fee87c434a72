from __future__ import annotations

import itertools

from kbroker.broker.fetch_session import EVICTION_MS, FetchSession, FetchSessionCache
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic


class World:
    def __init__(self, slots=2):
        self.now = 0
        ids = itertools.count(1)
        self.cache = FetchSessionCache(slots, lambda: self.now, lambda: next(ids))

    def begin(self, count=1, session_id=0, epoch=0, follower=False, forgotten=(), version=12):
        wanted = [FetchPartition(partition=index) for index in range(count)]
        request = FetchRequest(
            session_id=session_id,
            session_epoch=epoch,
            topics=[FetchTopic(topic="t", partitions=wanted)] if wanted else [],
            forgotten_topics_data=[ForgottenTopic(topic="t", partitions=list(forgotten))],
        )
        return self.cache.begin(request, version, follower, lambda topic_id: None)


def test_119_a_full_cache_serves_without_a_session_until_one_is_stale():
    world = World(slots=2)
    first, second = world.begin().session_id, world.begin().session_id
    assert world.begin().session_id == 0
    world.now = EVICTION_MS
    assert world.begin(0, second, 1).error is ErrorCode.NONE
    world.now += 1
    third = world.begin().session_id
    assert third not in (0, first, second)
    assert world.begin(0, first, 1).error is ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(world.cache) == 2


def test_119_followers_take_the_slot_of_consumers_and_not_the_other_way_round():
    world = World(slots=1)
    consumer = world.begin().session_id
    follower = world.begin(follower=True).session_id
    assert follower not in (0, consumer)
    assert world.begin(5).session_id == 0
    assert world.begin(follower=True).session_id == 0


def test_119_a_larger_session_takes_the_slot_of_a_smaller_one_of_some_age():
    world = World(slots=1)
    small = world.begin(1).session_id
    world.now = EVICTION_MS
    world.begin(0, small, 1)
    world.now = EVICTION_MS + 1
    assert world.begin(1).session_id == 0
    assert world.begin(2).session_id != 0


def test_a_session_without_partitions_ends():
    world = World()
    session = world.begin(2).session_id
    context = world.begin(0, session, 1, forgotten=[0, 1])
    assert (context.session, context.error) == (None, ErrorCode.NONE)
    assert not list(context.partitions)
    assert len(world.cache) == 0


def test_a_session_that_ends_serves_what_its_last_request_names():
    world = World()
    session = world.begin(2).session_id
    context = world.begin(1, session, 1, forgotten=[0, 1])
    assert (context.session, context.incremental) == (None, False)
    assert [each.partition for each in context.partitions] == [0]


def test_no_slots_no_sessions():
    world = World(slots=0)
    assert world.begin().session_id == 0
    assert world.begin(follower=True).session_id == 0


def test_epochs_wrap_to_1():
    session = FetchSession(1, {}, False, False, 0)
    assert session.epoch == 1
    session.epoch = 2**31 - 1
    session.advance_epoch()
    assert session.epoch == 1


def test_partitions_are_counted():
    world = World()
    world.begin(3)
    world.begin(2)
    assert world.cache.partition_count == 5
