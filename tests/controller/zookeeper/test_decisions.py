"""Our decisions where Kafka 3.9.2 made its own: the same znodes, or the same outcome in fewer steps."""

from __future__ import annotations

import json

import pytest

from kbroker.controller.alter_partition import IsrMember, Proposal, alter_partitions
from kbroker.controller.brokers import fence_broker
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import elect_leaders
from kbroker.controller.producer_ids import allocate_block
from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.controller.topics import TopicRef, create_partitions, create_topics, delete_topics
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.reading import read
from kbroker.controller.zookeeper.steps import claim, with_leader_epochs
from kbroker.controller.zookeeper.tree import Delete, SetData
from kbroker.controller.zookeeper.writing import Claim, operations
from kbroker.errors import ErrorCode
from kbroker.protocol.generated.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kbroker.types import ZERO_UUID, uuid_from_string
from tests.controller.clusters import rules as topic_rules
from tests.controller.zookeeper import walk
from tests.controller.zookeeper.other_writers import deletion_marks

RULES = ElectionRules()


class Step:
    """A step of the walk, taken by Kafka, and by us from where Kafka began."""

    def __init__(self, name):
        self.ours, transactions = walk.before(name)
        self.kafka = self.ours.copy()
        self.transactions = transactions
        walk.play(self.kafka, transactions)
        reading = read(self.ours)
        self.image = reading.image()
        self.claim = Claim(*reading.controller_epoch)

    def decide(self, decide, *arguments, by_leader=False, **named):
        decision = decide(self.image, *arguments, **named)
        records = with_leader_epochs(decision.records, self.image, by_leader=by_leader)
        self.ours.apply(operations(records, self.image, self.ours, self.claim))
        self.image = self.image.apply(records)
        assert read(self.ours).image().topics == self.image.topics
        return decision.response

    def propose(self, topic, index, isr):
        partition = self.image.topics.partition(topic, index)
        leader = self.image.brokers[partition.leader]
        proposal = Proposal(
            self.image.topics.get(topic).id,
            index,
            partition.leader_epoch,
            partition.partition_epoch,
            [IsrMember(each, self.image.brokers[each].epoch) for each in isr],
        )
        return self.decide(alter_partitions, leader.id, leader.epoch, [proposal], RULES, by_leader=True)[0]

    def below(self, folder):
        """What Kafka and we have there."""
        return tuple(
            {
                path: (tree.get(path).data, tree.get(path).version)
                for path in tree.paths()
                if path.startswith(folder)
            }
            for tree in (self.kafka, self.ours)
        )


def states_set(transactions):
    for _, ops in transactions:
        for op in ops:
            if isinstance(op, SetData) and op.path.endswith("/state"):
                yield op.path, json.loads(op.data)


def place(path):
    parts = path.split("/")
    return parts[3], int(parts[5])


def test_a_topic_is_created():
    step = Step("B2")
    topic = CreatableTopic(
        name="walk-topic",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2, 3]),
            CreatableReplicaAssignment(partition_index=1, broker_ids=[2, 3, 1]),
        ],
    )
    rules = topic_rules()
    rules.new_uuid = lambda: uuid_from_string("t5Sb9byCTFWi6VhhrghtVw")
    step.decide(create_topics, [topic], False, rules)
    kafka, ours = step.below("/")
    assert kafka == ours


def test_partitions_are_added():
    step = Step("B3")
    more = CreatePartitionsTopic(
        name="walk-topic",
        count=4,
        assignments=[CreatePartitionsAssignment(broker_ids=ids) for ids in ([3, 1, 2], [1, 3, 2])],
    )
    step.decide(create_partitions, CreatePartitionsRequest(topics=[more]), topic_rules())
    kafka, ours = step.below("/")
    assert kafka == ours


@pytest.mark.parametrize("name", ["B7", "B8", "B10", "B12"])
def test_leaders_propose_other_isrs(name):
    """Also after a broker came back: that itself changes no partition that is led."""
    step = Step(name)
    registered = [txn for txn in step.transactions if any("/brokers/ids/" in op.path for op in txn[1])]
    walk.play(step.ours, registered)
    step.image = read(step.ours).image()
    for path, state in states_set(step.transactions):
        assert step.propose(*place(path), state["isr"]).code is ErrorCode.NONE
    kafka, ours = step.below(paths.TOPICS)
    assert kafka == ours


def test_the_controller_dies():
    """Kafka marks the partitions as without a leader, then elects; we elect. The leaders are the same."""
    step = Step("B11")
    gone = [op.path for _, ops in step.transactions for op in ops if isinstance(op, Delete)]
    assert gone == ["/controller", "/brokers/ids/1"]
    step.ours.apply([Delete("/controller")])
    claimed, ops = claim(3, 1795973926277, *step.claim)
    step.ours.apply(ops)
    step.claim = claimed
    step.decide(fence_broker, 1, step.image.brokers[1].epoch, RULES)
    kafka, ours = step.below(paths.TOPICS)
    assert kafka.keys() == ours.keys()
    for path in kafka:
        if path.endswith("/state"):
            theirs, mine = json.loads(kafka[path][0]), json.loads(ours[path][0])
            epochs = theirs.pop("leader_epoch"), mine.pop("leader_epoch")
            assert theirs == mine
            assert 0 <= epochs[0] - epochs[1] <= 1
    assert step.kafka.get(paths.CONTROLLER).data == step.ours.get(paths.CONTROLLER).data
    kafka, ours = step.kafka.get(paths.CONTROLLER_EPOCH), step.ours.get(paths.CONTROLLER_EPOCH)
    assert kafka == ours


def test_preferred_leaders():
    step = Step("B13")
    step.decide(elect_leaders, RULES, 0, None)
    kafka, ours = step.below(paths.TOPICS)
    assert kafka == ours


def outcome(data):
    state = json.loads(data)
    return state["leader"], state["isr"]


def test_a_replica_is_taken_away():
    step = Step("B15 ")
    step.decide(alter_reassignments, [Reassignment("walk-topic", 0, [3, 1])], RULES)
    topic, state = paths.topic("walk-topic"), paths.state("walk-topic", 0)
    assert step.ours.data(topic) == step.kafka.data(topic)
    assert outcome(step.ours.data(state)) == outcome(step.kafka.data(state)) == (1, [3, 1])


def test_a_replica_is_replaced():
    step = Step("B15b")
    topic, state = paths.topic("walk-topic"), paths.state("walk-topic", 0)
    written = [op.data for _, ops in step.transactions for op in ops if op.path == topic]
    step.decide(alter_reassignments, [Reassignment("walk-topic", 0, [2, 1])], RULES)
    assert step.ours.data(topic) == written[0]
    first = next(data for path, data in states_set(step.transactions) if path == state)
    assert json.loads(step.ours.data(state)) == first
    step.propose("walk-topic", 0, [3, 1, 2])
    assert step.ours.data(topic) == written[1]
    assert outcome(step.ours.data(state)) == outcome(step.kafka.data(state)) == (1, [1, 2])


def test_a_topic_is_deleted():
    step = Step("B21")
    step.ours.remove(f"{paths.DELETE_TOPICS}/walk-waiting")
    step.ours.apply(deletion_marks(["walk-waiting"], step.claim))
    step.decide(delete_topics, [TopicRef("walk-waiting", ZERO_UUID)])
    for tree in (step.kafka, step.ours):
        assert not [path for path in tree.paths() if "walk-waiting" in path]


def test_producer_ids():
    step = Step("B17")
    step.decide(allocate_block, 1, step.image.brokers[1].epoch)
    kafka, ours = step.below(paths.PRODUCER_IDS)
    assert kafka == ours
