"""Controllers of a cluster in the model of ZooKeeper: what was answered is there, whatever fails."""

import pytest

from kbroker.broker import flow
from kbroker.broker.controller_driver import ControllerDriver
from kbroker.broker.zk_controller import ZkController
from kbroker.broker.zk_election import ZkElection
from kbroker.broker.zk_memory import ZkMetadata, read_tree
from kbroker.broker.zk_port import ZkCode, ZkError
from kbroker.broker.zk_registration import ZkRegistration
from kbroker.broker.zk_session import ZkClient
from kbroker.controller.acls import create_acls
from kbroker.controller.alter_partition import IsrMember, Proposal, alter_partitions
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.controller.topics import TopicRef, create_topics, delete_topics
from kbroker.controller.zookeeper.node_znodes import BrokerZnode
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.topic_znodes import Assignment
from kbroker.controller.zookeeper.tree import Create, Delete, Node, SetData, Tree
from kbroker.errors import ApiError, ConfigError
from kbroker.metadata.cache import MetadataCache
from kbroker.metadata.image import ClusterImage, Endpoint
from kbroker.plain import replace
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kbroker.security.acl import Acl, Operation, PatternType, Permission, ResourceType
from tests.controller.clusters import rules as topic_rules
from tests.sim.node_loop import Scheduler
from tests.sim.zk_model import Host, ModelLink, ZkModel

SESSION_MS = 1000.0


class Broker:
    """What a node in ZooKeeper is made of, but for clients and logs."""

    def __init__(self, world, broker_id, life=0):
        self.world, self.id = world, broker_id
        self.host = host = Host(world.scheduler, f"{broker_id}.{life}")
        self.client = ZkClient(lambda: ModelLink(world.model, host, SESSION_MS), host, host, SESSION_MS)
        self.registration = ZkRegistration(
            self.client, broker_id, self._describe, "the-cluster", host, SESSION_MS * 3
        )
        self.registration.on_lost = lambda: self.session_began(self.client.session_id)
        self.cache = MetadataCache("the-cluster")
        self.metadata = ZkMetadata(self.cache, ClusterImage("the-cluster"))
        self.driver = ControllerDriver(broker_id, host, self.metadata)
        self.controller = ZkController(self.client, self.driver, self.metadata, host, ElectionRules())
        self.election = ZkElection(self.client, broker_id, host, host, self.controller)
        self.controller.election = self.election
        self.client.listen(self)
        self.client.start()

    def _describe(self):
        return BrokerZnode((Endpoint("PLAINTEXT", "h", 9092, 0),))

    def session_began(self, session_id):
        self.registration.begin().then(self._registered)

    def _registered(self, done):
        try:
            done.result()
        except ZkError as error:
            if error.code is not ZkCode.SESSION_OVER:
                raise
        except ConfigError:
            # ZooKeeper paused more than once, which gives every session its time anew.
            self.host.call_later(SESSION_MS, lambda: self.client.live and self.session_began(0))
        else:
            self.election.begin()

    def session_over(self):
        self.registration.session_over()
        self.election.session_over()


class World:
    def __init__(self, seed=1, brokers=3):
        self.scheduler = Scheduler(seed)
        self.model = ZkModel(self.scheduler)
        self.lives = 0
        self.rules = topic_rules()
        self.brokers = {each: Broker(self, each) for each in range(1, brokers + 1)}

    def run(self, ms=200.0):
        self.scheduler.run_until(self.scheduler.now + ms)

    def restart(self, broker_id):
        self.brokers[broker_id].host.kill()
        self.lives += 1
        self.brokers[broker_id] = Broker(self, broker_id, self.lives)

    @property
    def active(self):
        found = [each for each in self.brokers.values() if each.driver.active and each.client.live]
        return found[0] if found else None

    def create(self, name, *replicas):
        """The Deferred of a creation with these replica lists, by the active controller."""
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=at, broker_ids=list(ids))
                for at, ids in enumerate(replicas)
            ],
        )
        return self.active.driver.append_records(
            lambda image: create_topics(image, [topic], False, self.rules)
        )

    def tree(self):
        """What ZooKeeper has, as the memory reads it."""
        tree = Tree()
        for path, node in self.model.nodes.items():
            if path != "/":
                tree.put(path, Node(node.data, node.version, node.czxid, node.owner != 0))
        return tree

    def in_zookeeper(self):
        found = read(self.tree())
        assert not found.problems
        assert not found.unborn
        return found.image()

    def check(self):
        """The controller's image is what ZooKeeper has."""
        stored, known = self.in_zookeeper(), self.active.driver.committed_image
        assert {topic.name: topic for topic in stored.topics} == {
            topic.name: without_directories(topic) for topic in known.topics
        }
        live = {broker.id: broker.epoch for broker in known.brokers.values() if not broker.fenced}
        assert live == {broker.id: broker.epoch for broker in stored.brokers.values()}


