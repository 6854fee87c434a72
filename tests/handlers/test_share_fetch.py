"""ShareFetch that waits: whom it may still take records from when it is woken."""

from types import SimpleNamespace

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.handlers import share_fetch
from kbroker.handlers.share_fetch import OneShareFetch
from kbroker.protocol.generated.share_fetch_request import ShareFetchRequest

PLACE = (b"t" * 16, 0)


MIN_BYTES = 100


@pytest.fixture
def parked(monkeypatch):
    """A ShareFetch for one partition, and what it takes records from; there is one record from now on."""
    live = SimpleNamespace(
        closed=False,
        is_led=True,
        key="key",
        partition=SimpleNamespace(topic_partition="t"),
        readable=MIN_BYTES,
    )
    parts = SimpleNamespace(
        settings=SimpleNamespace(
            committed_only=lambda group: False, limits=lambda group: SimpleNamespace(lock_ms=1_000)
        ),
        partitions=SimpleNamespace(here=lambda *place: live),
    )
    found = SimpleNamespace(acquired=(), total=0, records=b"")
    monkeypatch.setattr(share_fetch, "shares", lambda services: parts)
    monkeypatch.setattr(share_fetch, "read_share", lambda *arguments: found)
    monkeypatch.setattr(share_fetch, "readable_bytes", lambda *arguments: live.readable)
    waiting = []
    purgatory = SimpleNamespace(park=lambda operation, keys, ms: waiting.append(operation))
    services = SimpleNamespace(fetch_bytes_max=1_000, replicas=SimpleNamespace(fetches=purgatory))
    session = SimpleNamespace(
        partitions={PLACE: False}, group_id="g", member_id="m", rotate=lambda place: None
    )
    request = ShareFetchRequest(
        share_session_epoch=1, max_wait_ms=500, max_records=10, max_bytes=1_000, min_bytes=MIN_BYTES
    )
    fetch = OneShareFetch(services, None, request, session)
    fetch.acknowledged([], [])
    assert waiting == [fetch]
    found.acquired, found.total = (SimpleNamespace(first=0, last=0, deliveries=1),), 1
    return fetch, live


def test_it_is_answered_with_what_it_acquires(parked):
    fetch, _ = parked
    assert fetch.try_complete("key")
    assert fetch.answer.result().responses[0].partitions[0].acquired_records


def test_it_acquires_nothing_from_what_was_begun_anew(parked):
    fetch, live = parked
    live.closed = True
    assert fetch.try_complete("key")
    assert not fetch.answer.result().responses


def test_it_waits_for_as_many_bytes_as_it_wants_at_least(parked):
    fetch, live = parked
    live.readable = MIN_BYTES - 1
    assert not fetch.try_complete("key")
    assert not fetch.answer.done
    fetch.expire()
    assert fetch.answer.result().responses[0].partitions[0].acquired_records


def test_a_partition_that_leads_no_more_is_told_before_there_are_enough_bytes(parked):
    fetch, live = parked
    live.readable, live.is_led = 0, False
    assert fetch.try_complete("key")


def test_records_of_one_partition_do_not_wait_until_another_is_loaded(monkeypatch):
    places = [(b"t" * 16, 0), (b"t" * 16, 1)]
    loads = {place: Deferred() for place in places}
    parts = SimpleNamespace(
        settings=SimpleNamespace(
            committed_only=lambda group: False, limits=lambda group: SimpleNamespace(lock_ms=1_000)
        ),
        partitions=SimpleNamespace(here=lambda *key: None, get=lambda group, *place: loads[place]),
    )
    read = SimpleNamespace(
        acquired=(SimpleNamespace(first=0, last=0, deliveries=1),), total=1, records=b"records"
    )
    monkeypatch.setattr(share_fetch, "shares", lambda services: parts)
    monkeypatch.setattr(share_fetch, "read_share", lambda *arguments: read)
    topic = SimpleNamespace(partitions=(0, 1))
    image = SimpleNamespace(topics=SimpleNamespace(by_id=lambda topic_id: topic))
    services = SimpleNamespace(fetch_bytes_max=1_000, metadata=SimpleNamespace(image=image))
    session = SimpleNamespace(
        partitions=dict.fromkeys(places, True), group_id="g", member_id="m", rotate=lambda place: None
    )
    request = ShareFetchRequest(
        share_session_epoch=1, max_wait_ms=500, max_records=10, max_bytes=1_000, min_bytes=1
    )
    fetch = OneShareFetch(services, None, request, session)
    fetch.acknowledged([], [])
    assert not fetch.answer.done
    live = SimpleNamespace(closed=False, is_led=True, key="key", partition=None)
    loads[places[1]].resolve(live)
    told = {each.partition_index: each for each in fetch.answer.result().responses[0].partitions}
    assert told[1].acquired_records
    assert not told[0].acquired_records
    loads[places[0]].resolve(live)
