"""Guards, one by one, where the recording of Kafka's answers does not reach."""

from __future__ import annotations

import itertools

import pytest

from kbroker.broker.access import Access
from kbroker.broker.deferred import Deferred
from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kbroker.protocol.generated.metadata_request import MetadataRequestTopic
from kbroker.security.acl import CLUSTER_NAME, Acl, Operation, PatternType, Permission, ResourceType
from kbroker.security.acl_index import AclIndex
from kbroker.security.authorizer import Chain, Undecided
from tests.handlers.admin_node import AdminNode

TOPIC, CLUSTER = ResourceType.TOPIC, ResourceType.CLUSTER


class Allowed:
    """Allows what is listed, (operation, type, name); the rest is denied."""

    def __init__(self, *allowed):
        self.allowed = set(allowed)

    def decide(self, question):
        return (question.operation, question.resource_type, question.name) in self.allowed


@pytest.fixture
def node():
    return AdminNode()


def guard(node, *allowed):
    node.services.authorizer = Access(Chain([Allowed(*allowed)]))
    # Routes know whether there is an authorizer.
    node.dispatcher._routes.clear()


def alter(node, name, value):
    config = AlterableConfig(name=name, value=value, config_operation=0)
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=[config])
    answer = node.ask("IncrementalAlterConfigs", 1, resources=[resource], validate_only=True)
    return [each.error_code for each in answer.responses]


@pytest.mark.parametrize("prefix", ["", "listener.name.internal."])
def test_settings_that_decide_who_gets_in_need_alter(node, prefix):
    """correctness.md 4, CVE-2023-25194."""
    guard(node, (Operation.ALTER_CONFIGS, CLUSTER, CLUSTER_NAME))
    assert alter(node, "message.max.bytes", "1000000") == [0]
    assert alter(node, f"{prefix}ssl.client.auth", "none") == [31]
    guard(node, (Operation.ALTER_CONFIGS, CLUSTER, CLUSTER_NAME), (Operation.ALTER, CLUSTER, CLUSTER_NAME))
    assert alter(node, f"{prefix}ssl.client.auth", "none") != [31]


def test_a_topic_of_many_is_created(node):
    guard(node, (Operation.CREATE, TOPIC, "mine"), (Operation.DESCRIBE_CONFIGS, TOPIC, "mine"))
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("a", "mine", "b")
    ]
    answer = node.ask("CreateTopics", 7, topics=topics, timeout_ms=1000)
    codes = {topic.name: topic.error_code for topic in answer.topics}
    assert codes == {"mine": 0, "a": 29, "b": 29}
    assert answer.topics[0].configs
    assert "a" not in node.image.topics


def test_metadata_version_0_without_a_visible_topic(node):
    """No topics mean all topics there."""
    node.ask("CreateTopics", 5, topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1)])
    assert [topic.name for topic in node.ask("Metadata", 0, topics=[]).topics] == ["t"]
    guard(node)
    assert node.ask("Metadata", 0, topics=[]).topics == []
    assert node.ask("Metadata", 12, topics=None).topics == []
    named = node.ask("Metadata", 1, topics=[MetadataRequestTopic(name="t")])
    assert [topic.error_code for topic in named.topics] == [29]


class Asked:
    """Knows nothing until it is asked outside."""

    def __init__(self, *allowed):
        self.allowed, self.known, self.rounds = set(allowed), {}, []

    def decide(self, question):
        if question not in self.known:
            raise Undecided([question])
        return self.known[question]

    def ask(self, questions):
        questions = list(questions)
        self.rounds.append(len(questions))
        self.known.update((each, each.name in self.allowed) for each in questions)
        done = Deferred()
        done.resolve(None)
        return done


def test_a_request_begins_anew_when_somebody_outside_has_decided(node):
    for name in ("a", "b", "c"):
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        node.ask("CreateTopics", 5, topics=[topic])
    asked = Asked("a", "c")
    node.services.authorizer = Access(Chain([asked]), ask=asked.ask)
    node.dispatcher._routes.clear()
    answer = node.ask("Metadata", 12, topics=None)
    assert [topic.name for topic in answer.topics] == ["a", "c"]
    assert asked.rounds == [3]  # all at once
    node.ask("Metadata", 12, topics=None)
    assert asked.rounds == [3]


def test_prefixes_of_every_length():
    """What the index does about prefixes, said in another way."""
    names = ["".join(each) for size in range(4) for each in itertools.product("ab", repeat=size)]
    for prefix in names[1:]:
        index = AclIndex(
            [Acl(TOPIC, prefix, PatternType.PREFIXED, "User:*", "*", Operation.READ, Permission.ALLOW)]
        )
        for name in names[1:]:
            found = index.decide("User:x", "h", Operation.READ, TOPIC, name)
            assert found is (True if name.startswith(prefix) else None)
