from __future__ import annotations

import pytest

from kbroker.broker.absent_brokers import AbsentBrokers
from kbroker.broker.failure_watch import FailureWatch
from kbroker.broker.peer import PeerAddress
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kbroker.protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from tests.broker.peer_world import FakePeers, ManualTimer


def address(broker):
    return PeerAddress(broker, f"host{broker}", 9092)


def registered(broker, epoch, fenced=False):
    endpoint = BrokerEndpoint(name="PLAINTEXT", host=f"host{broker}", port=9092)
    return RegisterBrokerRecord(broker_id=broker, broker_epoch=epoch, end_points=[endpoint], fenced=fenced)


class World:
    def __init__(self):
        self.peers = FakePeers()
        self.active = True
        self.lost = []
        self.timer = ManualTimer()
        self.absent = AbsentBrokers(self.timer, self.timer)
        self.image = ClusterImage("cluster")
        self.watch = FailureWatch(
            1,
            self.peers,
            "PLAINTEXT",
            lambda: self.active,
            lambda broker, epoch: self.lost.append((broker, epoch)),
            self.absent,
        )

    def apply(self, *records):
        old, self.image = self.image, self.image.apply(records)
        self.watch.on_metadata(old, self.image, None)


@pytest.fixture
def world():
    return World()


def test_all_live_brokers_but_the_own_one_are_watched(world):
    world.apply(registered(1, 10), registered(2, 11), registered(3, 12, fenced=True))
    assert set(world.peers.watches) == {address(2)}
    world.apply(BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=12, fenced=-1))
    assert set(world.peers.watches) == {address(2), address(3)}


def test_a_broker_whose_port_refuses_is_lost_at_once(world):
    world.apply(registered(2, 11))
    world.peers.die(address(2))
    assert world.lost == [(2, 11)]


def test_who_is_not_the_controller_says_nothing_until_it_is(world):
    world.active = False
    world.apply(registered(2, 11), registered(3, 12))
    world.peers.die(address(2))
    assert world.lost == []
    world.active = True
    world.watch.became_active()
    assert world.lost == [(2, 11)]


def test_it_is_the_newest_incarnation_that_is_lost(world):
    world.apply(registered(2, 11))
    world.apply(registered(2, 25))
    world.peers.die(address(2))
    assert world.lost == [(2, 25)]


def test_fenced_brokers_are_not_watched_any_more(world):
    world.apply(registered(2, 11))
    watch, _ = world.peers.watches[address(2)]
    world.apply(BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=11, fenced=1))
    assert watch.cancelled


def test_after_the_stop_nobody_is_watched(world):
    world.apply(registered(2, 11))
    watch, _ = world.peers.watches[address(2)]
    world.watch.stop()
    assert watch.cancelled


def test_who_is_gone_leads_nothing_and_is_named_a_moment_longer(world):
    world.apply(registered(1, 10), registered(2, 11))
    watch, _ = world.peers.watches[address(2)]
    watch.on_lost()
    assert world.absent.now.missing == {2}
    watch.on_back()
    assert not world.absent.now.missing
    watch.on_lost()
    world.apply(BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=11, fenced=1))
    assert world.absent.now == (frozenset(), {2})
    world.timer.advance(2000)
    assert not world.absent.now.former


def test_who_said_that_it_stops_is_not_named_any_more(world):
    world.apply(registered(2, 11))
    world.apply(BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=11, in_controlled_shutdown=1))
    world.apply(BrokerRegistrationChangeRecord(broker_id=2, broker_epoch=11, fenced=1))
    assert not world.absent.now.former


def test_a_client_that_asks_again_may_know_better_while_there_is_no_news(world):
    connected = world.timer.now_ms()
    world.apply(registered(1, 10), registered(2, 11))
    world.timer.advance(500)
    assert not world.absent.may_be_unheard_of(connected)
    world.timer.advance(1500)
    assert world.absent.may_be_unheard_of(connected)
    assert not world.absent.may_be_unheard_of(world.timer.now_ms())
    watch, _ = world.peers.watches[address(2)]
    watch.on_lost()
    assert not world.absent.may_be_unheard_of(connected)


def test_who_is_not_the_controller_may_be_told_who_is_gone(world):
    gone = []
    world.watch.on_gone = gone.append
    world.active = False
    world.apply(registered(2, 11))
    world.peers.die(address(2))
    assert (gone, world.lost) == ([2], [])
