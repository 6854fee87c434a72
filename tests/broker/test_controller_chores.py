"""Sessions, fencing and elections by the clock, over a controller without disk and network."""

from __future__ import annotations

import pytest

from kbroker.broker.controller_chores import ControllerChores
from kbroker.broker.deferred import Deferred
from kbroker.config.broker_config import BrokerConfig
from kbroker.controller import elections
from kbroker.controller.brokers import NodeRegistration
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.controller.heartbeats import Heartbeat
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import Endpoint
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from tests.controller.clusters import cluster, uuid, with_topic
from tests.doubles import StandingClock

SESSION = 9000
#: What a new controller leaves of it: the old one was silent for the fetch time-out, 2 s.
REST = 7000


class Driver:
    """A controller whose records are committed at once; `full` refuses them."""

    node_id = 9

    def __init__(self, image):
        self.image = image
        self.active = False
        self.full = False
        self.watcher = None
        self.decided = []

    @property
    def speculative_image(self):
        return self.image

    def watch(self, watcher):
        self.watcher = watcher

    def unrivalled(self):
        return True

    def lead(self):
        self.active = True
        self.watcher.activated(self.image)

    def resign(self):
        self.active = False
        self.watcher.resigned()

    def append_records(self, decide, timeout_ms=None, *, always=False):
        deferred = Deferred()
        try:
            if not self.active:
                raise ApiError(ErrorCode.NOT_CONTROLLER)
            decision = decide(self.image)
            if self.full and decision.records:
                raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR)
        except ApiError as error:
            deferred.fail(error)
            return deferred
        self.decided += decision.records
        self.image = self.image.apply(decision.records)
        deferred.resolve(decision.response)
        self.watcher.committed(self.image)
        return deferred


class Alarm:
    def __init__(self, due, callback):
        self.due, self.callback = due, callback

    def cancel(self):
        self.callback = None


class World:
    def __init__(self, image, **settings):
        self.clock = StandingClock()
        self.alarms = []
        self.driver = Driver(image)
        changes = {"controller_quorum_fetch_timeout_ms": "0", **settings}
        config = BrokerConfig({"node.id": "9", **{k.replace("_", "."): v for k, v in changes.items()}})
        self.chores = ControllerChores(self.driver, config, self.clock, self, uuid(9))
        self.driver.lead()

    def call_later(self, delay_ms, callback):
        self.alarms.append(Alarm(self.clock.monotonic_ms() + delay_ms, callback))
        return self.alarms[-1]

    def advance(self, ms):
        self.clock.now += ms
        now = self.clock.monotonic_ms()
        due = [alarm for alarm in self.alarms if alarm.due <= now]
        self.alarms = [alarm for alarm in self.alarms if alarm.due > now and alarm.callback]
        for alarm in due:
            if alarm.callback is not None:
                alarm.callback()

    def beat(self, broker, **fields):
        epoch = self.driver.image.brokers[broker].epoch
        return self.chores.heartbeat(Heartbeat(broker, epoch, 10**9, **fields)).result()

    def register(self, broker, incarnation, directory=None):
        node = NodeRegistration(
            broker,
            uuid(incarnation),
            [Endpoint("PLAINTEXT", "h", 9)],
            SUPPORTED_FEATURES,
            None,
            [uuid(directory or 100 + broker)],
        )
        return self.chores.register(node)

    def fenced(self):
        return {broker.id for broker in self.driver.image.brokers.values() if broker.fenced}

    def in_sync(self, broker):
        return sum(broker in p.isr for p in self.driver.image.topics.get("t").partitions)

    def leaders(self):
        return [p.leader for p in self.driver.image.topics.get("t").partitions]


def test_who_is_not_heard_of_is_fenced():
    world = World(with_topic(cluster(1, 2), "t", 2, 2))
    world.advance(SESSION - 1)
    world.beat(1)
    assert world.fenced() == set()
    world.advance(1)
    assert world.fenced() == {2}
    assert world.leaders() == [1, 1]
    world.beat(2)
    assert world.fenced() == set()


def test_one_alarm_is_armed_whatever_the_number_of_heartbeats():
    world = World(cluster(1, 2, 3))
    for _ in range(50):
        world.advance(100)
        for broker in (1, 2, 3):
            world.beat(broker)
    assert len([alarm for alarm in world.alarms if alarm.callback]) == 1
    assert world.fenced() == set()


def test_a_process_known_to_be_gone_is_fenced_at_once():
    world = World(with_topic(cluster(1, 2), "t", 2, 2))
    world.chores.broker_lost(1, 10).result()
    assert world.fenced() == {1}
    assert world.leaders() == [2, 2]
    assert world.register(1, incarnation=77).result() > 0
    with pytest.raises(ApiError) as stale:
        world.chores.broker_lost(1, 10).result()
    assert stale.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_many_partitions_of_a_dead_broker_are_moved_slice_by_slice_those_first_that_it_led(monkeypatch):
    monkeypatch.setattr(elections, "SLICE", 2)
    world = World(with_topic(cluster(1, 2), "t", 8, 2))
    lost = world.chores.broker_lost(1, 10)
    turns = []
    while not lost.done:
        turns.append((world.leaders().count(1), world.in_sync(1)))
        assert 1 not in world.fenced()
        world.advance(0)
    assert turns == [(2, 6), (0, 4), (0, 2)]
    assert world.fenced() == {1}
    assert world.in_sync(1) == 0


