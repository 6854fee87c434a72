"""Topics that somebody takes out of ZooKeeper by hand: nobody decided that, and no log is lost."""

import pytest

from kbroker.controller.decision import Decision
from kbroker.controller.zookeeper.tree import Create, Delete
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from kbroker.protocol.generated.remove_topic_record import RemoveTopicRecord
from kbroker.types import TopicPartition
from tests.sim.test_zk_brokers import World
from tests.sim.test_zk_controller import SESSION_MS, partition, result

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
    # A state that is put back is obeyed as it is: in a lower epoch logs would not be led.
    assert now.leader_epoch >= before.leader_epoch + (0 if whole else 1)
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
