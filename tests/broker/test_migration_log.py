"""A quorum on its way from ZooKeeper: what the log says of it, and transactions in several batches."""

import pytest

from kbroker.controller.brokers import NodeRegistration, register_broker
from kbroker.controller.decision import Decision
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.controller.kraft.migration import copy_slices
from kbroker.errors import ApiError, ConfigError, ErrorCode
from kbroker.metadata.image import BEFORE_MIGRATION, MIGRATED, MIGRATING, NOT_MIGRATED, ClusterImage, Endpoint
from kbroker.metadata.snapshot import image_records
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.zk_migration_state_record import ZkMigrationStateRecord
from tests.broker.quorum_world import QuorumWorld


def config(number):
    return ConfigRecord(resource_type=2, resource_name="t", name=f"name{number}", value="1")


def settings(node):
    return len(node.metadata.image.config(2, "t"))


def world(*ids, migrates=True):
    made = QuorumWorld(*ids)
    made.metadata_version = 21
    made.start(*ids, migrates=migrates)
    made.elect()
    made.until(lambda: made.leader.metadata.image.metadata_version)
    return made


def append(world, decision, **more):
    return world.leader.controller.append_records(lambda image: decision, **more)


def copy(world, count):
    decisions = list(copy_slices([config(number) for number in range(count)]))
    assert len(decisions) == 3
    return [append(world, each, always=True) for each in decisions]


def broker(zk):
    endpoint = Endpoint("PLAINTEXT", "h", 9092)
    return NodeRegistration(
        7, bytes(16), [endpoint], SUPPORTED_FEATURES, None, [b"d" * 16], is_migrating_zk_broker=zk
    )


def test_a_quorum_that_is_to_migrate_decides_nothing_before():
    quorum = world(1, 2, 3)
    assert quorum.leader.metadata.image.zk_migration_state == BEFORE_MIGRATION
    with pytest.raises(ApiError) as refused:
        quorum.finish(append(quorum, Decision(None, [config(0)])))
    assert refused.value.code is ErrorCode.NOT_CONTROLLER
    register = lambda zk: quorum.leader.controller.append_records(  # noqa: E731
        lambda image: register_broker(image, broker(zk)), always=True
    )
    with pytest.raises(ApiError) as refused:
        quorum.finish(register(False))
    assert refused.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED
    quorum.finish(register(True))
    assert quorum.leader.metadata.image.brokers[7].is_migrating_zk_broker


def test_the_copy_is_there_all_at_once():
    quorum = world(1, 2, 3)
    *begun, last = copy_slices([config(number) for number in range(2500)])
    answers = [append(quorum, each, always=True) for each in begun]
    other = append(quorum, Decision(None, [config(9999)]), always=True)
    with pytest.raises(ApiError) as refused:
        other.result()
    assert refused.value.code is ErrorCode.NOT_CONTROLLER
    quorum.run(1000)
    seen = {settings(node) for node in quorum.nodes.values()}
    answers.append(append(quorum, last, always=True))
    while not all(each.done for each in answers):
        quorum.run(1)
        seen |= {settings(node) for node in quorum.nodes.values()}
    quorum.until(lambda: all(settings(node) == 2500 for node in quorum.nodes.values()))
    assert seen <= {0, 2500}
    assert {node.metadata.image.zk_migration_state for node in quorum.nodes.values()} == {MIGRATING}
    quorum.finish(append(quorum, Decision(None, [config(9999)])))


def test_a_copy_that_was_not_finished_never_was():
    quorum = world(1, 2, 3)
    first = quorum.leader
    for decision in list(copy_slices([config(number) for number in range(2500)]))[:-1]:
        append(quorum, decision, always=True)
    quorum.run(2000)
    quorum.kill(first.raft.node.node_id)
    quorum.elect()
    quorum.run(2000)
    assert {settings(node) for node in quorum.nodes.values()} == {0}
    assert quorum.leader.metadata.image.zk_migration_state == BEFORE_MIGRATION
    for answer in copy(quorum, 2500):
        quorum.finish(answer)
    assert settings(quorum.leader) == 2500


def test_a_controller_that_is_not_to_migrate_ends_it():
    quorum = world(1)
    for answer in copy(quorum, 2500):
        quorum.finish(answer)
    quorum.stop(1)
    quorum.start(1, migrates=True).elect()
    quorum.run(100)
    assert quorum.leader.metadata.image.zk_migration_state == MIGRATING
    quorum.stop(1)
    quorum.start(1, migrates=False).elect()
    quorum.run(100)
    assert quorum.leader.metadata.image.zk_migration_state == MIGRATED
    assert settings(quorum.leader) == 2500


def test_clusters_that_cannot_migrate_are_refused():
    quorum = world(1, migrates=False)
    assert quorum.leader.metadata.image.zk_migration_state == NOT_MIGRATED
    quorum.stop(1)
    with pytest.raises(ConfigError, match="created in KRaft mode"):
        quorum.start(1, migrates=True)
    newer = QuorumWorld(1)
    with pytest.raises(ConfigError, match=r"4\.4-IV2 does not support ZK migrations"):
        newer.start(1, migrates=True)


def test_snapshots_keep_it():
    image = ClusterImage("c").apply([ZkMigrationStateRecord(zk_migration_state=MIGRATING)])
    image = image.apply(register_broker(image, broker(True)).records)
    again = ClusterImage("c").apply(list(image_records(image)))
    assert again.zk_migration_state == MIGRATING
    assert again.brokers[7].is_migrating_zk_broker