def test_a_broker_that_leaves_gives_up_slice_by_slice_between_its_heartbeats(monkeypatch):
    monkeypatch.setattr(elections, "SLICE", 2)
    world = World(with_topic(cluster(1, 2), "t", 8, 2))
    assert world.beat(1, want_shut_down=True).in_controlled_shutdown
    assert not world.beat(1, want_shut_down=True).should_shut_down
    turns = 0
    while world.in_sync(1) > 2:
        turns += 1
        world.advance(0)
    assert turns <= 4
    assert world.leaders() == [2] * 8
    world.beat(2)
    assert world.beat(1, want_shut_down=True).should_shut_down
    assert world.in_sync(1) == 0


def test_nothing_happens_after_resigning():
    world = World(cluster(1, 2), controller_quorum_fetch_timeout_ms="2000")
    world.driver.resign()
    world.advance(10 * SESSION)
    assert world.driver.decided == []
    assert not any(alarm.callback for alarm in world.alarms)
    world.driver.lead()
    world.advance(REST - 1)
    assert world.fenced() == set(), "the rest of a session, from the start of this controller on"
    world.advance(1)
    assert world.fenced() == {1, 2}


def test_a_fencing_that_finds_no_room_is_tried_again():
    world = World(cluster(1, 2))
    world.driver.full = True
    world.advance(SESSION)
    assert world.fenced() == set()
    world.driver.full = False
    world.beat(2)
    world.advance(1000)
    assert world.fenced() == {1}


def test_another_process_with_the_id_of_the_controllers_own_broker_is_refused():
    world = World(cluster())
    world.register(9, incarnation=9).result()
    with pytest.raises(ApiError) as refused:
        world.register(9, incarnation=10).result()
    assert refused.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION
    world.advance(100 * SESSION)
    assert world.fenced() == {9}
    world.beat(9)
    world.advance(100 * SESSION)
    assert world.fenced() == set()


def test_who_comes_with_the_directories_of_one_never_heard_of_need_not_wait_for_its_session():
    """A whole cluster that was killed: the first controller knows of nobody but by the metadata."""
    world = World(cluster(1, 2))
    world.register(1, incarnation=11).result()
    with pytest.raises(ApiError) as refused:
        world.register(2, incarnation=12, directory=777).result()
    assert refused.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_who_comes_with_the_directories_of_one_that_was_heard_of_waits():
    world = World(cluster(1, 2))
    world.beat(1)
    with pytest.raises(ApiError) as refused:
        world.register(1, incarnation=11).result()
    assert refused.value.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_the_broker_of_this_process_is_not_unregistered():
    world = World(cluster(1))
    world.register(9, incarnation=9).result()
    with pytest.raises(ApiError, match="stop it first"):
        world.chores.unregister(9).result()
    world.chores.unregister(1).result()
    assert set(world.driver.image.brokers) == {9}


def moved(image):
    topic = image.topics.get("t")
    other = next(r for r in topic.partitions[0].replicas if r != topic.partitions[0].leader)
    return image.apply([PartitionChangeRecord(partition_id=0, topic_id=topic.id, leader=other)])


def test_leadership_goes_back_to_preferred_replicas():
    image = moved(with_topic(cluster(1, 2), "t", 1, 2))
    preferred = image.topics.get("t").partitions[0].replicas[0]
    world = World(image, leader_imbalance_check_interval_seconds="7")
    world.advance(6_999)
    assert world.leaders() != [preferred]
    world.advance(1)
    assert world.leaders() == [preferred]


def test_leadership_stays_where_that_is_configured():
    image = moved(with_topic(cluster(1, 2), "t", 1, 2))
    world = World(image, auto_leader_rebalance_enable="false", broker_session_timeout_ms="99999999")
    world.advance(10_000_000)
    assert world.leaders() == [image.topics.get("t").partitions[0].leader]


def offline():
    """Partition t-0 without a leader, its replica 2 alive but not in sync."""
    image = with_topic(cluster(1, 2, elr=True), "t", 1, 2)
    topic = image.topics.get("t")
    change = PartitionChangeRecord(
        partition_id=0, topic_id=topic.id, isr=[], leader=-1, eligible_leader_replicas=[1], last_known_elr=[1]
    )
    brokers = {**image.brokers, 1: image.brokers[1]._replace(fenced=True)}
    return type(image)(**{**{f: getattr(image, f) for f in image.__slots__}, "brokers": brokers}).apply(
        [change]
    )


@pytest.mark.parametrize(("resource_type", "name"), [(2, "t"), (4, "9"), (4, "")])
def test_an_unclean_election_takes_place_when_it_becomes_allowed(resource_type, name):
    world = World(offline())
    assert world.leaders() == [-1]
    record = ConfigRecord(
        resource_type=resource_type,
        resource_name=name,
        name="unclean.leader.election.enable",
        value="true",
    )
    world.driver.image = world.driver.image.apply([record])
    world.driver.watcher.committed(world.driver.image)
    world.advance(0)
    assert world.leaders() == [2]


def test_unclean_elections_by_the_clock():
    """29: a topic's own setting goes before the broker's."""
    world = World(offline(), unclean_leader_election_enable="true", unclean_leader_election_interval_ms="500")
    world.advance(500)
    assert world.leaders() == [2]
    image = offline().apply(
        [
            ConfigRecord(
                resource_type=2, resource_name="t", name="unclean.leader.election.enable", value="false"
            )
        ]
    )
    world = World(image, unclean_leader_election_enable="true", unclean_leader_election_interval_ms="500")
    world.advance(500)
    assert world.leaders() == [-1]
