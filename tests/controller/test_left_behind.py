"""A broker that is in ZooKeeper's mode when the way to KRaft has ended: nobody tells it anything."""

import pytest

from kbroker.controller.brokers import fence_broker
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import ElectionType, elect_leaders
from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.controller.topics import create_topics
from kbroker.errors import ErrorCode
from kbroker.metadata.image import MIGRATED, MIGRATING
from kbroker.plain import replace
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from tests.controller.clusters import cluster, rules

RULES = ElectionRules()


def moving(state):
    """Broker 2 is in ZooKeeper's mode; topic a has both brokers, b only that one."""
    image = cluster(1, 2, level=21)
    brokers = {**image.brokers, 2: image.brokers[2]._replace(is_migrating_zk_broker=True)}
    image = replace(image, brokers=brokers, zk_migration_state=MIGRATING)
    for name, replicas in (("a", [2, 1]), ("b", [2])):
        image = created(image, assigned(name, replicas))
    return replace(image, zk_migration_state=state)


def assigned(name, replicas):
    lists = [CreatableReplicaAssignment(partition_index=0, broker_ids=replicas)]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=lists)


def answer(image, topic):
    return create_topics(image, [topic], False, rules(first_id=1000 + len(image.topics)))


def created(image, topic):
    decision = answer(image, topic)
    assert decision.response[0].error_code == 0, decision.response[0].error_message
    return image.apply(decision.records)


@pytest.mark.parametrize("state", [MIGRATING, MIGRATED])
def test_it_is_given_no_new_replicas(state):
    image = created(moving(state), CreatableTopic(name="c", num_partitions=4, replication_factor=1))
    found = {replica for each in image.topics.get("c").partitions for replica in each.replicas}
    assert found == ({1, 2} if state == MIGRATING else {1})
    (asked,) = answer(moving(state), assigned("c", [2])).response
    (wanted,) = alter_reassignments(moving(state), [Reassignment("a", 0, [2])], RULES).response
    if state == MIGRATING:
        assert (asked.error_code, wanted.code) == (0, ErrorCode.NONE)
    else:
        assert asked.error_code == wanted.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
        assert "broker 2, but that is still in ZooKeeper's mode" in asked.error_message


def test_it_goes_on_to_lead_and_does_not_begin_to():
    image = moving(MIGRATED)
    assert [image.topics.partition(name, 0).leader for name in ("a", "b")] == [2, 2]
    # Others follow it, where it has to go; it follows nobody.
    image = image.apply(fence_broker(image, 2, image.brokers[2].epoch, RULES).records)
    assert [image.topics.partition(name, 0).leader for name in ("a", "b")] == [1, -1]
    back = {**image.brokers, 2: image.brokers[2]._replace(fenced=False)}
    image = replace(image, brokers=back)
    decision = elect_leaders(image, RULES, ElectionType.PREFERRED, [("a", [0]), ("b", [0])])
    image = image.apply(decision.records)
    assert [image.topics.partition(name, 0).leader for name in ("a", "b")] == [1, -1]
