"""The broker's assignors: everything is assigned once, evenly, and moves no more than it must."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings, strategies as st

from kbroker.coordinator.group.assignors import Subscriber, assign_range, assign_uniform

A, B, C = (bytes([n]) * 16 for n in (1, 2, 3))


def members(*topics, targets=None):
    targets = targets or {}
    return {f"m{n}": Subscriber(frozenset(each), targets.get(f"m{n}", {})) for n, each in enumerate(topics)}


def plain(assignment):
    return {
        member: {topic: sorted(parts) for topic, parts in each.items()} for member, each in assignment.items()
    }


def test_range_splits_topics_alike():
    found = assign_range(members([A, B], [A, B]), {A: 3, B: 3})
    assert plain(found) == {"m0": {A: [0, 1], B: [0, 1]}, "m1": {A: [2], B: [2]}}


def test_range_puts_static_members_first_in_the_order_of_their_instance_ids():
    subscribers = {
        "z": Subscriber(frozenset([A]), {}, "i1"),
        "a": Subscriber(frozenset([A]), {}),
        "b": Subscriber(frozenset([A]), {}, "i2"),
    }
    assert plain(assign_range(subscribers, {A: 3})) == {"z": {A: [0]}, "b": {A: [1]}, "a": {A: [2]}}


def test_uniform_leaves_what_can_stay():
    targets = {"m0": {A: [0, 1, 2, 3]}}
    found = assign_uniform(members([A], [A], targets=targets), {A: 4})
    assert plain(found) == {"m0": {A: [0, 1]}, "m1": {A: [2, 3]}}


def test_uniform_lets_who_has_more_keep_the_odd_one():
    targets = {"m0": {A: [0]}, "m1": {A: [1, 2]}}
    assert plain(assign_uniform(members([A], [A], targets=targets), {A: 3})) == plain(
        {"m0": {A: [0]}, "m1": {A: [1, 2]}}
    )


SIZES = st.fixed_dictionaries({A: st.integers(0, 9), B: st.integers(0, 9), C: st.integers(0, 9)})
TOPICS = st.lists(st.sets(st.sampled_from([A, B, C])), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(sizes=SIZES, topics=TOPICS, later=TOPICS, same=st.booleans())
def test_every_partition_has_one_owner_that_subscribes(sizes, topics, later, same):
    if same:
        topics, later = [topics[0]] * len(topics), [topics[0]] * len(later)
    for assign in (assign_uniform, assign_range):
        first = assign(members(*topics), sizes)
        for subscribers in (members(*topics), members(*later, targets=first)):
            found = assign(subscribers, sizes)
            owners = Counter(
                (topic, p) for each in found.values() for topic, parts in each.items() for p in parts
            )
            subscribed = set().union(*(each.topics for each in subscribers.values()))
            assert owners == Counter((topic, p) for topic in subscribed for p in range(sizes[topic]))
            for member, each in found.items():
                assert set(each) <= subscribers[member].topics


@settings(max_examples=100, deadline=None)
@given(size=st.integers(0, 40), before=st.integers(1, 9), after=st.integers(1, 9))
def test_uniform_is_even_and_moves_as_little_as_can_be(size, before, after):
    first = assign_uniform(members(*[[A]] * before), {A: size})
    second = assign_uniform(members(*[[A]] * after, targets=first), {A: size})
    counts = [len(each.get(A, ())) for each in second.values()]
    assert max(counts) - min(counts) <= 1
    kept = sum(
        len(first[m].get(A, frozenset()) & second[m].get(A, frozenset())) for m in first if m in second
    )
    had = sorted((len(each.get(A, ())) for m, each in first.items() if m in second), reverse=True)
    quotas = sorted(counts, reverse=True)
    assert kept >= sum(min(a, b) for a, b in zip(had, quotas))


@settings(max_examples=100, deadline=None)
@given(sizes=SIZES, count=st.integers(2, 6))
def test_uniform_evens_out_among_those_who_may(sizes, count):
    topics = [[A, B] if n % 2 else [A] for n in range(count)]
    found = assign_uniform(members(*topics), sizes)
    load = {m: sum(map(len, each.values())) for m, each in found.items()}
    for more in load:
        for less in load:
            movable = [t for t in found[more] if t in members(*topics)[less].topics and found[more][t]]
            assert not movable or load[more] - load[less] <= 1
