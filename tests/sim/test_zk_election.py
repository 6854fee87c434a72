"""Registration and election on the model of ZooKeeper: never two controllers that can write."""

import json

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.zk_election import ZkElection
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.broker.zk_registration import ZkRegistration
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.zookeeper.node_znodes import BrokerZnode
from kbroker.controller.zookeeper.tree import Check, Create, Delete, SetData
from kbroker.errors import ConfigError
from kbroker.metadata.image import Endpoint
from tests.sim.node_loop import Scheduler
from tests.sim.zk_model import Host, ModelLink, ZkModel

SESSION_MS = 1000.0


def resolved(value):
    done = Deferred()
    done.resolve(value)
    return done


class Broker:
    """Registers, stands for election, and writes all the time while it believes to be the controller."""

    def __init__(self, world, broker_id, life=0):
        self.world, self.id = world, broker_id
        self.host = host = Host(world.scheduler, f"{broker_id}.{life}")
        self.client = ZkClient(lambda: ModelLink(world.model, host, SESSION_MS), host, host, SESSION_MS)
        self.registration = ZkRegistration(
            self.client, broker_id, self._describe, "the-cluster", host, SESSION_MS * 2
        )
        self.election = ZkElection(self.client, broker_id, host, host, self)
        self.controller = None
        self.refusals = []
        self.claims = []
        self.client.listen(self)
        self.client.start()

    def _describe(self):
        return BrokerZnode((Endpoint("PLAINTEXT", "h", 9092, 0),))

    def session_began(self, session_id):
        self.registration.begin().then(self._registered)

    def _registered(self, done):
        try:
            self.epoch = done.result()
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER:
                raise
        except ConfigError as error:
            self.refusals.append(str(error))
        else:
            self.election.begin()

    def session_over(self):
        self.registration.session_over()
        self.election.session_over()

    def elected(self, claim):
        self.claims.append(claim)
        self._write(claim)

    def resigned(self):
        pass

    def controller_is(self, broker_id):
        self.controller = broker_id

    def _write(self, claim):
        if self.election.claim != claim:
            return
        text = json.dumps([claim.epoch, self.id]).encode()
        self.client.multi([Check("/controller_epoch", claim.epoch_version), SetData("/written", text)]).then(
            lambda done: self._written(claim, done)
        )
        self.host.call_later(20.0, lambda: self._write(claim))

    def _written(self, claim, done):
        try:
            done.result()
        except ZkError as error:
            if error.code is ZkCode.BAD_VERSION:
                self.election.refused(claim)


class World:
    def __init__(self, seed, brokers=3):
        self.scheduler = Scheduler(seed)
        self.model = ZkModel(self.scheduler)
        self.model._apply(self.model.new_session(1e12), 0, Create("/written"), [], [])
        self.model.on_write = self._on_write
        self.epoch, self.writers, self.writes = 0, {}, 0
        self.brokers = {each: Broker(self, each) for each in range(1, brokers + 1)}
        self.lives = 0
        #: Who is cut off cannot know that /controller was deleted; he can write nothing, though.
        self.by_hand = False

    def _on_write(self, session_id, operations):
        for operation in operations:
            if isinstance(operation, SetData) and operation.path == "/written":
                epoch, writer = json.loads(operation.data)
                assert epoch >= self.epoch, "a controller wrote that had been followed by another"
                assert self.writers.setdefault(epoch, writer) == writer, "two controllers of one epoch"
                self.epoch, self.writes = epoch, self.writes + 1

    def run(self, ms):
        end = self.scheduler.now + ms
        while self.scheduler.now < end:
            self.scheduler.run_until(min(end, self.scheduler.now + 20.0))
            acting = [each.id for each in self.brokers.values() if each.election.claim and each.client.live]
            assert len(acting) <= 1 or self.by_hand, (
                "two believe in their sessions and in being the controller"
            )

    def controllers(self):
        return {each.controller for each in self.brokers.values()}

    def restart(self, broker_id, *, remembers=False):
        old = self.brokers[broker_id]
        old.host.kill()
        self.lives += 1
        self.brokers[broker_id] = Broker(self, broker_id, self.lives)
        if remembers:
            self.brokers[broker_id].registration.earlier_epoch = old.registration.earlier_epoch


def test_one_is_elected_and_all_know():
    world = World(1)
    world.run(200)
    (controller,) = world.controllers()
    assert controller in world.brokers
    assert world.epoch == 1
    assert world.model.nodes["/controller_epoch"].data == b"1"
    for broker in world.brokers.values():
        assert broker.registration.epoch == world.model.nodes[f"/brokers/ids/{broker.id}"].czxid
        assert broker.registration.cluster_id == "the-cluster"


