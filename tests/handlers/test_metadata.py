from __future__ import annotations

import pytest

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.handlers import metadata_cache
from kbroker.handlers.metadata import _brokers
from kbroker.plain import replace
from kbroker.protocol.generated.create_topics_request import CreatableTopic
from kbroker.protocol.generated.metadata_request import MetadataRequestTopic
from kbroker.types import ZERO_UUID
from tests.handlers.admin_node import AdminNode

UNKNOWN_ID = bytes(15) + b"\x67"


@pytest.fixture
def node():
    node = AdminNode()
    topics = [
        CreatableTopic(name=name, num_partitions=count, replication_factor=1)
        for name, count in (("one", 1), ("two", 2))
    ]
    node.ask("CreateTopics", 7, topics=topics, timeout_ms=1000)
    return node


def named(*names):
    return [MetadataRequestTopic(name=name) for name in names]


def with_id(topic_id, name=None):
    return MetadataRequestTopic(topic_id=topic_id, name=name)


def ask(node, version, topics, auto=False, **fields):
    if version >= 4:
        fields["allow_auto_topic_creation"] = auto
    return node.ask("Metadata", version, topics=topics, **fields)


def errors(answer):
    return [(topic.name, topic.error_code) for topic in answer.topics]


@pytest.mark.parametrize("version", range(14))
def test_topics_by_name_in_every_version(node, version):
    answer = ask(node, version, named("two", "one"))
    assert [(b.node_id, b.host, b.port) for b in answer.brokers] == [(1, "h", 9092)]
    two, one = answer.topics
    assert (two.name, one.name) == ("two", "one")
    assert [(p.partition_index, p.leader_id, p.replica_nodes, p.isr_nodes) for p in two.partitions] == [
        (0, 1, [1], [1]),
        (1, 1, [1], [1]),
    ]
    if version >= 1:
        assert answer.controller_id == 1
    if version >= 2:
        assert answer.cluster_id == "cluster"
    if version >= 7:
        assert two.partitions[0].leader_epoch == 0
    if version >= 10:
        assert two.topic_id == node.image.topics.get("two").id


def test_all_and_none(node):
    assert len(ask(node, 0, []).topics) == 2
    assert len(ask(node, 1, None).topics) == 2
    assert ask(node, 1, []).topics == []
    assert len(ask(node, 13, None).topics) == 2


def test_known_topics_come_before_unknown_and_impossible_ones(node):
    answer = ask(node, 12, named("nobody", "one", "a b", "one"))
    assert errors(answer) == [("one", 0), ("nobody", 3), ("a b", 17)]
    assert answer.topics[1].topic_id == ZERO_UUID


def test_topics_by_id(node):
    known = node.image.topics.get("one").id
    answer = ask(node, 12, [with_id(UNKNOWN_ID), with_id(known), *named("two")])
    assert [(t.name, t.topic_id, t.error_code) for t in answer.topics] == [
        ("one", known, 0),
        (None, UNKNOWN_ID, 100),
    ]


@pytest.mark.parametrize("version", [10, 11])
def test_ids_before_they_could_be_asked_for(node, version):
    answer = ask(node, version, [with_id(UNKNOWN_ID, "one" if version == 11 else None)])
    assert (answer.brokers, answer.cluster_id, answer.controller_id) == ([], None, -1)
    (topic,) = answer.topics
    assert (topic.error_code, topic.topic_id) == (42, UNKNOWN_ID)


def test_a_topic_with_neither_name_nor_id(node):
    answer = ask(node, 12, [with_id(ZERO_UUID)])
    assert [topic.error_code for topic in answer.topics] == [42]


def test_operations_only_when_asked_for(node):
    answer = ask(
        node,
        8,
        named("one"),
        include_cluster_authorized_operations=True,
        include_topic_authorized_operations=True,
    )
    assert answer.cluster_authorized_operations == 8096
    assert answer.topics[0].topic_authorized_operations == 3576
    answer = ask(node, 8, named("one"))
    assert answer.cluster_authorized_operations == -(2**31)
    assert answer.topics[0].topic_authorized_operations == -(2**31)


