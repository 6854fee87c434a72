"""Correctness scenario 66, through sockets: hundreds of members at once, and half of them gone at once."""

from __future__ import annotations

from kbroker.testing import Broker
from tools.bench.groups import Member, find_coordinator, join_all, settle

COUNT = 500
SETTINGS = {"group.initial.rebalance.delay.ms": "500", "group.min.session.timeout.ms": "100"}


class _Address:
    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.split(":")
        self.address = host, int(port)


def test_66_500_members_join_at_once_then_half_of_them_die() -> None:
    """Each time one generation: the first waits for all (KIP-134), the second for the ends of sessions."""
    with Broker(config=SETTINGS, subprocess=True) as broker:
        place = _Address(broker.bootstrap)
        find_coordinator(place, "crowd")
        members = [Member(place.address, "crowd", 3_000) for _ in range(COUNT)]
        join_all(members)
        dead, alive = members[::2], members[1::2]
        assert {member.generation for member in members} == {1}
        for member in dead:
            member.sock.close()
        settle(alive, 1)
        for member in alive:
            member.sock.close()
    # Sessions that end one after the other may need one more round, not one each.
    last = alive[0].generation
    assert 2 <= last <= 3
    led = [(generation, ids) for member in members for generation, ids in member.led.items()]
    assert len(led) == len(dict(led)), "a generation has one leader, so one assignment"
    assert sorted(dict(led)[1]) == sorted(member.member_id for member in members)
    assert sorted(dict(led)[last]) == sorted(member.member_id for member in alive)
