"""Topics that somebody takes out of ZooKeeper by hand: nobody decided that, and no log is lost."""

import pytest

from kbroker.broker.zk_session import ZkClient
from kbroker.controller.decision import Decision
from kbroker.controller.zookeeper.tree import Create, Delete
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.types import TopicPartition
from tests.sim.test_zk_brokers import World, forget
from tests.sim.test_zk_controller import SESSION_MS, partition, result
from tests.sim.zk_model import Host, ModelLink

TP = TopicPartition("t", 0)


@pytest.fixture
def world():
    world = World()
    world.run(400)
    return world


def take_away(world):
    """Topic t, by hand; what was there."""
    folder = "/brokers/topics/t"
    paths = sorted(path for path in world.model.nodes if path == folder or path.startswith(f"{folder}/"))
    found = {path: world.model.nodes[path].data for path in paths}
    result(world, world.brokers[1].client.multi([Delete(path) for path in reversed(paths)]), 600)
    assert "t" not in world.in_zookeeper().topics
    return found


def put_back(world, found):
    result(world, world.brokers[1].client.multi([Create(path, data) for path, data in found.items()]), 600)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("elected", [True, False])
def test_the_logs_of_a_topic_that_is_taken_away_by_hand_stay(world, whole, elected):
    """And are led again when it is put back, also without the states of its partitions."""
    result(world, world.create("t", (1, 2, 3)))
    result(world, world.create("other", (1, 2, 3)))
    before = partition(world)
    if elected:
        # Whoever hears of it from ZooKeeper, as nobody is controller just then.
        world.restart(world.active.id)
    found = take_away(world)
    if elected:
        world.run(SESSION_MS * 4)
    world.check_all()
    known = [each for each in world.brokers.values() if TP in each.replicas.given_up]
    assert len(known) == (2 if elected else 3)
    assert not [each.id for each in world.brokers.values() if each.replicas.deleted]

    put_back(world, found if whole else {path: found[path] for path in ["/brokers/topics/t"]})
    world.check_all()
    now = partition(world)
    assert now.leader >= 0
    # In a lower epoch logs would not be led, and in the same one brokers would not obey.
    assert now.leader_epoch > before.leader_epoch
    assert not [each.id for each in world.brokers.values() if each.replicas.deleted]
    gone = RemoveTopicRecord(topic_id=world.in_zookeeper().topics.get("t").id)
    result(world, world.active.driver.append_records(lambda image: Decision(None, [gone])), 600)
    world.check_all()
    assert all(each.replicas.deleted == [TP] for each in world.brokers.values() if each is not world.active)


def test_who_was_in_sync_leads_what_lost_its_state(world):
    result(world, world.create("t", (1, 2, 3)))
    before = partition(world)
    only = next(each for each in (1, 2, 3) if each != before.leader)
    topic = world.in_zookeeper().topics.get("t")
    change = PartitionChangeRecord(partition_id=0, topic_id=topic.id, isr=[only], leader=only)
    result(world, world.active.driver.append_records(lambda image: Decision(None, [change])))
    found = take_away(world)
    put_back(world, {"/brokers/topics/t": found["/brokers/topics/t"]})
    assert (partition(world).leader, partition(world).isr) == (only, (only,))
    world.check_all()


def test_a_deletion_whose_answer_is_lost_is_one(world):
    """The controller reads that the topic is gone: it has decided that, and logs go."""
    result(world, world.create("t", (1, 2, 3)))
    topic = world.in_zookeeper().topics.get("t")
    active = world.active
    active.driver.append_records(lambda image: Decision(None, [RemoveTopicRecord(topic_id=topic.id)]))
    active.controller.read_again()
    world.run(SESSION_MS)
    assert "t" not in world.in_zookeeper().topics
    world.check_all()
    assert not active.replicas.given_up
    assert all(each.replicas.deleted == [TP] for each in world.brokers.values() if each is not active)


class Operator:
    """Takes topics out of ZooKeeper by hand, and puts them back."""

    def __init__(self, world):
        self.model, host = world.model, Host(world.scheduler, "operator")
        self.client = ZkClient(lambda: ModelLink(world.model, host, SESSION_MS), host, host, SESSION_MS)
        self.client.start()
        #: By name; not what was there an earlier time.
        self.taken = {}

    def take(self, name):
        folder = f"/brokers/topics/{name}"
        paths = sorted(path for path in self.model.nodes if path == folder or path.startswith(f"{folder}/"))
        if paths:
            self.taken[name] = {path: self.model.nodes[path].data for path in paths}
            self.client.multi([Delete(path) for path in reversed(paths)]).then(forget)

    def put_back(self, name):
        found = self.taken.pop(name)
        self.client.multi([Create(path, data) for path, data in found.items()]).then(forget)


@pytest.mark.parametrize("seed", range(8))
def test_no_log_is_deleted_that_nobody_wanted_to_be(seed):
    world = World(seed)
    chance = world.scheduler.random
    operator, decided = Operator(world), set()
    world.run(300)
    for number in range(40):
        broker = chance.choice(list(world.brokers.values()))
        act = chance.randrange(12)
        if act < 3:
            broker.host.suffer(act)
        active = world.active
        if active is not None and not active.host.paused:
            world.create(f"t{number}", chance.sample([1, 2, 3], 2)).then(lambda done: None)
            names = [each.name for each in active.driver.speculative_image.topics]
            if act in (3, 4, 5, 6) and names:
                operator.take(chance.choice(names))
            elif act in (7, 8) and operator.taken:
                operator.put_back(chance.choice(list(operator.taken)))
            elif act == 9 and names:
                name = chance.choice(names)
                decided.add(name)
                gone = RemoveTopicRecord(topic_id=active.driver.speculative_image.topics.get(name).id)
                active.driver.append_records(lambda image, gone=gone: Decision(None, [gone])).then(
                    lambda done: None
                )
        world.run(chance.random() * SESSION_MS / 3)
    for broker in world.brokers.values():
        broker.host.heal()
    world.run(SESSION_MS * 10)
    # Who was away while a topic was taken and put back, under no controller that saw it, knows a later
    # version of the state's znode than there is (seed 466): with the next leader epoch it hears of it.
    changes = [
        PartitionChangeRecord(partition_id=index, topic_id=topic.id, leader=state.leader)
        for topic in world.active.driver.committed_image.topics
        for index, state in enumerate(topic.partitions)
    ]
    result(world, world.active.driver.append_records(lambda image: Decision(None, changes)), SESSION_MS)
    world.check_all()
    deleted = {tp.topic for each in world.brokers.values() for tp in each.replicas.deleted}
    assert deleted <= decided