def without_directories(topic):
    return replace(topic, partitions=tuple(replace(each, directories=()) for each in topic.partitions))


@pytest.fixture
def world():
    world = World()
    world.run()
    return world


def partition(world, name="t", index=0):
    return world.in_zookeeper().topics.partition(name, index)


def result(world, deferred, ms=200.0):
    world.run(ms)
    return deferred.result()


def test_a_topic_is_made(world):
    (created,) = result(world, world.create("t", (1, 2, 3), (2, 3, 1)))
    assert created.error_code == 0
    assert partition(world).leader == 1
    assert partition(world).isr == (1, 2, 3)
    assert partition(world, index=1).leader == 2
    world.check()


def test_many_decisions_without_waiting(world):
    answers = [world.create(f"t{each}", (1, 2)) for each in range(50)]
    world.run()
    assert all(answer.result()[0].error_code == 0 for answer in answers)
    world.check()


def test_lists_of_access_of_two_controllers_one_after_the_other(world):
    acl = Acl(ResourceType.TOPIC, "t", PatternType.LITERAL, "User:a", "*", Operation.READ, Permission.ALLOW)
    for name in ("a", "b"):
        wanted = [acl._replace(principal=f"User:{name}")]
        created = world.active.driver.append_records(
            lambda image, wanted=wanted, name=name: create_acls(image, wanted, lambda: name.encode() * 16)
        )
        assert result(world, created) == [None]
        world.restart(world.active.id)
        world.run(SESSION_MS * 2)
    assert len(world.in_zookeeper().acls) == 2


def test_a_broker_that_is_gone_leads_nothing_and_is_in_no_isr(world):
    result(world, world.create("t", (1, 2, 3)))
    gone = world.active.id
    world.brokers.pop(gone).client.close()
    world.run()
    assert partition(world).leader not in (gone, -1)
    assert gone not in partition(world).isr
    world.check()


def test_a_broker_that_comes_back_may_lead_again(world):
    result(world, world.create("t", (3,)))
    world.brokers[3].host.kill()
    world.run(SESSION_MS * 2)
    assert partition(world).leader == -1
    assert partition(world).isr == (3,)
    world.restart(3)
    world.run(SESSION_MS)
    assert partition(world).leader == 3
    world.check()


def test_a_whole_cluster_that_was_killed(world):
    result(world, world.create("t", (1, 2, 3)))
    for broker in list(world.brokers):
        world.restart(broker)
    world.run(SESSION_MS * 3)
    assert partition(world).leader in (1, 2, 3)
    world.check()


def test_a_topic_that_a_tool_made_is_born(world):
    result(world, world.create("t", (1,)))
    assignment = b'{"version":1,"partitions":{"0":[2,1]}}'
    world.brokers[2].client.multi([Create("/brokers/topics/made", assignment)])
    world.run()
    assert partition(world, "made").leader == 2
    assert partition(world, "made").isr == (2, 1)
    # Its id is written, or the next controller would have to make up the same.
    written = Assignment.decode("/brokers/topics/made", world.model.nodes["/brokers/topics/made"].data)
    assert written.topic_id == world.active.driver.committed_image.topics.get("made").id
    world.check()


