"""Random histories: what ZooKeeper then holds is what KRaft's log would say."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import Phase, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.controller.acls import create_acls, delete_acls
from kbroker.controller.alter_partition import IsrMember, Proposal, alter_partitions
from kbroker.controller.brokers import fence_broker, unfence_broker
from kbroker.controller.client_quotas import QuotaChange, alter_client_quotas
from kbroker.controller.decision import Decision
from kbroker.controller.delegation_tokens import TokenRules, create_token, expire_token, renew_token
from kbroker.controller.election_rules import ElectionRules
from kbroker.controller.elections import elect_leaders, elect_unclean, rebalance
from kbroker.controller.producer_ids import allocate_block
from kbroker.controller.reassignment import Reassignment, alter_reassignments
from kbroker.controller.scram import credential_record
from kbroker.controller.topics import TopicRef, create_partitions, create_topics, delete_topics
from kbroker.controller.zookeeper import paths
from kbroker.controller.zookeeper.changes import acl_changes, entity_changes, token_changes
from kbroker.controller.zookeeper.config_znodes import decode_change
from kbroker.controller.zookeeper.reading import DECISION_LEVEL, read
from kbroker.controller.zookeeper.security_znodes import decode_acl_change
from kbroker.controller.zookeeper.steps import (
    claim,
    first_epoch,
    missing_roots,
    with_leader_epochs,
)
from kbroker.controller.zookeeper.tree import OpFailed, Tree, transactions
from kbroker.controller.zookeeper.writing import Claim, operations
from kbroker.metadata.image import ClusterImage
from kbroker.protocol.generated.config_record import ConfigRecord
from kbroker.protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreatableTopicConfig
from kbroker.protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kbroker.security.acl import Acl, AclFilter, Operation, PatternType, Permission, ResourceType
from kbroker.types import ZERO_UUID
from tests.controller.clusters import cluster, rules as topic_rules
from tests.controller.zookeeper.other_writers import deletion_marks

BROKERS = st.integers(1, 4)
TOPICS = st.sampled_from(["t", "u.v", "__w-x"])
NAMES = st.sampled_from(["alice", "b/ø b", "<default>", "%41", "~*'", "x=y&z"])
VALUES = st.none() | st.text(max_size=5)
TOKENS = TokenRules(10**6, 10**4, b"secret")


def facts(image):
    """What both memories keep. Ids of access control entries are made up by either."""
    return {
        "topics": {topic.name: topic for topic in image.topics},
        "configs": image.configs,
        "quotas": image.quotas,
        "scram": {key: record.encode(0) for key, record in image.scram.items()},
        "acls": {Acl.of(record) for record in image.acls.values()},
        "tokens": {key: record.encode(0) for key, record in image.tokens.items()},
        "producers": image.next_producer_id,
    }


class Histories(RuleBasedStateMachine):
    """Decisions on an image; their operations on a whole tree of znodes."""

    @initialize(cut=st.sampled_from([200, 10**6]))
    def begin(self, cut):
        self.cut = cut
        self.ids = itertools.count(5000)
        self.now = 1000
        self.rules = ElectionRules()
        self.image = cluster(1, 2, 3, 4, level=DECISION_LEVEL)
        self.heard = ClusterImage("c")
        self.tree = Tree(whole=True)
        roots = paths.ROOTS + paths.TOKEN_ROOTS + paths.ACL_ROOTS
        for op in [*missing_roots(self.tree, roots), first_epoch()]:
            self.tree.apply([op])
        self.claim = Claim(0, 0)
        self.take_over(1)

    def new_uuid(self):
        return next(self.ids).to_bytes(16, "big")

    def apply(self, decision, *, by_leader=False):
        records = with_leader_epochs(decision.records, self.image, by_leader=by_leader)
        ops = operations(records, self.image, self.tree, self.claim)
        parts = transactions(ops, self.cut)
        assert sum(len(part) - 1 for part in parts) == max(0, len(ops) - 1)
        if ops:
            stale = [Claim(self.claim.epoch - 1, self.claim.epoch_version - 1).check, *ops[1:]]
            with pytest.raises(OpFailed):
                self.tree.apply(stale)
        for part in parts:
            self.tree.apply(part)
        self.image = self.image.apply(records)
        self.hear(ops)

    def hear(self, ops):
        """Another node reads again what notifications name, and nothing else."""
        for op in ops:
            folder = paths.parent(op.path)
            if folder == paths.CONFIG_CHANGES:
                records = entity_changes(decode_change(op.path, op.data), self.tree, self.heard)
            elif folder == paths.TOKEN_CHANGES:
                records = token_changes(op.data.decode(), self.tree, self.heard)
            elif folder in (paths.ACL_LITERAL_CHANGES, paths.ACL_PREFIXED_CHANGES):
                records = acl_changes(decode_acl_change(op.path, op.data), self.tree, self.heard)
            elif folder == f"{paths.CONFIG}/topics":  # not told of: a topic comes or goes
                records = entity_changes(op.path.removeprefix("/config/"), self.tree, self.heard)
            else:
                continue
            self.heard = self.heard.apply(records)

    # -- controllers and brokers -----------------------------------------------------------------------------

    @rule(broker=BROKERS)
    def take_over(self, broker):
        if paths.CONTROLLER in self.tree:
            self.tree.remove(paths.CONTROLLER)
        self.now += 1
        self.claim, ops = claim(broker, self.now, self.claim.epoch, self.claim.epoch_version)
        self.tree.apply(ops)
        with pytest.raises(OpFailed):
            self.tree.apply(ops)

    @rule(broker=BROKERS, back=st.booleans())
    def come_or_go(self, broker, back):
        decide = unfence_broker if back else fence_broker
        self.apply(decide(self.image, broker, broker * 10, self.rules))

    # -- topics ----------------------------------------------------------------------------------------------

    @rule(name=TOPICS, partitions=st.integers(1, 12), factor=st.integers(1, 3), value=VALUES)
    def create(self, name, partitions, factor, value):
        configs = [] if value is None else [CreatableTopicConfig(name="ok.x", value=value)]
        topic = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=factor, configs=configs
        )
        rules = topic_rules(first_id=next(self.ids))
        self.apply(create_topics(self.image, [topic], False, rules))

    @rule(name=TOPICS, count=st.integers(2, 15))
    def more(self, name, count):
        wanted = CreatePartitionsTopic(name=name, count=count, assignments=None)
        self.apply(create_partitions(self.image, CreatePartitionsRequest(topics=[wanted]), topic_rules()))

    @rule(name=TOPICS)
    def delete(self, name):
        decision = delete_topics(self.image, [TopicRef(name, ZERO_UUID)])
        if decision.records:
            self.tree.apply(deletion_marks([name], self.claim))
            assert read(self.tree).deletions == [name]
        self.apply(decision)
        assert read(self.tree).deletions == []

    @rule(name=TOPICS, wanted=st.none() | st.lists(BROKERS, min_size=1, max_size=3, unique=True))
    def reassign(self, name, wanted):
        self.apply(alter_reassignments(self.image, [Reassignment(name, 0, wanted)], self.rules))

    @rule(name=TOPICS, members=st.sets(BROKERS))
    def alter(self, name, members):
        topic = self.image.topics.get(name)
        if topic is None or topic.partitions[0].leader == -1:
            return
        p = topic.partitions[0]
        isr = [IsrMember(r, r * 10) for r in p.replicas if r in members or r == p.leader]
        proposal = Proposal(topic.id, 0, p.leader_epoch, p.partition_epoch, isr, 0)
        decision = alter_partitions(self.image, p.leader, p.leader * 10, [proposal], self.rules)
        self.apply(decision, by_leader=True)

    @rule(kind=st.sampled_from([0, 1]))
    def elect(self, kind):
        self.apply(elect_leaders(self.image, self.rules, kind, None))
        self.apply(rebalance(self.image, self.rules))
        self.apply(elect_unclean(self.image, self.rules))

    # -- what is configured ----------------------------------------------------------------------------------

    @rule(
        resource=st.sampled_from([(4, ""), (4, "1"), (16, "m"), (32, "<default>")]),
        key=st.sampled_from("abc"),
        value=VALUES,
    )
    def configure(self, resource, key, value):
        record = ConfigRecord(resource_type=resource[0], resource_name=resource[1], name=key, value=value)
        self.apply(Decision(None, [record]))

    @rule(name=TOPICS, key=st.sampled_from("abc"), value=VALUES)
    def configure_topic(self, name, key, value):
        if name in self.image.topics:
            self.configure((2, name), key, value)

    @rule(
        user=st.none() | NAMES,
        client=st.none() | NAMES,
        both=st.sampled_from(["user", "client-id", "both"]),
        key=st.sampled_from(["producer_byte_rate", "consumer_byte_rate", "request_percentage"]),
        value=st.none() | st.floats(1e-9, 1e12) | st.integers(1, 10**15).map(float),
    )
    def quota(self, user, client, both, key, value):
        entity = [("user", user), ("client-id", client)]
        entity = [part for part in entity if both in (part[0], "both")]
        change = QuotaChange(tuple(entity), [(key, value)])
        self.apply(alter_client_quotas(self.image, [change]))

    @rule(address=st.sampled_from([None, "10.0.0.1", "::1"]), value=st.none() | st.integers(1, 9).map(float))
    def ip_quota(self, address, value):
        change = QuotaChange((("ip", address),), [("connection_creation_rate", value)])
        self.apply(alter_client_quotas(self.image, [change]))

    @rule(user=NAMES, mechanism=st.sampled_from([1, 2]), salt=st.none() | st.binary(max_size=9))
    def scram(self, user, mechanism, salt):
        if salt is not None:
            record = credential_record(user, mechanism, b"salted", salt, 4096)
        elif (user, mechanism) in self.image.scram:
            record = RemoveUserScramCredentialRecord(name=user, mechanism=mechanism)
        else:
            return
        self.apply(Decision(None, [record]))

    @rule(
        kind=st.sampled_from([ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID]),
        name=st.sampled_from(["*", "ü b"]),
        pattern=st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
        entries=st.lists(
            st.tuples(
                NAMES,
                st.sampled_from(list(Operation)[2:]),
                st.sampled_from([Permission.ALLOW, Permission.DENY]),
            ),
            min_size=1,
        ),
    )
    def allow(self, kind, name, pattern, entries):
        acls = [
            Acl(kind, name, pattern, f"User:{principal}", "*", operation, permission)
            for principal, operation, permission in entries
        ]
        self.apply(create_acls(self.image, acls, self.new_uuid))

    @rule(
        kind=st.sampled_from([ResourceType.ANY, ResourceType.TOPIC]), name=st.sampled_from(["*", "ü b", None])
    )
    def forbid(self, kind, name):
        wanted = AclFilter(kind, name, PatternType.ANY, None, None, Operation.ANY, Permission.ANY)
        self.apply(delete_acls(self.image, [wanted]))

    @rule(owner=NAMES, renewer=NAMES)
    def token(self, owner, renewer):
        token_id = f"token-{next(self.ids)}"
        self.apply(
            create_token(
                self.image,
                TOKENS,
                self.now,
                token_id,
                owner=f"User:{owner}",
                requester="User:r",
                renewers=[f"User:{renewer}"],
                lifetime_ms=-1,
            )
        )

    @rule(gone=st.booleans())
    def change_token(self, gone):
        for token_id, record in list(self.image.tokens.items())[:1]:
            decide, period = (expire_token, -1) if gone else (renew_token, 5)
            mac = TOKENS.mac(token_id)
            self.apply(decide(self.image, TOKENS, self.now, mac, record.owner, period))

    @rule(broker=BROKERS)
    def producer_ids(self, broker):
        self.apply(allocate_block(self.image, broker, broker * 10))

    # -- what holds ------------------------------------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "image"))
    @invariant()
    def the_tree_says_the_same(self):
        reading = read(self.tree)
        assert reading.problems == []
        assert reading.unborn == []
        assert reading.controller_epoch == self.claim
        ours, theirs = facts(self.image), facts(reading.image())
        for name in ours:
            assert ours[name] == theirs[name], name
        heard = facts(self.heard)
        for name in ("configs", "quotas", "scram", "acls", "tokens"):
            assert heard[name] == ours[name], name


Histories.TestCase.settings = settings(
    max_examples=10,
    stateful_step_count=50,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
test_histories = Histories.TestCase
