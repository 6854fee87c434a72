from __future__ import annotations

import pytest

from kbroker.broker.client_quotas import QuotaKeeper
from kbroker.protocol.generated.create_partitions_request import CreatePartitionsTopic
from kbroker.protocol.generated.create_topics_request import CreatableTopic, CreatableTopicConfig
from kbroker.protocol.generated.delete_topics_request import DeleteTopicState
from tests.handlers.admin_node import AdminNode


@pytest.fixture
def node():
    return AdminNode()


def topic(name="t", partitions=1, factor=1, **configs):
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
    )


def create(node, *topics, version=7, timeout_ms=1000, **fields):
    return node.ask("CreateTopics", version, topics=list(topics), timeout_ms=timeout_ms, **fields).topics


@pytest.mark.parametrize("version", range(8))
def test_topics_are_created_in_every_version_and_lead_at_once(node, version):
    (result,) = create(node, topic(partitions=2), version=version)
    assert result.error_code == 0
    assert node.replicas.get("t", 1).is_leader
    if version >= 5:
        assert (result.num_partitions, result.replication_factor) == (2, 1)
        assert {config.name: config.value for config in result.configs}["cleanup.policy"] == "delete"
    if version >= 7:
        assert result.topic_id == node.image.topics.get("t").id


def test_configs_of_the_answer_tell_their_source(node):
    (result,) = create(node, topic(preallocate="TRUE"))
    configs = {config.name: (config.value, config.config_source) for config in result.configs}
    assert configs["preallocate"] == ("TRUE", 1)
    assert configs["retention.ms"] == ("604800000", 5)
    assert node.image.topic_config("t") == {"preallocate": "TRUE"}


def test_configs_are_checked(node):
    (result,) = create(node, topic(retention_ms="soon"))
    assert (result.error_code, result.error_message) == (
        40,
        "Invalid value soon for configuration retention.ms: Not a number of type LONG",
    )


def test_without_time_or_with_too_much_every_topic_has_the_error(node):
    assert [r.error_code for r in create(node, topic("a"), topic("b"), timeout_ms=0)] == [7, 7]
    assert [r.error_code for r in create(node, topic("a", 6000), topic("b", 6000))] == [44, 44]
    assert len(node.image.topics) == 0


def test_trying_creates_nothing(node):
    (result,) = create(node, topic(partitions=3), validate_only=True)
    assert (result.error_code, result.num_partitions) == (0, 3)
    assert len(node.image.topics) == 0


@pytest.mark.parametrize("version", range(7))
def test_topics_are_deleted_in_every_version_with_their_logs(node, version):
    create(node, topic())
    fields = {"topics": [DeleteTopicState(name="t")]} if version == 6 else {"topic_names": ["t"]}
    (result,) = node.ask("DeleteTopics", version, timeout_ms=1000, **fields).responses
    assert (result.name, result.error_code) == ("t", 0)
    assert node.replicas.get("t", 0) is None
    (again,) = node.ask("DeleteTopics", version, timeout_ms=1000, **fields).responses
    assert again.error_code == 3


def test_topics_are_deleted_by_id(node):
    (created,) = create(node, topic())
    states = [DeleteTopicState(topic_id=created.topic_id)]
    (result,) = node.ask("DeleteTopics", 6, topics=states, timeout_ms=1000).responses
    assert (result.name, result.error_code) == ("t", 0)


@pytest.mark.parametrize(("version", "code"), [(1, 42), (2, 42), (3, 73), (5, 73)])
def test_deletion_may_be_forbidden(version, code):
    node = AdminNode(delete_topic_enable="false")
    (result,) = node.ask("DeleteTopics", version, topic_names=["t"], timeout_ms=1000).responses
    assert (result.name, result.error_code) == ("t", code)


def test_deleting_takes_time(node):
    create(node, topic())
    (result,) = node.ask("DeleteTopics", 6, topics=[DeleteTopicState(name="t")], timeout_ms=0).responses
    assert (result.name, result.error_code, result.error_message) == ("t", 7, None)


@pytest.mark.parametrize("version", range(4))
def test_partitions_are_added_in_every_version_and_lead_at_once(node, version):
    create(node, topic())
    wanted = [CreatePartitionsTopic(name="t", count=3, assignments=None)]
    (result,) = node.ask("CreatePartitions", version, topics=wanted, timeout_ms=1000).results
    assert (result.error_code, result.error_message) == (0, None)
    assert node.replicas.get("t", 2).is_leader
    (again,) = node.ask("CreatePartitions", version, topics=wanted, timeout_ms=1000).results
    assert (again.error_code, again.error_message) == (37, "Topic already has 3 partition(s).")
    (late,) = node.ask("CreatePartitions", version, topics=wanted, timeout_ms=0).results
    assert late.error_code == 7


def test_when_the_controller_stops_everybody_hears(node):
    create(node, topic())
    node.world.node.stop()
    assert [r.error_code for r in create(node, topic("u"))] == [41]


@pytest.mark.parametrize("validate_only", [False, True])
def test_the_metadata_log_is_no_topic_to_create(node, validate_only):
    (result,) = create(node, topic("__cluster_metadata"), validate_only=validate_only)
    assert result.error_code == 42
    assert result.error_message == "Creation of internal topic __cluster_metadata is prohibited."


def test_a_topic_to_delete_that_is_named_wrongly_is_refused_as_often_as_it_is_named(node):
    (created,) = create(node, topic("t"))
    both = DeleteTopicState(name="t", topic_id=created.topic_id)
    answer = node.ask(
        "DeleteTopics", 6, topics=[both, both, DeleteTopicState(), DeleteTopicState()], timeout_ms=1
    )
    assert sorted(r.error_message for r in answer.responses) == [
        "Neither topic name nor id were specified.",
        "Neither topic name nor id were specified.",
        "You may not specify both topic name and topic id.",
        "You may not specify both topic name and topic id.",
    ]


@pytest.mark.parametrize(("version", "refused"), [(5, 0), (6, 89)])
def test_122_of_many_topics_those_beyond_the_quota_are_refused(node, version, refused):
    services = node.services
    services.quotas = QuotaKeeper(services.config, services.clock, services.timer, lambda: 0.0, list)
    services.quotas.quotas.apply({(("user", None),): {"controller_mutation_rate": 1.0}})
    # A bucket of 11: ten partitions, two more into debt, and no more for now; older clients are told to wait.
    wanted = [topic("a", 10), topic("b", 2), topic("c", 1), topic("d", 1)]
    answer = node.ask("CreateTopics", version, topics=wanted, timeout_ms=1000)
    assert [each.error_code for each in answer.topics] == [0, 0, refused, refused]
    assert answer.throttle_time_ms == (1000 if refused else 3000)
    assert ("c" in node.image.topics) is not bool(refused)
