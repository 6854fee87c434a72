"""Brokers of a cluster in the model of ZooKeeper: what the controller tells them is what ZooKeeper has."""

import contextlib

import pytest

from kbroker.broker.deferred import Deferred
from kbroker.broker.peer import PeerError, PeerFailure
from kbroker.broker.zk_admin_requests import ZkAdminRequests
from kbroker.broker.zk_channel import ZkChannel
from kbroker.broker.zk_follower import ZkFollower
from kbroker.broker.zk_notifications import KEPT_MS, ZkNotifications
from kbroker.broker.zk_port import ZkError
from kbroker.controller.alter_partition import IsrMember, Proposal, alter_partitions
from kbroker.controller.controlled_shutdown import shut_down
from kbroker.controller.decision import Decision
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.zookeeper.node_znodes import BrokerZnode
from kbroker.controller.zookeeper.tree import Create, Delete, SetData
from kbroker.metadata.image import Endpoint
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.feature_level_record import FeatureLevelRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.protocol.generated.update_metadata_request import UpdateMetadataRequest
from kbroker.types import TopicPartition
from tests.controller.zookeeper.other_writers import encode_partitions, encode_reassignments
from tests.sim import test_zk_controller as base
from tests.sim.test_zk_controller import SESSION_MS, partition, result


class NoLogs:
    """A broker without partitions of its own: only what it knows matters here."""

    def __init__(self):
        self.logs = self
        self.stopped, self.deleted, self.given_up = [], [], []

    def get(self, *which):
        # Each partition has a log, and no more than that.
        return self if len(which) == 1 else None

    def delete(self, tp):
        self.deleted.append(tp)

    def give_up(self, tp):
        self.given_up.append(tp)

    def stop_replica(self, tp):
        self.stopped.append(tp)


class Network:
    """Requests between brokers, encoded and decoded as on the wire."""

    def __init__(self, world, host):
        self.world, self.host = world, host

    def send(self, address, request, *, timeout_ms, channel):
        answer = Deferred()
        scheduler = self.world.scheduler
        version = request.MAX_VERSION
        told = type(request).decode(request.encode(version), version)

        def arrive():
            broker = self.world.brokers.get(address.node_id)
            if broker is None or broker.host.dead or self.host.dead:
                return answer.fail(PeerError(PeerFailure.REFUSED, "it is gone"))
            if broker.host.paused:
                return scheduler.later(50, arrive)
            return broker.obey(told, version).then(go_back)

        def go_back(done):
            scheduler.later(scheduler.random.random() * 3, lambda: self.host.run(lambda: answer.follow(done)))

        scheduler.later(scheduler.random.random() * 3, arrive)
        return answer


class Broker(base.Broker):
    """A node that obeys its controller, too."""

    def __init__(self, world, broker_id, life=0):
        super().__init__(world, broker_id, life)
        self.metadata.publish_from_now()
        network = Network(world, self.host)
        self.driver.watch(ZkChannel(broker_id, network, self.host, "PLAINTEXT", self.controller))
        self.driver.watch(
            ZkAdminRequests(self.client, self.driver, self.host, ElectionRules(), self.controller.read_again)
        )
        self.replicas = NoLogs()
        self.follower = ZkFollower(
            broker_id,
            self.metadata,
            self.replicas,
            lambda: self.registration.epoch,
            self.controller.resigned,
        )
        self.notifications = ZkNotifications(
            self.client, self.metadata, self.driver, self.host, self.controller.read_again
        )
        self.notifications.is_awaited = self.follower.awaits
        self.follower.topic_configs = self.notifications.topic_configs
        self.follower.on_new_controller = self.notifications.look_for_deleted_topics
        self.notifications.topics_are_gone = self.follower.topics_are_gone
        self.controller.on_vanished = self.follower.give_up

    def _describe(self):
        return BrokerZnode((Endpoint("PLAINTEXT", f"h{self.id}", 9092, 0),))

    def session_began(self, session_id):
        super().session_began(session_id)
        self.notifications.begin().then(forget)

    def _registered(self, done):
        super()._registered(done)
        self.follower.registered()

    def session_over(self):
        self.notifications.session_over()
        super().session_over()

    def obey(self, request, version):
        if isinstance(request, UpdateMetadataRequest):
            return self.follower.update_metadata(request)
        if request.API_KEY == 4:
            return self.follower.leader_and_isr(request, version)
        return self.follower.stop_replica(request)


