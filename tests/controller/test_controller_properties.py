"""Random histories of a cluster keep what must hold of every partition after every record."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.controller.alter_partition import IsrMember, Proposal, alter_partitions
from kbroker.controller.brokers import (
    NodeRegistration,
    fence_broker,
    join_broker,
    register_broker,
    unfence_broker,
    unregister_broker,
)
from kbroker.controller.directories import assign_replicas
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import elect_leaders, elect_unclean, rebalance
from kbroker.controller.features import SUPPORTED_FEATURES
from kbroker.controller.heartbeats import Heartbeat, heartbeat
from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.controller.topics import create_topics
from kbroker.errors import ApiError, ErrorCode
from kbroker.metadata.image import Endpoint
from kbroker.metadata.records import decode_record, encode_record
from kbroker.metadata.snapshot import image_records
from kbroker.plain import replace
from kbroker.protocol.generated.create_topics_request import CreatableReplicaAssignment, CreatableTopic
from kbroker.protocol.generated.partition_change_record import PartitionChangeRecord
from tests.controller.clusters import cluster, rules as topic_rules, uuid

BROKERS = st.integers(1, 5)
SOME = st.lists(BROKERS, min_size=1, max_size=4, unique=True)


class ClusterHistory(RuleBasedStateMachine):
    """Five brokers and two topics; every decision's records are checked one by one."""

    def __init__(self):
        super().__init__()
        self.image = None
        self.rules = ElectionRules()
        self.incarnation = 100
        self.unclean = False
        self.calling_off = False

    @initialize(
        elr=st.booleans(),
        min_isr=st.integers(1, 3),
        unclean=st.booleans(),
        first=SOME,
        second=SOME,
    )
    def begin(self, elr, min_isr, unclean, first, second):
        self.rules = ElectionRules(min_isr, unclean)
        self.image = cluster(1, 2, 3, 4, 5, elr=elr)
        for name, brokers in (("t", first), ("u", second)):
            assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=brokers)
            topic = CreatableTopic(
                name=name, num_partitions=-1, replication_factor=-1, assignments=[assignment]
            )
            ids = topic_rules()
            ids.new_uuid = lambda name=name: uuid(5000 + ord(name))
            self.apply(create_topics(self.image, [topic], False, ids))

    def apply(self, decision):
        for record in decision.records:
            record = decode_record(encode_record(record, self.image.metadata_version))
            before, self.image = self.image, self.image.apply([record])
            if isinstance(record, PartitionChangeRecord):
                self.check_step(before, record)

    def check_step(self, before, record):
        old = before.topics.by_id(record.topic_id).partitions[record.partition_id]
        new = self.image.topics.by_id(record.topic_id).partitions[record.partition_id]
        assert new.partition_epoch == old.partition_epoch + 1
        assert new.leader_epoch >= old.leader_epoch
        if new.leader != old.leader:
            assert new.leader_epoch == old.leader_epoch + 1
        if new.leader not in (-1, old.leader):
            clean = new.leader in old.isr or new.leader in old.elr
            known = old.last_known_elr == (new.leader,)
            assert clean or known or self.rules.unclean_election or self.unclean or new.leader in new.isr
            if not clean and new.leader not in old.isr and record.leader_recovery_state == 1:
                assert new.isr == (new.leader,)

        if not set(old.replicas) <= set(new.replicas) and not self.calling_off:
            first = set(old.replicas) - set(old.adding_replicas)
            assert set(new.replicas) - first <= set(new.isr)
            if len(new.replicas) < len(first):
                assert set(new.replicas) <= set(new.isr)

    def partitions(self):
        for topic in self.image.topics:
            yield from topic.partitions

    def node(self, broker, previous, *, same=False):
        if not same:
            self.incarnation += 1
        old = self.image.brokers.get(broker)
        incarnation = old.incarnation_id if same and old is not None else uuid(self.incarnation)
        return NodeRegistration(
            broker,
            incarnation,
            [Endpoint("PLAINTEXT", "h", 9)],
            SUPPORTED_FEATURES,
            None,
            [uuid(100 + broker), uuid(200 + broker)],
            previous,
        )

    # -- what happens ---------------------------------------------------------------------------------------

    @rule(broker=BROKERS, clean=st.booleans(), same=st.booleans(), join=st.booleans())
    def register(self, broker, clean, same, join):
        old = self.image.brokers.get(broker)
        node = self.node(broker, old.epoch if clean and old is not None else -1, same=same)
        decide = join_broker if join and not same else register_broker
        self.apply(decide(self.image, node, self.rules))

    @rule(broker=BROKERS)
    def fence(self, broker):
        if broker in self.image.brokers:
            epoch = self.image.brokers[broker].epoch
            self.apply(fence_broker(self.image, broker, epoch, self.rules))

    @rule(broker=BROKERS)
    def unfence(self, broker):
        known = self.image.brokers.get(broker)
        if known is not None and not known.in_controlled_shutdown:
            self.apply(unfence_broker(self.image, broker, known.epoch, self.rules))

    @rule(broker=BROKERS, fence=st.booleans(), down=st.booleans(), know=st.booleans(), dirs=st.booleans())
    def beat(self, broker, fence, down, know, dirs):
        known = self.image.brokers.get(broker)
        if known is None:
            return
        offline = known.log_dirs[:1] if dirs and len(known.log_dirs) > 1 else ()
        beat = Heartbeat(broker, known.epoch, 10**9, fence, down, offline)
        self.apply(heartbeat(self.image, beat, self.rules, caught_up=True, others_know=know))

    @rule(broker=BROKERS)
    def unregister(self, broker):
        if broker in self.image.brokers and len(self.image.brokers) > 1:
            self.apply(unregister_broker(self.image, broker, self.rules))

    @rule(name=st.sampled_from("tu"), members=st.sets(BROKERS), recovery=st.sampled_from([0, 0, 0, 1]))
    def alter(self, name, members, recovery):
        topic = self.image.topics.get(name)
        p = topic.partitions[0]
        if p.leader == -1:
            return
        isr = [r for r in p.replicas if r in members or r == p.leader]
        epochs = [IsrMember(r, self.image.brokers[r].epoch) for r in isr if r in self.image.brokers]
        proposal = Proposal(topic.id, 0, p.leader_epoch, p.partition_epoch, epochs, recovery)
        broker = self.image.brokers[p.leader]
        decision = alter_partitions(self.image, broker.id, broker.epoch, [proposal], self.rules)
        self.apply(decision)
        state = decision.response[0].state
        if state is not None:
            assert state == self.image.topics.get(name).partitions[0]

    @rule(name=st.sampled_from("tu"), wanted=st.none() | SOME)
    def reassign(self, name, wanted):
        decision = alter_reassignments(self.image, [Reassignment(name, 0, wanted)], self.rules)
        self.calling_off = wanted is None
        self.apply(decision)
        self.calling_off = False
        p = self.image.topics.get(name).partitions[0]
        if decision.response[0].code == 0 and wanted is not None:
            assert p.replicas[: len(wanted)] == tuple(wanted)
            if not p.reassigning:
                assert p.replicas == tuple(wanted)

    @rule(kind=st.sampled_from([0, 1]))
    def elect(self, kind):
        self.unclean = kind == 1
        self.apply(elect_leaders(self.image, self.rules, kind, None))
        self.unclean = False

    @rule()
    def by_the_clock(self):
        self.apply(rebalance(self.image, self.rules))
        self.apply(elect_unclean(self.image, self.rules))

    @rule(broker=BROKERS, which=st.integers(0, 2), name=st.sampled_from("tu"))
    def assign(self, broker, which, name):
        known = self.image.brokers.get(broker)
        if known is not None:
            directory = (*known.log_dirs, uuid(999), uuid(998))[which]
            told = {(self.image.topics.get(name).id, 0): directory}
            self.apply(assign_replicas(self.image, broker, known.epoch, told, self.rules))

    # -- what holds -----------------------------------------------------------------------------------------

    @precondition(lambda self: self.image is not None)
    @invariant()
    def partitions_are_sound(self):
        for p in self.partitions():
            replicas = set(p.replicas)
            assert len(replicas) == len(p.replicas)
            assert set(p.isr) <= replicas
            assert set(p.elr) <= replicas
            assert not set(p.isr) & set(p.elr)
            assert set(p.adding_replicas) <= replicas
            assert set(p.removing_replicas) <= replicas
            assert p.leader == -1 or p.leader in p.isr
            assert len(p.directories) == len(p.replicas)
            if p.leader != -1:
                broker = self.image.brokers.get(p.leader)
                assert broker is not None
                assert broker.active
                assert not p.last_known_elr

    @precondition(lambda self: self.image is not None)
    @invariant()
    def a_reassignment_is_over_when_its_replicas_are_in_sync(self):
        for p in self.partitions():
            if p.reassigning and p.leader_recovery_state == 0:
                staying = set(p.replicas) - set(p.removing_replicas)
                assert not staying <= set(p.isr)

    @precondition(lambda self: self.image is not None)
    @invariant()
    def nothing_of_a_broker_that_is_out_is_in_sync(self):
        elr = self.image.features.get("eligible.leader.replicas.version")
        for p in self.partitions():
            for replica in p.isr:
                broker = self.image.brokers.get(replica)
                if elr or len(p.isr) > 1:
                    assert broker is not None
                    assert broker.active

    @precondition(lambda self: self.image is not None)
    @invariant()
    def a_snapshot_says_the_same(self):
        empty = replace(self.image, topics=type(self.image.topics)(), brokers={}, configs={}, features={})
        again = empty.apply(list(image_records(self.image))).at(self.image.offset, self.image.epoch)
        assert again.topics == self.image.topics
        assert again.brokers == self.image.brokers


# Without shrinking: that takes minutes here, and what failed is printed step by step anyway.
ClusterHistory.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
test_a_cluster_s_history = ClusterHistory.TestCase


STALE = {
    "fence": lambda image: fence_broker(image, 1, 9),
    "unfence": lambda image: unfence_broker(image, 1, 9),
    "assign": lambda image: assign_replicas(image, 1, 9, {}),
    "alter": lambda image: alter_partitions(image, 1, 9, [], ElectionRules()),
    "heartbeat": lambda image: heartbeat(image, Heartbeat(1, 9, 0), ElectionRules(), caught_up=True),
}


@pytest.mark.parametrize("name", STALE)
def test_an_older_incarnation_decides_nothing(name):
    with pytest.raises(ApiError) as caught:
        STALE[name](cluster(1))
    assert caught.value.code is ErrorCode.STALE_BROKER_EPOCH
