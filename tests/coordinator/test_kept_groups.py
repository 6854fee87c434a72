"""Share groups that Kafka left in the log: shown, read, never written."""

from __future__ import annotations

import pytest

from kbroker.coordinator.group.records import decode_record, group_tombstone
from kbroker.errors import ErrorCode as E
from tests.coordinator.group_world import World

GROUP_KEY, MEMBER_KEY = b"\x00\x0b\x00\x01g", b"\x00\x0a\x00\x01g\x00\x01m"
ANY = b"\x00\x00\x00\x00\x00\x01"
FOR_EVER = 10**15


def replay(w: World, *records: tuple[bytes, bytes | None]) -> None:
    for key, value in records:
        w.shard.apply(decode_record(key, value), len(w.log))
        w.log.append((key, value))


def delete(w: World) -> E:
    ticket = w.ticket()
    w.perform(w.shard.delete_group(ticket, "g"))
    return w.answer(ticket)


@pytest.fixture
def w() -> World:
    w = World()
    w.commit(("t", 0, 10))
    replay(w, (GROUP_KEY, ANY), (MEMBER_KEY, ANY), (b"\x00\x0d\x00\x01g\x00\x01m", ANY))
    return w


def test_the_offset_came_first(w):
    assert w.shard.list_groups() == [("g", "share", "Stable", "share")]
    assert w.offset("t", 0) == 10


def test_it_is_listed_and_goes_with_its_tombstone():
    w = World()
    replay(w, (GROUP_KEY, ANY))
    assert w.shard.list_groups() == [("g", "share", "Empty", "share")]
    replay(w, (GROUP_KEY, None))
    assert w.shard.list_groups() == []


def test_nothing_of_it_is_ever_buried(w):
    before = list(w.log)
    w.now = FOR_EVER
    w.expire()
    assert delete(w) == E.NON_EMPTY_GROUP
    replay(w, (MEMBER_KEY, None))
    w.expire()
    assert delete(w) == E.UNSUPPORTED_VERSION
    assert w.log == [*before, (MEMBER_KEY, None)]


def test_a_classic_member_cannot_take_it_over(w):
    before = list(w.log)
    assert w.joined(version=9).error_code == E.INCONSISTENT_GROUP_PROTOCOL
    assert w.log == before


def test_only_an_empty_one_takes_commits_of_tools(w):
    assert w.commit(("t", 0, 11)) == [E.UNKNOWN_MEMBER_ID]
    replay(w, (MEMBER_KEY, None))
    assert w.commit(("t", 0, 11)) == [E.NONE]
    assert w.commit(("t", 0, 12), member="m", generation=1) == [E.UNKNOWN_MEMBER_ID]
    assert w.offset("t", 0) == 11


def test_the_record_of_its_classic_past_does_not_end_it(w):
    replay(w, group_tombstone("g").encoded())
    assert w.shard.list_groups() == [("g", "share", "Stable", "share")]


def test_a_members_record_may_come_before_its_groups():
    w = World()
    replay(w, (MEMBER_KEY, ANY), (GROUP_KEY, ANY))
    assert w.shard.list_groups() == [("g", "share", "Stable", "share")]