def forget(done):
    with contextlib.suppress(ZkError):
        done.result()


class World(base.World):
    def __init__(self, seed=1, brokers=3):
        super().__init__(seed, brokers=0)
        self.brokers = {each: Broker(self, each) for each in range(1, brokers + 1)}

    def restart(self, broker_id):
        self.brokers[broker_id].host.kill()
        self.lives += 1
        self.brokers[broker_id] = Broker(self, broker_id, self.lives)

    def configure(self, name, value, topic="t"):
        record = ConfigRecord(resource_type=2, resource_name=topic, name=name, value=value)
        return self.active.driver.append_records(lambda image: Decision(None, [record]))

    def check_all(self):
        """Everybody knows what ZooKeeper has."""
        self.check()
        stored = self.in_zookeeper()
        for broker in self.brokers.values():
            image = broker.cache.image
            assert {topic.name: plain(topic) for topic in image.topics} == {
                topic.name: plain(topic) for topic in stored.topics
            }, broker.id
            assert image.configs == stored.configs, broker.id
            live = {each.id for each in image.brokers.values() if not each.fenced}
            assert live == set(stored.brokers), broker.id
            assert image.controller_id == self.active.id
            assert image.brokers[broker.id].epoch == broker.registration.epoch


def plain(topic):
    """What all are told of a topic."""
    return topic.id, [
        (each.leader, each.leader_epoch, each.partition_epoch, each.replicas, each.isr)
        for each in topic.partitions
    ]


@pytest.fixture
def world():
    world = World()
    world.run(400)
    return world


def test_everybody_hears_of_a_topic(world):
    result(world, world.create("t", (1, 2, 3), (2, 3), (3,)))
    world.check_all()


def test_everybody_hears_of_settings(world):
    result(world, world.create("t", (1, 2)))
    result(world, world.configure("retention.ms", "1000"))
    assert world.in_zookeeper().topic_config("t") == {"retention.ms": "1000"}
    world.check_all()
    result(world, world.configure("retention.ms", None))
    world.check_all()


def test_the_configs_of_a_new_topic_are_known_with_it(world):
    """Nobody announces them: the topic is made by a tool, and so are they."""
    config = b'{"version":1,"config":{"retention.ms":"77"}}'
    world.brokers[1].client.multi([Create("/config/topics/made", config)])
    world.run()
    seen = []
    for broker in world.brokers.values():
        broker.cache.subscribe(
            lambda old, new, delta: seen.append(new.topic_config("made")) if "made" in new.topics else None
        )
    assignment = b'{"version":1,"partitions":{"0":[2,1]}}'
    world.brokers[2].client.multi([Create("/brokers/topics/made", assignment)])
    world.run(400)
    assert len(seen) >= 3
    assert all(each == {"retention.ms": "77"} for each in seen)
    world.check_all()


def test_what_a_tool_configures_the_controller_hears_too(world):
    result(world, world.create("t", (1, 2)))
    config = b'{"version":1,"config":{"retention.ms":"77"}}'
    change = b'{"version":2,"entity_path":"topics/t"}'
    path = "/config/changes/config_change_"
    world.brokers[1].client.multi(
        [SetData("/config/topics/t", config, -1), Create(path, change, sequence=True)]
    )
    world.run(1000)
    world.check_all()
    assert world.active.driver.committed_image.topic_config("t") == {"retention.ms": "77"}


def test_old_notifications_go(world):
    result(world, world.create("t", (1, 2)))
    result(world, world.configure("retention.ms", "1000"))
    assert [path for path in world.model.nodes if "config_change_" in path]
    world.run(KEPT_MS + SESSION_MS)
    assert not [path for path in world.model.nodes if "config_change_" in path]
    world.check_all()


def test_a_deleted_topic_is_gone_everywhere(world):
    result(world, world.create("t", (1, 2, 3)))
    result(world, world.configure("retention.ms", "1000"))
    topic = world.in_zookeeper().topics.get("t")
    result(
        world,
        world.active.driver.append_records(lambda i: Decision(None, [RemoveTopicRecord(topic_id=topic.id)])),
    )
    assert len(world.in_zookeeper().topics) == 0
    world.check_all()
    result(world, world.create("t", (3, 2)))
    world.check_all()