def test_another_follows_one_that_was_killed():
    world = World(1)
    world.run(200)
    (first,) = world.controllers()
    world.brokers[first].host.kill()
    del world.brokers[first]
    world.run(SESSION_MS + 200)
    (second,) = world.controllers()
    assert second in world.brokers
    assert world.epoch == 2


def test_one_that_closes_its_session_is_followed_at_once():
    world = World(1)
    world.run(200)
    (first,) = world.controllers()
    world.brokers.pop(first).client.close()
    world.run(50)
    assert world.controllers() <= world.brokers.keys()


def test_one_that_was_paused_past_its_session_writes_nothing_more():
    world = World(1)
    world.run(200)
    (first,) = world.controllers()
    world.brokers[first].host.pause()
    world.run(SESSION_MS + 500)
    assert world.epoch == 2
    world.brokers[first].host.resume()
    world.run(500)
    assert world.brokers[first].election.claim is None
    assert world.controllers() == {world.writers[2]}


def test_a_znode_deleted_by_hand_is_an_election():
    world = World(1)
    hand = Broker(world, 9)
    world.run(200)
    hand.client.multi([Delete("/controller")])
    world.run(200)
    assert world.epoch == 2


def test_an_epoch_changed_by_hand_is_a_new_election():
    world = World(1)
    world.run(200)
    world.brokers[1].client.multi([SetData("/controller_epoch", b"41")])
    world.run(300)
    assert world.epoch == 42


def test_an_id_that_another_broker_has():
    world = World(1)
    world.run(200)
    twin = Broker(world, 1)
    world.run(SESSION_MS * 3)
    assert twin.refusals == ["another broker with broker.id 1 is registered"]


def test_a_restarted_broker_waits_for_its_earlier_session():
    world = World(1)
    world.run(200)
    before = world.brokers[1].registration.epoch
    world.restart(1)
    world.run(SESSION_MS * 1.5)
    assert world.brokers[1].registration.epoch > before
    assert not world.brokers[1].refusals


def test_an_id_of_a_broker_that_answers_is_refused_at_once():
    world = World(1)
    world.run(200)
    twin = Broker(world, 1)
    asked = []
    twin.registration.is_there = lambda other: asked.append(other.endpoints[0].host) or resolved(True)
    world.run(SESSION_MS / 2)
    assert twin.refusals == ["another broker with broker.id 1 is registered, and answers at h:9092"]
    assert asked == ["h"]


@pytest.mark.parametrize("controls", [True, False])
def test_what_an_earlier_life_has_left_is_removed(controls):
    world = World(1)
    world.run(500)
    leader = next(each.id for each in world.brokers.values() if each.election.claim)
    gone = leader if controls else next(each for each in world.brokers if each != leader)
    before, epoch = world.brokers[gone].registration.epoch, world.epoch
    world.restart(gone, remembers=True)
    world.run(SESSION_MS / 2)
    assert world.brokers[gone].registration.epoch > before
    assert world.epoch == epoch + controls
    assert sum(each.election.claim is not None for each in world.brokers.values()) == 1


def test_the_registration_of_somebody_else_is_not_removed():
    world = World(1)
    world.run(200)
    twin = Broker(world, 1)
    twin.registration.earlier_epoch = world.brokers[1].registration.epoch - 1
    world.run(SESSION_MS * 3)
    assert len(twin.refusals) == 1


def test_a_damaged_epoch_is_told_and_heals(caplog):
    world = World(1, brokers=1)
    world.run(200)
    client = world.brokers[1].client
    client.multi([SetData("/controller_epoch", b"many"), Delete("/controller")])
    world.run(3000)
    assert world.brokers[1].election.claim is None
    assert "no controller can be elected: znode /controller_epoch" in caplog.text
    client.multi([SetData("/controller_epoch", b"7")])
    world.run(2000)
    assert world.epoch == 8


@pytest.mark.parametrize("seed", range(12))
def test_never_two_that_can_write(seed):
    world = World(seed)
    chance = world.scheduler.random
    for _ in range(60):
        broker = chance.choice(list(world.brokers.values()))
        act = chance.randrange(8)
        if act < 4:
            broker.host.suffer(min(act, 2))
        elif act == 4:
            world.restart(broker.id, remembers=True)
        elif act == 5 and not world.model.paused:
            world.model.pause()
            world.scheduler.later(chance.random() * SESSION_MS * 1.5, world.model.resume)
        elif act == 6 and seed % 2:
            world.by_hand = True
            broker.client.multi([Delete("/controller")])
        elif act == 7 and seed % 3 == 0 and not broker.host.paused:
            # It finds that the controller refuses connections.
            world.by_hand = True
            broker.election.depose(broker.controller)
        world.run(chance.random() * SESSION_MS / 2)
    for broker in world.brokers.values():
        broker.host.heal()
    world.run(SESSION_MS * 5)
    (controller,) = world.controllers()
    written = world.writes
    world.run(200)
    assert world.writers[world.epoch] == controller
    assert world.writes > written
