from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, strategies as st

from kbroker.controller.placement import UsableBroker, place_replicas
from kbroker.errors import ApiError, ErrorCode


def brokers(*racks, fenced=()):
    return [UsableBroker(n, rack, n in fenced) for n, rack in enumerate(racks, 1)]


def first(limit):
    return 0


def test_leaders_and_followers_spread_evenly_over_brokers():
    placed = place_replicas(brokers(*[None] * 5), 20, 3, first)
    assert set(Counter(replicas[0] for replicas in placed).values()) == {4}
    assert set(Counter(r for replicas in placed for r in replicas).values()) == {12}


def test_the_partitions_of_one_leader_have_different_followers():
    placed = place_replicas(brokers(*[None] * 5), 20, 2, first)
    followers = {replicas[1] for replicas in placed if replicas[0] == 1}
    assert len(followers) == 4


def test_replicas_are_on_different_racks():
    racks = ["a", "a", "b", "b", "c", "c"]
    for replicas in place_replicas(brokers(*racks), 12, 3, first):
        assert {racks[r - 1] for r in replicas} == {"a", "b", "c"}


def test_leaders_use_every_broker_of_every_rack():
    placed = place_replicas(brokers("a", "a", "b", "b"), 8, 2, first)
    assert Counter(replicas[0] for replicas in placed) == {1: 2, 2: 2, 3: 2, 4: 2}


def test_fenced_brokers_come_last_and_never_lead():
    for replicas in place_replicas(brokers(None, None, None, fenced={2}), 6, 3, first):
        assert replicas[-1] == 2
    for replicas in place_replicas(brokers(None, None, None, fenced={2}), 6, 2, first):
        assert 2 not in replicas


def test_too_few_brokers():
    with pytest.raises(ApiError) as caught:
        place_replicas(brokers(None), 1, 2, first)
    assert caught.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert "target replication factor of 2" in caught.value.text


def test_nobody_alive():
    for usable, factor in ((brokers(None, fenced={1}), 1), ([], 1), ([], 3)):
        with pytest.raises(ApiError) as caught:
            place_replicas(usable, 1, factor, first)
        assert caught.value.code is ErrorCode.INVALID_REPLICATION_FACTOR
        assert caught.value.text == (
            "All brokers are currently fenced, or have all their log directories cordoned."
        )


@given(
    racks=st.lists(st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=9),
    fenced=st.sets(st.integers(2, 9)),
    partitions=st.integers(1, 40),
    data=st.data(),
)
def test_whatever_the_cluster_every_partition_has_its_replicas(racks, fenced, partitions, data):
    usable = brokers(*racks, fenced=fenced)
    factor = data.draw(st.integers(1, len(usable)))
    seed = random.Random(data.draw(st.integers(0, 1000)))
    placed = place_replicas(usable, partitions, factor, seed.randrange)
    live = {broker.id for broker in usable if not broker.fenced}
    assert len(placed) == partitions
    for replicas in placed:
        assert len(set(replicas)) == factor
        assert replicas[0] in live
        assert len(live & set(replicas)) == min(factor, len(live))
        used = [racks[r - 1] or "" for r in replicas if r in live]
        assert len(set(used)) == min(len(used), len({racks[r - 1] or "" for r in live}))