def test_a_topic_that_is_made_again_at_once_is_not_deleted(world):
    """StopReplica knows names only: it must come before the new topic's LeaderAndIsr."""
    result(world, world.create("t", (1, 2, 3)))
    topic, driver = world.in_zookeeper().topics.get("t"), world.active.driver
    gone = driver.append_records(lambda i: Decision(None, [RemoveTopicRecord(topic_id=topic.id)]))
    made = world.create("t", (3, 2, 1))
    world.run(600)
    assert gone.done
    assert made.result()[0].error_code == 0
    world.check_all()


def test_an_isr_that_its_leader_shrinks_keeps_the_leader_epoch(world):
    result(world, world.create("t", (1, 2, 3)))
    before = partition(world)
    topic = world.in_zookeeper().topics.get("t")
    proposal = Proposal(
        topic.id, 0, before.leader_epoch, before.partition_epoch, [IsrMember(1), IsrMember(3)]
    )
    driver = world.active.driver
    (outcome,) = result(
        world,
        driver.append_records(
            lambda image: alter_partitions(image, 1, image.brokers[1].epoch, [proposal], ElectionRules()),
            by_leader=True,
        ),
    )
    after = partition(world)
    assert (after.isr, after.leader_epoch) == ((1, 3), before.leader_epoch)
    assert (outcome.state.isr, outcome.state.partition_epoch) == (after.isr, after.partition_epoch)
    world.check_all()


def test_a_broker_that_wants_to_stop_leads_nothing(world):
    result(world, world.create("t", (1, 2, 3), (2, 3, 1), (3, 1, 2)))
    leaves = next(each for each in world.brokers if each != world.active.id)
    epoch = world.brokers[leaves].registration.epoch
    remaining = result(
        world,
        world.active.driver.append_records(lambda image: shut_down(image, leaves, epoch, ElectionRules())),
    )
    assert remaining == []
    for each in world.in_zookeeper().topics.get("t").partitions:
        assert each.leader not in (-1, leaves)
        assert leaves not in each.isr
    world.check_all()
    world.restart(leaves)
    world.run(SESSION_MS * 4)
    world.check_all()


def write(world, *operations):
    result(world, world.brokers[1].client.multi(list(operations)), 600)


def test_a_mark_deletes_a_topic(world):
    result(world, world.create("t", (1, 2, 3)))
    write(world, Create("/admin/delete_topics/t"), Create("/admin/delete_topics/nix"))
    assert not [path for path in world.model.nodes if path.startswith("/admin/delete_topics/")]
    assert len(world.in_zookeeper().topics) == 0
    world.check_all()


def test_a_reassignment_by_znode_is_there_until_it_is_complete(world):
    result(world, world.create("t", (1, 2), (1, 2)))
    asked = {TopicPartition("t", 0): [1, 3], TopicPartition("nix", 0): [1]}
    write(world, Create("/admin/reassign_partitions", encode_reassignments(asked)))
    under_way = partition(world)
    assert (under_way.adding_replicas, under_way.removing_replicas) == ((3,), (2,))
    assert "/admin/reassign_partitions" in world.model.nodes
    topic = world.in_zookeeper().topics.get("t")
    isr = [IsrMember(1), IsrMember(2), IsrMember(3)]
    proposal = Proposal(topic.id, 0, under_way.leader_epoch, under_way.partition_epoch, isr)
    driver = world.active.driver
    result(
        world,
        driver.append_records(
            lambda image: alter_partitions(image, 1, image.brokers[1].epoch, [proposal], ElectionRules()),
            by_leader=True,
        ),
    )
    assert (partition(world).replicas, partition(world).isr) == ((1, 3), (1, 3))
    assert "/admin/reassign_partitions" not in world.model.nodes
    world.check_all()


