"""Which step of a migration is next: Kafka's phases, from what is known."""

import pytest

from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.cluster_znodes import MigrationZnode
from kbroker.controller.zookeeper.migration import NO_PROGRESS, Facts, Phase, claim_operations, decide
from kbroker.controller.zookeeper.node_znodes import ControllerZnode
from kbroker.controller.zookeeper.tree import Create, Delete, Node, OpFailed, Tree
from kbroker.controller.zookeeper.writing import Claim
from kbroker.metadata.image import (
    BEFORE_MIGRATION,
    MIGRATED,
    MIGRATING,
    NOT_MIGRATED,
    BrokerImage,
    ClusterImage,
    ControllerImage,
)
from kbroker.plain import replace

BEFORE = ClusterImage(
    "c",
    features={"metadata.version": 21},
    zk_migration_state=BEFORE_MIGRATION,
    controllers={each: ControllerImage(each, bytes(16), (), {}, True) for each in (7, 8)},
    brokers={each: BrokerImage(each, 1, bytes(16), (), {}, is_migrating_zk_broker=True) for each in (1, 2)},
)
AFTER = replace(BEFORE, zk_migration_state=MIGRATING)
READY = Facts(
    BEFORE,
    node_id=7,
    epoch=5,
    is_reached=True,
    leads=True,
    voters=(7, 8),
    is_read=True,
    cluster_id="c",
    controller=ControllerZnode(1, 0),
    has_epoch=True,
    brokers={1, 2},
    assigned={1},
)
CLAIM = Claim(3, 3)
KRAFT_BROKER = BEFORE.brokers[2]._replace(is_migrating_zk_broker=False)


def but(**changes):
    return replace(READY, **changes)


def image(base=BEFORE, **changes):
    return but(image=replace(base, **changes), progress=NO_PROGRESS, controller=None)


@pytest.mark.parametrize(
    ("facts", "phase", "why"),
    [
        (but(leads=False), Phase.INACTIVE, ""),
        (image(features={}), Phase.INACTIVE, "no records"),
        (image(zk_migration_state=NOT_MIGRATED), Phase.INACTIVE, "created in KRaft mode"),
        (image(zk_migration_state=MIGRATED), Phase.INACTIVE, "completed"),
        (but(is_reached=False), Phase.UNINITIALIZED, ""),
        (but(is_read=False), Phase.UNINITIALIZED, ""),
        (but(cluster_id="d"), Phase.INACTIVE, "cluster id is d, the quorum's is c"),
        (but(cluster_id=None), Phase.INACTIVE, "cluster id is missing"),
        (but(has_epoch=False), Phase.WAIT_FOR_BROKERS, "/controller_epoch"),
        (image(features={"metadata.version": 22}), Phase.WAIT_FOR_CONTROLLER_QUORUM, "22 does not"),
        (but(voters=(7, 8, 9)), Phase.WAIT_FOR_CONTROLLER_QUORUM, "controller 9 has not registered"),
        (
            image(controllers={7: BEFORE.controllers[7]._replace(zk_migration_ready=False)}),
            Phase.WAIT_FOR_CONTROLLER_QUORUM,
            "controller 7 has not enabled",
        ),
        (but(brokers=None), Phase.WAIT_FOR_BROKERS, "no broker is registered"),
        (but(brokers=()), Phase.WAIT_FOR_BROKERS, "no broker is registered"),
        (but(brokers={1, 2, 3}), Phase.WAIT_FOR_BROKERS, "brokers 3 are registered in ZooKeeper"),
        (image(brokers={1: BEFORE.brokers[1], 2: KRAFT_BROKER}), Phase.WAIT_FOR_BROKERS, "brokers 2 are"),
        (but(assigned=None), Phase.WAIT_FOR_BROKERS, "reading"),
        (but(assigned={1, 4}), Phase.WAIT_FOR_BROKERS, "brokers 4 have replicas"),
        (but(problems=["/x: is nonsense"]), Phase.WAIT_FOR_BROKERS, "/x: is nonsense"),
        (READY, Phase.BECOME_CONTROLLER, ""),
        (but(controller=ControllerZnode(8, 0, 4)), Phase.BECOME_CONTROLLER, ""),
        (but(controller=ControllerZnode(8, 0, 6)), Phase.BECOME_CONTROLLER, "controller 8 of"),
        (but(claim=CLAIM), Phase.ZK_MIGRATION, ""),
        (but(image=AFTER, progress=None), Phase.INACTIVE, "no /migration: the migration was taken back"),
        (but(image=AFTER, progress=NO_PROGRESS), Phase.INACTIVE, "broker 1 is controller"),
        (image(AFTER), Phase.BECOME_CONTROLLER, ""),
        (image(AFTER, brokers={}, controllers={}), Phase.BECOME_CONTROLLER, ""),
        (but(image=AFTER, claim=CLAIM), Phase.SYNC_KRAFT_TO_ZK, ""),
        (but(image=AFTER, claim=CLAIM, is_synced=True), Phase.KRAFT_CONTROLLER_TO_BROKER_COMM, ""),
        (but(image=AFTER, claim=CLAIM, is_synced=True, is_told=True), Phase.DUAL_WRITE, ""),
        (but(image=AFTER, claim=CLAIM, is_told=True), Phase.SYNC_KRAFT_TO_ZK, ""),
    ],
)
def test_the_next_phase(facts, phase, why):
    found, reason = decide(facts)
    assert found is phase
    assert why in reason
    assert bool(why) == bool(reason)


def tree_of(controller=None):
    tree = Tree()
    tree.put(paths.CONTROLLER_EPOCH, Node(b"4", 6))
    if controller is not None:
        tree.put(paths.CONTROLLER, Node(controller.encode(), 0))
    return tree


def test_a_claim_takes_the_place_of_who_holds_it():
    tree = tree_of(ControllerZnode(1, 0))
    claim, ops = claim_operations(READY, 99, 0, 4, 6)
    tree.apply(ops)
    assert (
        claim
        == Claim(5, 7)
        == (int(tree.data(paths.CONTROLLER_EPOCH)), tree.get(paths.CONTROLLER_EPOCH).version)
    )
    assert ControllerZnode.decode(tree.data(paths.CONTROLLER)) == ControllerZnode(7, 99, 5)
    assert not tree.get(paths.CONTROLLER).ephemeral
    assert MigrationZnode.decode(tree.data(paths.MIGRATION)) == (7, 5, -1, -1)
    # Of a second one that has read the same nothing comes.
    with pytest.raises(OpFailed):
        tree.apply(ops)


def test_a_claim_keeps_how_far_the_last_one_was():
    tree = tree_of()
    tree.put(paths.MIGRATION, Node())
    known = MigrationZnode(8, 4, 1000, 4)
    _, ops = claim_operations(but(progress=known, image=AFTER), 99, None, 4, 6)
    assert not any(isinstance(op, Delete) for op in ops)
    assert not any(isinstance(op, Create) and op.path == paths.MIGRATION for op in ops)
    tree.apply(ops)
    assert MigrationZnode.decode(tree.data(paths.MIGRATION)) == (7, 5, 1000, 4)
