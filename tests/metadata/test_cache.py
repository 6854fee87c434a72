from __future__ import annotations

from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.delta import ClusterDelta
from kbroker.metadata.image import ClusterImage


def publish(cache, offset):
    delta = ClusterDelta(cache.image)
    cache.publish(delta.image(offset, 1), delta)


def test_subscribers_hear_in_order_with_old_and_new():
    cache = MetadataCache("c")
    heard = []
    cache.subscribe(lambda old, new, delta: heard.append(("a", old.offset, new.offset)))
    cache.subscribe(lambda old, new, delta: heard.append(("b", old.offset, cache.image.offset)))
    assert not cache.published
    publish(cache, 5)
    assert heard == [("a", -1, 5), ("b", -1, 5)]
    assert cache.published


def test_a_late_subscriber_hears_of_everything_at_once():
    cache = MetadataCache("c")
    publish(cache, 5)
    heard = []
    cache.subscribe(lambda old, new, delta: heard.append((old, new.offset)))
    assert heard == [(ClusterImage("c"), 5)]


def test_a_publication_from_inside_a_subscriber_comes_after_all_have_heard():
    cache = MetadataCache("c")
    heard = []

    def first(old, new, delta):
        heard.append(("first", new.offset))
        if new.offset == 1:
            publish(cache, 2)

    cache.subscribe(first)
    cache.subscribe(lambda old, new, delta: heard.append(("second", new.offset)))
    publish(cache, 1)
    assert heard == [("first", 1), ("second", 1), ("first", 2), ("second", 2)]


def test_a_subscriber_that_fails_does_not_keep_others_from_hearing(caplog):
    cache = MetadataCache("c")
    heard = []

    def broken(old, new, delta):
        raise RuntimeError("broken")

    cache.subscribe(broken)
    cache.subscribe(lambda old, new, delta: heard.append(new.offset))
    publish(cache, 1)
    assert heard == [1]
    assert "offset 1" in caplog.text


def test_who_has_much_to_do_is_told_step_by_step_and_what_follows_waits():
    cache = MetadataCache("c")
    heard, turns = [], []
    cache.pause = turns.append

    def slow(old, new, delta):
        for step in range(2):
            heard.append(("slow", new.offset, step))
            yield

    cache.subscribe(slow)
    cache.subscribe(lambda old, new, delta: heard.append(("after", new.offset)))
    publish(cache, 1)
    cache.when_told(lambda: heard.append("told"))
    publish(cache, 2)
    assert heard == [("slow", 1, 0)]
    assert (cache.image.offset, cache.told_offset) == (1, -1)
    while turns:
        turns.pop()()
    assert heard[1:] == [("slow", 1, 1), ("after", 1), "told", ("slow", 2, 0), ("slow", 2, 1), ("after", 2)]
    assert cache.told_offset == 2


def test_a_node_that_stops_does_not_go_on_telling():
    cache = MetadataCache("c")
    heard, turns = [], []
    cache.pause = turns.append

    def slow(old, new, delta):
        heard.append(1)
        yield
        heard.append(2)

    cache.subscribe(slow)
    publish(cache, 1)
    cache.when_told(lambda: heard.append("told"))
    cache.stop()
    turns.pop()()
    assert heard == [1, "told"]