def test_preferred_leaders_by_znode(world):
    result(world, world.create("t", (1, 2, 3)))
    path = "/brokers/topics/t/partitions/0/state"
    world.brokers[1].client.multi(
        [
            SetData(
                path,
                b'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":5,"isr":[1,2,3]}',
                -1,
            ),
            Create("/isr_change_notification/isr_change_", b"", sequence=True),
        ]
    )
    world.run(600)
    # A broker of an old release wrote this, and told the controller.
    assert world.active.driver.committed_image.topics.partition("t", 0).leader == 2
    assert not [each for each in world.model.nodes if each.startswith("/isr_change_notification/")]
    asked = encode_partitions([TopicPartition("t", 0), TopicPartition("nix", 1)])
    write(world, Create("/admin/preferred_replica_election", asked))
    assert partition(world).leader == 1
    assert "/admin/preferred_replica_election" not in world.model.nodes
    world.check_all()


def test_nonsense_in_such_a_znode_is_told(world, caplog):
    write(world, Create("/admin/reassign_partitions", b"{nonsense"))
    assert "not obeyed: znode /admin/reassign_partitions" in caplog.text
    result(world, world.create("t", (1, 2, 3)))
    world.check_all()


def test_the_next_controller_tells_everybody(world):
    result(world, world.create("t", (1, 2, 3)))
    old = world.active.id
    world.brokers[old].host.kill()
    world.run(SESSION_MS * 3)
    assert world.active.id != old
    world.restart(old)
    world.run(SESSION_MS * 3)
    result(world, world.create("u", (3, 1)))
    world.check_all()


def test_105_a_controller_that_sleeps_past_its_session_is_not_obeyed(world):
    result(world, world.create("t", (1, 2, 3)))
    old = world.active
    old.host.pause()
    world.run(SESSION_MS * 3)
    assert world.active.id != old.id
    result(world, world.create("u", (2, 3)))
    old.host.resume()
    world.run(SESSION_MS * 4)
    result(world, world.create("v", (3, 1)))
    world.check_all()


@pytest.mark.parametrize("seed", range(12))
def test_in_the_end_everybody_knows_the_same(seed):
    world = World(seed)
    chance = world.scheduler.random
    world.run(300)
    for number in range(40):
        broker = chance.choice(list(world.brokers.values()))
        act = chance.randrange(10)
        if act < 3:
            broker.host.suffer(act)
        elif act == 3:
            world.restart(broker.id)
        active = world.active
        if act == 4 and active is not None and broker is not active:
            # It refuses connections, or did for a moment.
            active.controller.lost(broker.id)
        elif act == 5 and active is not None and not broker.host.paused:
            broker.election.depose(active.id)
        if active is not None and not active.host.paused:
            world.create(f"t{number}", chance.sample([1, 2, 3], chance.randrange(1, 4))).then(
                lambda done: None
            )
            topics = list(active.driver.speculative_image.topics)
            if topics and chance.random() < 0.5:
                topic = chance.choice(topics)
                if chance.random() < 0.3:
                    gone = RemoveTopicRecord(topic_id=topic.id)
                    active.driver.append_records(lambda image, gone=gone: Decision(None, [gone]))
                else:
                    world.configure("retention.ms", str(number), topic.name)
        world.run(chance.random() * SESSION_MS / 3)
    for broker in world.brokers.values():
        broker.host.heal()
    world.run(SESSION_MS * 10)
    world.check_all()


def test_a_broker_that_refuses_connections_leads_nothing_while_its_session_lasts(world):
    follower = next(each for each in world.brokers.values() if each is not world.active)
    result(world, world.create("t", (follower.id, world.active.id)))
    follower.host.kill()
    world.active.controller.lost(follower.id)
    world.run(100)
    assert f"/brokers/ids/{follower.id}" in world.model.nodes
    assert partition(world).leader == world.active.id
    assert partition(world).isr == (world.active.id,)
    # Other brokers come and go: that it is registered does not bring it back.
    other = next(each for each in world.brokers.values() if each not in (follower, world.active))
    world.active.controller._brokers_changed(world.active.controller._reading, None)
    world.run(100)
    assert world.active.driver.committed_image.brokers[follower.id].fenced
    assert follower.id not in {each.id for each in other.cache.image.live_brokers()}
    world.restart(follower.id)
    world.run(SESSION_MS * 3)
    world.check_all()


def test_the_controller_finds_by_itself_who_refuses_connections(world):
    gone = next(each for each in world.brokers.values() if each is not world.active)
    gone.host.kill()
    result(world, world.create("t", (gone.id, world.active.id)), 100)
    world.run(100)
    assert f"/brokers/ids/{gone.id}" in world.model.nodes
    assert partition(world).leader == world.active.id


