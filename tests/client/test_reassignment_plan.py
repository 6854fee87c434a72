from __future__ import annotations

from collections import Counter

import pytest

from kbroker.client.reassignments import Place, plan_assignment
from kbroker.types import TopicPartition


def partitions(count, *replicas):
    return {TopicPartition("t", number): list(replicas) for number in range(count)}


def places(*ids, racks=None):
    return [Place(each, None if racks is None else racks[index]) for index, each in enumerate(ids)]


def test_what_is_spread_evenly_stays():
    current = {TopicPartition("t", number): [1 + number % 3, 1 + (number + 1) % 3] for number in range(6)}
    assert plan_assignment(current, places(1, 2, 3), None) == current


def test_a_new_broker_gets_its_share_and_no_more_moves():
    current = {TopicPartition("t", number): [1 + number % 2, 2 - number % 2] for number in range(6)}
    planned = plan_assignment(current, places(1, 2, 3), None)
    load = Counter(broker for replicas in planned.values() for broker in replicas)
    assert load == {1: 4, 2: 4, 3: 4}
    moved = sum(len(set(planned[tp]) - set(current[tp])) for tp in current)
    assert moved == 4


def test_leaders_are_spread():
    planned = plan_assignment(partitions(9, 1, 2, 3), places(1, 2, 3), None)
    assert Counter(replicas[0] for replicas in planned.values()) == {1: 3, 2: 3, 3: 3}


def test_a_broker_that_is_not_named_is_emptied():
    planned = plan_assignment(partitions(4, 1, 2), places(2, 3), None)
    assert all(set(replicas) == {2, 3} for replicas in planned.values())


@pytest.mark.parametrize("factor", [1, 2, 3])
def test_the_number_of_replicas_changes(factor):
    planned = plan_assignment(partitions(6, 1, 2), places(1, 2, 3), factor)
    assert all(len(set(replicas)) == factor for replicas in planned.values())
    load = Counter(broker for replicas in planned.values() for broker in replicas)
    assert max(load.values()) - min(load.values()) <= 1


def test_replicas_of_a_partition_are_in_different_racks_while_there_are_enough():
    found = places(1, 2, 3, 4, racks=["a", "a", "b", "b"])
    planned = plan_assignment(partitions(8, 1, 2), found, None)
    rack = {place.id: place.rack for place in found}
    assert all({rack[broker] for broker in replicas} == {"a", "b"} for replicas in planned.values())


def test_too_few_brokers():
    with pytest.raises(ValueError, match="3 replicas need as many brokers, not 2"):
        plan_assignment(partitions(1, 1, 2, 3), places(1, 2), None)
