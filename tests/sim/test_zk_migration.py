"""A quorum takes over a cluster in ZooKeeper, whoever fails at whichever step."""

from copy import copy
from types import SimpleNamespace

import pytest

from kbroker.broker.metric_cluster import _add_migration
from kbroker.broker.zk_migration import ZkMigration
from kbroker.controller.decision import Decision
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import MigrationZnode
from kbroker.controller.zookeeper.tree import Create, Delete, SetData
from kbroker.metadata.image import BEFORE_MIGRATION, MIGRATING
from kbroker.metrics.registry import Registry
from kbroker.protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from tests.sim.migration_world import BROKERS, CONTROLLERS, MigrationWorld


def test_it_waits_for_controllers_then_for_brokers_then_takes_over():
    world = MigrationWorld()
    world.quorum.elect()
    world.until(lambda: world.phase == "WAIT_FOR_CONTROLLER_QUORUM")
    world.register_controllers(101, 102)
    world.register_controllers(103, ready=False)
    world.run(3000)
    assert "controller 103 has not enabled" in world.migration.status()["waits_for"]
    world.register_controllers(103)
    world.until(lambda: world.phase == "WAIT_FOR_BROKERS")
    world.register(1, 3)
    world.run(3000)
    assert "brokers 2 are" in world.migration.status()["waits_for"]
    assert world.migration.status()["missing_brokers"] == [2]
    assert world.image.zk_migration_state == BEFORE_MIGRATION
    assert paths.MIGRATION not in world.zookeeper.nodes
    world.register(2)
    world.settled()
    world.check()
    assert world.image.zk_migration_state == MIGRATING
    assert world.migration.status()["controller_epoch"] == 2
    assert world.migration.status()["copied_records"] > 0


def test_what_brokers_are_told():
    world = MigrationWorld()
    world.prepare()
    world.settled()
    told = [request for broker, request in world.brokers.told if broker == 1]
    assert [request.NAME for request in told] == ["UpdateMetadataRequest", "LeaderAndIsrRequest"]
    assert all(request.is_kraft_controller and request.type == 2 for request in told)
    assert {request.controller_epoch for request in told} == {2}
    assert {each.topic_name for each in told[1].topic_states} == {"a", "b"}
    world.brokers.told.clear()
    world.create("new", [1, 2], [3, 1])
    world.settled()
    world.check()
    told = [request for broker, request in world.brokers.told if broker == 1]
    assert [(request.NAME, request.type) for request in told] == [
        ("LeaderAndIsrRequest", 1),
        ("UpdateMetadataRequest", 1),
    ]
    world.brokers.told.clear()
    world.delete("new")
    world.settled()
    world.check()
    stops = world.brokers.of("StopReplicaRequest")
    assert len(stops) == 3
    assert all(request.is_kraft_controller for request in stops)


def test_brokers_of_kraft_are_not_told_and_zookeeper_is():
    world = MigrationWorld()
    world.prepare()
    world.settled()
    for broker in BROKERS:
        world.register(broker, zk=False)
    world.settled()
    world.check()
    world.brokers.told.clear()
    world.create("new", [1, 2])
    world.settled()
    world.check()
    assert world.brokers.told == []
    assert world.migration.status()["kraft_brokers"] == list(BROKERS)


def test_a_leader_in_zookeepers_mode_hears_of_each_change():
    world = MigrationWorld()
    world.prepare()
    world.settled()
    world.register(2, zk=False)
    # A broker of KRaft tells in which directory its replica lies; the leader knows nothing of directories.
    change = PartitionChangeRecord(
        partition_id=0, topic_id=b"a" * 16, directories=[bytes(15) + b"\x02", b"dir%013d" % 2]
    )
    world.brokers.told.clear()
    world.append(lambda image: Decision(None, [change]))
    world.settled()
    world.check()
    partition = world.image.topics.partition("a", 0)
    told = {
        broker: state.partition_epoch
        for broker, request in world.brokers.told
        if request.NAME == "LeaderAndIsrRequest"
        for topic in request.topic_states
        for state in topic.partition_states
    }
    assert told == {1: partition.partition_epoch}


def test_what_zookeeper_cannot_have_holds_nothing_up(caplog):
    world = MigrationWorld()
    world.prepare()
    world.settled()
    acl = AccessControlEntryRecord(
        id=b"y" * 16,
        resource_type=2,
        resource_name="no/path",
        pattern_type=3,
        principal="User:bob",
        host="*",
        operation=3,
        permission_type=3,
    )
    other = copy(acl)
    other.id, other.resource_name = b"z" * 16, "path"
    world.append(lambda image: Decision(None, [acl, other]))
    world.create("new", [1, 2])
    world.settled()
    world.check()
    assert paths.topic("new") in world.zookeeper.nodes
    assert "/kafka-acl/Topic/path" in world.zookeeper.nodes
    assert "it is not written there" in caplog.text


def test_it_is_measured():
    world = MigrationWorld()
    world.prepare()
    world.settled()
    world.create("new", [1, 2])
    assert world.migration.behind > 0
    registry = Registry()
    _add_migration(SimpleNamespace(metrics=registry, metadata=world.leader.metadata), world.migration)
    world.settled()
    values = {family.name: dict(family.rows())[()] for family in registry.families()}
    assert (values["ZkMigrationState"], values["MigratingZkBrokerCount"]) == (MIGRATING, 3)
    assert values["ZkWriteBehindLag"] == 0
    assert values["ZkWriteSnapshotTimeMs"].count == 1
    assert values["ZkWriteDeltaTimeMs"].count >= 1


STEPS = {
    "taken": "_copy",
    "copied": "_synchronize",
    "read": "_read_facts",
    "claims": "_take_over",
    "writes": "_write",
}


