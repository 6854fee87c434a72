"""Correctness scenario 66 with the new protocol (KIP-848): hundreds of members, then half of them gone."""

from __future__ import annotations

from collections import Counter

from kbroker.testing import Broker
from tools.bench import wire
from tools.bench.consumer_groups import TOPIC, NewMember
from tools.bench.groups import find_coordinator, join_all, settle

COUNT = 500
SETTINGS = {
    "group.consumer.session.timeout.ms": "3000",
    "group.consumer.min.session.timeout.ms": "1000",
}


class _Address:
    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.split(":")
        self.address = host, int(port)


def owners(members: list[NewMember]) -> Counter[int]:
    return Counter(p for member in members for topic in member.owned for p in topic.partitions)


def test_66_500_members_share_the_partitions_then_half_of_them_die() -> None:
    """Each partition has one owner, in one epoch, before and after."""
    with Broker(config=SETTINGS, subprocess=True) as broker:
        place = _Address(broker.bootstrap)
        with wire.connect(place.address) as sock:
            wire.create_topics(sock, TOPIC, partitions=COUNT)
        find_coordinator(place, "crowd")
        members = [NewMember(place.address, "crowd", number) for number in range(COUNT)]
        join_all(members)
        assert owners(members) == Counter(range(COUNT))
        dead, alive = members[::2], members[1::2]
        for member in dead:
            member.sock.close()
        while owners(alive) != Counter(range(COUNT)):
            settle(alive, alive[0].generation)
        for member in alive:
            assert sum(len(topic.partitions) for topic in member.owned) == 2
            member.sock.close()