def test_a_broker_that_was_taken_for_gone_is_back_when_it_answers(world):
    taken = next(each for each in world.brokers.values() if each is not world.active)
    result(world, world.create("t", (taken.id,)))
    world.active.controller.lost(taken.id)
    assert world.active.driver.speculative_image.brokers[taken.id].fenced
    world.run(600)
    assert partition(world).leader == taken.id
    world.check_all()


def test_who_is_read_again_stays_fenced(world):
    gone = next(each for each in world.brokers.values() if each is not world.active)
    result(world, world.create("t", (gone.id, world.active.id)))
    gone.host.kill()
    world.active.controller.lost(gone.id)
    world.active.controller.read_again()
    world.run(100)
    assert f"/brokers/ids/{gone.id}" in world.model.nodes
    assert world.active.driver.committed_image.brokers[gone.id].fenced
    assert partition(world).leader == world.active.id


def test_a_controller_that_refuses_connections_is_followed_before_its_session_ends(world):
    result(world, world.create("t", (1, 2, 3)))
    old = world.active
    epoch = old.election.claim.epoch
    others = [each for each in world.brokers.values() if each is not old]
    old.host.kill()
    for each in others:
        each.election.depose(old.id)
    world.run(150)
    assert f"/brokers/ids/{old.id}" in world.model.nodes
    (new,) = [each for each in others if each.driver.active]
    # Both asked for it, there was one election.
    assert new.election.claim.epoch == epoch + 1


def test_a_controller_that_was_taken_for_gone_writes_nothing_more(world):
    old = world.active
    other = next(each for each in world.brokers.values() if each is not old)
    old.host.cut = True
    other.election.depose(old.id)
    world.run(150)
    assert any(each.driver.active for each in world.brokers.values() if each is not old)
    old.host.cut = False
    world.run(SESSION_MS * 3)
    result(world, world.create("t", (1, 2, 3)))
    world.check_all()


def test_who_is_not_the_controller_is_not_deposed(world):
    controller = world.active
    one, other = (each for each in world.brokers.values() if each is not controller)
    one.election.depose(other.id)
    world.run(200)
    assert world.active is controller


def features(broker):
    return {name: level for name, level in broker.cache.image.features.items() if name != "metadata.version"}


def test_features_are_watched(world):
    assert world.model.nodes["/feature"].data == b'{"features":{},"version":2,"status":1}'
    follower = next(each for each in world.brokers.values() if each is not world.active)
    for levels in ({"x": 3, "y": 1}, {"x": 4}, {}):
        text = ",".join(f'"{name}":{{"max_version_level":{level}}}' for name, level in levels.items())
        data = f'{{"features":{{{text}}},"version":2,"status":1}}'.encode()
        follower.client.multi([SetData("/feature", data)])
        world.run(600)
        assert all(features(each) == levels for each in world.brokers.values())
    follower.client.multi(
        [SetData("/feature", b'{"features":{"x":{"max_version_level":9}},"version":2,"status":0}')]
    )
    world.run(600)
    assert all(features(each) == {} for each in world.brokers.values())
    follower.client.multi([SetData("/feature", b"damaged")])
    world.run(600)
    result(world, world.create("t", (1, 2, 3)))


def test_features_of_the_controller_reach_everybody(world):
    record = FeatureLevelRecord(name="x", feature_level=2)
    world.active.driver.append_records(lambda image: Decision(None, [record]))
    world.run(400)
    assert all(features(each) == {"x": 2} for each in world.brokers.values())
    world.check_all()


@pytest.mark.parametrize("which", ["another", "the controller"])
def test_a_registration_that_is_deleted_by_hand(world, which):
    result(world, world.create("t", (1, 2), (3, 1)))
    controller = world.active
    victim = next(
        each for each in world.brokers.values() if (each is controller) == (which == "the controller")
    )
    before = victim.registration.epoch
    other = next(each for each in world.brokers.values() if each is not victim)
    other.client.multi([Delete(f"/brokers/ids/{victim.id}", -1)])
    world.run(300)
    assert victim.registration.epoch > before
    assert world.active is controller
    assert all(partition(world, index=each).leader in (1, 2, 3) for each in range(2))
    world.check_all()