@pytest.mark.parametrize("step", STEPS.values())
@pytest.mark.parametrize("late_ms", [0, 3, 9, 20])
def test_a_controller_dies_at_a_step(step, late_ms, monkeypatch):
    reached = []
    original = getattr(ZkMigration, step)

    def watched(self):
        if not reached:
            reached.append(self)
        return original(self)

    monkeypatch.setattr(ZkMigration, step, watched)
    world = MigrationWorld(seed=late_ms + 1)
    world.quorum.elect()
    if step == "_write":
        world.prepare()
        world.settled()
        world.create("more", [1, 2], [2, 3])
    else:
        world.register_controllers(*CONTROLLERS)
        for broker in BROKERS:
            world.register(broker)
        world.until(lambda: reached)
    world.run(late_ms)
    dead = world.leader_id
    world.kill(dead)
    world.settled()
    world.check()
    world.create("later", [1, 2], [2, 3])
    world.start(dead)
    world.delete("a")
    world.settled()
    world.check()
    assert {"b", "later"} <= {topic.name for topic in world.image.topics}
    # Each controller in an epoch of its own, and the last one is obeyed.
    epochs = [request.controller_epoch for _, request in world.brokers.told]
    assert epochs == sorted(epochs)


@pytest.mark.parametrize("seed", range(12))
def test_sessions_and_controllers_come_and_go(seed):
    world = MigrationWorld(seed)
    random = world.quorum.random
    world.quorum.elect()
    world.register_controllers(*CONTROLLERS)
    world.register(*BROKERS)
    for turn in range(6):
        world.run(random.random() * 400)
        fault = random.randrange(4)
        world.quorum.elect()
        leader = world.leader_id
        if fault == 0:
            world.kill(leader)
            world.run(random.random() * 1000)
            world.start(leader)
        elif fault == 1:
            world.hosts[leader].reset()
        elif fault == 2:
            world.hosts[leader].cut = True
            world.run(random.random() * 3000)
            world.hosts[leader].cut = False
        else:
            world.zookeeper.pause()
            world.run(random.random() * 500)
            world.zookeeper.resume()
        world.quorum.elect()
        if world.image.zk_migration_state == MIGRATING:
            world.create(f"t{turn}", [1, 2], [2, 3])
    world.settled()
    world.check()


@pytest.mark.parametrize("ms", [300, 5000])
def test_what_is_decided_without_zookeeper_is_written_and_told_when_it_is_back(ms):
    """Within a session, and longer: nothing of it is lost, and brokers hear of it after ZooKeeper."""
    world = MigrationWorld()
    world.prepare()
    world.settled()
    world.brokers.told.clear()
    world.zookeeper.pause()
    world.create("new", [1, 2], [2, 3])
    world.delete("b")
    world.run(ms)
    world.create("newer", [3, 1])
    world.run(100)
    assert {topic.name for topic in world.image.topics} == {"a", "new", "newer"}
    assert world.migration.status()["reaches_zookeeper"] == (ms < 1000)
    assert world.brokers.told == []
    assert paths.topic("new") not in world.zookeeper.nodes
    world.zookeeper.resume()
    world.settled()
    world.check()
    named = {
        each.topic_name
        for request in world.brokers.of("LeaderAndIsrRequest")
        for each in request.topic_states
    }
    assert named >= {"new", "newer"}


def test_a_migration_that_was_taken_back_is_left_alone():
    world = MigrationWorld()
    world.prepare()
    world.settled()
    epoch = world.zookeeper.nodes[paths.CONTROLLER_EPOCH]
    # An operator deletes /controller, and broker 2 is elected.
    world.finish(world.admin.multi([Delete(paths.CONTROLLER)]))
    data = b'{"version":2,"brokerid":2,"timestamp":"1","kraftControllerEpoch":-1}'
    ops = [Create(paths.CONTROLLER, data), SetData(paths.CONTROLLER_EPOCH, b"3", epoch.version)]
    world.finish(world.admin.multi(ops))
    world.create("new", [1, 2])
    world.until(lambda: world.phase == "INACTIVE")
    assert "taken back" in world.migration.status()["waits_for"]
    world.brokers.told.clear()
    world.run(10_000)
    assert world.zookeeper.nodes[paths.CONTROLLER].data == data
    assert paths.topic("new") not in world.zookeeper.nodes
    assert world.brokers.told == []


def test_a_new_quorum_copies_whatever_an_earlier_one_has_left():
    world = MigrationWorld()
    left = MigrationZnode(7, 3, 5000, 3).encode()
    world.finish(world.admin.multi([Create(paths.MIGRATION, left)]))
    world.prepare()
    world.settled()
    world.check()
    assert {topic.name for topic in world.image.topics} == {"a", "b"}


def test_progress_is_in_zookeeper():
    world = MigrationWorld()
    world.prepare()
    world.settled()
    found = MigrationZnode.decode(world.zookeeper.nodes[paths.MIGRATION].data)
    assert found == (world.leader_id, world.leader.raft.node.epoch, world.image.offset, world.image.epoch)


def test_another_cluster_is_not_touched():
    world = MigrationWorld()
    world.finish(
        world.admin.multi([SetData(paths.CLUSTER_ID, b'{"version":"1","id":"other"}')]),
    )
    world.prepare()
    world.run(5000)
    assert world.phase == "INACTIVE"
    assert "cluster id is other" in world.migration.status()["waits_for"]


def test_what_makes_no_sense_is_not_copied():
    world = MigrationWorld()
    world.finish(world.admin.multi([SetData(paths.state("a", 0), b"nonsense")]))
    world.prepare()
    world.run(5000)
    assert world.phase == "WAIT_FOR_BROKERS"
    assert paths.state("a", 0) in world.migration.status()["waits_for"]