def test_partitions_that_a_tool_adds_are_born(world):
    """`kafka-topics --zookeeper --alter` of before 3.0: nobody is notified."""
    result(world, world.create("t", (1, 2)))
    result(world, world.create("u", (1, 2)))
    active = world.active
    readings, reassigned = active.controller._reading, [Reassignment("u", 0, [1, 3])]
    result(
        world,
        active.driver.append_records(lambda image: alter_reassignments(image, reassigned, ElectionRules())),
    )
    # Its own changes of such a znode the controller knows.
    assert active.controller._reading == readings
    for name, first in (("t", (1, 2)), ("u", (1, 2, 3))):
        path = f"/brokers/topics/{name}"
        before = Assignment.decode(path, world.model.nodes[path].data)
        more = before._replace(replicas={0: before.replicas[0], 1: [3, 2]})
        result(world, world.brokers[2].client.multi([SetData(path, more.encode(), -1)]), 500)
        assert partition(world, name, 1).isr == (3, 2)
        assert tuple(sorted(partition(world, name).replicas)) == first
        world.check()


def test_a_topic_deleted_by_hand_is_gone(world):
    result(world, world.create("t", (1, 2)))
    result(world, world.create("other", (1, 2)))
    folder = "/brokers/topics/t"
    below = [f"{folder}/partitions/0/state", f"{folder}/partitions/0", f"{folder}/partitions", folder]
    world.brokers[2].client.multi([Delete(path) for path in below])
    world.run()
    assert [topic.name for topic in world.active.driver.committed_image.topics] == ["other"]
    assert result(world, world.create("t", (2, 3)))[0].error_code == 0
    world.check()


def test_24_a_state_changed_by_another_is_not_overwritten(world):
    """What KAFKA-2729 was about: a refused write of an ISR is decided anew on what is true."""
    result(world, world.create("t", (1, 2, 3)))
    path = "/brokers/topics/t/partitions/0/state"
    other = b'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}'
    result(world, world.brokers[1].client.multi([SetData(path, other)]))
    topic = world.active.driver.committed_image.topics.get("t")

    def shrink(*isr):
        driver = world.active.driver
        epochs = driver.speculative_image.topics.get("t").partitions[0]
        proposal = Proposal(
            topic.id, 0, epochs.leader_epoch, epochs.partition_epoch, [IsrMember(each) for each in isr], 0
        )
        return driver.append_records(
            lambda image: alter_partitions(
                image, epochs.leader, image.brokers[epochs.leader].epoch, [proposal], ElectionRules()
            )
        )

    with pytest.raises(ApiError, match="NOT_CONTROLLER"):
        result(world, shrink(1, 3))
    assert world.active.driver.committed_image.topics.get("t").partitions[0].leader == 2
    world.check()
    # The leader asks again, on what is true now: nothing is stuck.
    result(world, shrink(2))
    assert world.active.driver.committed_image.topics.get("t").partitions[0].isr == (2,)
    world.check()


def test_a_controller_of_a_thousand_topics_is_followed(world):
    replicas = [(1, 2, 3), (2, 3, 1), (3, 1, 2)]
    for start in range(0, 1000, 50):
        answers = [world.create(f"t{at}", replicas[at % 3]) for at in range(start, start + 50)]
        world.run(100)
        assert all(answer.result()[0].error_code == 0 for answer in answers)
    gone = world.active.id
    world.brokers.pop(gone).host.kill()
    world.run(SESSION_MS + 500)
    world.check()
    known = world.active.driver.committed_image
    assert len(known.topics) == 1000
    assert all(
        partition.leader not in (-1, gone) and gone not in partition.isr
        for topic in known.topics
        for partition in topic.partitions
    )
    # As soon as it is elected it decides.
    result(world, world.create("after", tuple(world.brokers)))


def test_an_epoch_deleted_by_hand_is_a_new_election(world):
    result(world, world.brokers[1].client.multi([Delete("/controller_epoch")]))
    with pytest.raises(ApiError, match="NOT_CONTROLLER"):
        result(world, world.create("t", (1, 2)), 500)
    assert result(world, world.create("t", (1, 2)))[0].error_code == 0
    world.check()