def test_creation_on_demand_says_first_that_the_topic_is_unknown(node):
    assert errors(ask(node, 4, named("auto", "a b"), auto=True)) == [("auto", 3), ("a b", 17)]
    assert errors(ask(node, 4, named("auto"))) == [("auto", 0)]
    assert errors(ask(node, 0, named("old"))) == [("old", 3)]
    assert errors(ask(node, 0, named("old"))) == [("old", 0)]


def test_creation_on_demand_may_be_waited_for():
    node = AdminNode(kbroker_auto_create_wait="true")
    answer = ask(node, 4, named("auto"), auto=True)
    assert errors(answer) == [("auto", 0)]
    assert answer.topics[0].partitions[0].leader_id == 1
    assert node.replicas.get("auto", 0).is_leader


def test_the_answer_comes_when_the_topic_is_there():
    node = AdminNode(kbroker_auto_create_wait="true")
    node.world.waiting = []
    node.client.send(node.client.frame("Metadata", 4, topics=named("auto"), allow_auto_topic_creation=True))
    assert node.client.answers() == []
    node.world.finish_blocking()
    assert errors(node.client.answers()[0]) == [("auto", 0)]


def test_a_topic_that_cannot_be_created_tells_why():
    node = AdminNode(kbroker_auto_create_wait="true", default_replication_factor="3")
    assert errors(ask(node, 4, named("auto"), auto=True)) == [("auto", 38)]


def test_creation_on_demand_takes_of_the_quota_of_changes():
    node = AdminNode(kbroker_auto_create_wait="true")
    services = node.services
    keeper = services.quotas = QuotaKeeper(services.config, services.clock, services.timer, lambda: 0.0, list)
    keeper.quotas.apply({(("user", None),): {"controller_mutation_rate": 0.1}})
    # A bucket of 1.1: one topic, another one into debt, and no more for now.
    answer = ask(node, 4, named("one", "two", "three"), auto=True)
    assert errors(answer) == [("one", 0), ("two", 0), ("three", 3)]
    assert "three" not in node.image.topics
    assert errors(ask(node, 4, named("three"), auto=True)) == [("three", 3)]


def test_nothing_is_created_where_the_broker_or_a_name_forbids_it(node):
    ask(node, 4, named("x.y"), auto=True)
    assert errors(ask(node, 4, named("x_y"), auto=True)) == [("x_y", 3)]
    assert "x_y" not in node.image.topics
    strict = AdminNode(auto_create_topics_enable="false")
    assert errors(ask(strict, 4, named("a"), auto=True)) == [("a", 3)]
    assert len(strict.image.topics) == 0


def test_group_offsets_get_their_own_settings(node):
    answer = ask(node, 4, named("__consumer_offsets"), auto=True)
    assert answer.topics[0].is_internal
    topic = node.image.topics.get("__consumer_offsets")
    assert topic is None or len(topic.partitions) == 50


def test_unknown_listeners_lead_nowhere(node):
    node.client.core.context.listener_name = "OTHER"
    answer = ask(node, 12, named("one"))
    assert answer.brokers == []
    assert [(p.leader_id, p.error_code) for p in answer.topics[0].partitions] == [(-1, 72)]
    assert ask(node, 5, named("one")).topics[0].partitions[0].error_code == 5


def test_while_no_broker_is_up_yet_those_that_are_registered_are_named(node):
    """After kill -9 of a whole cluster: librdkafka hung for good after one answer without any broker."""
    image = node.image
    fenced = {broker.id: broker._replace(fenced=True) for broker in image.brokers.values()}
    named_brokers = _brokers(replace(image, brokers=fenced), "PLAINTEXT")
    assert [(b.node_id, b.host, b.port) for b in named_brokers] == [(1, "h", 9092)]


def test_answers_are_remembered_until_the_image_changes(node, monkeypatch):
    first = ask(node, 12, named("one"))
    remembered = node.services.extras["metadata_answers"]
    assert len(remembered.answers) == 1
    assert ask(node, 12, named("one")) == first
    assert len(remembered.answers) == 1
    node.ask("DeleteTopics", 5, topic_names=["one"], timeout_ms=1000)
    assert errors(ask(node, 12, named("one"))) == [("one", 3)]
    monkeypatch.setattr(metadata_cache, "ANSWERS_MAX", 3)
    for number in range(10):
        ask(node, 12, named(f"n{number}"))
    assert len(node.services.extras["metadata_answers"].answers) <= 3