@pytest.mark.parametrize("path", ["/brokers/topics/bad", "/config/topics/bad"])
def test_foreign_json_is_told_and_the_others_count(world, path, caplog):
    world.brokers[1].client.multi([Create(path, b"{nonsense")])
    world.run()
    assert result(world, world.create("t", (1, 2)))[0].error_code == 0
    world.brokers[1].client.multi([Delete("/controller")])
    world.run()
    assert caplog.text.count("left out") >= 1
    assert world.active.driver.committed_image.topics.get("t") is not None


def test_what_nobody_expects_below_a_topic_goes_with_it(world):
    result(world, world.create("t", (1,)))
    strange = "/brokers/topics/t/partitions/0/strange"
    world.brokers[1].client.multi([Create(strange, b""), Create("/brokers/topics/t/partitions/7", b"")])
    world.brokers[1].client.multi([Delete("/controller")])
    world.run()

    def delete():
        (done,) = result(
            world,
            world.active.driver.append_records(
                lambda image: delete_topics(image, [TopicRef("t", bytes(16))])
            ),
        )
        assert done.error_code == 0

    # The folders of a whole topic were not looked into, until one could not be removed.
    with pytest.raises(ApiError, match="NOT_CONTROLLER"):
        delete()
    world.run(500)
    delete()
    assert not world.tree().children("/brokers/topics")
    world.check()


def test_a_reading_asks_no_more_than_it_needs(world):
    for number in range(20):
        result(world, world.create(f"t{number}", (1, 2), (2, 3), (3, 1)))
    # A tool has not come further with these.
    client = world.brokers[1].client
    world.active.controller.resigned()
    half = [
        Create("/brokers/topics/a", b'{"version":1,"partitions":{"0":[1]}}'),
        Create("/brokers/topics/b", b""),
    ]
    client.multi([*half, Create("/brokers/topics/a/partitions", b"")])
    asked = []
    for name in ("get", "children"):
        ask = getattr(client, name)
        setattr(client, name, lambda path, *more, ask=ask: asked.append(path) or ask(path, *more))
    quick = result(world, flow.run(read_tree(client)), 1000)
    count = len(asked)
    whole = result(world, flow.run(read_tree(client, thorough=True)), 1000)
    assert {path: quick.data(path) for path in quick.paths()} == {
        path: whole.data(path) for path in whole.paths()
    }
    assert count < 20 * (1 + 3 + 1) + 60
    assert len(asked) - count > 20 * (4 + 3 * 3)


@pytest.mark.parametrize("seed", range(12))
def test_what_was_answered_is_there(seed):
    world = World(seed)
    chance = world.scheduler.random
    world.run(300)
    asked = {}
    for number in range(60):
        broker = chance.choice(list(world.brokers.values()))
        act = chance.randrange(12)
        if act < 3:
            broker.host.suffer(act)
        elif act == 3:
            world.restart(broker.id)
        elif act == 4 and not world.model.paused:
            world.model.pause()
            world.scheduler.later(chance.random() * SESSION_MS, world.model.resume)
        elif act == 5:
            broker.client.multi([Delete("/controller")])
        for each in range(chance.randrange(4)):
            active = world.active
            if active is not None and not active.host.paused:
                name = f"t{number}-{each}"
                replicas = chance.sample([1, 2, 3], chance.randrange(1, 4))
                asked[name] = world.create(name, replicas)
        world.run(chance.random() * SESSION_MS / 3)
    for broker in world.brokers.values():
        broker.host.heal()
    world.run(SESSION_MS * 8)
    if world.active is None:
        raise AssertionError("nobody is the controller")
    world.check()
    topics = {topic.name for topic in world.in_zookeeper().topics}
    answered = {
        name for name, answer in asked.items() if answer.succeeded and answer.result()[0].error_code == 0
    }
    assert answered <= topics
    for topic in world.in_zookeeper().topics:
        for each in topic.partitions:
            assert each.leader in each.isr
